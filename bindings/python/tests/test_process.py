# SPDX-License-Identifier: MIT
"""What the package does to the process that it is in: nothing."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Callable

import pytest

import timerlat

Start = Callable[..., "subprocess.Popen[str]"]

STATE = """
import json, os, resource, signal, sys, threading
def state():
    status = open("/proc/self/status").read().splitlines()
    kept = ("SigB", "SigC", "SigI", "SigP", "Shd", "Cap", "Cpus_allowed", "Threads", "NoNewPrivs", "VmLck")
    return {
        "status": [line for line in status if line.startswith(kept)],
        "policy": [os.sched_getscheduler(0), os.sched_getparam(0).sched_priority],
        "slack": open("/proc/self/timerslack_ns").read(),
        "limits": [resource.getrlimit(which) for which in range(16)],
        "handlers": [repr(signal.getsignal(number)) for number in signal.valid_signals()],
        "descriptors": sorted(os.listdir("/proc/self/fd")),
    }
"""


def test_importing_changes_no_signal_mask_limit_or_policy(python: Start) -> None:
    program = STATE + (
        "before = state()\nimport timerlat\ntimerlat.run\nafter = state()\n"
        "print(json.dumps([before, after]))"
    )
    before, after = json.loads(python(program).communicate()[0])
    assert before == after


def test_a_name_that_was_put_there_before_the_first_use_stays(python: Start) -> None:
    program = (
        "import timerlat\ntimerlat.run = 'stand-in'\ntimerlat.load\n"
        "print(timerlat.run, callable(timerlat.load))"
    )
    assert python(program).communicate()[0] == "stand-in True\n"


def test_threads_that_use_the_first_name_together_load_once(python: Start) -> None:
    program = """
import threading, time, warnings
import timerlat
public, calls, filters = timerlat._public, [], list(warnings.filters)
def slow():
    calls.append(1)
    time.sleep(0.2)
    return public()
timerlat._public = slow
found = []
threads = [threading.Thread(target=lambda: found.append(timerlat.run)) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(calls), len(found), len(set(found)), warnings.filters == filters)
"""
    assert python(program).communicate()[0] == "1 4 1 True\n"


def test_importing_measures_nothing(tmp_path: Path) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    log = tmp_path / "log"
    trace = ["strace", "-f", "-qq", "-o", str(log), "-e", "signal=none"]
    trace += ["-e", "trace=clock_nanosleep,sched_setaffinity,sched_setattr,sched_setscheduler"]
    path = os.pathsep.join([str(Path(timerlat.__file__).parents[1]), *sys.path])
    program = "import timerlat; timerlat.__version__"
    subprocess.run(
        [*trace, sys.executable, "-c", program], check=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert log.read_text() == ""


def test_a_list_overrides_the_mask_and_none_obeys_it(python: Start) -> None:
    if not {0, 1} <= os.sched_getaffinity(0):
        pytest.skip("needs CPUs 0 and 1")
    program = (
        "import json, os, timerlat; os.sched_setaffinity(0, {1})\n"
        "for options in ({'cpus': '0-1'}, {}):\n"
        "    r = timerlat.run('timer-nanosleep', samples=20, floor=False, **options)\n"
        "    print(json.dumps([[x['wait']['cpu'] for x in r.document['results']],\n"
        "                      [f.id for f in r.findings]]))"
    )
    named, chosen = map(json.loads, python(program).communicate()[0].splitlines())
    assert named[0] == [0, 1] and "affinity-overridden" in named[1]
    assert chosen[0] == [1] and "affinity-obeyed" in chosen[1]


def test_a_run_leaves_the_process_as_it_was(python: Start) -> None:
    program = STATE + (
        "import timerlat, gc, time\n"
        "timerlat.run('wake-futex', samples=100); gc.collect(); before = state()\n"
        "timerlat.run('wake-futex', samples=2000, lock_all=True, cpu_latency=0)\n"
        "timerlat.run('timer-nanosleep', samples=100)\n"
        "gc.collect(); time.sleep(0.1); print(json.dumps([before, state()]))"
    )
    before, after = json.loads(python(program).communicate()[0])
    assert before == after


def test_other_threads_go_on_during_a_run(session: timerlat.Session) -> None:
    over = threading.Event()
    count = 0

    def counting() -> None:
        nonlocal count
        while not over.is_set():
            count += 1
            time.sleep(0.001)

    counter = threading.Thread(target=counting)
    counter.start()
    before = count
    session.run("timer-nanosleep", duration="1s", interval="1ms", cpus="0")
    counted = count - before
    over.set()
    counter.join()
    assert counted > 20, "a second without the GIL gives a sleeper of 1 ms many turns"


INTERRUPTED = """
import json, os, sys, time, timerlat
session = timerlat.Session(policy=sys.argv[1])
before = os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))
run = session.start(sys.argv[2], duration="60s", **json.loads(sys.argv[3]))
while not any(one.count for one in run.progress()):
    time.sleep(0.01)
