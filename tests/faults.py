#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every system call and every allocation that a command makes fails once, one at a time: the
command ends in time, with an exit code of its own and a clear line, with a whole report, the new
one or the one before, and leaves nothing behind. TLAT_FAULTS says how many faults to try of each
command (0: all), TLAT_SEED which."""
from __future__ import annotations

import collections
import dataclasses
import itertools
import os
import random
import re
import shutil
import subprocess
from typing import Iterator

import leftover
from leftover import Ended, Place, Tally

FAULTS = int(os.environ.get("TLAT_FAULTS", "36"))
SEED = int(os.environ.get("TLAT_SEED", "1"))


@dataclasses.dataclass
class Command:
    """OUT is a file with a report of before, LINES one that is not there yet, SAVED and OTHER are
    reports of earlier runs."""
    words: list[str]
    codes: tuple[int, ...] = (0, 2)
    follow: bool = True  # into its children


SIDES = ["--a", leftover.side_of("saved.json"), "--b", leftover.side_of("other.json")]  # of their folder
COMMANDS = {
    "run-pair": Command(["tlat", "run", "wake-futex", "-n", "200", "--json", "OUT"]),
    "run-timer": Command(["tlat", "run", "timer-nanosleep", "timer-timerfd", "timer-mq", "-n",
                          "50", "--json", "OUT"]),
    "run-round-trip": Command(["tlat", "run", "wake-eventfd", "-n", "50", "--round-trip",
                               "--cpu-latency", "0", "--load", "sleep 9", "--budget", "p50<1s",
                               "--json", "OUT"], codes=(0, 2, 77)),
    "run-signal": Command(["tlat", "run", "signal-tgkill-handler", "-n", "50", "--policy",
                           "other", "--save-every", "20ms", "--break", "10s", "--trace-mark", "--json", "OUT"]),
    "storm": Command(["tlat", "storm", "--clocks", "monotonic,timerfd,itimer-real", "--rate",
                      "1k", "-d", "40ms", "--json", "OUT"]),
    "scale-timers": Command(["tlat", "scale", "timers", "--sizes", "10,20", "--rounds", "1",
                             "--json", "OUT"]),
    "scale-wakeups": Command(["tlat", "scale", "wakeups", "--sizes", "1,3", "--rounds", "1",
                              "--json", "OUT"]),
    "scale-pairs": Command(["tlat", "scale", "pairs", "--sizes", "1,2", "-d", "20ms", "--json",
                            "OUT"]),
    "noise": Command(["tlat", "noise", "-c", "all", "-d", "40ms", "--json", "OUT"]),
    "check": Command(["tlat", "check", "--json", "OUT"]),
    "self-test": Command(["tlat", "check", "--self-test", "--trials", "1", "--json", "OUT"],
                         codes=(0, 1, 2)),
    "list": Command(["tlat", "list"]),
    "show": Command(["tlat", "show", "SAVED"]),
    "compare": Command(["tlat", "compare", "SAVED", "OTHER", "--json", "OUT"], codes=(2, 77)),
    "merge": Command(["tlat", "merge", "SAVED", "OTHER", "--json", "OUT"]),
    "ab": Command(["tlat", "ab", *SIDES, "--pairs", "2", "--state", "LINES", "--json", "OUT"],
                  codes=(2, 77), follow=False),
    "plan": Command(["tlat", "plan", *SIDES, "--pairs", "3"], follow=False),
    "cyclictest": Command(["cyclictest", "-S", "-m", "-p", "80", "-i", "500", "-l", "40", "-q",
                           "-h", "50", "--histfile", "HIST", "--json", "OUT", "--tlat-json",
                           "OUT2"], codes=(0, 1)),
}

# What fails with what; others with ENOMEM.
ERRORS = {
    "openat": "EMFILE", "read": "EIO", "write": "ENOSPC", "mmap": "ENOMEM", "clone3": "EAGAIN",
    "sched_setaffinity": "EINVAL", "sched_setscheduler": "EPERM", "sched_setattr": "EPERM",
    "mlock": "EPERM", "prctl": "EINVAL", "capset": "EPERM", "fsync": "EIO", "rename": "EACCES",
    "getrandom": "ENOSYS", "ppoll": "EINTR", "clock_nanosleep": "EINTR", "flock": "EINTR",
    "timer_create": "EAGAIN", "linkat": "EACCES", "mkdir": "EACCES", "clone": "EAGAIN",
    "vfork": "EAGAIN", "pidfd_send_signal": "EPERM", "timer_settime": "EINVAL",
    "mlockall": "EPERM", "mq_open": "EMFILE", "pipe2": "EMFILE", "dup2": "EMFILE",
}

# The C library ends the process when these fail, they are how a process ends, or they are how
# something is taken away and there is no other way, or they cannot fail as they are called.
NOT_TO_FAIL = {
    "mq_unlink", "unlink", "unlinkat", "rmdir", "close", "rt_sigaction",
    "futex", "exit", "exit_group", "execve", "rt_sigreturn", "arch_prctl", "set_tid_address",
    "set_robust_list", "rseq", "restart_syscall", "wait4", "brk", "madvise", "munmap",
    "gettid", "getpid", "getuid", "geteuid", "getgid", "getegid", "getppid",
}

# What is still there when these fail as strace makes them fail: by leaving them out.
NOT_UNDONE = {"sched_setattr": "policy", "sched_setaffinity": "affinity"}

FILES = {"OUT": "out.json", "OUT2": "out2.json", "LINES": "lines.jsonl", "SAVED": "saved.json",
         "OTHER": "other.json", "HIST": "out.hist"}
KEPT = set(FILES.values())

Fault = collections.namedtuple("Fault", "command kind name number")


def arguments(name: str, place: Place) -> list[str]:
    return leftover.command(place.path(FILES[word]) if word in FILES else word
                            for word in COMMANDS[name].words)


def tracer(name: str, *options: str) -> list[str]:
    follow = ["-f"] if name not in COMMANDS or COMMANDS[name].follow else []
    return ["strace", *follow, "-qq", *options]


def calls_of(name: str, words: list[str], place: Place) -> collections.Counter[str]:
    """How often the thread that makes it most makes each system call."""
    log = place.path("calls")
    place.run(words, before=tracer(name, "-o", log))
    by_thread: collections.Counter[tuple[str, str]] = collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = re.match(r"(?:(\d+) +)?(\w+)\(", line)
            if match:
                by_thread[match[1] or "", match[2]] += 1
    os.unlink(log)
    most: collections.Counter[str] = collections.Counter()
    for (_, call), count in by_thread.items():
        most[call] = max(most[call], count)
    return most


def system_call_faults(name: str, place: Place, loader: collections.Counter[str]
                       ) -> Iterator[list[Fault]]:
    for call, count in sorted(calls_of(name, arguments(name, place), place).items()):
        if call in NOT_TO_FAIL or call.startswith("syscall_"):  # which strace does not know
            continue
        # loops repeat themselves: the first calls, and a few of the rest
        numbers = range(loader[call] + 1, count + 1)
        chosen = set(numbers[:25]) | set(numbers[25::max(1, count // 8)])
        yield [Fault(name, "call", call, number) for number in sorted(chosen)]


def allocation_environment(number: int, log: str = "") -> dict[str, str]:
    return {"FAIL_ALLOC": str(number), "FAIL_ALLOC_LOG": log}


def allocation_faults(name: str, place: Place) -> list[Fault]:
    log = place.path("allocations")
    place.run(arguments(name, place), environment=allocation_environment(0, log))
    with open(log, encoding="ascii") as file:
        count = int(file.read())
    os.unlink(log)
    numbers = range(1, count + 1)
    return [Fault(name, "allocation", "malloc", number)
            for number in sorted(set(numbers[:150]) | set(numbers[150::max(1, count // 50)]))]


def chosen(calls: list[list[Fault]], allocations: list[Fault]) -> list[Fault]:
    """Of each system call in turn, and every third one an allocation."""
    rng = random.Random(SEED)
    for group in [*calls, allocations]:
        rng.shuffle(group)
    rng.shuffle(calls)
    in_turn = [fault for turn in itertools.zip_longest(*calls) for fault in turn if fault]
    count = FAULTS or len(in_turn) + len(allocations)
    third = min(len(allocations), max(count // 3, count - len(in_turn)))
    return in_turn[:count - third] + allocations[:third]


def make_fail(fault: Fault, place: Place) -> Ended:
    words = arguments(fault.command, place)
    if fault.kind == "allocation":
        return place.run(words, environment=allocation_environment(fault.number))
    error = ERRORS.get(fault.name, "ENOMEM")
    inject = f"inject={fault.name}:error={error}:when={fault.number}"
    return place.run(words, before=tracer(fault.command, "-o", "/dev/null", "-e", inject))


def check_end(fault: Fault, ended: Ended) -> None:
    codes = COMMANDS[fault.command].codes
    assert ended.code in codes, f"exit {ended.code}: {ended.err[-500:]}"
    if ended.code not in (2, 1):
        return
    own = ("tlat: ", f"tlat {COMMANDS[fault.command].words[1]}: ", "tlat-cyclictest: ")
    said = [line for line in ended.lines() if line.startswith(own)]
    # what measured badly says so in its results
    needed = ended.code == 2 or codes == (0, 1)
    assert said or not needed, f"exit {ended.code} without a word: {ended.err[-300:]}"
    assert len(said) == 1 or ended.code != 2, f"exit 2 says {len(said)} lines: {ended.err[-500:]}"
    for line in said:
        assert line.isprintable() and len(line.split(": ", 1)[1].strip()) > 5, f"no clear line: {line!r}"


def check_files(fault: Fault, ended: Ended, place: Place) -> None:
    for word in {"OUT", "OUT2"} & set(COMMANDS[fault.command].words):
        document = leftover.read_report(place.path(FILES[word]))
        assert ended.code != 0 or document != {"before": 1}, "exit 0, and no report was written"
        assert "--budget: " not in ended.err or document != {"before": 1}, "measured for nothing"
    if os.path.exists(place.path(FILES["LINES"])):
        leftover.read_lines(place.path(FILES["LINES"]))


def try_fault(fault: Fault, place: Place) -> int:
    for name in KEPT - {FILES["SAVED"], FILES["OTHER"]}:
        if os.path.exists(place.path(name)):
            os.unlink(place.path(name))
    for word in ("OUT", "OUT2"):
        with open(place.path(FILES[word]), "w", encoding="ascii") as file:
            file.write('{"before": 1}\n')
    if os.path.exists(place.log):
        os.unlink(place.log)
    ended = make_fail(fault, place)
    check_end(fault, ended)
    check_files(fault, ended, place)
    if fault.name in NOT_UNDONE:
        place.forget(NOT_UNDONE[fault.name])
    place.check_clean(KEPT)
    return ended.code


def try_command(name: str, place: Place, loader: collections.Counter[str], tally: Tally) -> int:
    calls = list(system_call_faults(name, place, loader))
    faults = allocation_faults(name, place)
    distinct = sum(map(len, calls)) + len(faults)
    codes: collections.Counter[int] = collections.Counter()
    tried = chosen(calls, faults)
    shutil.rmtree(place.path("cache"), ignore_errors=True)
    for fault in tried:
        with tally.case(f"{name}: {fault.kind} {fault.name} number {fault.number} failing"):
            codes[try_fault(fault, place)] += 1
        shutil.rmtree(place.path("cache"), ignore_errors=True)
    ends = ", ".join(f"exit {code}: {count}" for code, count in sorted(codes.items()))
    print(f"{name}: {len(tried)} faults tried of {distinct} distinct ones ({ends})", flush=True)
    return distinct


def main() -> None:
    tally, distinct = Tally(), 0
    with leftover.message_queues() as queues, Place(queues) as place, Place() as libraries:
        place.preload = [leftover.build_preload("fail_alloc", libraries.folder),
                         leftover.build_preload("witness", libraries.folder)]
        for word in ("SAVED", "OTHER"):
            place.run(leftover.command(["tlat", "run", "null", "-n", "500", "--json",
                                        place.path(FILES[word])]))
        loader = calls_of("", leftover.command(["tlat", "--version"]), place)
        names = os.environ.get("TLAT_COMMANDS", " ".join(COMMANDS)).split()
        for name in names:
            distinct += try_command(name, place, loader, tally)
    tally.end(f"faults tried of {distinct} distinct ones")


if __name__ == "__main__":
    try:
        subprocess.run(["strace", "-V"], check=True, stdout=subprocess.DEVNULL)
    except OSError:
        print("no strace here")
        raise SystemExit(77) from None
    main()
