# SPDX-License-Identifier: MIT
"""What tests are measured and judged by: all of the plugin for pytest that needs the library."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import (
    InvalidOption,
    NotEnoughSamples,
    NotFound,
    Report,
    Result,
    Session,
    TimerlatError,
    Verdict,
    compare,
    load,
)
from ._quantity import time_text
from ._turns import Say, turn
from .pytest_plugin import KEPT, SUMMARY, Measured, State

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import Judgement, RunOptions


class _SessionInTurn(Session):
    """Two that measure at once would be each other's disturbance."""

    def __init__(self, say: Say) -> None:
        self._say = say
        with turn(say):  # it calibrates
            super().__init__()

    def run(self, probe: str, **options: Unpack[RunOptions]) -> Report:
        """As Session.run(), when nobody else measures."""
        with turn(self._say):
            return super().run(probe, **options)


def calibrated(state: State) -> Session:
    """The session that all tests measure with."""
    if state.session is None:
        state.session = _SessionInTurn(state.say)
    return state.session


def session_for_tests(state: State) -> Session:
    """The same, or there is nothing to be tested here."""
    try:
        return calibrated(state)
    except TimerlatError as error:
        inconclusive(state, f"nothing can be measured here: {error}")
        raise


def inconclusive(state: State, text: str) -> None:
    if state.strict:
        pytest.fail(text, pytrace=False)
    pytest.skip(text)


def _figures(report: Report) -> str:
    """A line for each result: the median with its interval, and the samples it rests on."""
    lines = []
    for result in report.results:
        try:
            median = result.estimate(50)
        except NotEnoughSamples as error:
            lines.append(str(error))
            continue
        lines.append(
            f"{result.probe} {result.where}: p50 {time_text(median.value)} "
            f"({time_text(median.low)} to {time_text(median.high)}), "
            f"max {time_text(result.max)}, {result.n} samples"
        )
    return "\n".join(lines)


def _reasons(report: Report) -> str:
    return "\n".join(str(found) for found in report.findings if found.severity > 1)


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _telling(budget: str, judgement: Judgement, report: Report) -> str:
    return _lines(
        f"latency budget {judgement.verdict.name}: {budget}",
        judgement.text,
        _figures(report),
        _reasons(report),
        f"repeat: {report.repeat}" if report.repeat else "",
    )


def _asked(marker: pytest.Mark) -> tuple[str, str, dict[str, Any]]:
    """Budget, probe and options of a marker."""
    options: dict[str, Any] = dict(marker.kwargs)
    budget = marker.args[0] if marker.args else options.pop("budget", None)
    if budget is None or "probe" not in options:
        raise pytest.UsageError('latency_budget needs a budget and a probe: ("p99<1ms", probe=...)')
    return budget, options.pop("probe"), options


def _run(state: State, probe: str, options: dict[str, Any]) -> Report:
    try:
        return calibrated(state).run(probe, **options)
    except TimerlatError as error:
        if isinstance(error, (ValueError, NotFound)):
            raise
        inconclusive(state, f"{probe} cannot be measured here: {error}")
        raise


def _file_of(item: pytest.Item, what: str, before: int) -> str:
    """Of one measurement of a test: of what, and how many of the same are before it."""
    readable = re.sub(r"[^\w.-]+", "_", item.nodeid)[-80:]
    key = f"{item.nodeid} {what} {before}"
    return f"{readable}-{hashlib.sha256(key.encode()).hexdigest()[:8]}.json"


def measure(state: State, item: pytest.Item) -> list[Measured]:
    """For each budget of a test. A baseline may have another budget, but no other options."""
    measured: list[Measured] = []
    seen: Counter[str] = Counter()
    for marker in item.iter_markers("latency_budget"):
        budget, probe, options = _asked(marker)
        what = f"{probe} {sorted(options.items())}"
        file = _file_of(item, what, seen[what])
        measured.append(Measured(budget, _run(state, probe, options), file))
        seen[what] += 1
    return measured


def _record(item: pytest.Item, judgement: Judgement, report: Report) -> None:
    item.user_properties.append(("timerlat_verdict", judgement.verdict.name))
    item.user_properties.append(("timerlat_budget", judgement.text))
    for result in report.results:
        for name in ("p50", "p99", "p999", "max"):
            try:
                value = getattr(result, name)
            except NotEnoughSamples:
                continue
            key = f"timerlat_{result.probe}_{result.where}_{name}_ns"
            item.user_properties.append((key, f"{value:.1f}"))