try:
    print("running", flush=True)
    run.wait()
except KeyboardInterrupt as error:
    at = time.monotonic()
    after = os.sched_getscheduler(0), sorted(os.sched_getaffinity(0))
    print(json.dumps({
        "kind": type(error).__name__, "n": error.report.n, "end": error.report.end,
        "at": at, "same": before == after, "handler": repr(__import__("signal").getsignal(2)),
    }), flush=True)
"""


@pytest.mark.parametrize(
    "policy, probe, options",
    [
        ("fifo", "wake-futex", {}),
        ("other", "timer-nanosleep", {"interval": "100ms", "warmup": 0}),
        ("other", "timer-timerfd", {"interval": "700ms", "warmup": 0}),
    ],
)
def test_ctrl_c_ends_a_run_and_keeps_its_report(
    python: Start, policy: str, probe: str, options: dict[str, object]
) -> None:
    child = python(INTERRUPTED, policy, probe, json.dumps(options))
    assert child.stdout is not None
    assert child.stdout.readline() == "running\n"
    time.sleep(0.5)  # it is on its way into wait()
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    found = json.loads(child.communicate(timeout=30)[0])
    print(f"{probe}: {(found['at'] - sent) * 1e3:.1f} ms after the signal")
    assert found["kind"] == "Interrupted"
    assert found["n"] > 0
    assert found["end"] in ("signal", "running")
    assert found["same"]
    assert "default_int_handler" in found["handler"]


def test_ctrl_c_during_calibration_is_heard(python: Start) -> None:
    program = """
import signal, threading, time, timerlat
timerlat.run
timer = threading.Timer(0.02, lambda: signal.raise_signal(signal.SIGINT))
timer.start()
try:
    timerlat.run("wake-futex", duration="60s")
except timerlat.Interrupted as error:
    print(error.report)
"""
    assert python(program).communicate(timeout=30)[0] == "None\n"


def test_ctrl_c_while_a_run_is_set_up_is_heard(python: Start) -> None:
    program = """
import signal, threading, time, timerlat
session = timerlat.Session(policy="other")
threading.Timer(0.01, lambda: signal.raise_signal(signal.SIGINT)).start()
at = time.monotonic()
try:
    session.run("wake-futex", duration="60s")
except timerlat.Interrupted as error:
    print(time.monotonic() - at < 30, session.run("null", samples=10).n)
"""
    assert python(program).communicate(timeout=60)[0] == "True 10\n"


#: Probes that send to the process: they need every other thread to block the signal.
TO_PROCESS = (
    "signal-kill-sigwait",
    "signal-sigqueue-signalfd",
    "signal-pidfd-handler",
    "timer-itimer",
)

MEASURED = """
import asyncio, json, signal, sys, time, timerlat
def mask():
    return sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ())))
def started():
    run = session.start(probe, samples=20)
    blocked.append(len(mask()) - len(before))
    return run.wait()
def stopped():
    with session.start(probe, duration="60s") as run:
        while not run.progress()[0].count:
            time.sleep(0.01)
    return run.wait()
quick = {"policy": "other", "floor": False}
session = timerlat.Session(**quick)
probe, before, blocked = sys.argv[1], mask(), []
ways = {
    "run": lambda: timerlat.run(probe, samples=20, **quick),
    "start": started,
    "with": stopped,
    "session": lambda: session.run(probe, samples=20),
    "wait_async": lambda: asyncio.run(session.run_async(probe, samples=20)),
    "run_async": lambda: asyncio.run(timerlat.run_async(probe, samples=20, **quick)),
}
for name, way in ways.items():
    report = way()
    why = [finding.text for finding in report.findings if finding.id == "unsupported"]
    print(json.dumps([name, report.n > 0, why, mask() == before]))
