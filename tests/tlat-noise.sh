#!/bin/bash
# SPDX-License-Identifier: MIT
# tlat noise: the table, the report, the command that repeats it, a signal, refusals. What is seen of
# the machine is not judged.
set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	echo "noise: $*" >&2
	exit 1
}

# noise <options>
noise()
{
	timeout -s KILL 30 "$TLAT" noise "$@"
}

refused()
{
	local code=0

	noise "${@:2}" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" = 2 ] || fail "${*:2}: exit $code, not 2"
	grep -q -- "$1" "$work/err" || fail "${*:2}: says \"$(cat "$work/err")\", not \"$1\""
	[ "$(wc -l <"$work/err")" = 1 ] || fail "${*:2}: more than one line of complaint"
}

noise -d 200ms >"$work/out"
for row in gap gap.interrupts gap.switches gap.throttling gap.steal gap.unknown gap.unjudged; do
	grep -q "^$row " "$work/out" || fail "no row $row: $(cat "$work/out")"
done
repeat=$(sed -n 's/^repeat: tlat //p' "$work/out")
[[ $repeat = "noise -c "*" -d 200ms --threshold 1us --policy fifo -p 40 --clock "* ]] ||
	fail "repeats with: $repeat"
# shellcheck disable=SC2086
timeout -s KILL 30 "$TLAT" $repeat >"$work/again"
[ "$(sed -n 's/^repeat: tlat //p' "$work/again")" = "$repeat" ] || fail "repeats itself otherwise"

if noise -d 100ms --policy other --json "$work/a.json" >/dev/null 2>"$work/err"; then
	noise -d 100ms --policy other --json "$work/a.json" --append >/dev/null
	"$TLAT" show "$work/a.json" --index 2 | grep -q '^gap ' || fail "tlat show has no gaps"
	noise -d 50ms --policy other --json - >"$work/b.json"
	code=0
	/usr/bin/python3 "$TLAT_SOURCE/tests/check_schema.py" "$work/b.json" || code=$?
	[ "$code" = 0 ] || [ "$code" = 77 ] || fail "the schema refuses a report"
else
	grep -q 'JSON' "$work/err" || fail "--json: $(cat "$work/err")"
	echo "left out: reports, this build has no JSON"
fi

# In the foreground of its own: a shell's "&" would have it ignore SIGINT.
for signal in TERM HUP; do
	"$TLAT" noise -d 1h --policy other >"$work/out" &
	pid=$!
	sleep 1
	kill -"$signal" "$pid"
	wait "$pid" || fail "SIG$signal: exit $?"
	grep -q '^ended by a signal' "$work/out" || fail "SIG$signal: $(cat "$work/out")"
	grep -q '^gap ' "$work/out" || fail "SIG$signal: nothing of what was measured"
done

# Under fifo the kernel would kill it after a fifth of a second.
if command -v prlimit >/dev/null; then
	timeout -s KILL 30 prlimit --rttime=200000:200000 "$TLAT" noise -d 600ms >"$work/out" ||
		fail "a short RLIMIT_RTTIME: exit $?"
	grep -q RLIMIT_RTTIME "$work/out" || fail "RLIMIT_RTTIME is not named: $(cat "$work/out")"
else
	echo "left out: no prlimit"
fi

# has_thread_on <pid> <CPU>: one that may use no other
has_thread_on()
{
	grep -qx "Cpus_allowed_list:[[:blank:]]*$2" "/proc/$1"/task/*/status 2>/dev/null
}

# A CPU that leaves the cpuset ends it. Version 1, where a group can be made without more ado.
cpusets=/sys/fs/cgroup/cpuset group=/sys/fs/cgroup/cpuset/tlat-noise-$$
all=$(cat "$cpusets/cpuset.cpus" 2>/dev/null || echo 0)
first=${all%%[,-]*} last=${all##*[,-]}
if [ "$first" != "$last" ] && mkdir "$group" 2>/dev/null; then
	trap 'rmdir "$group" 2>/dev/null || true; rm -rf "$work"' EXIT
	cat "$cpusets/cpuset.mems" >"$group/cpuset.mems"
	echo "$all" >"$group/cpuset.cpus"
	(
		echo "$BASHPID" >"$group/cgroup.procs"
		exec "$TLAT" noise -c "$last" -d 25s --policy other >"$work/out" 2>"$work/err"
	) &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		if has_thread_on "$pid" "$last"; then break; fi
		sleep 0.05
	done
	sleep 1 # it spins by now
	echo "$first" >"$group/cpuset.cpus"
	code=0
	wait "$pid" || code=$?
	[ "$code" = 2 ] || fail "a CPU that was lost: exit $code, not 2: $(cat "$work/out")"
	grep -q 'cpu-lost: ' "$work/out" || fail "a CPU that was lost: $(cat "$work/out" "$work/err")"
	grep -q 'broke off' "$work/err" || fail "a CPU that was lost: says \"$(cat "$work/err")\""
else
	echo "left out: no cpuset of one's own"
fi

refused "-p 5 needs --policy" --policy other -p 5
refused "append needs" --append
refused "too small\|out of range" --threshold 1ns
refused "999" -c 999
refused "extra" extra
# Stopped while it spins: nobody else needs to have run.
"$TLAT" noise -d 2s --policy other --findings >"$work/out" &
pid=$!
sleep 1
kill -STOP "$pid"
sleep 1
kill -CONT "$pid"
wait "$pid" || fail "stopped: exit $?"
tr -s ' \n' ' ' <"$work/out" | grep -q 'was switched out: another one ran, or a stop signal held' ||
	fail "stopped: $(cat "$work/out")"
echo "all passed"
