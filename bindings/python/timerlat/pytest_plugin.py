# SPDX-License-Identifier: MIT
"""
pytest: assert a latency budget.

    @pytest.mark.latency_budget("p99<50us, max<1ms", probe="wake-futex", samples=100_000)
    def test_wakes_in_time(): ...

measures before the test, whose fixture latency_report is the report. The fixture timerlat is a
Session for tests that measure by themselves. INCONCLUSIVE skips a test with its reasons, or fails
it under --timerlat-strict. --timerlat-save NAME keeps what was measured, --timerlat-compare NAME
fails tests whose median has become worse than that, beyond doubt.

Workers of pytest-xdist, and other processes of the same user that run pytest, measure one after the
other: markers and the fixture's run() wait their turn; start() and run_async() do not.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ._enums import Verdict
from ._errors import NotEnoughSamples, NotFound, TimerlatError
from ._load import load
from ._quantity import time_text
from ._report import Judgement, Report
from ._run import Session
from ._turns import turn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import RunOptions

_KEY = pytest.StashKey["_State"]()
_MEASURED = pytest.StashKey["list[tuple[str, Report]]"]()


#: Of a test's report, which is all that the controller of pytest-xdist gets to see.
_SUMMARY = "timerlat_summary"


class _SessionInTurn(Session):
    """Two that measure at once would be each other's disturbance."""

    def run(self, probe: str, **options: Unpack[RunOptions]) -> Report:
        """As Session.run(), when nobody else measures."""
        with turn():
            return super().run(probe, **options)


@dataclass(eq=False)  # pluggy wants plugins to be hashable
class _State:
    """What the session of pytest knows: options, the calibrated session, lines of the summary."""

    strict: bool
    save: Path | None
    compare: Path | None
    threshold: float
    session: Session | None = None
    lines: list[str] = field(default_factory=list)

    def measuring(self) -> Session:
        if self.session is None:
            with turn():  # it calibrates
                self.session = _SessionInTurn()
        return self.session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Also in a process that measures nothing itself."""
        if report.when == "call":
            self.lines += [str(text) for name, text in report.user_properties if name == _SUMMARY]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("timerlat", "latency budgets")
    group.addoption(
        "--timerlat-strict", action="store_true", help="what is inconclusive fails, not skips"
    )
    group.addoption(
        "--timerlat-save", metavar="NAME", help="keep what is measured as a baseline"
    )
    group.addoption(
        "--timerlat-compare", metavar="NAME", help="fail what is slower than that baseline"
    )
    group.addoption(
        "--timerlat-threshold",
        metavar="PERCENT",
        type=float,
        default=10.0,
        help="change of the median that matters (10)",
    )
    group.addoption(
        "--timerlat-storage",
        metavar="FOLDER",
        default=".timerlat",
        help="where baselines are, below the root of the tests (.timerlat)",
    )


def _baseline(config: pytest.Config, option: str) -> Path | None:
    name = config.getoption(option)
    if name is None:
        return None
    if not re.fullmatch(r"[\w.-]+", name) or name in (".", ".."):
        raise pytest.UsageError(f"{option} {name}: a name of letters, digits, . - _ only")
    return config.rootpath / str(config.getoption("--timerlat-storage")) / str(name)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "latency_budget(budget, probe=..., **options): measure, and hold it against a budget",
    )
    state = _State(
        bool(config.getoption("--timerlat-strict")),
        _baseline(config, "--timerlat-save"),
        _baseline(config, "--timerlat-compare"),
        float(config.getoption("--timerlat-threshold")),
    )
    config.stash[_KEY] = state
    config.pluginmanager.register(state, "timerlat-state")


@pytest.fixture(scope="session")
def timerlat(pytestconfig: pytest.Config) -> Iterator[Session]:
    """A timerlat.Session, calibrated once. Skips, or fails under --timerlat-strict, without one."""
    state = pytestconfig.stash[_KEY]
    try:
        session = state.measuring()
    except TimerlatError as error:
        _inconclusive(state, f"nothing can be measured here: {error}")
    yield session


@pytest.fixture
def latency_report(request: pytest.FixtureRequest) -> Report:
    """What the marker latency_budget measured for this test."""
    measured = request.node.stash[_MEASURED]
    if not measured:
        raise pytest.UsageError("latency_report needs the marker latency_budget on the test")
    report: Report = measured[0][1]
    return report


def _inconclusive(state: _State, text: str) -> None:
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


def _telling(budget: str, judgement: Judgement, report: Report) -> str:
    parts = [
        f"latency budget {judgement.verdict.name}: {budget}",
        judgement.text,
        _figures(report),
        _reasons(report),
    ]
    if report.repeat:
        parts.append(f"repeat: {report.repeat}")
    return "\n".join(part for part in parts if part)


def _measure(state: _State, marker: pytest.Mark) -> tuple[str, Report]:
    options: dict[str, Any] = dict(marker.kwargs)
    budget = marker.args[0] if marker.args else options.pop("budget", None)
    if budget is None or "probe" not in options:
        raise pytest.UsageError('latency_budget needs a budget and a probe: ("p99<1ms", probe=...)')
    probe = options.pop("probe")
    try:
        return budget, state.measuring().run(probe, **options)
    except TimerlatError as error:
        if isinstance(error, (ValueError, NotFound)):
            raise
        _inconclusive(state, f"{probe} cannot be measured here: {error}")
        raise


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


def _save(state: _State, item: pytest.Item, report: Report) -> None:
    if state.save is None:
        return
    state.save.mkdir(parents=True, exist_ok=True)
    report.save(_file_of(state.save, item))


def _slower(state: _State, item: pytest.Item, report: Report) -> tuple[Verdict, str]:
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


def _judge(state: _State, item: pytest.Item, budget: str, report: Report) -> None:
    judgement = report.meets(budget)
    _record(item, judgement, report)
    _save(state, item, report)
    verdict, text = judgement.verdict, _telling(budget, judgement, report)
    if state.compare is not None:
        compared, lines = _slower(state, item, report)
        item.user_properties.append(("timerlat_baseline", lines))
        verdict, text = max(verdict, compared), f"{text}\n{lines}"
    summary = f"{verdict.name:12} {item.nodeid}: {budget}\n{_figures(report)}"
    item.user_properties.append((_SUMMARY, summary))
    if verdict is Verdict.FAIL:
        pytest.fail(text, pytrace=False)
    if verdict is Verdict.INCONCLUSIVE:
        _inconclusive(state, text)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Measured here, so that fixtures have the report; judged as part of the test."""
    state = item.config.stash[_KEY]
    measured = [_measure(state, marker) for marker in item.iter_markers("latency_budget")]
    item.stash[_MEASURED] = measured


def pytest_runtest_call(item: pytest.Item) -> None:
    for budget, report in item.stash[_MEASURED]:
        _judge(item.config.stash[_KEY], item, budget, report)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    state = config.stash[_KEY]
    if not state.lines:
        return
    terminalreporter.section("latency")
    for line in state.lines:
        terminalreporter.write_line(line.replace("\n", "\n    "))
    if state.save is not None:
        terminalreporter.write_line(f"saved in {state.save}")


def pytest_unconfigure(config: pytest.Config) -> None:
    state = config.stash.get(_KEY, None)
    if state is not None and state.session is not None:
        state.session.close()
