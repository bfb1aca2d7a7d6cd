# SPDX-License-Identifier: MIT
# What the package uses of the module that SWIG makes of timerlat.h. Not for others: it changes
# whenever the header does.
from collections.abc import Callable, Sequence
from typing import Optional, Union

_Text = Union[str, bytes]

VERSION: str
ZERO: int
INFO: int
WARN: int
ERROR: int
PASS: int
INCONCLUSIVE: int
FAIL: int
CLOCK_AUTO: int
CLOCK_TSC: int
CLOCK_CNTVCT: int
CLOCK_RDTIME: int
CLOCK_GETTIME: int
SCHED_INHERIT: int
SCHED_OTHER: int
SCHED_FIFO: int
SCHED_RR: int
SCHED_BATCH: int
SCHED_DEADLINE: int
SCHED_IDLE: int
SCHED_EXT: int
RUN_ROUND_TRIP: int
RUN_VERIFY: int
RUN_STRICT: int
RUN_LOCK_ALL: int
RUN_NO_FLOOR: int
RUN_TRACE_MARK: int
WRITE_APPEND: int
COMPARE_FORCE: int
COMPARE_NONE: int
COMPARE_IMPROVEMENT: int
COMPARE_EQUIVALENT: int
COMPARE_TRIVIAL: int
COMPARE_INDICATIVE: int
COMPARE_INCONCLUSIVE: int
COMPARE_TAIL_REGRESSION: int
COMPARE_REGRESSION: int
COMPARE_TAIL: int
COMPARE_SHIFT: int

class _Owned:
    thisown: bool

class TlatMachine(_Owned): ...
class TlatClock(_Owned): ...
class TlatHist(_Owned): ...
class TlatRun(_Owned): ...
class TlatReport(_Owned): ...
class TlatComparison(_Owned): ...
class TlatResult: ...

class TlatFinding:
    id: str
    text: str
    remedy: Optional[str]
    severity: int

class TlatFact:
    name: str
    value: str

class TlatProbeFacts:
    name: str
    from_: str
    to: str
    pair: int

class TlatClockFacts:
    reason: str
    hz: int
    hz_error_ppb: int
    quantum_ns: float
    read_cost_ns: float
    source: int

class TlatRunOpts:
    size: int
    machine: Optional[TlatMachine]
    clock: Optional[TlatClock]

class TlatProgress:
    count: int
    min_ns: float
    p50_ns: float
    p99_ns: float
    max_ns: float
    done: float
    threads: int
    cpu: int

class TlatSummary:
    recorded: int
    early: int
    overflow: int
    max_ns: float
    u_ns: float
    wait_cpu: int
    kick_cpu: int
    policy: int
    priority: int
    thread: int

class TlatMetric:
    name: str
    unit: str
    value: float
    sd: float
    n: int
    better: int

class TlatStormOpts:
    size: int

class TlatScaleOpts:
    size: int

class TlatNoiseOpts:
    size: int

class NativeFlag:
    def wave(self) -> None: ...
class TlatCompareOpts:
    size: int

class TlatDifference:
    name: str
    base: str
    next: str

class TlatCompareItem:
    name: str
    metric: str
    unit: str
    reason: str
    base: float
    next: float
    ratio: float
    lo: float
    hi: float
    p: float
    alpha: float
    mde: float
    n_base: int
    n_next: int
    needed: int
    verdict: int
    paired: int

class TlatCompareFigure:
    name: str
    quantile: float
    base: float
    next: float
    ratio: float
    lo: float
    hi: float
    p: float
    role: int
    worse: int

class NativeArray:
    def __len__(self) -> int: ...

