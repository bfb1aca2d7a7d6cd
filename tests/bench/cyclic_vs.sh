#!/bin/sh
# SPDX-License-Identifier: MIT
# cyclic_vs.sh - one timer thread at 1 kHz against Debian's cyclictest (rt-tests), alternating: same
# CPU, SCHED_FIFO 40, absolute clock_nanosleep(2), both holding /dev/cpu_dma_latency at 0. Prints
# ratios; judges nothing.
#
# The CPU time is that of the measuring thread alone in the middle of its run, as the scheduler has
# it (schedstat), over the cycles of that time. cyclictest keeps a histogram only when it is asked
# to: its CPU time is taken without one and with one, its median from the runs with one.
#
#	TLAT=build/tlat cyclic_vs.sh [ROUNDS [SECONDS [CPU]]]	(default 9, 4, the last one)
set -eu
command -v cyclictest >/dev/null || { echo "cyclic_vs: cyclictest is missing: apt-get install rt-tests"; exit 2; }
exec /usr/bin/python3 - "${TLAT:?path of the tlat binary}" "$@" <<'PY'
import json, os, subprocess, sys, tempfile, time

TLAT, ROUNDS, SECONDS, CPU = (sys.argv + [9, 4, max(os.sched_getaffinity(0))][len(sys.argv) - 2:])[1:5]
ROUNDS, SECONDS, CPU = int(ROUNDS), float(SECONDS), str(CPU)
LENGTH = SECONDS + 2  # a second for the start, one for the end
SCHED_FIFO = 1


def policy_of(task):
    try:
        with open(f"{task}/stat", encoding="ascii") as stat:
            return int(stat.read().rsplit(")", 1)[1].split()[38])
    except OSError:  # it has ended meanwhile
        return None


def measuring_thread(child):
    """The one thread under SCHED_FIFO, once those that calibrate have gone."""
    before = None
    while child.poll() is None:
        time.sleep(0.1)
        tasks = [f"/proc/{child.pid}/task/{tid}" for tid in os.listdir(f"/proc/{child.pid}/task")]
        found = [task for task in tasks if policy_of(task) == SCHED_FIFO]
        if len(found) == 1 and found == before:
            return f"{found[0]}/schedstat"
        before = found
    sys.exit("cyclic_vs: no thread stayed under SCHED_FIFO; run as root")


def cpu_ns(path):
    with open(path, encoding="ascii") as schedstat:
        return int(schedstat.read().split()[0]), time.monotonic()


def per_cycle(args):
    """CPU time of the measuring thread per ms, which is a cycle, while it does nothing else."""
    child = subprocess.Popen(args, stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    path = measuring_thread(child)
    spent, began = cpu_ns(path)
    time.sleep(SECONDS)
    spent_later, ended = cpu_ns(path)
    if child.wait():
        sys.exit(f"cyclic_vs: {args[0]} gave {child.returncode}")
    return (spent_later - spent) / ((ended - began) * 1000)


def ours(path):
    cpu = per_cycle([TLAT, "run", "timer-nanosleep", "-c", CPU, "-i", "1ms", "-d", f"{LENGTH}s",
                     "-p", "40", "--policy", "fifo", "--cpu-latency", "0", "--warmup", "0",
                     "--quiet", "--json", path])
    with open(path, encoding="utf-8") as report:
        histogram = json.load(report)["results"][0]["histogram"]
    return cpu, histogram


def theirs(*more):
    return per_cycle(["cyclictest", "-q", "-m", "-t1", "-a", CPU, "-p", "40", "-i", "1000",
                      "-D", str(int(LENGTH)), *more])


def their_median(path):
    with open(path, encoding="utf-8") as report:
        pairs = json.load(report)["thread"]["0"]["histogram"].items()
    return median([int(ns) for ns, count in pairs for _ in range(count)])


def our_median(histogram):
    """Rank for rank as theirs, from the lower edges of bins that are 0.1 % wide at most."""
    unit = 1e9 / histogram["hz"]
    return median([low_edge(index) * unit for index, count in histogram["counts"]
                   for _ in range(count)])


def low_edge(index):
    bucket = max(0, index // 1024 - 1)
    return (index - bucket * 1024) << bucket


def median(values):
    return sorted(values)[len(values) // 2]


def show(what, ratios, same):
    print(f"{what}: ratio {median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f}); "
          f"cyclictest against itself {min(same):.3f}..{max(same):.3f}")


def itself(values):
    return [b / a for a, b in zip(values, values[1:])] or [1]


cpu, bare, full, p50, their_p50 = [], [], [], [], []
with tempfile.TemporaryDirectory() as work:
    path = os.path.join(work, "report.json")
    for _ in range(ROUNDS):
        spent, histogram = ours(path)
        cpu.append(spent)
        p50.append(our_median(histogram))
        bare.append(theirs())
        full.append(theirs("-N", "-h", "1000000", f"--json={path}"))
        their_p50.append(their_median(path))
print(f"{ROUNDS} rounds of {LENGTH:g} s, 1 kHz, one thread on CPU {CPU}, medians:")
print(f"CPU time per cycle: tlat {median(cpu):.0f} ns, cyclictest {median(bare):.0f} ns, "
      f"with a histogram {median(full):.0f} ns; p50: tlat {median(p50):.0f} ns, "
      f"cyclictest {median(their_p50):.0f} ns")
show("CPU time, cyclictest without a histogram", [a / b for a, b in zip(cpu, bare)], itself(bare))
show("CPU time, cyclictest with a histogram", [a / b for a, b in zip(cpu, full)], itself(full))
show("p50", [a / b for a, b in zip(p50, their_p50)], itself(their_p50))
PY
