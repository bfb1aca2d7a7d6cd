#!/bin/bash
# SPDX-License-Identifier: MIT
# syscalls.sh - one wait and one kick per cycle, and nothing else that grows
# with the number of cycles; no page fault while measuring.
set -eu
TLAT=${TLAT:?path of the tlat binary}
command -v strace >/dev/null || { echo "strace is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count() { # count SYSCALL: calls of the traced run
	awk -v name="$1" '$NF == name { n = $4 } END { print n + 0 }' "$work/totals"
}

cycles() { # asked + unmeasured cycles of the report
	/usr/bin/python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))["results"][0]
print(r["counts"]["asked"] + r["warmup"])' "$work/report.json"
}

trace() { # trace PROBE N
	timeout -s KILL 120 strace -f -c -o "$work/totals" "$TLAT" run "$1" -n "$2" -c 0 \
		--warmup 0 --quiet --json "$work/report.json" >/dev/null
}

compare() { # compare PROBE SYSCALL PER_CYCLE
	local probe=$1 name=$2 per=$3 calls1 calls2 cycles1 cycles2
	trace "$probe" 500
	calls1=$(count "$name") cycles1=$(cycles)
	trace "$probe" 2500
	calls2=$(count "$name") cycles2=$(cycles)
	echo "$probe: $name $calls1 -> $calls2 for $cycles1 -> $cycles2 cycles"
	[ $((calls2 - calls1)) = $((per * (cycles2 - cycles1))) ]
}

compare wake-futex futex 2
compare wake-eventfd write 1
for probe in wake-futex wake-eventfd timer-nanosleep timer-timerfd; do
	"$TLAT" run "$probe" -n 1000 --quiet --json "$work/report.json" >/dev/null
	/usr/bin/python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))["results"][0]
print(r["probe"], "page faults in the loops:", r["watch"]["faults"])
sys.exit(any(r["watch"]["faults"].values()))' "$work/report.json"
done
