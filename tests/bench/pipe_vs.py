#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A wake on one CPU beside "perf bench sched pipe", alternating, both SCHED_FIFO 40. For information:
the mechanisms differ.

Half of perf's round trip is a write to a pipe, the switch, and the end of the other one's read: what
wake-eventfd has between its stamps, and beside it the way into the next read. It is a mean without a
pause between trips; ours is a mean of wakes each 50 us after the sleep began.

"perf bench futex wake" is not here: it times calls that wake threads, from threads that run anywhere,
ten times, and not how long it takes until one of them runs. Prints; judges nothing.

    TLAT=build/tlat pipe_vs.py [ROUNDS]         (default 9)
"""
from __future__ import annotations

import subprocess

import figures

TLAT = figures.from_environment("TLAT", "tlat")
PERF = figures.peer("perf", "linux-perf")
ROUNDS = figures.rounds(9)
CPU = str(figures.last_cpu())
TRIPS = 20000


def ours() -> float:
    report = figures.report_of(TLAT, "run", "wake-eventfd", "--pair", f"{CPU}:{CPU}", "-p", "40",
                               "-n", str(TRIPS))
    return float(report["results"][0]["summary"]["mean_ns"])


def theirs() -> float:
    """perf prints seconds, and in some builds exits with what is no success."""
    said = subprocess.run(["chrt", "-f", "40", "taskset", "-c", CPU, PERF, "bench", "-f", "simple",
                           "sched", "pipe", "-l", str(TRIPS)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False).stdout
    try:
        return float(said.split()[-1]) * 1e9 / TRIPS / 2
    except (IndexError, ValueError):
        figures.leave_out(f"perf bench gave no time: {said.strip()}")


means: tuple[list[float], list[float]] = ([], [])
for _ in range(ROUNDS):
    means[1].append(theirs())
    means[0].append(ours())
print(f"on CPU {CPU}: mean of wake-eventfd {figures.spread(means[0])} ns, half a round trip of perf "
      f"bench sched pipe {figures.spread(means[1])} ns (min / median / max of {ROUNDS})")
figures.write("mean of wake-eventfd, one CPU", "ns", means[0], "half of perf bench sched pipe",
              means[1], note="a pipe, back to back, with the way into the next read")
