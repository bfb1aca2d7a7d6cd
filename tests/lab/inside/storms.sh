# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC2154
# storms.sh - signals of armings that were replaced, which kernels before 6.13 deliver; expirations
# that are conserved on all of them.
record rearm tlat storm --handler rearm -i 1ms -d 1s --json -
record plain tlat storm --handler plain -i 1ms -d 1s --json -
record conserve tlat storm --clocks posix,itimers,timerfd -i 1ms -d 1s --json -
record timer tlat storm --preset timer -d 1s --json -
record timermix tlat storm --preset timermix -d 1s --json -
record scale tlat scale timers --sizes 100,500,2k --rounds 2 --json -
