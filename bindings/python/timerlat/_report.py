# SPDX-License-Identifier: MIT
"""Reports, their results, and the figures of a distribution. Every time is in nanoseconds."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar

from . import native
from ._documents import Document, bin_low, block_pairs, read_text
from ._enums import Policy, Severity, Verdict
from ._errors import NotEnoughSamples, NotFound, Unsupported
from ._extras import extra
from ._quantity import percent_name, time_text

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_T = TypeVar("_T")


def each(get: Callable[[Any, int], tuple[int, _T]], owner: Any) -> Iterator[_T]:
    """The items that a function of the library numbers, 0 and up."""
    index = 0
    while True:
        try:
            item = get(owner, index)[1]
        except NotFound:
            return
        yield item
        index += 1


@dataclass(frozen=True)
class Finding:
    """A condition that qualifies the figures, or is worth knowing."""

    id: str  #: stable, lower case: "policy-refused"
    severity: Severity
    text: str  #: one sentence
    remedy: str | None  #: what to type

    @classmethod
    def _of(cls, finding: native.TlatFinding) -> Finding:
        return cls(finding.id, Severity(finding.severity), finding.text, finding.remedy)

    def __str__(self) -> str:
        return f"{self.severity.name.lower()} {self.id}: {self.text}"


@dataclass(frozen=True)
class Estimate:
    """A quantile in ns with its 95 % interval."""

    value: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value


@dataclass(frozen=True)
class Uncertainty:
    """Expanded uncertainty (k = 2) in ns. float() of it is that of the median."""

    u: float  #: of the median
    worst: float  #: linear sum of the bounds of its components
    by_figure: dict[str, float]  #: u of "p50", "p99", "max", ... as far as they are carried
    components: dict[str, float]  #: standard uncertainties by name, "offset_ns"

    def __float__(self) -> float:
        return self.u


@dataclass(frozen=True, eq=False)
class Histogram:
    """
    A distribution as it was counted, without loss: counts[i] values are at or above edges[i] and
    below edges[i + 1], in ns. Both arrays are read-only and live on their own.
    """

    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]
    overflow: int  #: values too large for any bin

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame with low_ns, high_ns and count of the bins in use."""
        frame = extra("pandas").DataFrame(
            {"low_ns": self.edges[:-1], "high_ns": self.edges[1:], "count": self.counts}
        )
        return frame[frame["count"] > 0].reset_index(drop=True)


@dataclass(frozen=True)
class Block:
    """A stretch of the run; times in ns, start since its beginning."""

    start: int
    length: int
    n: int
    min: float
    p50: float
    p99: float
    max: float


@dataclass(frozen=True)
class Outlier:
    """One of the largest values: in ns, when (ns since the beginning), where, which cycle."""

    value: float
    time: int
    cpu: int | None
    seq: int


class Metric(float):
    """A figure that is no distribution: a float, with its unit and what is known of it."""

    def __new__(
        cls,
        value: float,
        unit: str = "",
        sd: float | None = None,
        n: int = 0,
        better: str = "none",
    ) -> Metric:
        made = super().__new__(cls, value)
        made.unit = unit
        made.sd = sd
        made.n = n
        made.better = better
        return made

    unit: str  #: "ns", "Hz"; "1": a plain number
    sd: float | None  #: standard deviation of the values, in that unit; None: not known
    n: int  #: how many values it was made of
    better: str  #: "lower", "higher" or "none"

    @classmethod
    def _of(cls, metric: native.TlatMetric) -> Metric:
        sd = None if math.isnan(metric.sd) else metric.sd
        return cls(metric.value, metric.unit, sd, metric.n, _BETTER[metric.better])


_BETTER = {-1: "lower", 0: "none", 1: "higher"}


class Judgement:
    """What came of a budget. True only for PASS, so that it can be asserted."""

    def __init__(self, verdict: Verdict, text: str) -> None:
        self.verdict = verdict
        self.text = text  #: one line for each term, with the figure, its bounds and the samples

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    def __repr__(self) -> str:
        return f"<{self.verdict.name}: {self.text}>"

    __str__ = __repr__


