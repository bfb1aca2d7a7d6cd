# SPDX-License-Identifier: MIT
"""Is B slower than A? Comparisons and exact merging of reports."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Union

from . import native
from ._documents import Document
from ._load import load_all
from ._quantity import time_text
from ._report import Finding, Report, each

#: A side of a comparison: reports, files or folders of them, one or several.
Side = Union[Report, str, "os.PathLike[str]", Iterable[Union[Report, str, "os.PathLike[str]"]]]


class CompareVerdict(IntEnum):
    """What a comparison came to; the worse, the larger."""

    NONE = native.COMPARE_NONE  #: forced: what was compared is not comparable
    IMPROVEMENT = native.COMPARE_IMPROVEMENT
    EQUIVALENT = native.COMPARE_EQUIVALENT  #: less than the threshold, shown
    TRIVIAL = native.COMPARE_TRIVIAL  #: there is a difference, of less than the threshold
    INDICATIVE = native.COMPARE_INDICATIVE  #: one unit a side: no test is possible
    INCONCLUSIVE = native.COMPARE_INCONCLUSIVE
    TAIL_REGRESSION = native.COMPARE_TAIL_REGRESSION  #: the median aside, the tail is worse
    REGRESSION = native.COMPARE_REGRESSION


@dataclass(frozen=True)
class Shift:
    """One figure of an item: base and next in ns or a share, their ratio with its band."""

    name: str  #: "p99.9", "rate>1.602us", "max"
    tail: bool  #: of the family that the verdict on the tail is of
    quantile: float  #: 0 to 1; nan: it is none
    base: float
    next: float
    ratio: float
    low: float
    high: float
    p: float  #: adjusted; nan: not tested
    worse: int  #: 1: significantly worse, -1: better, 0: neither


@dataclass(frozen=True)
class Compared:
    """One result that both sides have, or one metric of it; ratios are new over base."""

    name: str  #: "wake-futex 0->1"
    metric: str  #: "p50", or the metric's name
    unit: str
    verdict: CompareVerdict
    reason: str  #: why this verdict, in a sentence
    base: float  #: medians over the units, in that unit
    next: float
    ratio: float
    low: float
    high: float
    p: float
    alpha: float  #: low and high are at 1 - alpha; a planned look has its part of what was asked
    mde: float  #: smallest shift that would have been found
    n_base: int  #: units: runs, or boots
    n_next: int
    needed: int  #: units a side that find twice the threshold; 0: more than a million
    paired: bool
    figures: tuple[Shift, ...]  #: along the distribution, and of the tail


class Comparison:
    """What compare() found. Made by it."""

    def __init__(self, handle: native.TlatComparison) -> None:
        self._native = handle

    @property
    def verdict(self) -> CompareVerdict:
        """The worst of the items."""
        return CompareVerdict(native.comparison_verdict(self._native))

    @cached_property
    def items(self) -> tuple[Compared, ...]:
        """One for each result that both sides have."""
        found = each(native.comparison_item, self._native)
        return tuple(self._item(index, item) for index, item in enumerate(found))

    def _item(self, index: int, item: native.TlatCompareItem) -> Compared:
        def figure(comparison: native.TlatComparison, number: int) -> Any:
            return native.comparison_figure(comparison, index, number)

        return Compared(
            item.name,
            item.metric,
            item.unit,
            CompareVerdict(item.verdict),
            item.reason,
            item.base,
            item.next,
            item.ratio,
            item.lo,
            item.hi,
            item.p,
            item.alpha,
            item.mde,
            item.n_base,
            item.n_next,
            item.needed,
            bool(item.paired),
            tuple(_shift(found) for found in each(figure, self._native)),
        )

    @cached_property
    def differences(self) -> dict[str, tuple[str, str]]:
        """Conditions that are not the same on both sides: (base, new) by name."""
        found = each(native.comparison_difference, self._native)
        return {one.name: (one.base, one.next) for one in found}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be known of the comparison: order, drift, boots."""
        return tuple(map(Finding._of, each(native.comparison_finding, self._native)))

    def to_json(self) -> str:
        """
        All of it as one line, schema timerlat-comparison/1. Unsupported: in a build without JSON.
        """
        return native.comparison_format(self._native)[1]

    @cached_property
    def document(self) -> Document:
        """The same as a dict."""
        document: Document = json.loads(self.to_json())
        return document

    def plot(self, ax: Any = None) -> Any:
        """Draw the shift along the distribution with its band, by matplotlib; the axes."""
        from ._plot import plot_comparison

        return plot_comparison(self, ax)

    def __bool__(self) -> bool:
        """False for the answers that are bad news: both kinds of regression."""
        return self.verdict < CompareVerdict.TAIL_REGRESSION

    def __repr__(self) -> str:
        words = [self.verdict.name.replace("_", "-")]
        for item in self.items:
            base, new = item.base, item.next
            ns = item.unit == "ns"
            words.append(
                f"{item.name} {item.metric} {time_text(base) if ns else base} -> "
                f"{time_text(new) if ns else new} (x{item.ratio:.4f}, {item.low:.4f} to "
                f"{item.high:.4f})"
            )
        return f"<Comparison {'; '.join(words)}>"

    def __str__(self) -> str:
        lines = [f"{item.verdict.name}: {item.name}: {item.reason}" for item in self.items]
        lines += [f"{name}: {a} -> {b}" for name, (a, b) in self.differences.items()]
        return "\n".join([repr(self)[1:-1], *lines])


def _shift(found: native.TlatCompareFigure) -> Shift:
    return Shift(
        found.name,
        found.role == native.COMPARE_TAIL,
        found.quantile,
        found.base,
        found.next,
        found.ratio,
        found.lo,
        found.hi,
        found.p,
        found.worse,
    )


def _reports(side: Side) -> list[Report]:
    if isinstance(side, Report):
        return [side]
    if not isinstance(side, (str, os.PathLike)):
        return [report for one in side for report in _reports(one)]
    path = Path(side)
    if not path.is_dir():
        return load_all(path)
    files = sorted(one for one in path.iterdir() if one.suffix in (".json", ".jsonl"))
    return [report for file in files for report in load_all(file)]


def _handles(reports: list[Report]) -> list[native.TlatReport]:
    return [report._native for report in reports]


def compare(
    base: Side,
    next: Side,
    *,
    metric: str | None = None,
    alpha: float = 0,
    threshold: float = 0,
    tail_ratio: float = 0,
    power: float = 0,
    force: bool = False,
) -> Comparison:
    """
    Compare two sides as "tlat compare" does, one report a run. alpha: false alarms allowed (0.01);
    threshold: smallest shift of the median that matters (0.005); tail_ratio: of tail rates (1.25);
    power: of the effect that is stated as detectable (0.9); metric: this one only; force: also
    what is not comparable, without a verdict. InvalidOption: there is nothing to compare, the
    sides are not comparable, or a run failed, and why.
    """
    opts = native.TlatCompareOpts()
    fields = {
        "metric": metric,
        "alpha": alpha,
        "threshold": threshold,
        "tail_ratio": tail_ratio,
        "power": power,
        "flags": native.COMPARE_FORCE if force else 0,
    }
    for name, value in fields.items():
        setattr(opts, name, value)
    a, b = _reports(base), _reports(next)
    return Comparison(native.compare(_handles(a), _handles(b), opts)[1])


def merge(reports: Side) -> Report:
    """
    One report of several of the same measurement: histograms and counts added up exactly, the
    blocks of all runs kept, one run behind the other. InvalidOption: they are not of the same,
    and the first difference.
    """
    return Report(native.report_merge(_handles(_reports(reports)))[1])
