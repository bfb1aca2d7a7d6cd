#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Gaps that a spinning thread sees: "tlat noise" beside rt-tests' oslat, alternating, same CPU, both
SCHED_FIFO 40. For information: what the machine did differs from one run to the next.

oslat counts turns of its loop in whole us, rounded up, the turn itself included; tlat noise counts
times between two stamps that are as long as its threshold. What both can say is how many gaps of
more than 10 us there were in a second. Prints; judges nothing.

    TLAT=build/tlat noise_vs.py [ROUNDS [SECONDS]]      (default 9, 2)
"""
from __future__ import annotations

import json
import os
import statistics
import tempfile

import figures

TLAT = figures.from_environment("TLAT", "tlat")
OSLAT = figures.peer("oslat", "rt-tests")
ROUNDS = figures.rounds(9)
SECONDS = int(figures.argument(2, 2))
CPU = str(figures.last_cpu())
LIMIT_US = 10


def ours() -> float:
    report = figures.report_of(TLAT, "noise", "-c", CPU, "-d", f"{SECONDS}s", "--threshold",
                               f"{LIMIT_US}us", "-p", "40")
    metrics = {metric["name"]: metric["value"] for metric in report["results"][0]["metrics"]}
    return float(metrics["gap.rate_hz"])


def theirs(path: str) -> float:
    figures.output_of(OSLAT, "-q", "-c", CPU, "-D", str(SECONDS), "-f", "40", f"--json={path}")
    with open(path, encoding="utf-8") as report:
        thread = json.load(report)["thread"]["0"]
    long = sum(count for us, count in thread["histogram"].items() if int(us) > LIMIT_US)
    return float(long / thread["duration"])


rates: tuple[list[float], list[float]] = ([], [])
with tempfile.TemporaryDirectory() as work:
    for _ in range(ROUNDS):
        rates[1].append(theirs(os.path.join(work, "oslat")))
        rates[0].append(ours())
print(f"gaps of more than {LIMIT_US} us on CPU {CPU}, in a second: tlat noise "
      f"{figures.spread(rates[0])}, oslat {figures.spread(rates[1])} (min / median / max of {ROUNDS})")
figures.write(f"gaps of more than {LIMIT_US} us", "/s", rates[0], "oslat", rates[1],
              note="oslat rounds up to whole us and counts the turn of its loop in")
