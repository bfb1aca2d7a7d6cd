#!/bin/bash
# SPDX-License-Identifier: MIT
# refusals.sh - no number is reported for a scheduling class that was not given,
# and a refusal names its cause. Needs root; a part that the machine cannot do
# is said and left out.
set -eu
TLAT=${TLAT:?path of the tlat binary}
work=$(mktemp -d)
group=
trap 'rm -rf "$work"; if [ -n "$group" ]; then rmdir "$group"; fi' EXIT
chmod 755 "$work"
failed=0

expect() { # expect NAME STATUS PATTERN -- COMMAND...: exit status and a line of its output
	local name=$1 status=$2 pattern=$3 got=0
	shift 4
	timeout -s KILL 60 "$@" >"$work/out" 2>&1 || got=$?
	if [ "$got" != "$status" ] || ! grep -Eq -- "$pattern" "$work/out"; then
		echo "not ok: $name: exit $got (want $status), no line with: $pattern"
		sed 's/^/	/' "$work/out"
		failed=1
	else
		echo "ok: $name"
	fi
}

[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
cp "$TLAT" "$work/tlat"
chmod 755 "$work/tlat"
short="-n 200 -i 1ms"

expect "nobody runs under OTHER and is told why" 0 'RLIMIT_RTPRIO|CAP_SYS_NICE' -- \
	$nobody "$work/tlat" run timer-nanosleep $short
expect "every figure of nobody's is marked" 0 'other\*' -- \
	$nobody "$work/tlat" run timer-nanosleep $short
expect "strict ends with 2" 2 'RLIMIT_RTPRIO|CAP_SYS_NICE' -- \
	$nobody "$work/tlat" run timer-nanosleep $short --strict
expect "help needs no privilege" 0 'usage|Usage' -- $nobody "$work/tlat" run --help
expect "version needs no privilege" 0 '0\.1\.0' -- $nobody "$work/tlat" --version
expect "list needs no privilege" 0 'wake-futex' -- $nobody "$work/tlat" list
expect "check needs no privilege" 0 'RLIMIT_RTPRIO|CAP_SYS_NICE' -- $nobody "$work/tlat" check

if command -v strace >/dev/null; then
	expect "a call that lies is noticed" 0 'reported success' -- \
		strace -f -o /dev/null -e inject=sched_setscheduler,sched_setattr:retval=0 \
		"$TLAT" run timer-nanosleep $short
	expect "ENOSYS is treated as not available" 0 'ENOSYS' -- \
		strace -f -o /dev/null -e inject=sched_setscheduler,sched_setattr:error=ENOSYS \
		"$TLAT" run timer-nanosleep $short
else
	echo "left out: strace is not installed"
fi

if mkdir "/sys/fs/cgroup/cpu/tlat-$$" 2>/dev/null; then
	group=/sys/fs/cgroup/cpu/tlat-$$
	if [ "$(cat "$group/cpu.rt_runtime_us" 2>/dev/null)" = 0 ]; then
		expect "a group without budget is named with its knob" 0 \
			"tlat-$$.*cpu.rt_runtime_us|cpu.rt_runtime_us.*tlat-$$" -- \
			sh -c "echo \$\$ >$group/cgroup.procs; exec '$TLAT' run timer-nanosleep $short"
	else
		echo "left out: this kernel has no real-time group scheduling"
	fi
else
	echo "left out: no writable cgroup v1 cpu hierarchy"
fi
exit $failed
