# SPDX-License-Identifier: MIT
"""Options, sessions, runs."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import math
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

import timerlat
from timerlat import native
from timerlat._options import fields_of, nanoseconds


@pytest.mark.parametrize(
    "text, ns",
    [
        ("0", 0),
        ("250us", 250_000),
        ("250\u00b5s", 250_000),
        ("250\u03bcs", 250_000),
        ("1.5ms", 1_500_000),
        (" 2 s ", 2_000_000_000),
        ("0.1us", 100),
        ("1h", 3_600_000_000_000),
        (17, 17),
        (timedelta(days=1, microseconds=3), 86_400_000_003_000),
    ],
)
def test_times_are_read(text: Any, ns: int) -> None:
    assert nanoseconds(text, "x") == ns


@pytest.mark.parametrize("bad", ["", "1", "1 foo", "-1us", "us", "1e3us", -1])
def test_times_without_a_unit_are_refused(bad: Any) -> None:
    with pytest.raises(timerlat.InvalidOption, match="settle: "):
        nanoseconds(bad, "settle")


@pytest.mark.parametrize("bad", [1.5, True, None])
def test_times_of_another_type_are_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="settle: "):
        nanoseconds(bad, "settle")


@pytest.mark.parametrize(
    "options",
    [
        {"samples": -1},
        {"samples": 2**64},
        {"samples": 1.9},
        {"samples": True},
        {"samples": "5"},
        {"warmup": -1},
        {"warmup": 2**63},
        {"seed": -1},
        {"raw": -1},
        {"threads": 2**31},
        {"total_threads": -1},
        {"priority_step": 1.0},
        {"priority": 2**40},
        {"priority": -1},
        {"cpus": [0, 1.5]},
        {"cpus": -1},
        {"cpus": True},
        {"duration": "3000000h"},
        {"settle": timedelta(days=-1)},
    ],
)
def test_numbers_that_make_no_sense_are_refused_by_name(options: Any) -> None:
    ((name, _),) = options.items()
    with pytest.raises(timerlat.InvalidOption, match=f"^{name}: "):
        fields_of("p", options)


def test_numbers_of_numpy_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    fields = fields_of(
        "p",
        {
            "samples": numpy.uint64(2**64 - 1),
            "warmup": numpy.int32(7),
            "priority": numpy.int8(99),
            "settle": numpy.int64(50_000),
            "cpus": numpy.int64(3),
        },
    )
    assert (fields["samples"], fields["warmup"], fields["priority"]) == (2**64 - 1, 7, 99)
    assert (fields["settle_ns"], fields["cpus"]) == (50_000, "3")
    assert fields_of("p", {"cpus": numpy.array([0, 2])})["cpus"] == "0,2"


def test_options_mean_what_they_do_on_the_command_line() -> None:
    assert fields_of("p", {}) == {
        "probe": "p",
        "cpus": None,
        "slack_ns": 1,
        "policy": timerlat.Policy.FIFO,
        "priority": 40,
        "flags": 0,
    }
    fields = fields_of(
        "p",
        {
            "pair": "0:1",
            "policy": "other",
            "settle": 0,
            "slack": "default",
            "cpu_latency": "default",
            "warmup": 0,
            "interval": "1ms",
            "samples": 5,
            "raw": 0,
            "break_above": "1ms",
            "verify": True,
            "round_trip": True,
            "floor": False,
        },
    )
    assert fields == {
        "probe": "p",
        "cpus": "0,1",
        "policy": timerlat.Policy.OTHER,
        "priority": 0,
        "settle_ns": native.ZERO,
        "slack_ns": 0,
        "cpu_latency_ns": 0,
        "warmup": native.ZERO,
        "interval_ns": 1_000_000,
        "samples": 5,
        "raw": 0,
        "break_ns": 1_000_000,
        "flags": native.RUN_VERIFY | native.RUN_ROUND_TRIP | native.RUN_NO_FLOOR,
    }


def test_every_member_of_the_struct_has_an_option_or_a_reason() -> None:
    """A new option of the library is either offered here or left out on purpose."""
    members = {
        name
        for name, member in vars(native.TlatRunOpts).items()
        if isinstance(member, property) and name != "thisown"
    }
    options = set(timerlat.RunOptions.__annotations__)
    offered = {name[:-3] if name.endswith("_ns") else name for name in members}
    offered = {"break_above" if name == "break" else name for name in offered}
    set_otherwise = {"size", "probe", "machine", "clock", "flags", "reserved"}
    set_otherwise |= {"inject", "chain_adds", "stream"}  # tests of the tool; values one by one
    assert offered - options == set_otherwise, "in the header, not in RunOptions"
    set_by_flags = {"pair", "round_trip", "verify", "strict", "lock_all", "floor", "trace_mark"}
    assert options - offered == set_by_flags, "in RunOptions, not in the header"


@pytest.mark.parametrize(
    "probe, options, kind, text",
    [
        ("wake-nonsense", {}, timerlat.TimerlatError, "wake-nonsense"),
        ("wake-futex", {"cpus": "zero"}, timerlat.InvalidOption, "zero"),
        ("wake-futex", {"pair": "0"}, timerlat.InvalidOption, "KICK:WAIT"),
        ("wake-futex", {"pair": "0:0", "cpus": 0}, timerlat.InvalidOption, "use one"),
        ("wake-futex", {"policy": "nice"}, timerlat.InvalidOption, ""),
        ("wake-futex", {"policy": "fifo", "priority": 100}, timerlat.InvalidOption, "100"),
        ("wake-futex", {"speed": 3}, TypeError, "speed"),
        ("wake\0futex", {}, ValueError, "null"),
    ],
)
def test_options_that_make_no_sense_are_named(
    session: timerlat.Session, probe: str, options: Any, kind: Any, text: str
) -> None:
    with pytest.raises(kind) as caught:
        session.run(probe, samples=10, **options)
    assert text in str(caught.value)


def test_errors_are_os_errors_of_their_kind() -> None:
    for code, kind in [
        (errno.EPERM, PermissionError),
        (errno.EACCES, PermissionError),
        (errno.ENOENT, FileNotFoundError),
        (errno.EINVAL, ValueError),
        (errno.ENOSYS, timerlat.Unsupported),
        (errno.ENODATA, timerlat.NotEnoughSamples),
        (errno.EIO, OSError),
    ]:
        error = timerlat._errors.from_code(code, "why")
        assert isinstance(error, kind) and isinstance(error, timerlat.TimerlatError)
        assert (error.errno, error.strerror, str(error)) == (code, "why", "why")


def test_a_run_can_be_watched_and_stopped(session: timerlat.Session) -> None:
    with session.start("timer-nanosleep", duration="60s", interval="1ms", cpus="0") as run:
        with pytest.raises(ValueError, match="goes on"):
            session.start("null")
        while not run.progress()[0].count > 50:
            with pytest.raises(TimeoutError):
                run.wait(timeout=0.05)
        early = run.snapshot()
        assert not run.over
        run.stop()
        report = run.wait()
        assert run.over and run.wait() is report
        with pytest.raises(ValueError, match="over"):
            run.snapshot()
    assert (early.end, report.end) == ("running", "signal")
    assert 0 < early.n <= report.n
    assert early.min >= report.min


def test_a_run_nobody_waits_for_ends_with_its_last_reference(session: timerlat.Session) -> None:
    run = session.start("timer-nanosleep", duration="60s", interval="1ms", cpus="0")
    session._run = None
    del run
    gc.collect()
    assert session.run("null", samples=10).n == 10


def test_a_run_ends_at_the_first_value_above_a_limit(session: timerlat.Session) -> None:
    report = session.run(
        "timer-nanosleep", duration="60s", interval="1ms", warmup=0, break_above=1, cpus="0"
    )
    assert report.end == "break" and report.max > 1


def test_a_closed_session_keeps_its_reports() -> None:
    with timerlat.Session(policy="other") as session:
        report = session.run("null", samples=100)
        run = session.start("timer-nanosleep", duration="60s")
    assert run.over and run.wait().end in ("signal", "running")
    assert report.n == 100
    with pytest.raises(ValueError, match="closed"):
        session.run("null")


def test_session_options_are_defaults(session: timerlat.Session) -> None:
    report = session.run("null", samples=70)
    assert report.results[0].policy is timerlat.Policy.OTHER
    assert (report.n, report.end) == (70, "count")
    assert session.clock.hz > 0 and session.clock.source is not timerlat.ClockSource.AUTO


def test_asyncio_goes_on_during_a_run(session: timerlat.Session) -> None:
    async def both() -> tuple[timerlat.Report, int]:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0.01)

        turning = asyncio.create_task(turn())
        report = await session.run_async("timer-nanosleep", duration="500ms", cpus="0")
        turning.cancel()
        return report, turns

    report, turns = asyncio.run(both())
    assert report.end == "time" and turns > 3


def test_cancelling_ends_a_run(session: timerlat.Session) -> None:
    async def cancelled() -> None:
        await asyncio.wait_for(session.run_async("timer-nanosleep", duration="60s"), 0.5)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(cancelled())
    assert session.run("null", samples=10).n == 10


LONG: dict[str, Any] = {"duration": "60s", "interval": "1ms", "cpus": "0"}


@pytest.mark.parametrize("end", ["session", "run", "with", "thread"])
def test_a_run_that_is_ended_while_it_is_awaited_wakes_who_awaits_it(end: str) -> None:
    def ended(session: timerlat.Session, run: timerlat.Run) -> None:
        if end == "with":
            with run:
                return
        session.close() if end == "session" else run._abandon()

    async def awaited() -> timerlat.Report:
        session = timerlat.Session(policy="other", floor=False)
        run = session.start("timer-nanosleep", **LONG)
        waiting = asyncio.create_task(run.wait_async())
        await asyncio.sleep(0.05)
        if end == "thread":
            await asyncio.get_running_loop().run_in_executor(None, ended, session, run)
        else:
            ended(session, run)
        report = await asyncio.wait_for(waiting, 20)
        # its descriptor is free, and the next run may get the same number
        with timerlat.Session(policy="other", floor=False) as another:
            short = another.run_async("timer-nanosleep", samples=20, cpus="0")
            assert (await asyncio.wait_for(short, 20)).end == "count"
        assert run.wait() is report
        return report

    assert asyncio.run(awaited()).end in ("signal", "running")


def test_several_wait_for_a_run_and_get_the_same(session: timerlat.Session) -> None:
    async def waited() -> list[timerlat.Report]:
        run = session.start("timer-nanosleep", samples=100, cpus="0")
        found: list[timerlat.Report] = []
        thread = threading.Thread(target=lambda: found.append(run.wait()))
        thread.start()
        many = [run.wait_async() for _ in range(3)]
        found += await asyncio.wait_for(asyncio.gather(*many), 20)
        await asyncio.get_running_loop().run_in_executor(None, thread.join)
        return found

    first, *others = asyncio.run(waited())
    assert first.end == "count" and len(others) == 3 and all(one is first for one in others)


def test_who_is_cancelled_after_the_end_is_cancelled(session: timerlat.Session) -> None:
    async def cancelled() -> None:
        run = session.start("timer-nanosleep", **LONG)
        waiting = asyncio.create_task(run.wait_async())
        await asyncio.sleep(0.05)
        run._abandon()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(cancelled())


def test_one_who_is_cancelled_ends_the_run_for_all(session: timerlat.Session) -> None:
    async def both() -> timerlat.Report:
        run = session.start("timer-nanosleep", **LONG)
        one, other = (asyncio.create_task(run.wait_async()) for _ in range(2))
        await asyncio.sleep(0.05)
        one.cancel()
        return await asyncio.wait_for(other, 20)

    assert asyncio.run(both()).end in ("signal", "running")


@pytest.mark.parametrize("way", ["snapshot", "progress", "fd", "stop"])
def test_a_run_is_not_taken_from_who_looks_at_it(
    session: timerlat.Session, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    looking, log = threading.Event(), []
    call, wait = getattr(native, f"run_{way}"), native.run_wait

    def slow(*arguments: Any) -> Any:
        if threading.current_thread() is threading.main_thread():
            return call(*arguments)
        log.append("in")
        looking.set()
        time.sleep(0.3)
        log.append("out")
        return "taken" not in log and call(*arguments)

    def taken(handle: Any) -> Any:
        log.append("taken")
        return wait(handle)

    def look() -> None:
        with contextlib.suppress(timerlat.TimerlatError):
            getattr(run, way.replace("fd", "fileno"))()

    run = session.start("timer-nanosleep", samples=20, cpus="0")
    while not run.over:
        time.sleep(0.01)
    monkeypatch.setattr(native, f"run_{way}", slow)
    monkeypatch.setattr(native, "run_wait", taken)
    looker = threading.Thread(target=look)
    looker.start()
    looking.wait()
    assert run.wait().end == "count"
    looker.join()
    assert log == ["in", "out"] * (len(log) // 2) + ["taken"]


@pytest.mark.parametrize("timeout", [0, -1, -math.inf, -1e-9])
def test_no_time_is_no_wait(session: timerlat.Session, timeout: float) -> None:
    with session.start("timer-nanosleep", **LONG) as run:
        begin = time.monotonic()
        with pytest.raises(TimeoutError, match="goes on"):
            run.wait(timeout)
        assert time.monotonic() - begin < 30 and not run.over


@pytest.mark.parametrize("timeout", [math.inf, threading.TIMEOUT_MAX, 3e6, 10**12])
def test_a_long_time_is_waited_for(session: timerlat.Session, timeout: float) -> None:
    run = session.start("timer-nanosleep", samples=20, cpus="0")
    assert run.wait(timeout).end == "count"


def test_a_long_time_is_waited_for_in_turns(
    session: timerlat.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timerlat._run, "_POLL_S", 0.02)
    with session.start("timer-nanosleep", **LONG) as run:
        begin = time.monotonic()
        with pytest.raises(TimeoutError):
            run.wait(0.1)
        assert time.monotonic() - begin >= 0.1
        threading.Timer(0.1, run.stop).start()
        assert run.wait(60).end == "signal"


@pytest.mark.parametrize(
    "timeout, kind", [("5", TypeError), (timedelta(seconds=1), TypeError), (math.nan, ValueError)]
)
def test_a_time_that_makes_no_sense_leaves_the_run_alone(
    session: timerlat.Session, timeout: Any, kind: Any
) -> None:
    with session.start("timer-nanosleep", **LONG) as run:
        with pytest.raises(kind, match="^timeout: "):
            run.wait(timeout)
        assert not run.over and run.snapshot().end == "running"


def test_no_descriptor_left_leaves_the_run_alone(
    session: timerlat.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    with session.start("timer-nanosleep", **LONG) as run:
        with monkeypatch.context() as patched:
            patched.setattr(timerlat._run.os, "dup", full)
            with pytest.raises(OSError, match="Too many"):
                run.wait(0)
            with pytest.raises(OSError, match="Too many"):
                asyncio.run(run.wait_async())
        assert not run.over and run.snapshot().end == "running"
    with monkeypatch.context() as patched:
        patched.setattr(timerlat._run.os, "dup", full)
        with pytest.raises(OSError, match="Too many"):
            session.run("timer-nanosleep", **LONG)
    assert session.run("null", samples=10).n == 10


def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the library lose every report."""
    wait = native.run_wait

    def fails(handle: Any) -> Any:
        wait(handle)
        raise timerlat.TimerlatError(errno.EIO, "lost")

    monkeypatch.setattr(native, "run_wait", fails)


