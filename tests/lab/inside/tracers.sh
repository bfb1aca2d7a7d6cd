# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC2154
# tracers.sh - the kernel's own timerlat tracer, through rtla, and tlat: at the same time, so that
# whatever else the emulating machine does hits both, on two isolated CPUs, at the same priority and
# period.
trace()
{
	record rtla rtla timerlat hist -c 3 -d 6s -p 1000 -P f:40 -b 1 -E 100000 --no-aa
}

trace &
measure tlat timer-nanosleep -c 2 -i 1ms -p 40 -d 5s
wait
record traced test-traced
