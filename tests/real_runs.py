#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Real runs with random options, a third of them interrupted at random moments: every one
leaves a valid report that adds up and says how it ended."""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_schema  # noqa: E402

TLAT = os.environ["TLAT"]
RUNS = int(os.environ.get("TLAT_REAL_RUNS", "200"))
PROBES = ["wake-futex", "wake-eventfd", "timer-nanosleep", "timer-timerfd", "null", "wake-spin",
          "signal-tgkill-handler", "signal-kill-sigwait", "signal-sigqueue-signalfd",
          "signal-pthread-sigqueue-sigsuspend", "signal-kill-epoll-pwait"]


def random_command(rng, cpus, path):
    probe = rng.choice(PROBES)
    command = [TLAT, "run", probe, "--json", path, "--seed", str(rng.randrange(1, 10**6))]
    if rng.random() < 0.5:
        command += ["-n", str(rng.randrange(1, 3000))]
        if probe.startswith("timer"):
            command += ["-i", rng.choice(["100us", "250us"])]
    else:
        command += ["-d", f"{rng.randrange(1, 200)}ms"]
    if probe.startswith(("wake", "signal")) and rng.random() < 0.6:
        command += ["--settle", rng.choice(["0", "1us", "10us", "50us", "200us"])]
    if probe.startswith(("wake-futex", "wake-eventfd", "signal")) and rng.random() < 0.4:
        command += ["-c", str(rng.choice(cpus))]
    elif probe == "signal-tgkill-handler" and len(cpus) > 1 and rng.random() < 0.5:
        command += ["--target", "busy"]
    if probe.startswith("wake") and rng.random() < 0.2:
        command += ["-i", rng.choice(["100us", "1ms"])]
    if rng.random() < 0.3:
        command += ["--policy", "other"]
    if rng.random() < 0.2:
        command += ["--raw", "100"]
    if rng.random() < 0.3:
        command += ["--warmup", "0"]
    return command


def run(rng, cpus, path):
    """One run; whether it was interrupted, and its report."""
    command = random_command(rng, cpus, path)
    interrupted = rng.random() < 0.34
    if interrupted:
        command += ["-d", "20s"] if "-d" not in command and "-n" not in command else []
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if interrupted:
        time.sleep(rng.uniform(0.05, 0.6))
        child.send_signal(rng.choice([signal.SIGINT, signal.SIGTERM]))
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, (command, child.returncode, out, err)
    with open(path, encoding="utf-8") as file:
        report = json.load(file, parse_constant=check_schema.refuse_constant)
    return command, interrupted, report


def check(command, report):
    faults = check_schema.check_document(report)
    assert not faults, (command, faults)
    for result in report["results"]:
        counts = result["counts"]
        assert counts["unfinished"] <= 1, (command, counts)
        if "-n" in command:
            limit = int(command[command.index("-n") + 1])
            assert counts["asked"] <= limit, (command, counts)
            if report["run"]["end"] == "count":
                assert counts["asked"] == limit, (command, counts)


def main():
    rng = random.Random(7)
    cpus = sorted(os.sched_getaffinity(0))
    ends = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.json")
        for _ in range(RUNS):
            command, interrupted, report = run(rng, cpus, path)
            check(command, report)
            end = report["run"]["end"]
            assert end in ("count", "time") or (interrupted and end == "signal"), (command, end)
            ends[end] = ends.get(end, 0) + 1
            os.unlink(path)
    print(f"{RUNS} runs add up; ended by {ends}")
    assert RUNS < 50 or ends.get("signal", 0) > 0, "no run was interrupted"


if __name__ == "__main__":
    main()
