#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""SIGKILL at random moments: no process goes on, CPUs may idle again, the file of results is whole,
and after the next run nothing is left beside it. tlat ab goes on from its --state. TLAT_KILLS says
how often each command is killed, TLAT_SEED when."""
from __future__ import annotations

import collections
import contextlib
import os
import random
import signal
import struct
import subprocess
import time

import leftover
from leftover import Place, Tally

KILLS = int(os.environ.get("TLAT_KILLS", "4"))
SEED = int(os.environ.get("TLAT_SEED", "1"))
COMMANDS = {
    "run": ["tlat", "run", "timer-nanosleep", "timer-mq", "-d", "TIME", "--save-every", "1ms",
            "--cpu-latency", "0", "--load", "sleep 4713", "--json", "OUT"],
    "append": ["tlat", "run", "wake-futex", "-d", "TIME", "--json", "OUT", "--append"],
    "storm": ["tlat", "storm", "--clocks", "monotonic,itimer-real,timerfd", "-d", "TIME", "--json",
              "OUT"],
    "noise": ["tlat", "noise", "-d", "TIME", "--json", "OUT"],
    "scale": ["tlat", "scale", "timers", "--sizes", "100,2000", "--rounds", "20", "--json", "OUT"],
    "cyclictest": ["cyclictest", "-S", "-m", "-p", "80", "-i", "500", "-D", "1", "-q", "-F", "FIFO",
                   "--tlat-json", "OUT"],
}
WORKERS = ["tlat", "scale", "timers", "-c", "all", "--sizes", "100,2000", "--rounds", "100"]
PAIRS = 4
AB = ["ab", "--a", "exec tlat run null -n 400", "--b", "tlat run null -n 400; true", "--pairs",
      str(PAIRS), "-q", "--seed", "5", "--state"]


def words(name: str, place: Place, seconds: float) -> list[str]:
    places = {"OUT": place.path("out.json"), "FIFO": place.path("fifo"),
              "TIME": f"{int(1000 * seconds)}ms"}
    return leftover.command(places.get(word, word) for word in COMMANDS[name])


def idle_limit() -> int:
    """What all requests for /dev/cpu_dma_latency come to; 0: not for this user."""
    try:
        with open(leftover.IDLE, "rb", buffering=0) as file:
            return int(struct.unpack("i", file.read(4))[0])
    except OSError:
        return 0


def check_idle_limit(before: int, holders: set[int]) -> None:
    """Not stricter than before, unless others measure on this machine."""
    deadline = time.monotonic() + 5
    while idle_limit() < before and time.monotonic() < deadline:
        time.sleep(0.05)
    others = leftover.holders_of_idle() - holders
    assert idle_limit() >= before or others, f"idle states are held off: {idle_limit()} us"


def start(place: Place, command: list[str], **environment: str) -> subprocess.Popen:
    return place.start(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       environment=environment)


def kill_after(child: subprocess.Popen, seconds: float) -> None:
    time.sleep(seconds)
    child.kill()
    child.wait()


def check_no_process(place: Place) -> None:
    deadline = time.monotonic() + 5
    while place.still_running() and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in place.still_running():
        line = leftover.read_text(f"/proc/{pid}/cmdline")
        assert not line, f"goes on: {line!r}"


def check_results(place: Place, name: str) -> None:
    path = place.path("out.json")
    if name == "append":
        leftover.read_lines(path)
    else:
        leftover.read_report(path)


def kill_once(place: Place, name: str, seconds: float) -> None:
    with open(place.path("out.json"), "w", encoding="ascii") as file:
        file.write('{"before": 1}\n')
    before = idle_limit(), leftover.holders_of_idle()
    kill_after(start(place, words(name, place, 1)), seconds)
    check_no_process(place)
    check_idle_limit(*before)
    check_results(place, name)
    if os.path.exists(place.path("fifo")):
        os.unlink(place.path("fifo"))  # the user's path: not to be taken away unasked
    ended = place.run(words(name, place, 0.1))
    assert ended.code == 0, f"the next run: exit {ended.code}: {ended.err[-300:]}"
    check_results(place, name)
    place.check_clean({"out.json"})


def positions(path: str) -> collections.Counter[tuple[str, int]]:
    return collections.Counter((document["design"]["side"], document["design"]["pair"])
                               for document in leftover.read_lines(path))


def kill_ab(place: Place, rng: random.Random) -> None:
    """Several times the same comparison, which is then led to its end."""
    state = place.path("state.jsonl")
    command = [leftover.PROGRAMS["tlat"], *AB, state]
    path = os.path.dirname(leftover.PROGRAMS["tlat"]) + ":" + os.environ["PATH"]
    for _ in range(KILLS):
        kill_after(start(place, command, PATH=path), rng.uniform(0.05, 1.2))
        check_no_process(place)
    with open(state, "a", encoding="ascii") as file:
        file.write('{"schema": "timerlat-report/1", "tool": {"ver')  # killed while it wrote
    ended = place.run(command, environment={"PATH": path})
    assert ended.code in (0, 1, 77), f"exit {ended.code}: {ended.err[-300:]}"
    assert "cut short" in ended.err, f"says nothing of the line that was not whole: {ended.err}"
    made = positions(state)
    assert made == {(side, pair): 1 for side in "AB" for pair in range(PAIRS)}, made
    place.check_clean({"state.jsonl"})


def command_under_way_ends(place: Place) -> None:
    """Whether the shell became the command or not."""
    tlat = leftover.PROGRAMS["tlat"]
    for side in (f"exec {tlat} run null -d 40s", f"{tlat} run null -d 40s; true"):
        child = start(place, [tlat, "ab", "--a", side, "--b", side, "-q"])
        time.sleep(0.5)
        assert len(place.still_running()) >= 2, "no command was under way"
        kill_after(child, 0)
        check_no_process(place)


def kill_a_worker(place: Place, rng: random.Random) -> bool:
    """The others must not wait for it for ever. Whether it died at work."""
    child = place.start(leftover.command(WORKERS), text=True, stdout=subprocess.DEVNULL,
                        stderr=subprocess.PIPE)
    time.sleep(rng.uniform(0.05, 1.2))
    workers = sorted(place.still_running() - {child.pid})
    if workers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(rng.choice(workers), signal.SIGKILL)
    try:
        _, err = child.communicate(timeout=30)
    finally:
        child.kill()
    assert child.returncode in (0, 2), f"exit {child.returncode}: {err[-300:]}"
    assert child.returncode == 0 or "died (signal 9)" in err, f"does not say so: {err[-300:]}"
    check_no_process(place)
    place.check_clean(())
    return child.returncode == 2


def file_in_the_way_is_replaced(place: Place) -> None:
    """As a run leaves it that is killed between making its file and giving it its name; a file of
    somebody else is not in the way."""
    for name in ("run", "storm"):
        for other in (".out.json.timerlat-tmp", "out.json.tmp"):
            with open(place.path(other), "w", encoding="ascii") as file:
                file.write("half of a rep")
        ended = place.run(words(name, place, 0.05))
        assert ended.code == 0, f"exit {ended.code}: {ended.err[-300:]}"
        leftover.read_report(place.path("out.json"))
        assert leftover.read_text(place.path("out.json.tmp")) == "half of a rep"
        place.check_clean({"out.json", "out.json.tmp"})


def main() -> None:
    rng = random.Random(SEED)
    tally = Tally()
    with leftover.message_queues() as queues, Place(queues) as place:
        for name in COMMANDS:
            for _ in range(KILLS):
                seconds = rng.uniform(0.02, 0.9)
                with tally.case(f"{name} killed after {seconds:.3f} s"):
                    kill_once(place, name, seconds)
                place.clear(())
        died = 0
        for _ in range(KILLS):
            with tally.case("a worker of scale"):
                died += kill_a_worker(place, rng)
            place.clear(())
        with tally.case("workers of scale"):
            assert died or not KILLS, "none was killed at work"
        with tally.case("ab"):
            kill_ab(place, rng)
        with tally.case("ab, a command under way"):
            command_under_way_ends(place)
        place.clear(())
        with tally.case("a file in the way"):
            file_in_the_way_is_replaced(place)
    tally.end(f"cases with {KILLS * (len(COMMANDS) + 1)} kills by signal {signal.SIGKILL:d}")


if __name__ == "__main__":
    main()
