#!/bin/sh
# SPDX-License-Identifier: MIT
# startup.sh - from exec to the first sample, and memory per measuring thread.
# The time is that of a whole run of one sample, so it bounds the first sample
# from above; the memory is what one thread more adds to the resident set in the
# middle of a run, the controller's blocks for it included. Prints; judges
# nothing.
set -eu
exec /usr/bin/python3 - "${TLAT:?path of the tlat binary}" <<'PY'
import os, subprocess, sys, time

TLAT = sys.argv[1]


def run(*args):
    began = time.monotonic()
    child = subprocess.Popen([TLAT, "run", *args, "--quiet", "--json", "-"],
                             stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    return time.monotonic() - began, usage.ru_maxrss


def median(values):
    return sorted(values)[len(values) // 2]


def resident(*args):
    """KiB of the process in the middle of a run of 3 s."""
    child = subprocess.Popen([TLAT, "run", *args, "-d", "3s", "--quiet", "--json", "-"],
                             stdout=subprocess.DEVNULL)
    time.sleep(2)
    with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
        kib = next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))
    child.wait()
    return kib


once = [run("wake-futex", "-n", "1", "--warmup", "0")[0] for _ in range(9)]
print(f"exec to the end of a one-sample run: {min(once) * 1e3:.0f} / {median(once) * 1e3:.0f} / "
      f"{max(once) * 1e3:.0f} ms (min / median / max of 9)")
cpus = sorted(os.sched_getaffinity(0))
if len(cpus) > 1:
    one = median([resident("timer-nanosleep", "-c", str(cpus[0])) for _ in range(3)])
    two = median([resident("timer-nanosleep", "-c", f"{cpus[0]},{cpus[1]}") for _ in range(3)])
    pair = median([resident("wake-futex", "-c", f"{cpus[0]},{cpus[1]}") for _ in range(3)])
    print(f"resident: one timer thread {one} KiB, two {two} KiB: {two - one} KiB a thread")
    print(f"resident: a pair on two CPUs {pair} KiB: {pair - one} KiB more than one timer thread")
PY
