# SPDX-License-Identifier: MIT
"""Drawings of reports, with matplotlib where it is installed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._errors import NotEnoughSamples
from ._extras import extra
from ._report import Report, Result

if TYPE_CHECKING:
    from ._compare import Comparison

_SCALES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from ._figure import axes

    return axes()


def _label(result: Result) -> str:
    return f"{result.probe} {result.where} ({result.policy.name.lower()}:{result.priority})"


def _time_axis(axis: Any) -> None:
    """Ticks that carry their unit: 20 us, not 2e4."""

    def name(value: float, _: int) -> str:
        for scale, unit in _SCALES:
            if abs(value) >= scale:
                return f"{value / scale:.4g} {unit}"
        return "0" if value == 0 else f"{value:.3g} ns"

    axis.set_major_formatter(extra("matplotlib.ticker").FuncFormatter(name))
    axis.set_minor_formatter(extra("matplotlib.ticker").NullFormatter())


def _log_time(ax: Any, which: str, results: list[Result]) -> None:
    """A logarithmic axis, dense enough that at least two ticks have a name."""
    low = max(1.0, min(result.min for result in results))
    high = max(low, *(result.max for result in results))
    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")
    decades = math.log10(high / low)
    steps = (1,) if decades > 5 else (1, 2, 5) if decades > 0.8 else tuple(range(1, 10))
    axis.set_major_locator(extra("matplotlib.ticker").LogLocator(subs=steps, numticks=20))
    axis.set_minor_locator(extra("matplotlib.ticker").NullLocator())
    getattr(ax, f"set_{which}lim")(low / 1.1, high * 1.1)
    _time_axis(axis)


def _histogram(ax: Any, results: list[Result]) -> None:
    numpy = extra("numpy")
    low = max(1.0, min(result.min for result in results))
    high = max(result.max for result in results) + 1
    grid = numpy.geomspace(low, max(high, low * 1.01), 121)
    for result in results:
        histogram = result.histogram
        middles = numpy.clip((histogram.edges[:-1] + histogram.edges[1:]) / 2, low, grid[-1])
        used = histogram.counts > 0
        counts, _ = numpy.histogram(middles[used], grid, weights=histogram.counts[used])
        ax.stairs(counts, grid, label=_label(result), fill=len(results) == 1, alpha=0.8)
    _log_time(ax, "x", results)
    ax.set_yscale("symlog", linthresh=1)
    ax.set_ylim(0, 3 * ax.dataLim.y1)
    ax.yaxis.set_major_formatter(extra("matplotlib.ticker").StrMethodFormatter("{x:.0f}"))
    ax.set_xlabel("latency")
    ax.set_ylabel("samples in a column")


def _nines(ax: Any, results: list[Result]) -> None:
    """Solid where the samples carry it, dotted beyond: what happened, not what to expect."""
    numpy = extra("numpy")
    for result in results:
        shares = 1 - numpy.geomspace(0.5, 1 / (2 * result.n), 200)
        cumulated = numpy.cumsum(result.histogram.counts) / result.n
        at = numpy.searchsorted(cumulated, shares, side="left").clip(0, len(cumulated) - 1)
        highest = numpy.minimum(result.histogram.edges[at + 1], result.max)
        carried = numpy.array([_carried(result, share) for share in shares])
        nines = 1 / (1 - shares)
        (line,) = ax.plot(nines[carried], highest[carried], label=_label(result))
        ax.plot(nines[~carried], highest[~carried], ":", color=line.get_color())
        _band(ax, result, line.get_color())
    ax.set_xscale("log")
    _log_time(ax, "y", results)
    ax.set_xlabel("share of all samples that are slower")
    ax.xaxis.set_major_formatter(extra("matplotlib.ticker").FuncFormatter(_one_in))
    ax.set_ylabel("latency")
    ax.plot([], [], ":", color="grey", label="too few samples: so far")


def _one_in(nines: float, _: int) -> str:
    return f"1 in {nines:,.0f}".replace(",", " ") if nines >= 1 else ""


def _carried(result: Result, share: float) -> bool:
    try:
        result.estimate(100 * share)
    except NotEnoughSamples:
        return False
    return True


def _band(ax: Any, result: Result, color: Any) -> None:
    """95 % intervals of the quantiles that are usually asked for."""
    for name, (low, high) in result.interval.items():
        at = 1 / (1 - float(name[1:]) / 100)
        ax.plot([at, at], [low, high], color=color, linewidth=3, alpha=0.35)


def _timeline(ax: Any, results: list[Result]) -> None:
    for result in results:
        blocks = result.blocks
        times = [(block.start + block.length / 2) / 1e9 for block in blocks]
        (line,) = ax.plot(times, [block.p50 for block in blocks], label=_label(result) + " p50")
        color = line.get_color()
        ax.plot(times, [block.p99 for block in blocks], "--", color=color, alpha=0.7)
        ax.plot(
            [outlier.time / 1e9 for outlier in result.outliers],
            [outlier.value for outlier in result.outliers],
            ".",
            color=color,
            alpha=0.6,
            markersize=4,
        )
    _log_time(ax, "y", results)
    ax.plot([], [], "--", color="grey", label="p99 of each block")
    ax.plot([], [], ".", color="grey", label="the largest values")
    ax.set_xlabel("time since the beginning (s)")
    ax.set_ylabel("latency")


_KINDS: dict[str, tuple[Callable[[Any, list[Result]], None], str]] = {
    "histogram": (_histogram, "Latency"),
    "nines": (_nines, "Latency and how rare it is"),
    "timeline": (_timeline, "Latency over the run"),
}


def plot_report(report: Report, kind: str, ax: Any) -> Any:
    if kind not in _KINDS:
        raise ValueError(f"kind {kind!r} is none of {', '.join(_KINDS)}")
    draw, title = _KINDS[kind]
    ax = _axes(ax)
    results = [result for result in report.results if result.n]
    ax.set_title(title)
    if not results:
        ax.text(0.5, 0.5, "no samples", ha="center", va="center", transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return ax
    draw(ax, results)
    ax.grid(True, which="major", alpha=0.3)
    ax.legend(fontsize="small")
    return ax


def plot_comparison(comparison: Comparison, ax: Any) -> Any:
    """Ratio of each quantile with its band, over how rare it is; 1 is no change."""
    ax = _axes(ax)
    ax.set_title(f"New over base: {comparison.verdict.name.replace('_', '-')}")
    ax.axhline(1, color="grey", linewidth=1)
    for item in comparison.items:
        shifts = [one for one in item.figures if not one.tail and 0 < one.quantile < 1]
        if not shifts:
            continue
        nines = [1 / (1 - one.quantile) for one in shifts]
        (line,) = ax.plot(nines, [one.ratio for one in shifts], ".-", label=item.name)
        known = [one for one in shifts if 0 < one.low and math.isfinite(one.high)]
        ax.fill_between(
            [1 / (1 - one.quantile) for one in known],
            [one.low for one in known],
            [one.high for one in known],
            color=line.get_color(),
            alpha=0.2,
        )
    if not ax.get_legend_handles_labels()[0]:
        ax.text(0.5, 0.5, "no distributions", ha="center", va="center", transform=ax.transAxes)
        return ax
    ax.set_xscale("log")
    ticker = extra("matplotlib.ticker")
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(_one_in))
    change = ticker.FuncFormatter(lambda ratio, _: f"{100 * (ratio - 1):+.3g} %")
    ax.yaxis.set_major_formatter(change)
    ax.set_xlabel("share of all samples that are slower")
    ax.set_ylabel("change of latency")
    ax.grid(True, which="major", alpha=0.3)
    ax.legend(fontsize="small")
    return ax
