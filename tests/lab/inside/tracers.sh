# SPDX-License-Identifier: MIT
# shellcheck shell=ash
# tracers.sh - the kernel's own timerlat tracer, through rtla, and tlat, one after the other on the
# same CPU at the same priority and period.
. /lab/inside/record.sh

record rtla rtla timerlat hist -c 3 -d 5s -p 1000 -P f:40 -b 1 -E 100000 --no-aa
record rtla-user rtla timerlat hist -u -c 3 -d 5s -p 1000 -P f:40 -b 1 -E 100000 --no-aa
measure tlat timer-nanosleep -c 3 -i 1ms -p 40 -d 5s
deliver