def test_who_waits_for_a_failed_run_is_told_without_the_others_traces(
    session: timerlat.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch)
    run = session.start("timer-nanosleep", samples=20, cpus="0")
    depths = []
    for _ in range(4):
        with pytest.raises(timerlat.TimerlatError, match="lost") as caught:
            run.wait()
        depths.append(len(caught.traceback))
    assert depths[1:] == depths[1:2] * 3


def test_a_failed_run_that_is_interrupted_is_interrupted(
    session: timerlat.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(fd: int, timeout: Any) -> bool:
        if timeout == 60:
            raise KeyboardInterrupt
        return readable(fd, None)

    failing(monkeypatch)
    readable = timerlat._run._readable
    monkeypatch.setattr(timerlat._run, "_readable", interrupted)
    run = session.start("timer-nanosleep", **LONG)
    while not run.progress()[0].count:
        time.sleep(0.01)
    with pytest.raises(timerlat.Interrupted) as caught:
        run.wait(60)
    assert caught.value.report is not None and caught.value.report.end == "running"
    with pytest.raises(timerlat.TimerlatError, match="lost"):
        run.wait()


def test_probes_say_where_they_begin_and_end() -> None:
    found = {probe.name: probe for probe in timerlat.probes()}
    assert found["wake-futex"].pair and not found["null"].pair
    assert all(probe.begins and probe.ends for probe in found.values())
    assert found["null"].missing is None


def test_a_check_has_findings_and_no_results() -> None:
    report = timerlat.check()
    assert report.results == ()
    assert all(finding.text for finding in report.findings)
    with pytest.raises(ValueError, match="no results"):
        report.p50
