#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tlat-cyclictest against rt-tests' cyclictest, alternating: how long start and end take of a run of
one cycle, and what CPU time 10000 cycles at 1 ms take. Prints; judges nothing.

    TLAT_CYCLICTEST=build/tlat-cyclictest cyclictest_cost.py [ROUNDS]       (default 9)
"""
from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time

import figures

OURS = figures.from_environment("TLAT_CYCLICTEST", "tlat-cyclictest")
THEIRS = shutil.which("cyclictest")
ROUNDS = figures.rounds(9)
PROGRAMS = [OURS] + ([THEIRS] if THEIRS else [])


def run(program: str, cycles: int) -> tuple[float, float]:
    """Milliseconds from exec to the end, and of CPU."""
    began = time.monotonic()
    child = subprocess.Popen([program, "-q", "-m", "-p", "80", "-a", str(figures.last_cpu()), "-l",
                              str(cycles)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    if status:
        figures.fail(f"{program} gave {status}")
    return (time.monotonic() - began) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


once: dict[str, list[tuple[float, float]]] = {program: [] for program in PROGRAMS}
long: dict[str, list[float]] = {program: [] for program in PROGRAMS}
for _ in range(ROUNDS):
    for name in PROGRAMS:
        once[name].append(run(name, 1))
for _ in range(min(ROUNDS, 3)):
    for name in PROGRAMS:
        set_up = statistics.median(cpu for _, cpu in once[name])
        long[name].append(run(name, 10000)[1] - set_up)
for name in PROGRAMS:
    print(f"{os.path.basename(name)}: exec to the end of a run of one cycle "
          f"{figures.spread([wall for wall, _ in once[name]])} ms (min / median / max of {ROUNDS}); "
          f"CPU time of 10000 cycles {statistics.median(long[name]):.0f} ms (median of "
          f"{len(long[name])}, set-up taken off)")
walls = {name: [wall for wall, _ in once[name]] for name in PROGRAMS}
peer = "cyclictest" if THEIRS else None
figures.write("tlat-cyclictest, run of one cycle", "ms", walls[OURS], peer, walls.get(THEIRS or "", ()))
figures.write("tlat-cyclictest, CPU time of 10000 cycles", "ms", long[OURS], peer,
              long.get(THEIRS or "", ()))
