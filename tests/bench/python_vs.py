#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The Python package: p50 of wakes against tlat, alternating, both with what they do by default on one
CPU and each run in a process of its own (where a process's memory lies moves a wake by 1 %); what a
call of Session.run costs beyond its measurement; and the histogram of 10^6 samples. Prints; judges
nothing.

The cost of a call is its wall time without warm-up and floor, less the duration that the report
states: starting and ending the threads, the report, and Python. What of that the calling thread
spends in CPU time, Python among it, has a line of its own.

    PYTHONPATH=build/python TLAT=build/tlat python_vs.py [ROUNDS]       (default 9)
"""
from __future__ import annotations

import statistics
import subprocess
import sys
import time

import figures

TLAT = figures.from_environment("TLAT", "tlat")
ROUNDS = figures.rounds(9)
CPU = figures.last_cpu()
SAMPLES = 20_000
SESSION_CALLS = 5  # in each round

try:
    import timerlat
except ImportError as error:
    figures.leave_out(f"{sys.executable} cannot import timerlat: {error}")


def tlat_p50(probe: str) -> float:
    report = figures.report_of(TLAT, "run", probe, "--pair", f"{CPU}:{CPU}", "-n", str(SAMPLES))
    return float(report["results"][0]["summary"]["p50_ns"])


def our_p50(probe: str) -> float:
    script = (f"import timerlat\n"
              f"print(timerlat.run({probe!r}, pair=({CPU}, {CPU}), samples={SAMPLES}).p50)")
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        figures.fail(f"timerlat.run({probe!r}) gave {done.returncode}")
    return float(done.stdout)


def wakes(probe: str) -> None:
    theirs, ours = [tlat_p50(probe)], []
    for _ in range(ROUNDS):
        ours.append(our_p50(probe))
        theirs.append(tlat_p50(probe))
    ratio = statistics.median(2 * mine / (a + b) for mine, a, b in zip(ours, theirs, theirs[1:]))
    print(f"{probe} on CPU {CPU}: p50 in Python {statistics.median(ours):.0f} ns, of tlat "
          f"{statistics.median(theirs):.0f} ns, ratio {ratio:.4f}", flush=True)
    figures.write(f"Python, p50 of {probe}, one CPU", "ns", ours, "tlat", theirs)


def sessions() -> None:
    wall_ms, cpu_ms = [], []
    with timerlat.Session(pair=(CPU, CPU), samples=1000, warmup=0, floor=False) as session:
        session.run("wake-futex")  # the first one reads the machine
        for _ in range(ROUNDS * SESSION_CALLS):
            wall, cpu = time.perf_counter(), time.thread_time()
            report = session.run("wake-futex")
            wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
            wall_ms.append(wall * 1e3 - report.document["run"]["duration_ns"] / 1e6)
            cpu_ms.append(cpu * 1e3)
    print(f"Session.run beyond its measurement: {figures.spread(wall_ms, 2)} ms, of which CPU time "
          f"of the caller {figures.spread(cpu_ms, 2)} ms")
    figures.write("Python, Session.run beyond its measurement", "ms", wall_ms)
    figures.write("Python, CPU time of the caller of Session.run", "ms", cpu_ms)


def histograms() -> None:
    report = timerlat.run("null", cpus=CPU, samples=1_000_000)
    if report.n < 1_000_000:
        figures.fail(f"null gave {report.n} samples")
    try:
        import numpy  # noqa: F401  its import is not what is timed
    except ImportError as error:
        print(f"histogram left out: {error}")
        return
    ms = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        histogram = report.histogram
        ms.append((time.perf_counter() - began) * 1e3)
        assert histogram.counts.sum() == report.n
    print(f".histogram of 10^6 samples: {figures.spread(ms, 3)} ms")
    figures.write("Python, .histogram of 10^6 samples", "ms", ms)


sessions()
histograms()
for name in ("wake-futex", "wake-eventfd"):
    wakes(name)
