#!/bin/sh
# SPDX-License-Identifier: MIT
# cyclictest.sh - tlat-cyclictest against rt-tests' cyclictest, alternating: how long start and end
# take of a run of one cycle, and what CPU time 10000 cycles at 1 ms take. Prints; judges nothing.
set -eu
exec /usr/bin/python3 - "${TLAT_CYCLICTEST:?path of the tlat-cyclictest binary}" <<'PY'
import os, shutil, subprocess, sys, time

PROGRAMS = {"ours": sys.argv[1], "theirs": shutil.which("cyclictest")}
CPU = str(max(os.sched_getaffinity(0)))


def run(program, *args):
    """Seconds from exec to the end, and of CPU."""
    began = time.monotonic()
    child = subprocess.Popen([program, "-q", "-m", "-p", "80", "-a", CPU, *args],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime


found = {name: ([], []) for name, program in PROGRAMS.items() if program}
for _ in range(9):
    for name in found:
        wall, cpu = run(PROGRAMS[name], "-l", "1")
        found[name][0].append(wall)
        found[name][1].append(-cpu)  # set-up, taken off what follows
for i in range(3):
    for name in found:
        found[name][1][i] += run(PROGRAMS[name], "-l", "10000")[1]
for name, (walls, cpus) in found.items():
    walls = sorted(walls)
    print(f"{name}: exec to the end of a run of one cycle {walls[0] * 1e3:.0f} / "
          f"{walls[4] * 1e3:.0f} / {walls[8] * 1e3:.0f} ms (min / median / max of 9); CPU time of "
          f"10000 cycles {sorted(cpus[:3])[1] * 1e3:.0f} ms (median of 3, set-up taken off)")
PY
