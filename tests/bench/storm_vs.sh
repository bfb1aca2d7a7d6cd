#!/bin/bash
# SPDX-License-Identifier: MIT
# Delivered signals per second of "tlat storm --preset timer" against "stress-ng --timer 1
# --timer-freq 1000000", alternating, with the same handler body: sigpending(2) and
# timer_getoverrun(2), and before stress-ng 0.19.04 also timer_settime(2).
# usage: storm_vs.sh TLAT [ROUNDS [SECONDS [CPU]]]; exit 1 when the ratio of medians is below 1.
set -euo pipefail
export LC_ALL=C

tlat=${1:?usage: storm_vs.sh TLAT [ROUNDS [SECONDS [CPU]]]}
rounds=${2:-5}
seconds=${3:-3}
cpu=${4:-$(($(nproc) - 1))}

command -v stress-ng >/dev/null || { echo "storm_vs: stress-ng is not installed" >&2; exit 2; }
version=$(stress-ng --version | sed -nE 's/^[^0-9]*([0-9]+\.[0-9]+\.[0-9]+).*/\1/p')
handler=plain
if [ "$(printf '%s\n' 0.19.04 "$version" | sort -V | head -1)" != 0.19.04 ]; then
	handler=rearm
fi

# Bogo operations per second of real time: one for each run of the handler.
theirs()
{
	taskset -c "$cpu" stress-ng --timer 1 --timer-freq 1000000 -t "$seconds" --metrics 2>&1 |
		awk '$4 == "timer" { print $9 }'
}

ours()
{
	"$tlat" storm --preset timer --handler "$handler" -c "$cpu" -d "${seconds}s" --json - |
		python3 -c 'import json, sys
for m in json.load(sys.stdin)["results"][0]["metrics"]:
    if m["name"] == "realtime.delivered_hz":
        print(m["value"])'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "stress-ng $version, whose handler does what --handler $handler does; CPU $cpu"
for ((i = 1; i <= rounds; i++)); do
	theirs >>"$work/theirs"
	ours >>"$work/ours"
	echo "round $i: stress-ng $(tail -1 "$work/theirs")/s, tlat $(tail -1 "$work/ours")/s"
done
median()
{
	sort -g "$1" | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}
awk -v a="$(median "$work/theirs")" -v b="$(median "$work/ours")" 'BEGIN {
	printf "medians: stress-ng %.0f/s, tlat %.0f/s, ratio %.3f\n", a, b, b / a
	exit b < a }'