def errors_by(maker: Callable[[int, str], Exception]) -> None: ...
def machine_open(root: Optional[_Text]) -> tuple[int, TlatMachine]: ...
def clock_open(machine: Optional[TlatMachine], source: int) -> tuple[int, TlatClock]: ...
def clock_facts(clock: TlatClock) -> tuple[int, TlatClockFacts]: ...
def clock_source_from_name(name: _Text) -> int: ...
def target_from_name(name: _Text) -> int: ...
def policy_from_name(name: _Text) -> int: ...
def probe_facts(index: int) -> tuple[int, TlatProbeFacts]: ...
def probe_check(name: _Text) -> int: ...
def run_start(opts: TlatRunOpts) -> tuple[int, TlatRun]: ...
def run_fd(run: TlatRun) -> int: ...
def run_stop(run: TlatRun) -> None: ...
def run_progress(run: TlatRun, thread: int) -> tuple[int, TlatProgress]: ...
def run_snapshot(run: TlatRun) -> tuple[int, TlatReport]: ...
def run_wait(run_gone: TlatRun) -> tuple[int, TlatReport]: ...
def check(machine: TlatMachine, clock: TlatClock) -> tuple[int, TlatReport]: ...
def report_append(into: TlatReport, from_: TlatReport) -> int: ...
def report_copy(report: TlatReport) -> tuple[int, TlatReport]: ...
def report_parse(text: bytes, name: _Text) -> tuple[int, TlatReport]: ...
def report_read(path: _Text) -> tuple[int, TlatReport]: ...
def report_write(report: TlatReport, path: _Text, flags: int) -> int: ...
def report_format(report: TlatReport) -> tuple[int, str]: ...
def report_set_origin(report: TlatReport, argc: Sequence[_Text], repeat: Optional[_Text]) -> int: ...
def report_end(report: TlatReport) -> str: ...
def report_repeat(report: TlatReport) -> Optional[str]: ...
def report_result(report: TlatReport, index: int) -> TlatResult: ...
def report_finding(report: TlatReport, index: int) -> tuple[int, TlatFinding]: ...
def report_fact(report: TlatReport, index: int) -> tuple[int, TlatFact]: ...
def result_kind(result: TlatResult) -> str: ...
def result_probe(result: TlatResult) -> str: ...
def result_repeat(result: TlatResult) -> Optional[str]: ...
def result_finding(result: TlatResult, index: int) -> tuple[int, TlatFinding]: ...
def result_summary(result: TlatResult) -> tuple[int, TlatSummary]: ...
def result_count(result: TlatResult, index: int) -> tuple[int, str, int]: ...
def result_metric(result: TlatResult, index: int) -> tuple[int, TlatMetric]: ...
def result_quantile_ns(result: TlatResult, p: float) -> tuple[int, float, float, float]: ...
def result_hist(result: TlatResult) -> Optional[TlatHist]: ...
def result_values_ns(result: TlatResult) -> NativeArray: ...
def hist_edges_ns(hist: TlatHist) -> NativeArray: ...
def hist_counts(hist: TlatHist) -> NativeArray: ...
def hist_overflow(hist: TlatHist) -> int: ...
def budget_check(budget: _Text, result: Optional[TlatResult]) -> tuple[int, str]: ...
def storm_preset_name(preset: int) -> Optional[str]: ...
def storm_handler_name(handler: int) -> Optional[str]: ...
def scale_what_name(what: int) -> Optional[str]: ...
def storm(opts: TlatStormOpts) -> tuple[int, TlatReport]: ...
def noise(opts: TlatNoiseOpts) -> tuple[int, TlatReport]: ...
def scale(opts: TlatScaleOpts) -> tuple[int, TlatReport]: ...
def report_join(report: TlatReport) -> tuple[int, TlatReport]: ...
def report_merge(reports: list[TlatReport]) -> tuple[int, TlatReport]: ...
def compare(
    base: list[TlatReport], next: list[TlatReport], opts: TlatCompareOpts
) -> tuple[int, TlatComparison]: ...
def comparison_verdict(comparison: TlatComparison) -> int: ...
def comparison_item(comparison: TlatComparison, index: int) -> tuple[int, TlatCompareItem]: ...
def comparison_figure(
    comparison: TlatComparison, item: int, index: int
) -> tuple[int, TlatCompareFigure]: ...
def comparison_difference(
    comparison: TlatComparison, index: int
) -> tuple[int, TlatDifference]: ...
def comparison_finding(comparison: TlatComparison, index: int) -> tuple[int, TlatFinding]: ...
def comparison_format(comparison: TlatComparison) -> tuple[int, str]: ...
