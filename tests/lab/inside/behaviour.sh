# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC2154
# behaviour.sh - what is pulled from under a run: the CPU, the clock, the machine's wakefulness,
# file systems that are usually there.
offline()
{
	echo 0 >$cpus/cpu3/online
}

online()
{
	echo 1 >$cpus/cpu3/online
}

step_clock()
{
	date -s "@$(($(date +%s) + 3600))" >/dev/null
	sleep 1
	date -s "@$(($(date +%s) - 7200))" >/dev/null
}

# All but the hardware's own part of a suspend to memory, which comes back by itself; a wake-up alarm
# might be over before a slow machine is asleep.
suspend()
{
	echo core >/sys/power/pm_test
	echo 2 >/sys/module/suspend/parameters/pm_test_delay
	echo mem >/sys/power/state
	cat /sys/power/suspend_stats/success >"$out"/suspends.out
}

during offline measure offline-timer timer-nanosleep -c 3 -d 8s
online
during offline measure offline-pair wake-futex -c 2,3 -d 8s
online
# shellcheck disable=SC2046
during step_clock measure clock-steps -c 3 -d 3s \
	$(tlat list | awk '$1 ~ /^timer-(nanosleep|timerfd)$|^timer-.*realtime/ { print $1 }')
during suspend measure suspend timer-nanosleep -c 3 -d 5s
sysctl -w kernel.io_uring_disabled=2 >/dev/null 2>&1
measure no-io-uring 'timer-uring*' timer-nanosleep -n 20
sysctl -w kernel.io_uring_disabled=0 >/dev/null 2>&1
umount /sys/kernel/tracing /sys/kernel/debug
measure no-tracefs wake-futex timer-nanosleep -n 20
umount -l /sys
measure no-sys '*' -n 20
record no-sys-check tlat check
