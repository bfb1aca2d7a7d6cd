# SPDX-License-Identifier: MIT
"""Runs: start, look, stop, wait; and sessions, which calibrate once for many of them."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
import weakref
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import native
from ._calls import aside, block_signals, interruptible
from ._enums import ClockSource
from ._errors import Interrupted, NotFound, TimerlatError
from ._options import RunOptions, fields_of
from ._report import Report, each

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: How long an interrupted run may take to end; then its last snapshot has to do.
_STOP_S = 0.06

_alive: weakref.WeakSet[Run] = weakref.WeakSet()


def _forget_runs() -> None:
    """A forked child has the objects, but none of the threads behind them."""
    for run in _alive:
        run._forget()


os.register_at_fork(after_in_child=_forget_runs)


@dataclass(frozen=True)
class Progress:
    """How far one measuring thread is; times in ns, 0 while there is no value."""

    count: int
    min: float
    p50: float
    p99: float
    max: float
    done: float  #: 0 to 1, of the limit that is nearest
    cpu: int  #: the waiter's


@dataclass(frozen=True)
class Probe:
    """One way of being woken, expired or signalled."""

    name: str
    begins: str  #: where the measured interval begins, in words
    ends: str  #: where it ends
    pair: bool  #: a waker and a waiter, not one thread
    missing: str | None  #: why it cannot run here; None: it can


@dataclass(frozen=True)
class Clock:
    """Where stamps come from, and how good they are."""

    source: ClockSource
    reason: str
    hz: int
    hz_error_ppb: int
    quantum_ns: float  #: step in which stamps advance
    read_cost_ns: float


class Run:
    """
    A run that goes on: start() and Session.start() make them. Nobody has to wait for it: the last
    reference, or the end of a with block, ends it. For one thread at a time; where the probe sends
    a signal to the process, the thread that started it blocks that signal, and has to wait for it.
    """

    def __init__(
        self, handle: native.TlatRun, blocked: frozenset[int], *kept: object
    ) -> None:
        self._native: native.TlatRun | None = handle
        self._blocked = blocked  # on the thread that started it, until it has waited
        self._starter = threading.get_ident()
        self._kept = kept  # machine and clock must outlive the run
        self._report: Report | None = None
        _alive.add(self)

    def _handle(self) -> native.TlatRun:
        if self._native is None:
            raise ValueError("this run is over, and its report was handed over")
        return self._native

    def _forget(self) -> None:
        if self._native is not None:
            self._native.thisown = False
            self._native = None

    def fileno(self) -> int:
        """A descriptor that polls readable when the run is over. ValueError: it was waited for."""
        return native.run_fd(self._handle())

    @property
    def over(self) -> bool:
        """Whether it has come to its end."""
        return self._native is None or self._poll(0)

    def progress(self) -> tuple[Progress, ...]:
        """How far each measuring thread is. ValueError: it was waited for."""
        return tuple(
            Progress(
                one.count, one.min_ns, one.p50_ns, one.p99_ns, one.max_ns, one.done, one.cpu
            )
            for one in each(native.run_progress, self._handle())
        )

    def snapshot(self) -> Report:
        """
        What it has measured so far; the loops go on undisturbed. TimerlatError (EALREADY): it is
        over, and wait() has the report.
        """
        return Report(native.run_snapshot(self._handle())[1])

    def stop(self) -> None:
        """
        End it; wait() then returns soon. A pair ends after the cycle under way; the wait for a
        timer and a round trip are interrupted, and such a cycle counts as unfinished.
        """
        if self._native is not None:
            native.run_stop(self._native)

    def wait(self, timeout: float | None = None) -> Report:
        """
        Wait for its end, at most timeout seconds. TimeoutError: it goes on. Ctrl-C ends it and
        raises Interrupted, a KeyboardInterrupt, with what had been measured as its report.
        ValueError: another thread started it, and blocks the signal of its probe until it waits.
        """
        if self._report is not None:
            return self._report
        self._check_thread()
        try:
            over = self._poll(timeout)
        except KeyboardInterrupt as error:
            raise Interrupted(self._abandon()) from error
        except BaseException:
            self._abandon()
            raise
        if not over:
            raise TimeoutError(f"the run goes on after {timeout} s")
        return self._collect()

    async def wait_async(self) -> Report:
        """The same for asyncio. Cancelling ends the run."""
        if self._report is not None:
            return self._report
        self._check_thread()
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        fd = self.fileno()
        loop.add_reader(fd, over.set)
        try:
            await over.wait()
        except BaseException:
            loop.remove_reader(fd)
            self._abandon()
            raise
        loop.remove_reader(fd)
        return self._collect()

    def _check_thread(self) -> None:
        self._handle()
        if self._blocked and self._starter != threading.get_ident():
            numbers = ", ".join(str(int(number)) for number in sorted(self._blocked))
            raise ValueError(
                f"the thread that started this run blocks signal {numbers} until it waits for it; "
                "wait there"
            )

    def _poll(self, timeout: float | None) -> bool:
        poll = select.poll()
        poll.register(self.fileno(), select.POLLIN)
        return bool(poll.poll(None if timeout is None else timeout * 1000))

    def _take(self) -> native.TlatRun:
        handle = self._handle()
        self._native = None
        _alive.discard(self)
        return handle

    def _collect(self) -> Report:
        self._report = _named(Report(native.run_wait(self._take())[1]))
        self._kept = ()
        return self._report

    def _abandon(self) -> Report | None:
        """
        End the run now. A wait in the kernel may take longer: others see to that one, unless this
        thread blocks a signal until it has waited.
        """
        try:
            so_far: Report | None = self.snapshot()
        except TimerlatError:
            so_far = None
        self.stop()
        if self._poll(None if self._blocked else _STOP_S):
            return self._collect()
        kept, handle = self._kept, self._take()
        self._report = so_far
        threading.Thread(target=_end, args=(handle, kept), name="timerlat", daemon=True).start()
        return so_far

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._native is not None:
            self._abandon()


def _end(handle: native.TlatRun, kept: tuple[object, ...]) -> None:
    block_signals()
    native.run_wait(handle)


def _named(report: Report) -> Report:
    """Say which program measured, and the one command that repeats it."""
    results = report.results
    repeat = results[0].repeat if len(results) == 1 else None
    native.report_set_origin(report._native, [os.fsencode(word) for word in sys.argv], repeat)
    return report


def _blocked_here() -> frozenset[int]:
    return frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, ()))


class Session:
    """
    Machine and clock, read and calibrated once for many runs. The keywords are defaults of its
    runs, as RunOptions says them. One run at a time; close() or the end of a with block ends it.
    """

    def __init__(
        self,
        *,
        clock: ClockSource | str = ClockSource.AUTO,
        **options: Unpack[RunOptions],
    ) -> None:
        fields_of("", options)  # what makes no sense is said at once
        source = native.clock_source_from_name(clock) if isinstance(clock, str) else int(clock)
        self._options = options
        self._machine = interruptible(lambda: native.machine_open(None)[1])
        self._clock = interruptible(lambda: native.clock_open(self._machine, source)[1])
        self._run: Run | None = None
        self._closed = False

    @property
    def clock(self) -> Clock:
        """What calibration found."""
        facts = native.clock_facts(self._clock)[1]
        return Clock(
            ClockSource(facts.source),
            facts.reason,
            facts.hz,
            facts.hz_error_ppb,
            facts.quantum_ns,
            facts.read_cost_ns,
        )

    def start(self, probe: str, **options: Unpack[RunOptions]) -> Run:
        """
        Start a run and return while it goes on. InvalidOption, PermissionDenied (strict=True):
        why not; ValueError: another one goes on, or the session is closed.
        """
        if self._closed:
            raise ValueError("this session is closed")
        if self._run is not None and not self._run.over:
            raise ValueError("a run of this session goes on; wait for it, or use another session")
        fields = fields_of(probe, {**self._options, **options})
        before = _blocked_here()
        handle = self._start(fields)
        self._run = Run(handle, _blocked_here() - before, self._machine, self._clock)
        return self._run

    def _start(self, fields: dict[str, Any]) -> native.TlatRun:
        """
        On the thread that will wait for it. The struct borrows strings from fields, which outlive
        the call.
        """
        opts = native.TlatRunOpts()
        opts.machine = self._machine
        opts.clock = self._clock
        for name, value in fields.items():
            setattr(opts, name, value)
        return native.run_start(opts)[1]

    def run(self, probe: str, **options: Unpack[RunOptions]) -> Report:
        """start() and Run.wait() in one."""
        try:
            run = self.start(probe, **options)
        except KeyboardInterrupt as error:
            raise Interrupted(None) from error
        return run.wait()

    async def run_async(self, probe: str, **options: Unpack[RunOptions]) -> Report:
        """
        The same for asyncio: the loop goes on while it measures, but not while it is set up, which
        takes a fraction of a second and this thread. Cancelling ends the run.
        """
        return await self.start(probe, **options).wait_async()

    def check(self) -> Report:
        """Audit the machine without measuring a probe: a report of findings, without results."""
        return Report(interruptible(lambda: native.check(self._machine, self._clock)[1]))

    def close(self) -> None:
        """End the run under way, if there is one. Reports and arrays stay as they are."""
        self._closed = True
        if self._run is not None and not self._run.over:
            self._run._abandon()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def start(probe: str, **options: Unpack[RunOptions]) -> Run:
    """Calibrate, start a run and return while it goes on; see Session.start()."""
    return Session().start(probe, **options)


def run(probe: str, **options: Unpack[RunOptions]) -> Report:
    """
    Measure one probe: timerlat.run("wake-futex", samples=100_000, pair="0:1", priority=80). The
    keywords are those of RunOptions. InvalidOption: options that make no sense; PermissionDenied:
    with strict=True, what was refused; Interrupted: Ctrl-C, with the report so far.
    """
    try:
        session = Session()
    except KeyboardInterrupt as error:
        raise Interrupted(None) from error
    return session.run(probe, **options)


async def run_async(probe: str, **options: Unpack[RunOptions]) -> Report:
    """The same for asyncio, as Session.run_async(); the loop goes on during calibration, too."""
    session = await aside(Session)
    return await session.run_async(probe, **options)


def probes() -> tuple[Probe, ...]:
    """All probes of this build, and whether each can run here."""
    found: list[Probe] = []
    while True:
        try:
            facts = native.probe_facts(len(found))[1]
        except NotFound:
            return tuple(found)
        found.append(
            Probe(facts.name, facts.from_, facts.to, bool(facts.pair), _missing(facts.name))
        )


def _missing(name: str) -> str | None:
    try:
        native.probe_check(name)
    except TimerlatError as error:
        return error.strerror
    return None


def check() -> Report:
    """Audit the machine: a report of findings, each with its remedy, without results."""
    return Session().check()
