#!/bin/sh
# SPDX-License-Identifier: MIT
# cyclic_vs.sh - one timer thread at 1 kHz against Debian's cyclictest (rt-tests), alternating: same
# CPU, SCHED_FIFO 40, absolute clock_nanosleep(2), both holding /dev/cpu_dma_latency at 0. Prints
# ratios; judges nothing.
#
# The last lines have both on that CPU at the same time, their periods 1.7 % apart, so that each is as
# often the first to wake as the other: what the machine does meanwhile, it does to both.
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


def per_cycle(*commands):
    """CPU time of each measuring thread in a cycle, while it does nothing else."""
    children = [subprocess.Popen(args, stdout=subprocess.DEVNULL) for args, _ in commands]
    time.sleep(0.5)
    paths = [measuring_thread(child) for child in children]
    before = [cpu_ns(path) for path in paths]
    time.sleep(SECONDS)
    after = [cpu_ns(path) for path in paths]
    for child in children:
        if child.wait():
            sys.exit(f"cyclic_vs: {child.args[0]} gave {child.returncode}")
    return [(b[0] - a[0]) / (b[1] - a[1]) * period_us / 1e6
            for a, b, (_, period_us) in zip(before, after, commands)]


def our_command(path, period_us=1000):
    return [TLAT, "run", "timer-nanosleep", "-c", CPU, "-i", f"{period_us}us", "-d", f"{LENGTH}s",
            "-p", "40", "--policy", "fifo", "--cpu-latency", "0", "--warmup", "0", "--quiet",
            "--json", path], period_us


def their_command(*more, period_us=1000):
    return ["cyclictest", "-q", "-m", "-t1", "-a", CPU, "-p", "40", "-i", str(period_us),
            "-D", str(int(LENGTH)), *more], period_us


def ours(path):
    return per_cycle(our_command(path))[0]


def histogram_to(path):
    return "-N", "-h", "1000000", f"--json={path}"


def theirs(*more):
    return per_cycle(their_command(*more))[0]


def together(our_path, their_path, our_period_us, their_period_us):
    """Ratios of CPU times and medians when both run at the same time, both with a histogram."""
    mine, other = per_cycle(our_command(our_path, our_period_us),
                            their_command(*histogram_to(their_path), period_us=their_period_us))
    return mine / other, our_median(our_path) / their_median(their_path)


def their_median(path):
    with open(path, encoding="utf-8") as report:
        pairs = json.load(report)["thread"]["0"]["histogram"].items()
    return median([int(ns) for ns, count in pairs for _ in range(count)])


def our_median(path):
    """Rank for rank as theirs, from the lower edges of bins that are 0.1 % wide at most."""
    with open(path, encoding="utf-8") as report:
        histogram = json.load(report)["results"][0]["histogram"]
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


cpu, bare, full, p50, their_p50, side = [], [], [], [], [], []
with tempfile.TemporaryDirectory() as work:
    path, other = os.path.join(work, "tlat.json"), os.path.join(work, "cyclictest.json")
    for _ in range(ROUNDS):
        cpu.append(ours(path))
        p50.append(our_median(path))
        bare.append(theirs())
        full.append(theirs(*histogram_to(other)))
        their_p50.append(their_median(other))
        side += [together(path, other, 1000, 1017), together(path, other, 1017, 1000)]
print(f"{ROUNDS} rounds of {LENGTH:g} s, 1 kHz, one thread on CPU {CPU}, medians:")
print(f"CPU time per cycle: tlat {median(cpu):.0f} ns, cyclictest {median(bare):.0f} ns, "
      f"with a histogram {median(full):.0f} ns; p50: tlat {median(p50):.0f} ns, "
      f"cyclictest {median(their_p50):.0f} ns")
show("CPU time, cyclictest without a histogram", [a / b for a, b in zip(cpu, bare)], itself(bare))
show("CPU time, cyclictest with a histogram", [a / b for a, b in zip(cpu, full)], itself(full))
show("p50", [a / b for a, b in zip(p50, their_p50)], itself(their_p50))
for what, ratios in zip(("CPU time", "p50"), zip(*side)):
    print(f"{what}, both at the same time, both with a histogram: ratio {median(ratios):.3f} "
          f"({min(ratios):.3f}..{max(ratios):.3f})")
PY