def _save(state: State, one: Measured, compared: Verdict) -> str:
    """Unless it were to replace what it may be slower than, which is told instead."""
    if state.save is None:
        return ""
    path = state.save / one.file
    if state.save == state.compare and compared is not Verdict.PASS and path.exists():
        name = state.save.name
        return f"{KEPT} {name} was kept; to replace it, measure with --timerlat-save {name} alone"
    state.save.mkdir(parents=True, exist_ok=True)
    one.report.save(path)
    return ""


def _why_not(base: Report, report: Report) -> str:
    """
    What makes two runs of one marker incomparable: also settings that sides of a comparison may
    differ in, as a baseline is of the same ones.
    """
    try:
        differences = compare(base, report).differences
    except InvalidOption as error:
        return re.sub(r", or (give )?--force for figures without a verdict", "", str(error))
    return ", ".join(
        f"{name}: {old} in the baseline, {new} now"
        for name, (old, new) in differences.items()
        if name.startswith("run.")
    )


def _numbered(report: Report) -> dict[tuple[str, int], Result]:
    """Results as compare() finds those that belong together: of a probe the first, the second..."""
    seen: Counter[str] = Counter()
    found = {}
    for result in report.results:
        found[result.probe, seen[result.probe]] = result
        seen[result.probe] += 1
    return found


def _slower_result(base: Result | None, result: Result, limit: float) -> tuple[Verdict, str]:
    if base is None:
        return Verdict.INCONCLUSIVE, f"{result.probe} {result.where}: not in the baseline"
    try:
        old, new = base.estimate(50), result.estimate(50)
    except NotEnoughSamples as error:
        return Verdict.INCONCLUSIVE, str(error)
    verdict = (
        Verdict.FAIL
        if new.low > old.high * limit
        else Verdict.PASS
        if new.high <= old.low * limit
        else Verdict.INCONCLUSIVE
    )
    return verdict, (
        f"{result.probe} {result.where}: p50 {time_text(new.value)} "
        f"({time_text(new.low)} to {time_text(new.high)}, {result.n} samples), baseline "
        f"{time_text(old.value)} ({time_text(old.low)} to {time_text(old.high)}, "
        f"{base.n} samples): {verdict.name}"
    )


def _slower(folder: Path, threshold: float, one: Measured) -> tuple[Verdict, str]:
    """
    Medians against those of the baseline. One run a side proves little: only a change whose 95 %
    intervals lie apart by more than the threshold fails, only one that is surely smaller passes.
    """
    path, remedy = folder / one.file, f"measure a new one with --timerlat-save {folder.name}"
    if not path.exists():
        text = f"no baseline of this test with these options: {path}; {remedy}"
        return Verdict.INCONCLUSIVE, text
    base = load(path)
    why = _why_not(base, one.report)
    if why:
        return Verdict.INCONCLUSIVE, f"baseline {folder.name}: {why}; or {remedy}"
    before, limit = _numbered(base), 1 + threshold / 100
    found = [
        _slower_result(before.get(key), result, limit)
        for key, result in _numbered(one.report).items()
    ]
    worst = max((verdict for verdict, _ in found), default=Verdict.PASS)
    head = f"baseline {folder.name}, {threshold:g} % slower allowed: {worst.name}"
    return worst, _lines(head, *(line for _, line in found))


def judge(state: State, item: pytest.Item, one: Measured) -> None:
    budget, report = one.budget, one.report
    judgement = report.meets(budget)
    _record(item, judgement, report)
    compared, lines = Verdict.PASS, ""
    if state.compare is not None:  # before it is saved: both may be one baseline
        compared, lines = _slower(state.compare, state.threshold, one)
        item.user_properties.append(("timerlat_baseline", lines))
    kept = _save(state, one, compared)
    verdict = max(judgement.verdict, compared)
    text = _lines(_telling(budget, judgement, report), lines, kept)
    summary = _lines(f"{verdict.name:12} {item.nodeid}: {budget}", _figures(report), kept)
    item.user_properties.append((SUMMARY, summary))
    if verdict is Verdict.FAIL:
        pytest.fail(text, pytrace=False)
    if verdict is Verdict.INCONCLUSIVE:
        inconclusive(state, text)
