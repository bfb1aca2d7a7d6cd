#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tlat-cpus.sh - which CPU lists -c takes, which it refuses and how, and what an affinity mask
# means. TLAT=path of the binary. Exit: 0 passed, 1 failed, 77 skipped (CPUs 0 and 1 are needed).

set -u
tlat=${TLAT:?set TLAT to the path of the tlat binary}
case $tlat in /*) ;; *) tlat=$PWD/$tlat ;; esac
python=/usr/bin/python3
unset TLAT_JSON
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
	echo "not ok: $*"
	failures=$((failures + 1))
}

taskset -c 0,1 true 2>/dev/null || { echo "skipped: CPUs 0 and 1 are not both ours"; exit 77; }
[ "$(cat /sys/devices/system/cpu/online)" = "0-1" ] && two_cpus=1 || two_cpus=0
beyond=$(($(sed 's/.*[-,]//' /sys/devices/system/cpu/possible) + 1))

# cpus_of ARGS...: "kick wait" of each result, of a short run under the given words.
cpus_of() {
	timeout -s KILL 60 "$@" -n 20 --warmup 0 --json - >out 2>err || return
	"$python" -c '
import json
for r in json.load(open("out"))["results"]:
    print(r["kick"]["cpu"] if r["kick"] else "-", r["wait"]["cpu"])'
}

# takes LIST EXPECTED PROBE
takes() {
	local got
	got=$(cpus_of "$tlat" run "$3" -c "$1" | paste -sd ' ')
	[ "$got" = "$2" ] || fail "-c '$1' $3: CPUs '$got', not '$2' $(cat err)"
}

# refuses LIST NEEDLE: exit 2 before anything is measured, one line that names the bad part.
refuses() {
	timeout -s KILL 60 "$tlat" run wake-futex -c "$1" -n 20 >out 2>err
	local code=$?
	[ $code -eq 2 ] || fail "-c '$1': exit code $code, not 2"
	[ -s out ] && fail "-c '$1': wrote to stdout"
	[ "$(wc -l <err)" -eq 1 ] || fail "-c '$1': $(wc -l <err) lines on stderr"
	grep -qF -e "$2" err || fail "-c '$1': '$2' is not in: $(cat err)"
}

takes 0-1 "0 1" wake-futex
takes 00-01 "0 1" wake-futex
takes 0,1 "0 1" wake-futex
takes 1,0 "1 0" wake-futex
takes 1 "1 1" wake-futex
takes 0-1 "- 0 - 1" timer-nanosleep
[ $two_cpus -eq 1 ] && takes '!0' "1 1" wake-futex

refuses foo foo
refuses "$beyond" "$beyond"
refuses "0,$beyond" "$beyond"
refuses 1-0 1-0
refuses 0- 0-
refuses "" empty
refuses "0,,1" ""
refuses "0-99999999999999999999" 99999999999999999999
[ -s /sys/devices/system/cpu/isolated ] &&
	[ -n "$(tr -d '\n' </sys/devices/system/cpu/isolated)" ] || refuses isolated isolated

got=$(cpus_of "$tlat" run wake-futex --pair 1:0)
[ "$got" = "1 0" ] || fail "--pair 1:0: CPUs '$got'"

# A mask is obeyed when no list is given; a list overrides it, and the report says so.
got=$(cpus_of taskset -c 1 "$tlat" run wake-futex)
[ "$got" = "1 1" ] || fail "taskset -c 1 without -c: CPUs '$got', not '1 1'"
got=$(cpus_of taskset -c 1 "$tlat" run wake-futex -c 0)
[ "$got" = "0 0" ] || fail "taskset -c 1 with -c 0: CPUs '$got', not '0 0'"
grep -qE '"id": ?"[^"]*(mask|affinity|cpus)[^"]*"' out ||
	fail "taskset -c 1 with -c 0: no finding says that the mask was overridden"

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "all passed"
