#!/bin/bash
# SPDX-License-Identifier: MIT
# "tlat run 'timer-*'": a table of every timer there is, on one CPU, within 50 s.
set -euo pipefail
: "${TLAT:?}"

# What may be explained here instead of measured, because builds and kernels differ.
excused=(timer-uring timer-uring-multishot timer-futex2)
[[ ${TLAT_SANITIZE:-} != *thread* ]] || excused+=(timer-posix-thread)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

bad()
{
	echo "all_timers: $*"
	failed=1
}

cpu=$(sed 's/.*[-,]//' /sys/devices/system/cpu/online)
began=$SECONDS
"$TLAT" run 'timer-*' -c "$cpu" -n 500 -i 1ms --json "$work/report" >"$work/out" 2>"$work/err" ||
	{
		cat "$work/out" "$work/err"
		bad "tlat run ended with $?"
	}
took=$((SECONDS - began))
echo "all timers took $took s"
[ -n "${TLAT_SANITIZE:-}" ] || [ "$took" -le 50 ] || bad "that is more than 50 s"

/usr/bin/python3 - "$work/report" "${excused[@]}" >"$work/seen" <<'END' || bad "see above"
import json, sys, time

excused = set(sys.argv[2:])
bad = 0
for result in json.load(open(sys.argv[1]))["results"]:
    name, counts = result["probe"], result["counts"]
    lost = [f["text"] for f in result["findings"] if f["id"] == "unsupported"]
    # the timer wheel, by a tick where one was late; CLOCK_MONOTONIC_COARSE is 6
    tick_ns = 1e9 * time.clock_getres(6) if name == "timer-sockopt" else 0
    early = counts["early"] and (not tick_ns or result["summary"]["min_ns"] <= -tick_ns)
    wrong = [f["id"] for f in result["findings"]
             if f["id"] in ("accounting", "conservation", "probe-failed")]
    if lost and name not in excused:
        wrong.append("not measured: " + lost[0])
    if not lost and (counts["asked"] != 500 or counts["recorded"] == 0 or early):
        wrong.append(str(counts))
    if not lost and None in (result["summary"]["min_ns"], result["summary"]["max_ns"]):
        wrong.append("no figures")
    if not (result["from"] and result["to"]):
        wrong.append("nothing said of its interval")
    for what in wrong:
        print(f"all_timers: {name}: {what}", file=sys.stderr)
    bad += len(wrong)
    print(name)
sys.exit(bad > 0)
END

# No timer of the list is missing, and each has its line of the table and its words.
"$TLAT" list | sed -n 's/^\(timer-[a-z0-9-]*\) .*/\1/p' | sort >"$work/listed"
sort "$work/seen" | diff -u "$work/listed" - || bad "listed and measured timers differ"
[ "$(wc -l <"$work/listed")" -ge 28 ] || bad "only $(wc -l <"$work/listed") timers are listed"
while read -r name; do
	grep -q "^$name  *$cpu " "$work/out" || [[ " ${excused[*]} " = *" $name "* ]] ||
		bad "$name has no line in the table"
	grep -q "^$name: " "$work/out" || [[ " ${excused[*]} " = *" $name "* ]] ||
		bad "$name does not say what it measures"
done <"$work/listed"

exit "$failed"
