#!/bin/bash
# SPDX-License-Identifier: MIT
# tlat storm and scale: reports that the schema accepts, presets that conserve, sweeps, limits,
# signals, refusals. What is counted is judged, never how long it took.
set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	echo "tlat-storm-scale: $*" >&2
	exit 1
}

# storm <seconds at most> <options>
storm()
{
	timeout -s KILL "$1" "$TLAT" storm "${@:2}"
}

refused()
{
	local code=0

	timeout -s KILL 20 "$TLAT" "${@:2}" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" = 2 ] || fail "$*: exit $code, not 2"
	grep -q -- "$1" "$work/err" || fail "${*:2}: says \"$(cat "$work/err")\", not \"$1\""
	[ "$(wc -l <"$work/err")" = 1 ] || fail "${*:2}: more than one line of complaint"
}

has_json()
{
	! grep -q "without JSON\|not in this build" "$work/err"
}

for preset in timer timermix; do
	storm 60 --preset "$preset" -d 500ms --json "$work/$preset.json" >"$work/out" 2>"$work/err" ||
		{ has_json || exit 77; fail "--preset $preset: $(cat "$work/err")"; }
	! grep -q conservation: "$work/out" || fail "--preset $preset: $(cat "$work/out")"
	grep -q "^repeat: tlat storm -c [0-9]* --preset $preset" "$work/out" ||
		fail "--preset $preset: no command that repeats it"
	"$TLAT" show "$work/$preset.json" | grep -q '^realtime ' ||
		fail "tlat show $preset.json has no row of its clocks"
done

storm 60 --clocks all --rate 1k,20k -d 200ms --json "$work/all.json" >"$work/out"
[ "$(grep -c '^monotonic  ' "$work/out")" = 2 ] || fail "a sweep of two rates: $(cat "$work/out")"
# What repeats it has numbers for words, and says what was not asked for.
storm 60 -c all -d 50ms >"$work/out"
repeat=$(sed -n 's/^repeat: tlat //p' "$work/out")
[[ $repeat = "storm -c "[0-9]*" --clocks monotonic -i 100us --timers 1 --handler plain -d 50ms --policy other" ]] ||
	fail "storm -c all: repeats with: $repeat"
cpus=$(awk '{ print $3 }' <<<"$repeat")
[ "$(tr , '\n' <<<"$cpus" | wc -l)" = "$(grep -c '^monotonic  ' "$work/out")" ] ||
	fail "storm -c all: repeats on $cpus: $(cat "$work/out")"
# shellcheck disable=SC2086
timeout -s KILL 60 "$TLAT" $repeat >"$work/out"
[ "$(sed -n 's/^repeat: tlat //p' "$work/out")" = "$repeat" ] || fail "storm: repeats itself otherwise"
storm 60 -c all --rate 1k,2k -d 50ms >"$work/out"
grep -q "^repeat: tlat storm -c $cpus --clocks monotonic --rate 1k,2k --timers" "$work/out" ||
	fail "a sweep on all CPUs: $(grep ^repeat "$work/out")"
storm 60 --handler rearm -d 100ms >"$work/out"
grep -q ' stale' "$work/out" || fail "--handler rearm has no column of stale signals"

# Timers that are refused are a finding, and when there are no others there is no answer.
code=0
( ulimit -Si 0; storm 60 -d 50ms ) >"$work/out" 2>"$work/err" || code=$?
grep -q 'signal-limit: 1 of 1 timers' "$work/out" || fail "ulimit -i 0: $(cat "$work/out")"
[ "$code" = 2 ] || fail "a storm without a timer: exit $code, not 2"
grep -q 'nothing could be measured' "$work/err" || fail "ulimit -i 0: says \"$(cat "$work/err")\""
( ulimit -Si 0; storm 60 --clocks monotonic,timerfd -d 50ms ) >"$work/out" ||
	fail "timerfd needs no signal, and was measured: exit $?"

# A signal ends it, and what was measured is printed. In the foreground of its own: a shell's "&"
# would have it ignore SIGINT.
"$TLAT" storm -d 1h >"$work/out" &
pid=$!
sleep 1
kill -TERM "$pid"
wait "$pid" || fail "SIGTERM: exit $?"
grep -q 'ended by a signal' "$work/out" || fail "SIGTERM: $(cat "$work/out")"
grep -q '^monotonic' "$work/out" || fail "SIGTERM: nothing was printed of what was measured"

children()
{
	grep -ls "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status | cut -d / -f 3
}

