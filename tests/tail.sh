#!/bin/bash
# SPDX-License-Identifier: MIT
# tail.sh - a waiter under SCHED_OTHER beside a CPU hog: its largest latencies
# are recorded and labelled, none is thrown away (compared with --raw).
set -eu
TLAT=${TLAT:?path of the tlat binary}
work=$(mktemp -d)
hog=
trap 'rm -rf "$work"; [ -z "$hog" ] || kill "$hog" 2>/dev/null' EXIT
[ "$(nproc)" -gt 1 ] || { echo "needs two CPUs"; exit 77; }
read -r kick wait <<<"$(taskset -pc $$ | sed 's/.*: //' | /usr/bin/python3 -c '
cpus = []
for part in input().split(","):
    low, _, high = part.partition("-")
    cpus += range(int(low), int(high or low) + 1)
print(cpus[0], cpus[1])')"
taskset -c "$wait" sh -c 'while :; do :; done' &
hog=$!
renice -n -20 -p "$hog" >/dev/null 2>&1 || true # more weight than the waiter, where we may
# The scheduler lets a waiter that sleeps much go first; some of many wakes it does not.
for samples in 5000 20000 80000; do
	timeout -s KILL 60 "$TLAT" run wake-eventfd --pair "$kick:$wait" --policy other \
		-n "$samples" --warmup 0 --raw "$samples" --quiet --json "$work/report.json" \
		>/dev/null
	held=$(/usr/bin/python3 -c 'import json, sys
print(max(json.load(open(sys.argv[1]))["results"][0]["raw_ns"]) > 200_000)' "$work/report.json")
	[ "$held" = False ] || break
done
/usr/bin/python3 - "$work/report.json" <<'PY'
import json, sys
result = json.load(open(sys.argv[1]))["results"][0]
counts, raw = result["counts"], result["raw_ns"]
kept = counts["recorded"] + counts["early"] + counts["overflow"]
print("asked", counts["asked"], "kept", kept, "rejected", counts["rejected"],
      "disturbed", result["disturbed"], "largest", max(raw), "ns")
assert len(raw) == kept, "a raw value is missing from the distribution"
assert abs(max(raw) - result["summary"]["max_ns"]) < 1, "the largest value was lost"
assert max(raw) > 200_000, "the hog never held the waiter up: the test shows nothing"
assert sum(result["disturbed"].values()) > 0, "nothing is labelled disturbed"
assert set(counts["rejected"]) <= {"not_asleep", "timeout", "coalesced"}
PY
