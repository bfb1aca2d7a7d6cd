#!/bin/sh
# SPDX-License-Identifier: MIT
# startup.sh - from exec to the first sample, and memory per measuring thread.
# The time is that of a whole run of one sample, so it bounds the first sample
# from above; the memory is what one thread more adds to the peak. Prints;
# judges nothing.
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


once = [run("wake-futex", "-n", "1", "--warmup", "0")[0] for _ in range(9)]
print(f"exec to the end of a one-sample run: {min(once) * 1e3:.0f} / {median(once) * 1e3:.0f} / "
      f"{max(once) * 1e3:.0f} ms (min / median / max of 9)")
cpus = sorted(os.sched_getaffinity(0))
if len(cpus) > 1:
    one = median([run("timer-nanosleep", "-c", str(cpus[0]), "-n", "50")[1] for _ in range(5)])
    two = median([run("timer-nanosleep", "-c", f"{cpus[0]},{cpus[1]}", "-n", "50")[1]
                  for _ in range(5)])
    print(f"peak memory: one measuring thread {one} KiB, two {two} KiB: "
          f"{two - one} KiB a thread, the controller's blocks included")
PY
