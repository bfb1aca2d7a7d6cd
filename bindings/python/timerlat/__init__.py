# SPDX-License-Identifier: MIT
"""
Calibrated measurement of real-time latency on Linux.

>>> import timerlat
>>> report = timerlat.run("wake-futex", samples=20000)
>>> 0 < report.n <= 20000
True
>>> report.min <= report.p50 <= report.max
True

Every time in a report is in nanoseconds. What fails is a TimerlatError, an OSError with the
library's own text. Measuring threads are the library's: no Python runs on one, and the
interpreter never takes a real-time policy. An import changes nothing of the process, and loads the
library with the first name that is used.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._compare import Compared, Comparison, CompareVerdict, Shift, Side, compare, merge
    from ._enums import ClockSource, Policy, Severity, Verdict
    from ._errors import (
        Interrupted,
        InvalidOption,
        MissingExtra,
        NotEnoughSamples,
        NotFound,
        PermissionDenied,
        TimerlatError,
        Unsupported,
    )
    from ._load import load, load_all
    from ._options import Cpus, RunOptions, Time
    from ._report import (
        Block,
        Estimate,
        Figures,
        Finding,
        Histogram,
        Judgement,
        Metric,
        Outlier,
        Report,
        Result,
        Uncertainty,
    )
    from ._run import (
        Clock,
        Probe,
        Progress,
        Run,
        Session,
        check,
        probes,
        run,
        run_async,
        start,
    )
    from ._stress import noise, scale, storm
    from .native import VERSION as __version__

__all__ = [
    "Block",
    "Clock",
    "ClockSource",
    "Compared",
    "CompareVerdict",
    "Comparison",
    "Cpus",
    "Estimate",
    "Figures",
    "Finding",
    "Histogram",
    "Interrupted",
    "InvalidOption",
    "Judgement",
    "Metric",
    "MissingExtra",
    "NotEnoughSamples",
    "NotFound",
    "Outlier",
    "PermissionDenied",
    "Policy",
    "Probe",
    "Progress",
    "Report",
    "Result",
    "Run",
    "RunOptions",
    "Session",
    "Severity",
    "Shift",
    "Side",
    "Time",
    "TimerlatError",
    "Uncertainty",
    "Unsupported",
    "Verdict",
    "__version__",
    "check",
    "compare",
    "load",
    "load_all",
    "noise",
    "merge",
    "probes",
    "run",
    "run_async",
    "scale",
    "start",
    "storm",
]

if not TYPE_CHECKING:
    import threading as _threading

    #: Of who loads: warnings' filters are the process's. Again by its holder, as imports may be.
    _loading = _threading.RLock()

    def _public() -> dict[str, object]:
        """What the names of __all__ stand for."""
        import warnings
        from importlib import import_module

        with warnings.catch_warnings():  # of SWIG's own types, whatever the caller makes of them
            warnings.filterwarnings("ignore", "builtin type swig", DeprecationWarning)
            native = import_module(".native", __name__)
        parts = ("_compare", "_enums", "_errors", "_load", "_options", "_report", "_run", "_stress")
        found = {"__version__": native.VERSION}
        for part in parts:
            members = vars(import_module("." + part, __name__))
            found.update((name, members[name]) for name in __all__ if name in members)
        for thing in found.values():
            if isinstance(thing, type):  # tracebacks and help() say where it is to be had
                thing.__module__ = __name__
        return found

    def __getattr__(name: str) -> object:
        """
        pytest imports the package on every start, for the sake of its plugin: that must cost
        nothing where nobody measures. What a program put here first, such as a stand-in for
        run(), stays.
        """
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with _loading:
            if name not in globals():  # else another thread was first
                for public, thing in _public().items():
                    globals().setdefault(public, thing)
            return globals()[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