class Figures:
    """Figures in ns of one distribution; a Report has them where it is about one."""

    def _one(self) -> Result:
        raise NotImplementedError

    @property
    def min(self) -> float:
        """The smallest value. NotEnoughSamples: there is none."""
        return self._one()._figure("min_ns")

    @property
    def max(self) -> float:
        """The largest value. NotEnoughSamples: there is none."""
        return self._one()._figure("max_ns")

    @property
    def mean(self) -> float:
        """The mean of all values. NotEnoughSamples: there is none."""
        return self._one()._figure("mean_ns")

    @property
    def sd(self) -> float:
        """The standard deviation. NotEnoughSamples: fewer than two values."""
        return self._one()._figure("sd_ns")

    @property
    def p50(self) -> float:
        """The median. NotEnoughSamples: the samples cannot carry it."""
        return self.percentile(50)

    @property
    def p90(self) -> float:
        """As p50."""
        return self.percentile(90)

    @property
    def p99(self) -> float:
        """As p50."""
        return self.percentile(99)

    @property
    def p999(self) -> float:
        """99.9 %; as p50."""
        return self.percentile(99.9)

    @property
    def p9999(self) -> float:
        """99.99 %; as p50."""
        return self.percentile(99.99)

    def percentile(self, percent: float, *, bound: bool = False) -> float:
        """
        What percent (above 0, below 100) of all values lie below. When the samples cannot carry
        it: NotEnoughSamples, or with bound=True the largest value seen, which is a bound only on
        what has happened so far.
        """
        try:
            return self.estimate(percent).value
        except NotEnoughSamples as error:
            if bound and math.isfinite(error.bound_ns):
                return error.bound_ns
            raise

    def estimate(self, percent: float) -> Estimate:
        """A percentile with its 95 % interval. NotEnoughSamples as percentile()."""
        return self._one()._estimate(percent)

    @property
    def interval(self) -> dict[str, tuple[float, float]]:
        """95 % intervals by name, "p50" to "p99.99", of those that the samples carry."""
        return self._one()._intervals()

    @property
    def uncertainty(self) -> Uncertainty | None:
        """What the clocks and the samples leave open; None: not known."""
        return self._one()._uncertainty()

    @property
    def counts(self) -> dict[str, int]:
        """Counters by name: "asked", "recorded", "missed", "disturbed.preempted", ..."""
        return self._one()._counts()

    @property
    def histogram(self) -> Histogram:
        """The distribution. Needs NumPy (MissingExtra)."""
        return self._one()._histogram()

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The first values one by one, as many as raw=N kept (else none). Needs NumPy."""
        return self._one()._values()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """How it went over time: up to 64 stretches of the run."""
        return self._one()._blocks()

    @property
    def outliers(self) -> tuple[Outlier, ...]:
        """The largest values, at most 64, the largest first."""
        return self._one()._outliers()


class Result(Figures):
    """What one measuring thread found. Made by a Report, and keeps what it needs of it alive."""

    def __init__(self, report: Report, index: int) -> None:
        self._report = report
        self._index = index
        self._native = native.report_result(report._native, index)
        self._summary = native.result_summary(self._native)[1]

    def _one(self) -> Result:
        return self

    @property
    def _document(self) -> Document:
        found: Document = self._report.document["results"][self._index]
        return found

    @property
    def probe(self) -> str:
        """Name of the probe: "wake-futex"."""
        return native.result_probe(self._native)

    @property
    def kind(self) -> str:
        """"latency": it has a distribution; else it has metrics."""
        return native.result_kind(self._native)

    @property
    def begins(self) -> str:
        """Where the measured interval begins, in words."""
        return str(self._document.get("from") or "")

    @property
    def ends(self) -> str:
        """Where it ends."""
        return str(self._document.get("to") or "")

    @property
    def n(self) -> int:
        """How many values figures rest on."""
        return self._summary.recorded + self._summary.early + self._summary.overflow

    @property
    def thread(self) -> int:
        """Which measuring thread of its run, 0 and up."""
        return self._summary.thread

    @property
    def wait_cpu(self) -> int | None:
        """The CPU that was woken or waited; None: not known."""
        return self._summary.wait_cpu if self._summary.wait_cpu >= 0 else None

    @property
    def kick_cpu(self) -> int | None:
        """The CPU that woke it; None: nobody did."""
        return self._summary.kick_cpu if self._summary.kick_cpu >= 0 else None

    @property
    def policy(self) -> Policy:
        """Policy of the waiter, as the kernel had it."""
        return Policy(self._summary.policy)

    @property
    def priority(self) -> int:
        """Priority of the waiter, as the kernel had it."""
        return self._summary.priority

    @property
    def repeat(self) -> str | None:
        """The command that repeats this result alone."""
        return native.result_repeat(self._native)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What qualifies this result; the report has those of the whole run."""
        return tuple(map(Finding._of, each(native.result_finding, self._native)))

    @property
    def where(self) -> str:
        """Its CPUs: "0->1" (waker, waiter) or "1"."""
        if self.kick_cpu is None:
            return "-" if self.wait_cpu is None else str(self.wait_cpu)
        return f"{self.kick_cpu}->{self.wait_cpu}"

    @property
    def metrics(self) -> dict[str, Metric]:
        """Figures that are no distribution, by name ("progress_hz"); NaN: not known."""
        found = each(native.result_metric, self._native)
        return {metric.name: Metric._of(metric) for metric in found}

    def meets(self, budget: str) -> Judgement:
        """Hold it against a budget such as "p99<50us, max<200us". InvalidOption: unreadable."""
        verdict, text = native.budget_check(budget, self._native)
        return Judgement(Verdict(verdict), text.strip())

    def _figure(self, name: str) -> float:
        value = float(getattr(self._summary, name))
        if math.isnan(value):
            raise self._too_few(name[: -len("_ns")])
        return value

    def _too_few(self, figure: str, needs: int | None = None) -> NotEnoughSamples:
        bound = self._summary.max_ns
        text = f"{figure} of {self.probe}: {self.n} samples cannot carry it"
        if needs:
            text += f", it needs about {needs}"
        if math.isfinite(bound):
            text += f"; max so far {time_text(bound)}"
        error = NotEnoughSamples(errno.ENODATA, text)
        error.bound_ns = bound
        return error

    def _quantile(self, percent: float) -> Estimate:
        share = float(Decimal(str(percent)) / 100)
        return Estimate(*native.result_quantile_ns(self._native, share)[1:])

    def _estimate(self, percent: float) -> Estimate:
        try:
            return self._quantile(percent)
        except NotEnoughSamples:
            raise self._too_few(percent_name(percent), self._needs(percent)) from None

    def _needs(self, percent: float) -> int | None:
        """How many samples that would take; None: not known, as in a build without JSON."""
        try:
            needs = self._document["needs"] if self.n else {}
        except Unsupported:
            return None
        found: int | None = needs.get(percent_name(percent).replace(".", "") + "_ns")
        return found

    def _supported(self) -> Iterator[tuple[str, Estimate]]:
        for percent in (50, 90, 99, 99.9, 99.99):
            try:
                yield percent_name(percent), self._quantile(percent)
            except NotEnoughSamples:
                pass

    def _intervals(self) -> dict[str, tuple[float, float]]:
        return {name: (found.low, found.high) for name, found in self._supported()}

    def _uncertainty(self) -> Uncertainty | None:
        known = self._document.get("uncertainty")
        if not known or known["u_ns"] is None:
            return None
        names = {"p999": "p99.9", "p9999": "p99.99"}
        figures = {key[: -len("_ns")]: found["u_ns"] for key, found in known["by_figure"].items()}
        return Uncertainty(
            known["u_ns"],
            known["worst_ns"],
            {names.get(name, name): u for name, u in figures.items()},
            dict(known["components"]),
        )

    def _counts(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        while True:
            try:
                _, name, count = native.result_count(self._native, len(counts))
            except NotFound:
                return counts
            counts[name] = count

    def _histogram(self) -> Histogram:
        numpy = extra("numpy")
        hist = native.result_hist(self._native)
        if hist is None:
            return Histogram(numpy.zeros(0), numpy.zeros(0, numpy.int64), 0)
        return Histogram(
            numpy.asarray(native.hist_edges_ns(hist)),
            numpy.asarray(native.hist_counts(hist)),
            native.hist_overflow(hist),
        )

    def _bins(self) -> Iterator[tuple[float, int]]:
        """Lower edge in ns and count of each bin in use, without NumPy."""
        histogram = self._document["histogram"]
        ns = 1e9 / histogram["hz"]
        for index, count in histogram["early"]:
            yield bin_low(~index) * ns, count
        for index, count in histogram["counts"]:
            yield bin_low(index) * ns, count

    def _values(self) -> npt.NDArray[np.float64]:
        values: npt.NDArray[np.float64] = extra("numpy").asarray(
            native.result_values_ns(self._native)
        )
        return values

    def _blocks(self) -> tuple[Block, ...]:
        blocks = self._document.get("blocks", [])
        ns = 1e9 / self._document["histogram"]["hz"] if blocks else 0
        starts = accumulate((block["length_ns"] for block in blocks), initial=0)
        return tuple(_block(start, block, ns) for start, block in zip(starts, blocks))

    def _outliers(self) -> tuple[Outlier, ...]:
        return tuple(
            Outlier(outlier["value_ns"], outlier["t_ns"], outlier["cpu"], outlier["seq"])
            for outlier in self._document.get("outliers", [])
        )

    def __reduce__(self) -> tuple[Callable[[Report, int], Result], tuple[Report, int]]:
        return Result, (self._report, self._index)

    def __repr__(self) -> str:
        return f"<Result {self._line()}>"

    def _line(self) -> str:
        words = [self.probe, self.where]
        if self.kind != "latency":
            return " ".join([*words, f"n={self.n}", f"{len(self.metrics)} metrics"])
        if self.n:
            words.append(f"{self.policy.name.lower()}:{self.priority}")
        words.append(f"n={self.n}")
        for name, found in self._supported():
            words.append(f"{name}={time_text(found.value)}")
        if self.n:
            words.append(f"max={time_text(self.max)}")
        return " ".join(words)


def _block(start: int, block: Document, ns: float) -> Block:
    """Figures of a block's sparse counts: a bin's lower edge, but the upper one of the last."""
    counts = block_pairs(block)

    def at(share: float) -> float:
        rank = math.ceil(share * block["n"])
        for index, count in counts:
            rank -= count
            if rank <= 0:
                return bin_low(index) * ns
        return math.nan

    return Block(
        start=start,
        length=block["length_ns"],
        n=block["n"],
        min=at(0.0),
        p50=at(0.5),
        p99=at(0.99),
        max=(bin_low(counts[-1][0] + 1) - 1) * ns if counts else math.nan,
    )


class Report(Figures):
    """
    What a run measured: results, conditions, findings. Figures (p99, histogram, ...) are those
    of its one probe, several threads of one run taken together; where it has several results
    that do not belong together they raise ValueError, and .results has each.
    """

    def __init__(self, handle: native.TlatReport) -> None:
        self._native = handle

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """One for each measuring thread."""
        results: list[Result] = []
        while native.report_result(self._native, len(results)) is not None:
            results.append(Result(self, len(results)))
        return tuple(results)

    @cached_property
    def document(self) -> Document:
        """All of it, as schema timerlat-report/1 has it."""
        document: Document = json.loads(self.to_json())
        return document

    @cached_property
    def _joined(self) -> tuple[Result, ...]:
        """The same with the threads of each run taken together."""
        if len(self.results) < 2:
            return self.results
        return Report(native.report_join(self._native)[1]).results

    def _one(self) -> Result:
        if not self.results:
            raise ValueError("this report has no results, only findings")
        if len(self._joined) > 1:
            names = ", ".join(f"{result.probe} {result.where}" for result in self.results)
            raise ValueError(
                f"this report has {len(self.results)} results ({names}); choose one of .results"
            )
        return self._joined[0]

    @property
    def probe(self) -> str:
        """Name of the probe. ValueError: it is about several."""
        return self._one().probe

    @property
    def n(self) -> int:
        """How many values the figures rest on. ValueError as probe."""
        return self._one().n

    @property
    def end(self) -> str:
        """How it ended: "count", "time", "signal", "break", "error"; "running": it had not."""
        return native.report_end(self._native)

    @property
    def repeat(self) -> str | None:
        """The one command that repeats the whole; None: not known."""
        return native.report_repeat(self._native)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What qualifies the whole, then what qualifies each result."""
        whole = map(Finding._of, each(native.report_finding, self._native))
        return (*whole, *(finding for result in self.results for finding in result.findings))

    @cached_property
    def facts(self) -> dict[str, str]:
        """Conditions of machine and clock by name: "machine.kernel", "clock.source"."""
        return {fact.name: fact.value for fact in each(native.report_fact, self._native)}

    def meets(self, budget: str) -> Judgement:
        """
        Hold every result against a budget such as "p99<50us, max<200us"; the worst verdict
        counts. InvalidOption: the budget cannot be read.
        """
        judgements = [result.meets(budget) for result in self.results]
        if not judgements:
            raise ValueError("this report has no results, only findings")
        if len(judgements) == 1:
            return judgements[0]
        lines = [
            f"{result.probe} {result.where}: {line}"
            for result, judgement in zip(self.results, judgements)
            for line in judgement.text.splitlines()
        ]
        return Judgement(max(judgement.verdict for judgement in judgements), "\n".join(lines))

    def to_json(self) -> str:
        """One line of JSON, schema timerlat-report/1. Unsupported: in a build without JSON."""
        return native.report_format(self._native)[1]

    def save(self, path: str | os.PathLike[str], *, append: bool = False) -> None:
        """
        Write it to a file, whole or not at all where it can be replaced; append=True adds a line
        to a JSON Lines file.
        TimerlatError: what the file system said.
        """
        native.report_write(
            self._native, os.fsencode(path), native.WRITE_APPEND if append else 0
        )

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame, one row for each result, NaN where the samples carry nothing."""
        return extra("pandas").DataFrame([_row(result) for result in self.results])

    def plot(self, kind: str = "histogram", ax: Any = None) -> Any:
        """
        Draw it with matplotlib and return the axes, whose picture a notebook shows: kind
        "histogram" (counts over latency), "nines" (latency over the share of slower values) or
        "timeline" (blocks of the run). ax: where to draw, instead of a figure of its own.
        """
        from ._plot import plot_report

        return plot_report(self, kind, ax)

    def __repr__(self) -> str:
        lines = "; ".join(result._line() for result in self.results)
        return f"<Report {lines or f'{len(self.findings)} findings'}>"

    def __str__(self) -> str:
        lines = [result._line() for result in self.results]
        lines += [str(found) for found in self.findings if found.severity > Severity.INFO]
        return "\n".join(lines) or "\n".join(map(str, self.findings))

    def _repr_html_(self) -> str:
        from ._html import html_of

        return html_of(self)

    def __reduce__(self) -> tuple[Callable[[str], Report], tuple[str]]:
        return _report_of, (self.to_json(),)


def _report_of(text: str) -> Report:
    return Report(read_text(text))


def _row(result: Result) -> dict[str, Any]:
    summary = result._summary
    row: dict[str, Any] = {
        "probe": result.probe,
        "thread": result.thread,
        "kick_cpu": result.kick_cpu,
        "wait_cpu": result.wait_cpu,
        "policy": result.policy.name.lower(),
        "priority": result.priority,
        "n": result.n,
    }
    for name in ("min", "p50", "p90", "p99", "p999", "p9999", "max", "mean", "sd", "u"):
        row[f"{name}_ns"] = getattr(summary, f"{name}_ns")
    return row
