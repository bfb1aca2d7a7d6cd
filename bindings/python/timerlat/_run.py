# SPDX-License-Identifier: MIT
"""Runs: start, look, stop, wait; and sessions, which calibrate once for many of them."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import select
import signal
import sys
import threading
import time
import weakref
from collections.abc import Iterator
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
#: What poll(2) is asked for at a time: it counts milliseconds in an int.
_POLL_S = 86400.0
#: As eventfd(2) counts.
_EVENT = (1).to_bytes(8, sys.byteorder)

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


def _seconds(timeout: float | None) -> float | None:
    """As it can be waited for; None: for ever."""
    if timeout is None:
        return None
    try:
        unknown = math.isnan(timeout)
    except TypeError:
        raise TypeError(
            f"timeout: {timeout!r} is no number of seconds; use 0.5, or None to wait for the end"
        ) from None
    if unknown:
        raise ValueError("timeout: nan is no time; use seconds, or None to wait for the end")
    return None if timeout == math.inf else max(0.0, float(timeout))


def _readable(fd: int, timeout: float | None) -> bool:
    """Whether it is, within so many seconds."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    end = math.inf if timeout is None else time.monotonic() + timeout
    while True:
        left = max(0.0, end - time.monotonic())
        if poll.poll(math.ceil(min(left, _POLL_S) * 1000)):
            return True
        if left <= _POLL_S:
            return False