# A worker that somebody kills is no fine end. Its watchdog goes with it, as nobody tells them apart,
# and may be gone already: it does not outlive the worker.
"$TLAT" storm -d 30s >"$work/out" 2>"$work/err" &
pid=$!
for (( i = 0; i < 200; i++ )); do
	both=$(children "$pid") || true
	[ "$(wc -w <<<"$both")" -lt 2 ] || break
	sleep 0.1
done
[ "$(wc -w <<<"$both")" = 2 ] || fail "a worker and a watchdog are not children \"$both\""
# shellcheck disable=SC2086 # one word each
kill -KILL $both 2>/dev/null || true
code=0
wait "$pid" || code=$?
[ "$code" = 2 ] || fail "a worker that was killed: exit $code, not 2"
grep -q 'broke off' "$work/err" || fail "a worker that was killed: says \"$(cat "$work/err")\""
tr -s ' \n' ' ' <"$work/out" | grep -q 'worker-lost: signal 9 (Killed) ended the worker on CPU' ||
	fail "a worker that was killed: $(cat "$work/out")"

refused 'no clock of a storm' storm --clocks sundial
refused 'contradict' storm --rate 1k -i 1ms
refused 'rate' storm --rate 1k,,2k
refused 'rate' storm --rate 20M
refused 'rate' storm --rate 1kk
refused 'timer or timermix' storm --preset tornado
refused 'timer or timermix' storm --preset ''
refused 'plain or rearm' storm --handler none
refused 'back-off' storm --preset timermix --handler rearm -d 100ms
refused 'give both' storm --policy fifo
refused 'append' storm --append
refused '99999' storm -c 99999

# == scale ==

timeout -s KILL 60 "$TLAT" scale timers --sizes 100,300,1k --rounds 2 -c all \
	--json "$work/timers.json" >"$work/out"
for phase in create getoverrun delete; do
	grep -qE "^$phase.N1000 " "$work/out" || fail "scale timers: no $phase of 1000"
	grep -qE "^$phase: exponent -?[0-9.]+ \(-?[0-9.]+ to -?[0-9.]+\), " "$work/out" ||
		fail "scale timers: no verdict on $phase: $(cat "$work/out")"
done
(
	ulimit -Si 1000
	timeout -s KILL 60 "$TLAT" scale timers --rounds 2 >"$work/out"
)
grep -q 'signal-limit: 1 workers with 20000 timers' "$work/out" ||
	fail "ulimit -i 1000: $(cat "$work/out")"
timeout -s KILL 60 "$TLAT" scale wakeups --sizes 1,2,4 --rounds 3 \
	--json "$work/wakeups.json" >"$work/out"
grep -q '^wake.N4 ' "$work/out" || fail "scale wakeups: $(cat "$work/out")"
timeout -s KILL 60 "$TLAT" scale pairs --sizes 1,3 -d 50ms --json "$work/pairs.json" >"$work/out"
grep -q '^pairs.N3 ' "$work/out" || fail "scale pairs: $(cat "$work/out")"
code=0
/usr/bin/python3 "$TLAT_SOURCE/tests/check_schema.py" "$work"/*.json || code=$?
[ "$code" = 0 ] || [ "$code" = 77 ] || fail "the schema refuses a report"

# stopped_while_it_measures <options>: a stop is in no figure's nature, and is told.
stopped_while_it_measures()
{
	timeout -s KILL 60 "$TLAT" scale "$@" >"$work/out" &
	pid=$!
	for (( i = 0; i < 200; i++ )); do
		tlat=$(children "$pid") || true
		[ -z "$tlat" ] || break
		sleep 0.02
	done
	sleep 0.7
	kill -STOP "$tlat"
	sleep 1
	kill -CONT "$tlat"
	wait "$pid" || fail "scale $*, stopped: exit $?"
	tr -s ' \n' ' ' <"$work/out" >"$work/words"
	grep -qE 'stopped: the thread that .* was kept from its CPU .*stop signal' "$work/words" ||
		fail "scale $*, stopped: $(cat "$work/out")"
}

stopped_while_it_measures pairs --sizes 1 -d 1s
stopped_while_it_measures wakeups --sizes 4 --rounds 1000

refused 'timers, wakeups or pairs' scale
refused 'timers, wakeups or pairs' scale mountains
refused 'sizes' scale timers --sizes 1k,
refused 'sizes' scale timers --sizes -5
refused 'ascending' scale timers --sizes 5,3
refused 'for timers' scale pairs --threads
refused 'for pairs' scale timers -d 1s
refused 'not for pairs' scale pairs --rounds 3

echo "ok: presets, sweep, schema, signal and refusals"
