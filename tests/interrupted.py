#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""SIGINT, SIGTERM and SIGHUP at random moments: what had been measured is kept, the exit code is the
documented one, and nothing is left behind. TLAT_SIGNALS says how often for each command, TLAT_SEED
when."""
from __future__ import annotations

import dataclasses
import os
import random
import re
import signal
import subprocess
import time
from typing import Any

import leftover
from leftover import Ended, Place, Tally

SIGNALS = int(os.environ.get("TLAT_SIGNALS", "1"))
SEED = int(os.environ.get("TLAT_SEED", "1"))


@dataclasses.dataclass
class Command:
    """codes: when it was ended by a signal, and when that came too late."""
    words: list[str]
    codes: tuple[int, int] = (0, 0)
    keeps: bool = True  # what it had measured


COMMANDS = {
    "run": Command(["tlat", "run", "timer-nanosleep", "wake-futex", "-d", "500ms", "--json",
                    "OUT"]),
    "budget": Command(["tlat", "run", "timer-nanosleep", "-d", "700ms", "--budget", "p50<1s",
                       "--json", "OUT"], (77, 0)),
    "storm": Command(["tlat", "storm", "-d", "700ms", "--json", "OUT"]),
    "sweep": Command(["tlat", "storm", "--rate", "1k,2k,4k", "-d", "300ms", "--json", "OUT"]),
    "noise": Command(["tlat", "noise", "-c", "all", "-d", "700ms", "--json", "OUT"]),
    "scale": Command(["tlat", "scale", "timers", "--sizes", "100,5000", "--rounds", "30", "--json",
                      "OUT"]),
    "pairs": Command(["tlat", "scale", "pairs", "--sizes", "1,2,3", "-d", "300ms", "--json",
                      "OUT"]),
    "self-test": Command(["tlat", "check", "--self-test", "--trials", "20", "--json", "OUT"],
                         (2, 0), keeps=False),
    "ab": Command(["tlat", "ab", "null", "--opt", "-n 300", "--pairs", "3", "-q", "--state",
                   "LINES"], (2, 77), keeps=False),
    "shell": Command(["tlat", "ab", "--a", "sleep 5; true", "--b", "sleep 5", "--metric", "[0-9]",
                      "--state", "LINES"], (2, 2), keeps=False),
    "cyclictest": Command(["cyclictest", "-S", "-i", "1000", "-D", "1", "-q", "-F", "FIFO",
                           "--json", "OUT", "--tlat-json", "OUT2"]),
}
PLACES = {"OUT": "out.json", "OUT2": "out2.json", "LINES": "lines.jsonl", "FIFO": "fifo"}
KEPT = {"out.json", "out2.json", "lines.jsonl", "cache"}


def waits_for(child: subprocess.Popen, number: int) -> bool:
    """Whether the process has a handler by now; before, nothing was measured."""
    status = leftover.read_text(f"/proc/{child.pid}/status") or ""
    for line in status.splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> number - 1 & 1)
    return False


def interrupt(place: Place, command: Command, number: int, seconds: float) -> Ended:
    words = leftover.command(place.path(PLACES[word]) if word in PLACES else word
                             for word in command.words)
    child = place.start(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not waits_for(child, number) and child.poll() is None:
        time.sleep(0.001)
    time.sleep(seconds)
    if child.poll() is None:
        child.send_signal(number)
    try:
        out, err = child.communicate(timeout=30)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise
    return Ended(child.returncode, out, err)


def asked(document: Any) -> int:
    return sum(result["counts"]["asked"] for result in document["results"])


def check_kept(place: Place, command: Command, ended: Ended, early: bool) -> None:
    """The report says whether a signal ended it, and so does what is printed."""
    document = leftover.read_report(place.path("out.json"))
    if command.words[0] == "cyclictest":
        assert set(document["thread"]), "a results file without threads"
        document = leftover.read_report(place.path("out2.json"))
        said = document["run"]["end"] == "signal"
        assert ended.out.count("T: ") == len(document["results"]), ended.out
    else:
        said = "ended by a signal" in ended.out
    assert said == (document["run"]["end"] == "signal"), \
        f"end {document['run']['end']}, and it prints {ended.out[-300:]}"
    expected = command.codes[0 if said else 1]
    assert ended.code == expected, f"exit {ended.code}, not {expected}: {ended.err[-300:]}"
    assert early or document["results"], "no result"
    assert "repeat: " in ended.out or command.words[0] == "cyclictest", "no command repeats it"


def check_given_up(command: Command, ended: Ended) -> None:
    """No answer, unless there is one of a part: the pairs that tlat ab has."""
    said = "ended by a signal" in ended.err
    partial = "verdict: " in ended.out
    assert ended.code in command.codes[1 if partial or not said else 0:] + (0, 1) * partial, \
        f"exit {ended.code}: {ended.err[-300:]}"
    assert not said or len(ended.lines()) == 1, ended.err


def try_signal(place: Place, command: Command, number: int, seconds: float) -> None:
    ended = interrupt(place, command, number, seconds)
    assert ended.code >= 0, f"signal {-ended.code} ended it at once"
    if command.keeps:
        check_kept(place, command, ended, seconds < 0.3)
    else:
        check_given_up(command, ended)
    if os.path.exists(place.path("lines.jsonl")):
        leftover.read_lines(place.path("lines.jsonl"))
    place.check_clean(KEPT)


def limit_of_real_time_is_told(place: Place) -> None:
    """The kernel's signal at RLIMIT_RTTIME, here one of a millisecond; a waker spins for longer."""
    tlat = leftover.command(["tlat", "run", "wake-futex", "--settle", "2ms", "-n", "1000",
                             "--policy", "fifo", "-p", "5"])
    ended = place.run(["prlimit", "--rttime=1000:", *tlat])
    if "EPERM" in ended.err or "policy-refused" in ended.out + ended.err:
        assert "RLIMIT_RTTIME" not in ended.out + ended.err, ended.out
        return  # this user gets no real-time policy
    assert ended.code == 2, f"exit {ended.code}: {ended.err}"
    assert len(ended.lines()) == 1 and "real-time thread" in ended.err, ended.err
    place.check_clean()


