# SPDX-License-Identifier: MIT
"""A report in a notebook: a small table, and each distribution as inline SVG."""

from __future__ import annotations

import math
from html import escape

from ._enums import Severity
from ._errors import NotEnoughSamples
from ._quantity import time_text
from ._report import Report, Result

_COLUMNS = ("probe", "cpus", "policy", "n", "min", "p50", "p99", "p99.9", "max", "")
_WIDTH, _HEIGHT = 240, 36


def _percentile(result: Result, percent: float) -> str:
    try:
        return time_text(result.percentile(percent))
    except NotEnoughSamples:
        return "-"


def _bars(result: Result) -> list[float]:
    """Shares of the values in columns of a logarithmic scale from min to max."""
    low, high = math.log(max(result.min, 1.0)), math.log(max(result.max, 1.0))
    bars = [0.0] * (_WIDTH // 4)
    for value_ns, count in result._bins():
        at = (math.log(max(value_ns, 1.0)) - low) / (high - low) if high > low else 0.5
        bars[min(len(bars) - 1, max(0, int(at * len(bars))))] += count
    return bars


def _svg(result: Result) -> str:
    if not result.n:
        return ""
    bars = _bars(result)
    tallest = math.log1p(max(bars))
    path = "".join(
        f"M{4 * i + 0.5},{_HEIGHT}v-{max(1.0, math.log1p(bar) / tallest * _HEIGHT):.1f}h3V{_HEIGHT}z"
        for i, bar in enumerate(bars)
        if bar
    )
    label = (
        f"counts (logarithmic) over latency from {time_text(result.min)} to "
        f"{time_text(result.max)} (logarithmic)"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{label}" '
        f'width="{_WIDTH}" height="{_HEIGHT}"><title>{label}</title>'
        f'<path d="{path}" fill="#4c78a8"/></svg>'
    )


def _cells(result: Result) -> list[str]:
    empty = not result.n
    return [
        escape(result.probe),
        escape(result.where),
        "-" if empty else f"{result.policy.name.lower()}:{result.priority}",
        str(result.n),
        "-" if empty else time_text(result.min),
        _percentile(result, 50),
        _percentile(result, 99),
        _percentile(result, 99.9),
        "-" if empty else time_text(result.max),
        _svg(result),
    ]


def html_of(report: Report) -> str:
    head = "".join(f"<th>{column}</th>" for column in _COLUMNS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{cell}</td>" for cell in _cells(result)) + "</tr>"
        for result in report.results
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    items = "".join(
        f"<li>{escape(str(finding))}</li>"
        for finding in report.findings
        if finding.severity > Severity.INFO or not report.results
    )
    return (table if rows else "") + (f"<ul>{items}</ul>" if items else "")
