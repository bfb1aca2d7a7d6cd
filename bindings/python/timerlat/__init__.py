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
interpreter never takes a real-time policy. An import changes nothing of the process.
"""

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

for _name in __all__:  # so that tracebacks and help() say where a name is to be had
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
