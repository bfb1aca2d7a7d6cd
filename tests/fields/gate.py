# SPDX-License-Identifier: MIT
"""Field reports M: gates of continuous integration."""
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import confined
import run_tlat
from run_tlat import LAST, SOURCE, TLAT, report, run, strict

QUICK = ["timer-nanosleep", "-c", LAST, "-n", 300, "-q"]


def m1():
    """Four answers have four exit codes; what broke the limit is in the report, with its time."""
    codes = {}
    done = run(TLAT, "run", *QUICK, "--budget", "max<1ns", "--json", "-")
    codes["breach"] = done.code
    found = strict(done.out)
    assert found["verdict"] == "FAIL" and "max<1ns" in str(found["results"][0]["budget"]), found
    worst = found["results"][0]["outliers"][0]
    assert worst["value_ns"] == found["results"][0]["summary"]["max_ns"] and worst["t_ns"] >= 0
    done = run(TLAT, "run", *QUICK, "--budget", "max<1000s", "--json", "-")
    codes["pass"] = done.code
    assert (done.code, strict(done.out)["verdict"]) in ((0, "PASS"), (77, "INCONCLUSIVE")), done
    codes["error"] = run(TLAT, "run", *QUICK, "--budget", "max<10").code
    child = subprocess.Popen([TLAT, "run", "timer-nanosleep", "-d", "1h", "-q", "--budget",
                              "max<1000s"], stdout=subprocess.DEVNULL)
    while len(os.listdir(f"/proc/{child.pid}/task")) < 2:  # its handlers are there by then
        time.sleep(0.005)
    time.sleep(0.6)
    child.send_signal(signal.SIGTERM)
    codes["interrupted"] = child.wait(run_tlat.HUNG_S)
    # degraded conditions turn a pass into inconclusive, so that it may be 77 here
    assert codes["breach"] == 1 and codes["error"] == 2 and codes["interrupted"] == 77, codes
    assert codes["pass"] in (0, 77), codes


def calibrated(env):
    clock = report("null", "-c", LAST, "-n", 50, "--clock", "clock_gettime", env=env)["clock"]
    return clock["read_cost_ns"]


def m4():
    """One reading in a thousand that is late by 1 ms adds 1 us to the mean of a reading's cost, and
    nothing to what calibration says it is."""
    with tempfile.TemporaryDirectory() as calm, tempfile.TemporaryDirectory() as late:
        calm_env = confined.slow_clock(calm, 1000, 0)
        late_env = confined.slow_clock(late, 1000, 1000000)
        costs = [(calibrated(calm_env), calibrated(late_env)) for _ in range(5)]
    less, more = (statistics.median(column) for column in zip(*costs))
    assert more - less < 500, costs


def made(folder, name, *words):
    """Reports of simulated runs."""
    path = f"{folder}/{name}"
    done = run("/usr/bin/python3", f"{SOURCE}/tests/make_reports.py", path, *words)
    assert done.code == 0, done
    return path


def m6():
    """A limit in per cent over a baseline of several runs: a verdict and the figures it is of,
    nothing from a single bad run, and no verdict on what is not alike."""
    with tempfile.TemporaryDirectory() as folder:
        base = made(folder, "base", "side=A", "seed=1")
        worse = made(folder, "worse", "side=B", "seed=2", "start=1", "factor=1.3")
        within = made(folder, "within", "side=B", "seed=3", "start=1", "factor=1.1")
        other = made(folder, "other", "side=B", "seed=4", "start=1", "settle=100000")
        done = run(TLAT, "compare", base, worse, "--threshold", "20%")
        assert done.code == 1 and "verdict: REGRESSION" in done.out, done
        assert re.search(r"p50 +[0-9.]+[nu]s +[0-9.]+[nu]s +\+(29|30)\.", done.out), done
        done = run(TLAT, "compare", base, within, "--threshold", "20%")
        assert done.code == 0 and "verdict: TRIVIAL" in done.out, done
        done = run(TLAT, "compare", base, other, "--threshold", "20%")
        assert done.code == 2 and not done.out and "settle" in done.err, done
        few = made(folder, "few", "side=A", "n=5", "seed=5")
        four = made(folder, "four", "side=B", "n=4", "seed=6", "start=1")
        bad = made(folder, "bad", "side=B", "n=1", "seed=7", "start=9", "factor=1.3")
        with open(four, "a", encoding="utf-8") as file, open(bad, encoding="utf-8") as one:
            file.write(one.read())
        done = run(TLAT, "compare", few, four, "--threshold", "20%")
        assert done.code == 77 and "verdict: REGRESSION" not in done.out, done


def m7():
    """Without a limit nothing passes: there is no verdict. An empty one is refused, and of several
    the worst decides, so that the specific one is never hidden by the general one."""
    done = run(TLAT, "run", *QUICK)
    assert done.code == 0 and "verdict" not in done.out and "PASS" not in done.out, done
    found = report(*QUICK[:-1])
    assert "verdict" not in found and not found["results"][0].get("budget"), found.get("verdict")
    for empty in ("", " ", ",", "max<1s,"):
        done = run(TLAT, "run", *QUICK, "--budget", empty)
        assert done.code == 2 and not done.out and "empty" in done.err, done
    for both in ("max<1000s, p50<1ns", "p50<1ns, max<1000s"):
        assert run(TLAT, "run", *QUICK, "--budget", both).code == 1, both


if __name__ == "__main__":
    sys.exit(run_tlat.main({"M1": m1, "M4": m4, "M6": m6, "M7": m7}))