class Run:
    """
    A run that goes on: start() and Session.start() make them. Nobody has to wait for it: the last
    reference, or the end of a with block, ends it. While one thread or task waits for it, others
    may look at it, stop it, or wait, too: all get the same report. Where the probe sends a signal
    to the process, the thread that started it blocks that signal, and has to wait for it.
    """

    def __init__(
        self, handle: native.TlatRun, blocked: frozenset[int], *kept: object
    ) -> None:
        self._native: native.TlatRun | None = handle
        self._lock = threading.RLock()  # held by whoever uses the handle, lest it goes meanwhile
        self._blocked = blocked  # on the thread that started it, until it has waited
        self._starter = threading.get_ident()
        self._kept = kept  # machine and clock must outlive the run
        self._report: Report | None = None
        self._error: TimerlatError | None = None
        _alive.add(self)

    def _handle(self) -> native.TlatRun:
        if self._native is None:
            raise ValueError("this run is over, and its report was handed over")
        return self._native

    def _forget(self) -> None:
        self._lock = threading.RLock()  # a thread that the child lacks may have had it
        if self._native is not None:
            with contextlib.suppress(OSError):
                os.close(native.run_fd(self._native))
            self._native.thisown = False
            self._native = None

    def fileno(self) -> int:
        """A descriptor that polls readable when the run is over. ValueError: it was waited for."""
        with self._lock:
            return native.run_fd(self._handle())

    @property
    def over(self) -> bool:
        """Whether it has come to its end."""
        with self._lock:
            return self._native is None or _readable(self.fileno(), 0)

    def progress(self) -> tuple[Progress, ...]:
        """How far each measuring thread is. ValueError: it was waited for."""
        with self._lock:
            return tuple(
                Progress(
                    one.count, one.min_ns, one.p50_ns, one.p99_ns, one.max_ns, one.done, one.cpu
                )
                for one in each(native.run_progress, self._handle())
            )

    def snapshot(self) -> Report:
        """
        What it has measured so far; the loops go on undisturbed. TimerlatError (EALREADY): it is
        over, and wait() has the report; ValueError: it was waited for.
        """
        with self._lock:
            return Report(native.run_snapshot(self._handle())[1])

    def stop(self) -> None:
        """
        End it; wait() then returns soon. A pair ends after the cycle under way; the wait for a
        timer and a round trip are interrupted, and such a cycle counts as unfinished.
        """
        with self._lock:
            if self._native is not None:
                native.run_stop(self._native)

    def wait(self, timeout: float | None = None) -> Report:
        """
        Wait for its end, at most timeout seconds. TimeoutError: it goes on. Ctrl-C ends it and
        raises Interrupted, a KeyboardInterrupt, with what had been measured as its report.
        ValueError: another thread started it, and blocks the signal of its probe until it waits;
        or it was ended before it had measured anything.
        """
        seconds = _seconds(timeout)
        self._check_thread()
        try:
            with self._descriptor() as fd:  # without one it cannot wait, but the run goes on
                over = fd is None or self._readable(fd, seconds)
        except KeyboardInterrupt as error:
            raise Interrupted(self._abandon()) from error
        if not over:
            raise TimeoutError(f"the run goes on after {timeout} s")
        return self._collect()

    def _readable(self, fd: int, timeout: float | None) -> bool:
        """As _readable(); what a signal's handler raises meanwhile ends the run."""
        try:
            return _readable(fd, timeout)
        except BaseException:
            self._abandon()
            raise

    async def wait_async(self) -> Report:
        """The same for asyncio. Cancelling ends the run."""
        self._check_thread()
        with self._descriptor() as fd:
            if fd is not None:
                await self._readable_async(fd)
        return self._collect()

    async def _readable_async(self, fd: int) -> None:
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        loop.add_reader(fd, over.set)
        try:
            await over.wait()
        except BaseException:
            self._abandon()
            raise
        finally:
            loop.remove_reader(fd)

    def _check_thread(self) -> None:
        ended = self._native is None
        if self._blocked and not ended and self._starter != threading.get_ident():
            numbers = ", ".join(str(int(number)) for number in sorted(self._blocked))
            raise ValueError(
                f"the thread that started this run blocks signal {numbers} until it waits for it; "
                "wait there"
            )

    @contextlib.contextmanager
    def _descriptor(self) -> Iterator[int | None]:
        """
        One of its own for each who waits, without the lock: that of the run is closed by whoever
        ends it, and its number may be another file's at once. None: it was ended.
        """
        with self._lock:
            fd = None if self._native is None else os.dup(self.fileno())
        try:
            yield fd
        finally:
            if fd is not None:
                os.close(fd)

    def _take(self) -> native.TlatRun:
        handle = self._handle()
        self._native = None
        _alive.discard(self)
        return handle

    def _collect(self) -> Report:
        """The report, for all who wait: the first of them has the library make it."""
        with self._lock:
            if self._native is not None:
                try:
                    self._report = _named(Report(native.run_wait(self._take())[1]))
                except TimerlatError as error:
                    self._error = error
                self._kept = ()
            if self._error is not None:
                raise self._error.with_traceback(None)  # not that of who waited before
            if self._report is None:
                raise ValueError(
                    "this run has no report: it was ended before it had measured anything, or is "
                    "that of a parent process"
                )
            return self._report

    def _abandon(self) -> Report | None:
        """
        End the run now. A wait in the kernel may take longer: others see to that one, unless this
        thread blocks a signal until it has waited.
        """
        with self._lock:
            if self._native is None:
                return self._report
            try:
                self._report = self.snapshot()
            except TimerlatError:
                pass
            self.stop()
            if _readable(self.fileno(), None if self._blocked else _STOP_S):
                with contextlib.suppress(TimerlatError):  # wait() says it
                    self._collect()
                return self._report
            os.write(self.fileno(), _EVENT)  # whoever waits need not wait for its threads
            kept, handle = self._kept, self._take()
        threading.Thread(target=_end, args=(handle, kept), name="timerlat", daemon=True).start()
        return self._report

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        with run:  # nobody else could end it
            return run.wait()

    async def run_async(self, probe: str, **options: Unpack[RunOptions]) -> Report:
        """
        The same for asyncio: the loop goes on while it measures, but not while it is set up, which
        takes a fraction of a second and this thread. Cancelling ends the run.
        """
        with self.start(probe, **options) as run:
            return await run.wait_async()

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