print(json.dumps(blocked))
"""


@pytest.mark.parametrize("probe", TO_PROCESS)
def test_signals_to_the_process_are_measured_and_the_mask_is_put_back(
    python: Start, probe: str
) -> None:
    lines = python(MEASURED, probe).communicate(timeout=120)[0].splitlines()
    *found, blocked = map(json.loads, lines)
    assert found == [
        [name, True, [], True]
        for name in ("run", "start", "with", "session", "wait_async", "run_async")
    ]
    assert blocked == [1], "the starting thread blocks it while the run goes on"


def test_a_run_that_blocks_a_signal_is_waited_for_where_it_was_started(python: Start) -> None:
    program = """
import signal, threading, timerlat
def elsewhere():
    try:
        run.wait()
    except ValueError as error:
        print(error)
run = timerlat.Session(policy="other", floor=False).start("signal-kill-sigwait", samples=20)
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
print(run.wait().n, signal.pthread_sigmask(signal.SIG_BLOCK, ()))
"""
    refused, measured = python(program).communicate(timeout=60)[0].splitlines()
    assert "wait there" in refused and measured == "20 set()"


def test_a_handler_of_the_program_ends_the_run_with_its_own_exception(python: Start) -> None:
    program = """
import signal, timerlat
def late(number, frame):
    raise TimeoutError("too late")
signal.signal(signal.SIGALRM, late)
with timerlat.Session(policy="other") as session:
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        session.run("timer-nanosleep", duration="60s")
    except TimeoutError as error:
        print(error)
    print(session.run("timer-nanosleep", samples=10, warmup=0).n > 0)
"""
    assert python(program).communicate(timeout=30)[0] == "too late\nTrue\n"


def test_a_forked_child_leaves_the_run_alone(python: Start) -> None:
    program = """
import gc, os, timerlat
run = timerlat.start("timer-nanosleep", policy="other", samples=200)
fd = run.fileno()
child = os.fork()
if not child:
    assert run.over
    try:
        os.fstat(fd)
    except OSError:
        pass
    else:
        os._exit(3)
    del run
    gc.collect()
    os._exit(0)
print(os.waitpid(child, 0)[1], run.wait().end)
"""
    assert python(program).communicate(timeout=30)[0] == "0 count\n"


LOOKED_AT = """
import sys, threading, timerlat
sys.setswitchinterval(1e-6)  # what can come in between does
session = timerlat.Session(policy="other", floor=False)
looks = 0

def look(run):
    global looks
    try:
        while not run.over:
            getattr(run, sys.argv[1])()
            looks += 1
    except timerlat.TimerlatError as error:
        assert "the run is over" in str(error), error
    except ValueError as error:
        assert "handed over" in str(error), error
    except BaseException as error:
        print("wrong:", repr(error))

for _ in range(200):
    run = session.start("timer-nanosleep", samples=20, interval="50us", warmup=0, cpus="0")
    many = [threading.Thread(target=look, args=(run,)) for _ in range(2)]
    for one in many:
        one.start()
    assert run.wait().end in ("count", "signal")
    for one in many:
        one.join()
print("looked" if looks else "never looked")
"""


@pytest.mark.parametrize("way", ["snapshot", "stop"])
def test_looking_while_another_thread_waits_is_safe(
    python: Start, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MALLOC_PERTURB_", "165")  # what is free is of no use any more
    child = python(LOOKED_AT, way)
    assert child.communicate(timeout=120)[0] == "looked\n"
    assert child.returncode == 0


def test_a_forked_child_can_look_though_another_thread_did(python: Start) -> None:
    program = """
import os, threading, timerlat
run = timerlat.start("timer-nanosleep", policy="other", duration="60s", floor=False)
held = threading.Event()
def hold():
    with run._lock:
        held.set()
        threading.Event().wait()
threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if not child:
    os._exit(0 if run.over else 1)
print(os.waitpid(child, 0)[1], flush=True)
os._exit(0)
"""
    assert python(program).communicate(timeout=30)[0] == "0\n"


def test_a_run_in_another_thread(session: timerlat.Session) -> None:
    found: list[timerlat.Report] = []
    other = threading.Thread(target=lambda: found.append(timerlat.run("null", samples=100)))
    other.start()
    other.join()
    assert found[0].n == 100
