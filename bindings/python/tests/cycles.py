# SPDX-License-Identifier: MIT
"""
Every kind of object made and dropped ten thousand times, memory and descriptors counted. Run with
PYTHONMALLOC=malloc, so that the allocator of the C library sees it all: its smallest piece has 32
bytes, so that one leaked each time shows. Under AddressSanitizer its own search for leaks, at the
end, is what counts.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from typing import Callable

import timerlat
from timerlat import native
from timerlat._documents import read_text

SANITIZED = hasattr(ctypes.CDLL(None), "__sanitizer_get_current_allocated_bytes")
CYCLES = int(os.environ.get("TLAT_CYCLES", "10000"))
RUN = dict(policy="other", samples=2, warmup=0, floor=False)


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]


def allocated_bytes() -> int:
    gc.collect()
    process = ctypes.CDLL(None)
    process.mallinfo2.restype = _Mallinfo2
    info = process.mallinfo2()
    return int(info.e + info.h)  # mapped, and in use


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def refused(call: Callable[[], object]) -> None:
    try:
        call()
    except timerlat.TimerlatError:
        return
    raise AssertionError("that should have failed")


def cycle(name: str, call: Callable[[], object], times: int = CYCLES) -> None:
    """A leak is in each of three rounds; what is kept in stock, in one of them."""
    begin = time.monotonic()
    grown = []
    before = descriptors()
    for _ in range(3):
        bytes_before = allocated_bytes()
        for _ in range(max(times // 3, 1)):
            call()
        grown.append(allocated_bytes() - bytes_before)
    print(f"{name}: {times} times in {time.monotonic() - begin:.1f} s, {grown} bytes more")
    assert SANITIZED or min(grown) < 24 * times // 3 + 512, f"{name} leaks"
    assert descriptors() <= before, f"{name} leaks descriptors"


def main() -> None:
    session = timerlat.Session(clock="clock_gettime")
    report = session.run("timer-nanosleep", **{**RUN, "samples": 50, "raw": 50})
    text, handle, result = report.to_json(), report._native, report.results[0]._native
    hist = native.result_hist(result)
    assert hist is not None
    metric, rated = native.TlatMetric(), read_text(text)
    metric.name, metric.unit = "throughput", "Hz"
    native.report_add_metric(rated, "me", metric)
    comparison = timerlat.compare(report, report, force=True)._native

    cycle("error", lambda: refused(lambda: native.policy_from_name("none")))
    cycle("error with text", lambda: refused(lambda: native.budget_check("p50<1", result)))
    cycle("options", lambda: native.TlatRunOpts())
    cycle("histogram", lambda: native.hist_new(10**9))
    cycle("edges", lambda: native.hist_edges_ns(hist))
    cycle("counts", lambda: native.hist_counts(hist))
    cycle("values", lambda: native.result_values_ns(result))
    cycle("summary", lambda: native.result_summary(result))
    cycle("metric", lambda: native.result_metric(native.report_result(rated, 1), 0))
    cycle("rare", lambda: native.result_rare(result, 0.001))
    cycle("parsed", lambda: native.report_parse(text.encode(), "it"))
    cycle("finding", lambda: report._native and native.report_finding(handle, 0))
    cycle("fact", lambda: native.report_fact(handle, 0))
    cycle("clock facts", lambda: native.clock_facts(session._clock))
    cycle("CPUs", lambda: native.machine_cpus(session._machine, "all"))
    cycle("verdict", lambda: native.budget_check("p50<1ms, max<1s", result))
    cycle("text", lambda: native.report_format(handle))
    cycle("comparison as text", lambda: native.comparison_format(comparison))
    cycle("origin", lambda: native.report_set_origin(handle, ["a", b"b"], None))
    cycle("report", lambda: read_text(text))
    cycle("threads joined", lambda: native.report_join(handle))
    cycle("typed report", lambda: timerlat.Report(read_text(text)).min, CYCLES // 10)
    cycle("comparison", lambda: timerlat.compare(report, report, force=True))
    cycle("flag", lambda: native.NativeFlag())
    cycle("machine", lambda: native.machine_open(None))
    cycle("run", lambda: session.run("null", **RUN))
    cycle("run dropped", lambda: session.start("null", **RUN)._abandon(), CYCLES // 10)
    cycle("clock", lambda: native.clock_open(None, 0), CYCLES // 1000)
    if sys.modules.get("numpy") is not None:
        cycle("array", lambda: report.histogram.counts.sum())
    print("no leak")


if __name__ == "__main__":
    try:
        import numpy  # noqa: F401
    except ImportError:
        pass
    main()
