# SPDX-License-Identifier: MIT
"""Field reports M: gates of continuous integration."""
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

from surroundings import (HANG_S, LAST, SOURCE, TLAT, command, main, preloaded, report_of,
                          strict)

QUICK = ["timer-nanosleep", "-c", LAST, "-n", 300, "-q"]


def m1():
    """Four answers have four exit codes; what broke the limit is in the report, with its time."""
    codes = {}
    done = command(TLAT, "run", *QUICK, "--budget", "max<1ns", "--json", "-")
    codes["breach"] = done.code
    found = strict(done.out)
    assert found["verdict"] == "FAIL" and "max<1ns" in str(found["results"][0]["budget"]), found
    worst = found["results"][0]["outliers"][0]
    assert worst["value_ns"] == found["results"][0]["summary"]["max_ns"] and worst["t_ns"] >= 0
    done = command(TLAT, "run", *QUICK, "--budget", "max<1000s", "--json", "-")
    codes["pass"] = done.code
    assert (done.code, strict(done.out)["verdict"]) in ((0, "PASS"), (77, "INCONCLUSIVE")), done
    codes["error"] = command(TLAT, "run", *QUICK, "--budget", "max<10").code
    child = subprocess.Popen([TLAT, "run", "timer-nanosleep", "-d", "1h", "-q", "--budget",
                              "max<1000s"], stdout=subprocess.DEVNULL)
    while len(os.listdir(f"/proc/{child.pid}/task")) < 2:  # its handlers are there by then
        time.sleep(0.005)
    time.sleep(0.6)
    child.send_signal(signal.SIGTERM)
    codes["interrupted"] = child.wait(HANG_S)
    # degraded conditions turn a pass into inconclusive, so that it may be 77 here
    assert codes["breach"] == 1 and codes["error"] == 2 and codes["interrupted"] == 77, codes
    assert codes["pass"] in (0, 77), codes


def calibrated(fault):
    env = {**preloaded("clock"), "FAKE_CLOCK": fault}
    clock = report_of("null", "-c", LAST, "-n", 50, "--clock", "clock_gettime", env=env)["clock"]
    return clock["read_cost_ns"]


def m4():
    """One reading in a thousand that is late by 1 ms adds 1 us to the mean of a reading's cost, and
    nothing to what calibration says it is."""
    costs = [(calibrated("rarely:0"), calibrated("rarely:1000000")) for _ in range(5)]
    less, more = (statistics.median(column) for column in zip(*costs))
    assert more - less < 500, costs


def made(folder, name, *words):
    """Reports of simulated runs."""
    path = f"{folder}/{name}"
    done = command("/usr/bin/python3", f"{SOURCE}/tests/make_reports.py", path, *words)
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
        done = command(TLAT, "compare", base, worse, "--threshold", "20%")
        assert done.code == 1 and "verdict: REGRESSION" in done.out, done
        assert re.search(r"p50 +[0-9.]+[nu]s +[0-9.]+[nu]s +\+(29|30)\.", done.out), done
        done = command(TLAT, "compare", base, within, "--threshold", "20%")
        assert done.code == 0 and "verdict: TRIVIAL" in done.out, done
        done = command(TLAT, "compare", base, other, "--threshold", "20%")
        assert done.code == 2 and not done.out and "settle" in done.err, done
        few = made(folder, "few", "side=A", "n=5", "seed=5")
        four = made(folder, "four", "side=B", "n=4", "seed=6", "start=1")
        bad = made(folder, "bad", "side=B", "n=1", "seed=7", "start=9", "factor=1.3")
        with open(four, "a", encoding="utf-8") as file, open(bad, encoding="utf-8") as one:
            file.write(one.read())
        done = command(TLAT, "compare", few, four, "--threshold", "20%")
        assert done.code == 77 and "verdict: REGRESSION" not in done.out, done


def m7():
    """Without a limit nothing passes: there is no verdict. An empty one is refused, and of several
    the worst decides, so that the specific one is never hidden by the general one."""
    done = command(TLAT, "run", *QUICK)
    assert done.code == 0 and "verdict" not in done.out and "PASS" not in done.out, done
    found = report_of(*QUICK[:-1])
    assert "verdict" not in found and not found["results"][0].get("budget"), found.get("verdict")
    for empty in ("", " ", ",", "max<1s,"):
        done = command(TLAT, "run", *QUICK, "--budget", empty)
        assert done.code == 2 and not done.out and "empty" in done.err, done
    for both in ("max<1000s, min<1ns", "min<1ns, max<1000s"):
        done = command(TLAT, "run", *QUICK, "--budget", both)
        assert done.code == 1, done


if __name__ == "__main__":
    main([m1, m4, m6, m7])
