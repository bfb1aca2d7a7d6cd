#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One timer thread at 1 kHz against Debian's cyclictest (rt-tests), alternating: same CPU, SCHED_FIFO
40, absolute clock_nanosleep(2), both holding /dev/cpu_dma_latency at 0. Without cyclictest, against a
loop written by hand. Prints ratios; judges nothing.

The other threads of both are kept off that CPU. cyclictest's main thread wakes 100 times a second; left
to itself it stays where the measuring thread is, keeps what that needs in the caches, and saves it 3 %
of its CPU time: the loop written by hand is as much above that as tlat is.

The last lines have both on that CPU at the same time, their periods 1.7 % apart, so that each is as
often the first to wake as the other: what the machine does meanwhile, it does to both.

The CPU time is that of the measuring thread alone in the middle of its run, as the scheduler has it
(schedstat), over the cycles of that time. cyclictest keeps a histogram only when it is asked to: its
CPU time is taken without one and with one, its median from the runs with one.

    TLAT=build/tlat cyclic_vs.py [ROUNDS [SECONDS [CPU]]]       (default 9, 4, the last one)
"""
from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Optional, Sequence

import figures

TLAT = figures.from_environment("TLAT", "tlat")
ROUNDS = figures.rounds(9)
SECONDS = figures.argument(2, 4)
CPU = str(int(figures.argument(3, figures.last_cpu())))
OTHERS = sorted(os.sched_getaffinity(0) - {int(CPU)})
LENGTH = SECONDS + 2  # a second for the start, one for the end
CYCLICTEST = shutil.which("cyclictest")
PEER = "cyclictest" if CYCLICTEST else "bare loop"
SCHED_FIFO = 1


@dataclass(frozen=True)
class Command:
    args: Sequence[str]
    period_us: int
    output: Optional[str] = None  #: where standard output goes


@dataclass(frozen=True)
class Sides:
    """What one round, or all of them, gave."""

    ours: list[float]
    theirs: list[float]


def policy_of(task: str) -> Optional[int]:
    try:
        with open(f"{task}/stat", encoding="ascii") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[38])
    except OSError:  # it has ended meanwhile
        return None


def measuring_thread(child: subprocess.Popen[bytes]) -> str:
    """The one thread under SCHED_FIFO, once those that calibrate have gone."""
    before = None
    while child.poll() is None:
        time.sleep(0.1)
        tasks = [f"/proc/{child.pid}/task/{tid}" for tid in os.listdir(f"/proc/{child.pid}/task")]
        found = [task for task in tasks if policy_of(task) == SCHED_FIFO]
        if len(found) == 1 and found == before:
            return f"{found[0]}/schedstat"
        before = found
    figures.fail("no thread stayed under SCHED_FIFO; run as root")


def cpu_ns(path: str) -> tuple[int, float]:
    with open(path, encoding="ascii") as schedstat:
        return int(schedstat.read().split()[0]), time.monotonic()


def started(command: Command) -> subprocess.Popen[bytes]:
    if command.output is None:
        return subprocess.Popen(command.args, stdout=subprocess.DEVNULL)
    with open(command.output, "wb") as output:
        return subprocess.Popen(command.args, stdout=output)


def per_cycle(*commands: Command) -> list[float]:
    """CPU time of each measuring thread in a cycle, while it does nothing else."""
    children = [started(command) for command in commands]
    time.sleep(0.5)
    paths = [measuring_thread(child) for child in children]
    before = [cpu_ns(path) for path in paths]
    time.sleep(SECONDS)
    after = [cpu_ns(path) for path in paths]
    for child, command in zip(children, commands):
        if child.wait():
            figures.fail(f"{command.args[0]} gave {child.returncode}")
    return [(b[0] - a[0]) / (b[1] - a[1]) * command.period_us / 1e6
            for a, b, command in zip(before, after, commands)]


def our_command(path: str, period_us: int = 1000) -> Command:
    return Command([TLAT, "run", "timer-nanosleep", "-c", CPU, "-i", f"{period_us}us", "-d",
                    f"{LENGTH}s", "-p", "40", "--policy", "fifo", "--cpu-latency", "0", "--warmup",
                    "0", "--quiet", "--json", path], period_us)


def their_command(path: Optional[str], period_us: int = 1000) -> Command:
    """path: where its histogram goes, without which it keeps none."""
    if CYCLICTEST is None:
        return Command([figures.bare("bare_cyclic"), CPU, str(period_us), str(LENGTH)], period_us,
                       path)
    histogram = ["-N", "-h", "1000000", f"--json={path}"] if path else []
    elsewhere = [f"--mainaffinity={OTHERS[0]}"] if OTHERS else []
    return Command([CYCLICTEST, "-q", "-m", "-t1", "-a", CPU, "-p", "40", "-i", str(period_us),
                    "-D", str(int(LENGTH)), *elsewhere, *histogram], period_us)


def their_median(path: str) -> float:
    with open(path, encoding="utf-8") as report:
        if CYCLICTEST is None:
            return float(report.read())
        pairs = json.load(report)["thread"]["0"]["histogram"].items()
    return median_of(sorted((float(ns), count) for ns, count in pairs))


def our_median(path: str) -> float:
    """Rank for rank as theirs, from the lower edges of bins that are 0.1 % wide at most."""
    with open(path, encoding="utf-8") as report:
        histogram = json.load(report)["results"][0]["histogram"]
    unit = 1e9 / histogram["hz"]
    return median_of([(low_edge(index) * unit, count) for index, count in histogram["counts"]])


def low_edge(index: int) -> int:
    bucket = max(0, index // 1024 - 1)
    return (index - bucket * 1024) << bucket


def median_of(counted: Sequence[tuple[float, int]]) -> float:
    """The upper median of values that are in order, with how often each was seen."""
    left = sum(count for _, count in counted) // 2
    for value, count in counted:
        left -= count
        if left < 0:
            return value
    figures.fail("no values")


def in_twos(values: Sequence[float]) -> list[float]:
    return [(a + b) / 2 for a, b in zip(values[::2], values[1::2])]


def show(what: str, sides: Sides, alternating: bool = True) -> None:
    ratios = [a / b for a, b in zip(sides.ours, sides.theirs)]
    same = [b / a for a, b in zip(sides.theirs, sides.theirs[1:])] or [1.0]
    print(f"{what}: ratio {statistics.median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f})"
          + (f"; {PEER} against itself {min(same):.3f}..{max(same):.3f}" if alternating else ""))
    if not alternating:  # one value of a round: who has the shorter period changes within it
        sides = Sides(in_twos(sides.ours), in_twos(sides.theirs))
    figures.write(f"1 kHz timer thread, {what}", "ns", sides.ours, PEER, sides.theirs)


def main() -> None:
    cpu: list[float] = []
    bare: list[float] = []
    full: list[float] = []
    p50 = Sides([], [])
    cpu_beside = Sides([], [])
    p50_beside = Sides([], [])
    with tempfile.TemporaryDirectory() as work:
        path, other = os.path.join(work, "ours"), os.path.join(work, "theirs")
        for _ in range(ROUNDS):
            cpu += per_cycle(our_command(path))
            p50.ours.append(our_median(path))
            bare += per_cycle(their_command(None))
            full += per_cycle(their_command(other))
            p50.theirs.append(their_median(other))
            for ours_us, theirs_us in ((1000, 1017), (1017, 1000)):
                mine, others = per_cycle(our_command(path, ours_us),
                                         their_command(other, theirs_us))
                cpu_beside.ours.append(mine)
                cpu_beside.theirs.append(others)
                p50_beside.ours.append(our_median(path))
                p50_beside.theirs.append(their_median(other))
    print(f"{ROUNDS} rounds of {LENGTH:g} s, 1 kHz, one thread on CPU {CPU}, medians:")
    print(f"CPU time per cycle: tlat {statistics.median(cpu):.0f} ns, {PEER} "
          f"{statistics.median(bare):.0f} ns, with a histogram {statistics.median(full):.0f} ns; "
          f"p50: tlat {statistics.median(p50.ours):.0f} ns, {PEER} "
          f"{statistics.median(p50.theirs):.0f} ns")
    show("CPU time, peer without a histogram", Sides(cpu, bare))
    show("CPU time, peer with a histogram", Sides(cpu, full))
    show("p50", p50)
    show("CPU time, both at the same time", cpu_beside, alternating=False)
    show("p50, both at the same time", p50_beside, alternating=False)


if __name__ == "__main__":
    main()
