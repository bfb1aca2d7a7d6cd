#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every system call and every allocation that a command makes fails once, one at a time: the
command ends in time, with an exit code of its own and one clear line, with a whole report or none,
and leaves nothing behind. TLAT_FAULTS says how many faults to try (a sample; 0: all)."""
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check_schema  # noqa: E402

TLAT = os.environ["TLAT"]
FAULTS = int(os.environ.get("TLAT_FAULTS", "60"))
LIMIT_S = 60
EXIT_CODES = (0, 1, 2, 77)
VALIDATOR = check_schema.jsonschema.Draft202012Validator(
    json.loads(check_schema.SCHEMA.read_text()))

# OUT is a file that the command may write, SAVED a report of an earlier run.
COMMANDS = {
    "run-pair": ["run", "wake-futex", "-n", "200", "--json", "OUT"],
    "run-timer": ["run", "timer-nanosleep", "timer-timerfd", "-n", "50", "--json", "OUT"],
    "run-round-trip": ["run", "wake-eventfd", "-n", "50", "--round-trip", "--cpu-latency", "0",
                       "--load", "sleep 9", "--budget", "p50<1s", "--json", "OUT"],
    "check": ["check", "--json", "OUT"],
    "list": ["list"],
    "show": ["show", "SAVED"],
}

# What fails with what; others with ENOMEM.
ERRORS = {
    "openat": "EMFILE", "read": "EIO", "write": "ENOSPC", "mmap": "ENOMEM", "clone3": "EAGAIN",
    "sched_setaffinity": "EINVAL", "sched_setscheduler": "EPERM", "sched_setattr": "EPERM",
    "mlock": "EPERM", "prctl": "EINVAL", "capset": "EPERM", "fsync": "EIO", "rename": "EACCES",
    "getrandom": "ENOSYS", "ppoll": "EINTR", "clock_nanosleep": "EINTR", "flock": "EINTR",
}

# The C library ends the process when these fail, or they are how a process ends.
NOT_TO_FAIL = {
    "futex", "exit", "exit_group", "execve", "rt_sigreturn", "arch_prctl", "set_tid_address",
    "set_robust_list", "rseq", "restart_syscall", "wait4", "brk", "madvise", "munmap",
}

Fault = collections.namedtuple("Fault", "command kind name number")


def arguments(command, folder):
    places = {"OUT": os.path.join(folder, "out.json"), "SAVED": os.path.join(folder, "saved.json")}
    return [TLAT] + [places.get(word, word) for word in COMMANDS[command]]


def run(words, folder, **more):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, start_new_session=True, **more)


def calls_of(words, folder):
    """How often the thread that makes it most makes each system call."""
    log = os.path.join(folder, "calls")
    run(["strace", "-f", "-qq", "-o", log, *words], folder)
    by_thread = collections.Counter()
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            match = re.match(r"(\d+) +(\w+)\(", line)
            if match:
                by_thread[match.groups()] += 1
    os.unlink(log)
    most = collections.Counter()
    for (_, name), count in by_thread.items():
        most[name] = max(most[name], count)
    return most


def system_call_faults(command, folder, loader):
    calls = calls_of(arguments(command, folder), folder)
    for name, count in sorted(calls.items()):
        if name in NOT_TO_FAIL:
            continue
        first = loader[name] + 1
        # loops repeat themselves: the first calls, and a few of the rest
        numbers = range(first, count + 1)
        chosen = set(numbers[:25]) | set(numbers[25::max(1, count // 8)])
        for number in sorted(chosen):
            yield Fault(command, "call", name, number)


def allocation_environment(number, log):
    return dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_ALLOC=str(number), FAIL_ALLOC_LOG=log)


def allocation_faults(command, folder):
    log = os.path.join(folder, "allocations")
    run(arguments(command, folder), folder, env=allocation_environment(0, log))
    with open(log, encoding="ascii") as file:
        count = int(file.read())
    os.unlink(log)
    numbers = range(1, count + 1)
    for number in sorted(set(numbers[:150]) | set(numbers[150::max(1, count // 50)])):
        yield Fault(command, "allocation", "malloc", number)


def make_fail(fault, folder):
    words = arguments(fault.command, folder)
    if fault.kind == "allocation":
        return run(words, folder, env=allocation_environment(fault.number, "/nonexistent"))
    error = ERRORS.get(fault.name, "ENOMEM")
    inject = f"inject={fault.name}:error={error}:when={fault.number}"
    return run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject, *words], folder)


def check_report(folder):
    path = os.path.join(folder, "out.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    VALIDATOR.validate(document)


def check_end(ended):
    assert ended.returncode in EXIT_CODES, f"exit {ended.returncode}: {ended.stderr[-500:]}"
    if ended.returncode == 2:
        lines = ended.stderr.strip().splitlines()
        said = [line for line in lines if line.startswith("tlat")]
        assert len(said) == 1, f"exit 2 says {len(said)} lines: {ended.stderr[-500:]}"


def leftovers(folder):
    return sorted(set(os.listdir(folder)) - {"out.json", "saved.json"})


def still_running(folder):
    """Processes that were started in the folder and have outlived their command."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == folder:
                found.append(pid)
        except OSError:
            continue
    return found


def try_fault(fault, saved):
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        shutil.copy(saved, os.path.join(folder, "saved.json"))
        ended = make_fail(fault, folder)
        check_end(ended)
        check_report(folder)
        assert not leftovers(folder), f"left behind: {leftovers(folder)}"
        deadline = time.monotonic() + 2
        while still_running(folder) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not still_running(folder), "a process was left behind"
        return ended.returncode


def build_preload(folder):
    path = os.path.join(folder, "fail_alloc.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", path,
                    os.path.join(HERE, "faults", "fail_alloc.c")], check=True)
    return path


def all_faults(folder):
    loader = calls_of([TLAT, "--version"], folder)
    for command in COMMANDS:
        yield from system_call_faults(command, folder, loader)
        yield from allocation_faults(command, folder)


def main():
    global PRELOAD
    with tempfile.TemporaryDirectory() as folder:
        PRELOAD = build_preload(folder)
        saved = os.path.join(folder, "saved.json")
        subprocess.run([TLAT, "run", "null", "-n", "500", "--json", saved], check=True,
                       stdout=subprocess.DEVNULL)
        faults = list(all_faults(folder))
        distinct = len(faults)
        if FAULTS:
            faults = random.Random(1).sample(faults, min(FAULTS, distinct))
        failed, codes = 0, collections.Counter()
        for fault in faults:
            try:
                codes[try_fault(fault, saved)] += 1
            except (AssertionError, subprocess.TimeoutExpired, ValueError,
                    check_schema.jsonschema.ValidationError) as why:
                failed += 1
                print(f"{fault.command}: {fault.kind} {fault.name} number {fault.number} failing:"
                      f" {str(why)[:600]}")
    ends = ", ".join(f"exit {code}: {count}" for code, count in sorted(codes.items()))
    print(f"{len(faults)} faults tried of {distinct} distinct ones ({ends}), {failed} not survived")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
