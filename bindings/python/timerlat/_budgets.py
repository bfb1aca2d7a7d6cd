# SPDX-License-Identifier: MIT
"""What tests are measured and judged by: all of the plugin for pytest that needs the library."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from . import NotEnoughSamples, NotFound, Report, Session, TimerlatError, Verdict, load
from ._quantity import time_text
from ._turns import Say, turn
from .pytest_plugin import KEPT, SUMMARY, State

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


def _measure(state: State, marker: pytest.Mark) -> tuple[str, Report]:
    options: dict[str, Any] = dict(marker.kwargs)
    budget = marker.args[0] if marker.args else options.pop("budget", None)
    if budget is None or "probe" not in options:
        raise pytest.UsageError('latency_budget needs a budget and a probe: ("p99<1ms", probe=...)')
    probe = options.pop("probe")
    try:
        return budget, calibrated(state).run(probe, **options)
    except TimerlatError as error:
        if isinstance(error, (ValueError, NotFound)):
            raise
        inconclusive(state, f"{probe} cannot be measured here: {error}")
        raise


def measure(state: State, item: pytest.Item) -> list[tuple[str, Report]]:
    """Budgets of a test, each with its report."""
    return [_measure(state, marker) for marker in item.iter_markers("latency_budget")]


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


def _file_of(folder: Path, item: pytest.Item) -> Path:
    readable = re.sub(r"[^\w.-]+", "_", item.nodeid)[-80:]
    return folder / f"{readable}-{hashlib.sha256(item.nodeid.encode()).hexdigest()[:8]}.json"


def _save(state: State, item: pytest.Item, report: Report, compared: Verdict) -> str:
    """Unless it were to replace what it may be slower than, which is told instead."""
    if state.save is None:
        return ""
    path = _file_of(state.save, item)
    if state.save == state.compare and compared is not Verdict.PASS and path.exists():
        name = state.save.name
        return f"{KEPT} {name} was kept; to replace it, measure with --timerlat-save {name} alone"
    state.save.mkdir(parents=True, exist_ok=True)
    report.save(path)
    return ""


def _slower(state: State, item: pytest.Item, report: Report) -> tuple[Verdict, str]:
    """
    Medians against those of the baseline. One run a side proves little: only a change whose 95 %
    intervals lie apart by more than the threshold fails, only one that is surely smaller passes.
    """
    assert state.compare is not None
    path = _file_of(state.compare, item)
    if not path.exists():
        return Verdict.INCONCLUSIVE, f"no baseline: {path}"
    before = {(result.probe, result.where): result for result in load(path).results}
    limit, worst, lines = 1 + state.threshold / 100, Verdict.PASS, []
    for result in report.results:
        base = before.get((result.probe, result.where))
        if base is None:
            worst = max(worst, Verdict.INCONCLUSIVE)
            lines.append(f"{result.probe} {result.where}: not in the baseline")
            continue
        try:
            old, new = base.estimate(50), result.estimate(50)
        except NotEnoughSamples as error:
            worst = max(worst, Verdict.INCONCLUSIVE)
            lines.append(str(error))
            continue
        verdict = (
            Verdict.FAIL
            if new.low > old.high * limit
            else Verdict.PASS
            if new.high <= old.low * limit
            else Verdict.INCONCLUSIVE
        )
        worst = max(worst, verdict)
        lines.append(
            f"{result.probe} {result.where}: p50 {time_text(new.value)} "
            f"({time_text(new.low)} to {time_text(new.high)}, {result.n} samples), baseline "
            f"{time_text(old.value)} ({time_text(old.low)} to {time_text(old.high)}, "
            f"{base.n} samples): {verdict.name}"
        )
    head = f"baseline {state.compare.name}, {state.threshold:g} % slower allowed: {worst.name}"
    return worst, "\n".join([head, *lines])


def judge(state: State, item: pytest.Item, budget: str, report: Report) -> None:
    judgement = report.meets(budget)
    _record(item, judgement, report)
    compared, lines = Verdict.PASS, ""
    if state.compare is not None:  # before it is saved: both may be one baseline
        compared, lines = _slower(state, item, report)
        item.user_properties.append(("timerlat_baseline", lines))
    kept = _save(state, item, report, compared)
    verdict = max(judgement.verdict, compared)
    text = _lines(_telling(budget, judgement, report), lines, kept)
    summary = _lines(f"{verdict.name:12} {item.nodeid}: {budget}", _figures(report), kept)
    item.user_properties.append((SUMMARY, summary))
    if verdict is Verdict.FAIL:
        pytest.fail(text, pytrace=False)
    if verdict is Verdict.INCONCLUSIVE:
        inconclusive(state, text)
