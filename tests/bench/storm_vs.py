#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Delivered signals per second of "tlat storm --preset timer" against "stress-ng --timer 1
--timer-freq 1000000", alternating, with the same handler body: sigpending(2) and timer_getoverrun(2),
and before stress-ng 0.19.04 also timer_settime(2). Without stress-ng, against a loop written by
hand. Prints; judges nothing.

    TLAT=build/tlat storm_vs.py [ROUNDS [SECONDS [CPU]]]        (default 5, 3, the last one)
"""
from __future__ import annotations

import re
import shutil
import statistics
import subprocess

import figures

TLAT = figures.from_environment("TLAT", "tlat")
ROUNDS = figures.rounds(5)
SECONDS = int(figures.argument(2, 3))
CPU = str(int(figures.argument(3, figures.last_cpu())))
STRESS_NG = shutil.which("stress-ng")


def version() -> tuple[int, ...]:
    assert STRESS_NG is not None
    found = re.search(r"([0-9]+)\.([0-9]+)\.([0-9]+)", figures.output_of(STRESS_NG, "--version"))
    return tuple(map(int, found.groups())) if found else (0,)


def theirs() -> float:
    """Bogo operations per second of real time: one for each run of the handler."""
    if STRESS_NG is None:
        return float(figures.output_of(figures.bare("bare_storm"), CPU, str(SECONDS)))
    said = subprocess.run(
        ["taskset", "-c", CPU, STRESS_NG, "--timer", "1", "--timer-freq", "1000000", "-t",
         str(SECONDS), "--metrics"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False).stdout
    for words in map(str.split, said.splitlines()):
        if len(words) > 8 and words[3] == "timer":
            return float(words[8])
    figures.fail(f"stress-ng printed no metrics: {said}")


def ours(handler: str) -> float:
    report = figures.report_of(TLAT, "storm", "--preset", "timer", "--handler", handler, "-c", CPU,
                               "-d", f"{SECONDS}s")
    metrics = {metric["name"]: metric["value"] for metric in report["results"][0]["metrics"]}
    return float(metrics["realtime.delivered_hz"])


peer, handler = "bare loop", "plain"
if STRESS_NG is not None:
    peer = "stress-ng " + ".".join(map(str, version()))
    handler = "rearm" if version() < (0, 19, 4) else "plain"
print(f"{peer}, whose handler does what --handler {handler} does; CPU {CPU}")
rates: tuple[list[float], list[float]] = ([], [])
for i in range(ROUNDS):
    rates[1].append(theirs())
    rates[0].append(ours(handler))
    print(f"round {i + 1}: {peer} {rates[1][-1]:.0f}/s, tlat {rates[0][-1]:.0f}/s", flush=True)
mine, other = (statistics.median(side) for side in rates)
print(f"medians: {peer} {other:.0f}/s, tlat {mine:.0f}/s, ratio {mine / other:.3f}")
figures.write(f"storm of timers, delivered (--handler {handler})", "/s", rates[0], peer, rates[1])
