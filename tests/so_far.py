#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The file of --json while a run goes on: whole at any moment, never less than before, and still
there when the run is killed; a pipe gets the last report alone."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_schema  # noqa: E402

TLAT = os.environ["TLAT"]
VALIDATOR = check_schema.validator()


def report(path):
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    VALIDATOR.validate(document)
    for result in document["results"]:
        counts = result["counts"]
        rejected = sum(counts["rejected"].values())
        assert counts["asked"] == rejected + sum(
            counts[name] for name in check_schema.COUNTED), counts
    return document


def start(path, *options):
    return subprocess.Popen(
        [TLAT, "run", "--policy", "other", "--json", path, "--save-every", "100ms", *options],
        stdout=subprocess.DEVNULL)


def ends_of(document):
    return [result["end"] for result in document["results"]]


def watch(path):
    """Every version of the file that was seen, until the run is over."""
    child = start(path, "timer-nanosleep", "wake-futex", "-d", "1s")
    seen = []
    while child.poll() is None:
        if os.path.exists(path):
            seen.append(report(path))
        time.sleep(0.03)
    assert child.returncode == 0, child.returncode
    return seen + [report(path)]


def test_file_grows(path):
    seen = watch(path)
    asked = [sum(result["counts"]["asked"] for result in document["results"])
             for document in seen]
    assert asked == sorted(asked), asked
    assert ["running"] in map(ends_of, seen), "the first run was never seen under way"
    assert ["time", "running"] in map(ends_of, seen), "nor the second after the first"
    assert ends_of(seen[-1]) == ["time", "time"], ends_of(seen[-1])
    assert all(document["run"]["repeat"].startswith("tlat run") for document in seen)


def test_killed_run_leaves_what_it_had(path):
    child = start(path, "timer-nanosleep", "-d", "60s")
    deadline = time.monotonic() + 30
    while not os.path.exists(path) and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert report(path)["run"]["end"] == "running"
    shown = subprocess.run([TLAT, "show", path], capture_output=True, text=True, check=True)
    assert "running" in shown.stdout, shown.stdout


def test_pipe_gets_one_report(path):
    os.mkfifo(path)
    child = start(path, "timer-nanosleep", "wake-futex", "-d", "500ms")
    with open(path, encoding="utf-8") as fifo:
        lines = fifo.read().splitlines()
    assert child.wait() == 0, child.returncode
    assert len(lines) == 1, f"{len(lines)} reports"
    assert ends_of(json.loads(lines[0])) == ["time", "time"], lines[0]


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_file_grows(os.path.join(folder, "grows.json"))
        test_killed_run_leaves_what_it_had(os.path.join(folder, "killed.json"))
        test_pipe_gets_one_report(os.path.join(folder, "fifo"))
    print("the file of --json is whole at any moment")


if __name__ == "__main__":
    main()
