# SPDX-License-Identifier: MIT
"""Storms of timers, what many of a kind cost, what keeps a spinning thread from its CPU."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable
from typing import Any, Callable

from . import native
from ._calls import Helper
from ._enums import Policy
from ._errors import Interrupted
from ._options import Cpus, Time, count, cpu_list, invalid, nanoseconds, scheduling
from ._report import Report

#: How long what was stopped may take to hand over what it has.
_STOP_S = 0.06


def _words(name: Callable[[int], str | None]) -> dict[str, int]:
    """The words of an enumeration of the library, which counts from 0."""
    words: dict[str, int] = {}
    while (word := name(len(words))) is not None:
        words[word] = len(words)
    return words


_PRESETS = _words(native.storm_preset_name)
_HANDLERS = _words(native.storm_handler_name)
_SCALES = _words(native.scale_what_name)


def _chosen(words: dict[str, int], word: str, name: str) -> int:
    if word not in words:
        raise invalid(f"{name}: {word!r} is none of {', '.join(words)}")
    return words[word]


def _measure(
    call: Callable[[Any], tuple[int, native.TlatReport]], opts: Any, fields: dict[str, Any]
) -> Report:
    """The struct borrows what fields holds. Ctrl-C ends it, and keeps what there is in time."""
    flag = native.NativeFlag()
    for name, value in {**fields, "stop": flag}.items():
        setattr(opts, name, value)

    def measure() -> Report:
        report = Report(call(opts)[1])
        assert flag and fields  # until here
        return report

    if threading.current_thread() is not threading.main_thread():
        return measure()
    helper = Helper(measure)
    try:
        return helper.wait()
    except KeyboardInterrupt as error:
        flag.wave()
        raise Interrupted(helper.late(_STOP_S)) from error
    except BaseException:
        flag.wave()
        raise


def storm(
    clocks: str | None = None,
    *,
    cpus: Cpus | None = None,
    duration: Time = 0,
    interval: Time = 0,
    itimer_interval: Time = 0,
    timers: int = 1,
    preset: str = "custom",
    handler: str = "plain",
    policy: Policy | str = Policy.OTHER,
    priority: int = 0,
) -> Report:
    """
    Let timers loose that deliver signals, in processes of their own: results of kind "storm",
    whose metrics are rates in Hz. clocks: names joined by commas ("monotonic"); a worker on each
    of cpus (the best one); duration (2 s); interval of each timer, 100 ns or more (100 us);
    timers of each clock; preset "timer" or "timermix": what stress-ng arms; handler "plain" or
    "rearm"; policy of the workers ("other"; with "fifo" or "rr" also a priority, 1 to 98).
    InvalidOption: what makes no sense; Interrupted: Ctrl-C.
    """
    fields = {
        "clocks": clocks,
        "cpus": None if cpus is None else cpu_list(cpus),
        "duration_ns": nanoseconds(duration, "duration"),
        "interval_ns": nanoseconds(interval, "interval"),
        "itimer_interval_ns": nanoseconds(itimer_interval, "itimer_interval"),
        "timers": count(timers, "timers"),
        "preset": _chosen(_PRESETS, preset, "preset"),
        "handler": _chosen(_HANDLERS, handler, "handler"),
        **scheduling(policy, priority),
    }
    return _measure(native.storm, native.TlatStormOpts(), fields)


def scale(
    what: str,
    *,
    sizes: Iterable[int] = (),
    cpus: Cpus | None = None,
    rounds: int = 0,
    duration: Time = 0,
    threads: bool = False,
    policy: Policy | str = Policy.OTHER,
    priority: int = 0,
) -> Report:
    """
    What N of a kind cost, at several N: a result of kind "scale", whose metrics are times in ns
    and the exponents with which they grow. what: "timers" (creating, asking and deleting),
    "wakeups" (one wake of N waiters) or "pairs" (wakes in N pairs at a time); sizes: N, ascending;
    rounds: repetitions of each; duration of each (pairs); threads=True: timers of this process,
    not of workers; policy of the workers ("other"; with "fifo" or "rr" also a priority, 1 to 99).
    InvalidOption: what makes no sense; Interrupted: Ctrl-C.
    """
    numbers = array("q", [count(size, "sizes") for size in sizes])
    fields = {
        "sizes": numbers,
        "n_sizes": len(numbers),
        "cpus": None if cpus is None else cpu_list(cpus),
        "rounds": count(rounds, "rounds"),
        "duration_ns": nanoseconds(duration, "duration"),
        "what": _chosen(_SCALES, what, "what"),
        "threads": int(threads),
        **scheduling(policy, priority),
    }
    return _measure(native.scale, native.TlatScaleOpts(), fields)


def noise(
    *,
    cpus: Cpus | None = None,
    duration: Time = 0,
    threshold: Time = 0,
    policy: Policy | str = Policy.FIFO,
    priority: int | None = None,
) -> Report:
    """
    Spin on each of cpus (the best one) and see when stamps come late: results of kind "noise",
    with metrics of the gaps (in ns, Hz or shares) and by cause. duration (2 s); gaps shorter than
    threshold (1 us) are none; policy of the threads ("fifo" where it is granted and RLIMIT_RTTIME
    allows it for so long, a finding says so where not) and real-time priority (40).
    InvalidOption: what makes no sense, and real-time threads that would take every CPU;
    Interrupted: Ctrl-C.
    """
    fields = {
        "cpus": None if cpus is None else cpu_list(cpus),
        "duration_ns": nanoseconds(duration, "duration"),
        "threshold_ns": nanoseconds(threshold, "threshold"),
        **scheduling(policy, priority),
    }
    return _measure(native.noise, native.TlatNoiseOpts(), fields)
