#!/bin/bash
# SPDX-License-Identifier: MIT
# syscalls.sh - one wait and one kick per cycle (and a return from each handler), and nothing else
# that grows with the number of cycles; no page fault while measuring.
set -eu
TLAT=${TLAT:?path of the tlat binary}
command -v strace >/dev/null || { echo "strace is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Cycles of a traced run, and the calls of its two busiest threads: waiter and waker.
trace() { # trace PROBE N CALL...
	timeout -s KILL 120 strace -f -o "$work/calls" "$TLAT" run "$1" -n "$2" -c 0 \
		--warmup 0 --quiet --json "$work/report.json" >/dev/null
	/usr/bin/python3 - "$work/report.json" "$work/calls" "${@:3}" <<'PY'
import collections, json, re, sys
result = json.load(open(sys.argv[1]))["results"][0]
calls = collections.defaultdict(collections.Counter)
for line in open(sys.argv[2], errors="replace"):
    call = re.match(r"(\d+)\s+(\w+)\(", line)
    if call:
        calls[call[1]][call[2]] += 1
busiest = sorted(calls.values(), key=lambda c: sum(c[name] for name in sys.argv[3:]))[-2:]
print(result["counts"]["asked"] + result["warmup"], result["rests"],
      sum((c for c in busiest), collections.Counter())["clock_nanosleep"],
      json.dumps(sum(busiest, collections.Counter())))
PY
}

compare() { # compare PROBE CALL...: each once per cycle
	local probe=$1
	shift
	trace "$probe" 500 "$@" >"$work/few"
	trace "$probe" 2500 "$@" >"$work/many"
	/usr/bin/python3 - "$probe" "$work/few" "$work/many" "$@" <<'PY'
import collections, json, sys
probe, few, many, *names = sys.argv[1:]
def load(path):
    cycles, rests, _, calls = open(path).read().split(" ", 3)
    return int(cycles), int(rests), collections.Counter(json.loads(calls))
cycles1, rests1, calls1 = load(few)
cycles2, rests2, calls2 = load(many)
more = cycles2 - cycles1
wanted = collections.Counter()
for name in names:
    wanted[name] += more
# Between cycles: a look at the switches every 64 cycles and after a rest; both sides rest.
wanted["getrusage"] = more // 64 + (rests2 - rests1)
wanted["clock_nanosleep"] = 2 * (rests2 - rests1)
grown = {name: calls2[name] - calls1[name] for name in set(calls1) | set(calls2) | set(wanted)}
print(f"{probe}: {more} more cycles, {rests2 - rests1} more rests:",
      {name: n for name, n in sorted(grown.items()) if n})
rests = 2 * abs(rests2 - rests1)  # a short run on a busy machine may have more of them
slack = {"getrusage": rests + 4, "clock_nanosleep": rests}
wrong = {name: n for name, n in grown.items() if abs(n - wanted[name]) > slack.get(name, 8)}
sys.exit(f"{probe}: not as many as cycles: {wrong}" if wrong else 0)
PY
}

compare wake-futex futex futex
compare wake-eventfd write read
compare signal-tgkill-sigwait tgkill rt_sigtimedwait
compare signal-kill-signalfd kill read
compare signal-sigqueue-sigsuspend rt_sigqueueinfo rt_sigsuspend rt_sigreturn
compare signal-pthread-sigqueue-epoll-pwait rt_tgsigqueueinfo epoll_pwait rt_sigreturn
for probe in wake-futex wake-eventfd timer-nanosleep timer-timerfd signal-tgkill-handler; do
	"$TLAT" run "$probe" -n 1000 --quiet --json "$work/report.json" >/dev/null
	/usr/bin/python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))["results"][0]
print(r["probe"], "page faults in the loops:", r["watch"]["faults"])
sys.exit(any(r["watch"]["faults"].values()))' "$work/report.json"
done
