#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""From exec to the first sample, and memory per measuring thread.

The time is that of a whole run of one sample, so it bounds the first sample from above. The memory of
a timer thread is what one more adds to the resident set in the middle of a run, the controller's
blocks for it included; of a pair it is what the two threads lock, which is all that they use. Prints;
judges nothing.

    TLAT=build/tlat startup.py [ROUNDS]         (default 9)
"""
from __future__ import annotations

import os
import statistics
import subprocess
import time

import figures

TLAT = figures.from_environment("TLAT", "tlat")
ROUNDS = figures.rounds(9)


def start(*args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([TLAT, "run", *args, "--quiet", "--json", "-"],
                            stdout=subprocess.DEVNULL)


def ended(child: subprocess.Popen[bytes]) -> None:
    if child.wait():
        figures.fail(f"{child.args!r} gave {child.returncode}")


def one_sample_ms() -> float:
    began = time.monotonic()
    ended(start("wake-futex", "-n", "1", "--warmup", "0"))
    return (time.monotonic() - began) * 1e3


def memory(*args: str) -> tuple[int, int]:
    """KiB of the process in the middle of a run of 3 s: resident, and locked by its threads."""
    child = start(*args, "-d", "3s")
    time.sleep(2)
    with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
        kib = {line.split()[0]: int(line.split()[1]) for line in status if line.startswith("Vm")}
    ended(child)
    return kib["VmRSS:"], kib["VmLck:"]


once = [one_sample_ms() for _ in range(ROUNDS)]
print(f"exec to the end of a one-sample run: {figures.spread(once)} ms (min / median / max of "
      f"{ROUNDS})")
figures.write("exec to the end of a run of one sample", "ms", once)

cpus = sorted(os.sched_getaffinity(0))
if len(cpus) > 1:
    times = min(ROUNDS, 3)
    one, two, pair = [], [], []
    for _ in range(times):
        one.append(memory("timer-nanosleep", "-c", str(cpus[0])))
        two.append(memory("timer-nanosleep", "-c", f"{cpus[0]},{cpus[1]}"))
        pair.append(memory("wake-futex", "-c", f"{cpus[0]},{cpus[1]}"))
    more = [b[0] - a[0] for a, b in zip(one, two)]
    print("resident: one timer thread %.0f KiB, two %.0f KiB, a pair on two CPUs %.0f KiB" % tuple(
        statistics.median(resident for resident, _ in side) for side in (one, two, pair)))
    print(f"a timer thread more: {figures.spread(more)} KiB (min / median / max of {times})")
    figures.write("memory of a timer thread, with its blocks", "KiB", more)
    locked = [kib / 2 for _, kib in pair]
    if all(locked):  # else it was not allowed to
        print(f"locked by a thread of a pair: {figures.spread(locked)} KiB")
        figures.write("memory locked by a thread of a pair", "KiB", locked)
