# SPDX-License-Identifier: MIT
"""Field reports M3 and M5: our own tests on a busy CPU, and without the right to real-time. Slow,
as it runs many of them again."""
import os
import re
import subprocess
import sys

import surroundings
from surroundings import (CPUS, HANG_S, command, main, need_commands, need_root, strict)

BUILD = os.environ["TLAT_BUILD"]
NO_REAL_TIME = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
# Those that ask for a policy; what cannot be had is skipped, each with its name.
ASK = ["rt", "control", "timers", "signal", "noise", "deadline", "run", "threads"]
SOME_ARE_SKIPPED = {"rt", "deadline"}


def unit_tests():
    """Commands of the tests that measure nothing."""
    done = command("ctest", "--test-dir", BUILD, "-L", "unit", "-LE", "slow", "--show-only=json-v1")
    return {test["name"]: test["command"] for test in strict(done.out)["tests"]}


def m3():
    """All that measure nothing, on one CPU that others keep busy: slow, and no more than that."""
    cpu = str(CPUS[0])
    busy = [subprocess.Popen(["taskset", "-c", cpu, sys.executable, "-c", "while True: pass"])
            for _ in range(2)]
    try:
        tests = unit_tests()
        assert len(tests) > 15, tests
        for name, words in tests.items():
            done = command("taskset", "-c", cpu, *words)
            assert done.code in (0, 77), (name, (done.out + done.err)[-3000:])
    finally:
        for child in busy:
            child.kill()
            child.wait()


def m5():
    """Without CAP_SYS_NICE a test fails as little as with it; what it leaves out it names."""
    need_commands("setpriv")
    need_root()
    for name in ASK:
        done = command(*NO_REAL_TIME, f"{BUILD}/tests/test-{name}")
        skipped = re.findall(r"\[  SKIPPED \] (\w+)$", done.out + done.err, re.M)
        assert done.code in (0, 77), (name, (done.out + done.err)[-3000:])
        assert skipped or name not in SOME_ARE_SKIPPED, f"{name}: nothing is said to be left out"


if __name__ == "__main__":
    surroundings.HANG_S = 500
    main([m3, m5])