# With a soft limit of its own, and as ulimit -t sets it: at once the last word.
CPU_LIMITS = {"1:4": 1, "2:2": 2}


def limit_of_cpu_time_keeps_the_figures(place: Place, limits: str, seconds: int) -> None:
    """The same signal of the kernel for another limit."""
    out = place.path("out.json")
    words = {
        "run": ["tlat", "run", "timer-spin", "-d", "30s", "--json", out],
        "noise": ["tlat", "noise", "-c", "0", "-d", "30s", "--json", out],
        "scale": ["tlat", "scale", "pairs", "-d", "30s", "--json", out],
    }
    for name, command in words.items():
        ended = place.run(["prlimit", f"--cpu={limits}", *leftover.command(command)])
        assert ended.code == 0, f"{name}: exit {ended.code}: {ended.err}"
        assert f"RLIMIT_CPU is {seconds} s" in ended.lines()[-1], f"{name}: {ended.err}"
        assert "RTTIME" not in ended.err, f"{name}: {ended.err}"
        document = leftover.read_report(out)
        assert document["run"]["end"] == "signal" and document["run"]["duration_ns"] > 0
        place.check_clean(KEPT)
        place.clear(())


# Ten times the longest spin in us, and at least 2 s: a settle, or an interval that is spent awake.
REAL_TIME_LIMITS = {
    "timer-spin -i 1ms": 2_000_000,
    "timer-cputime": 2_000_000,
    "timer-nanosleep -i 3s": 2_000_000,
    "wake-futex --settle 1s": 10_000_000,
    "signal-kill-handler --target busy -i 3s": 30_000_000,
    "timer-spin wake-futex -i 3s": 30_000_000,
}


def soft_limit_us(pid: int) -> int | None:
    """RLIMIT_RTTIME of a process; None: unlimited, or it is gone."""
    text = leftover.read_text(f"/proc/{pid}/limits") or ""
    match = re.search(r"^Max realtime timeout +(\d+)", text, re.MULTILINE)
    return int(match[1]) if match else None


def limit_of_real_time_is_set(place: Place, words: str, limit_us: int) -> None:
    child = place.start(leftover.command(["tlat", "run", *words.split(), "-d", "1h"]),
                        stdout=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not (us := soft_limit_us(child.pid)) and time.monotonic() < until:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    child.wait(leftover.LIMIT_S)
    assert us == limit_us, f"{us} us"


def a_long_spin_is_within_the_limit(place: Place) -> None:
    """A single one that is longer than the limit of short ones."""
    ended = place.run(leftover.command(
        ["tlat", "run", "timer-spin", "-i", "2500ms", "-n", "1", "--warmup", "0"]))
    assert ended.code == 0 and not ended.lines(), f"exit {ended.code}: {ended.err}"
    place.check_clean()


def main() -> None:
    rng = random.Random(SEED)
    tally = Tally()
    with leftover.message_queues() as queues, Place(queues) as place:
        for name, command in COMMANDS.items():
            for _ in range(SIGNALS):
                number = rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
                seconds = rng.choice((rng.uniform(0, 0.05), rng.uniform(0, 1.1)))
                with tally.case(f"{name}: {number.name} after {seconds:.3f} s"):
                    try_signal(place, command, number, seconds)
                place.clear(())
        with tally.case("the limit of real-time threads"):
            limit_of_real_time_is_told(place)
        for limits, seconds in CPU_LIMITS.items():
            with tally.case(f"a limit of CPU time of {limits}"):
                limit_of_cpu_time_keeps_the_figures(place, limits, seconds)
        for words, limit_us in REAL_TIME_LIMITS.items():
            with tally.case(f"the limit of {words}"):
                limit_of_real_time_is_set(place, words, limit_us)
        with tally.case("a spin of 2.5 s"):
            a_long_spin_is_within_the_limit(place)
    tally.end("signals sent")


if __name__ == "__main__":
    main()
