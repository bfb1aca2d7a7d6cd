# SPDX-License-Identifier: MIT
"""
pytest: assert a latency budget.

    @pytest.mark.latency_budget("p99<50us, max<1ms", probe="wake-futex", samples=100_000)
    def test_wakes_in_time(): ...

measures as the last step of the test's setup, or where a fixture or the test asks for
latency_report, which is the report. The fixture timerlat is a Session for tests that measure by
themselves. INCONCLUSIVE skips a test with its reasons, or fails it under --timerlat-strict.
--timerlat-save NAME keeps what was measured, --timerlat-compare NAME fails tests whose median has
become worse than that, beyond doubt. With both of the same NAME a test is compared first, and what
it measured is kept if that passes, or if there was nothing; below the threshold, changes of many
such runs add up unnoticed. A baseline is of a marker's probe and options: where these are others,
or the runs are not comparable for "tlat compare", the test is inconclusive.

Workers of pytest-xdist, and other processes of the same user that run pytest, measure one after the
other: markers and the fixture's run() wait their turn; start() and run_async() do not.

Every pytest of an environment loads this module. It is of no consequence where nobody measures: the
library comes with the first test that does, and any pytest will do.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

import pytest

if TYPE_CHECKING:
    from . import Report, Session

_STATE = "timerlat-state"

#: Of a test's report, which is all that the controller of pytest-xdist gets to see.
SUMMARY = "timerlat_summary"
#: How a line of it begins that tells of a baseline which was not replaced.
KEPT = "the baseline"


@dataclass(frozen=True)
class Measured:
    """For one marker of a test."""

    budget: str
    report: Report
    file: str  #: its name in the folder of a baseline


@dataclass(eq=False)  # pluggy wants plugins to be hashable
class State:
    """What the session of pytest knows: options, the calibrated session, lines of the summary."""

    config: pytest.Config
    strict: bool
    save: Path | None
    compare: Path | None
    threshold: float
    session: Session | None = None
    measured: dict[pytest.Item, list[Measured]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Also in a process that measures nothing itself."""
        if report.when == "call":
            self.lines += [str(text) for name, text in report.user_properties if name == SUMMARY]

    def say(self, text: str) -> None:
        """At once, whatever is captured; a worker of pytest-xdist has no terminal to say it on."""
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        capture = self.config.pluginmanager.get_plugin("capturemanager")
        if terminal is None:
            return
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            terminal.write_line(text)


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
    root = Path(str(getattr(config, "rootpath", None) or getattr(config, "rootdir")))  # before 6.1
    return root / str(config.getoption("--timerlat-storage")) / str(name)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "latency_budget(budget, probe=..., **options): measure, and hold it against a budget",
    )
    state = State(
        config,
        bool(config.getoption("--timerlat-strict")),
        _baseline(config, "--timerlat-save"),
        _baseline(config, "--timerlat-compare"),
        float(config.getoption("--timerlat-threshold")),
    )
    config.pluginmanager.register(state, _STATE)


def _state(config: pytest.Config) -> State:
    state: State = config.pluginmanager.get_plugin(_STATE)
    return state


def _measured(item: pytest.Item) -> list[Measured]:
    state = _state(item.config)
    if item not in state.measured and item.get_closest_marker("latency_budget"):
        from ._budgets import measure

        state.measured[item] = measure(state, item)
    return state.measured.get(item, [])


@pytest.fixture(scope="session")
def timerlat(pytestconfig: pytest.Config) -> Session:
    """A timerlat.Session, calibrated once. Skips, or fails under --timerlat-strict, without one."""
    from ._budgets import session_for_tests

    return session_for_tests(_state(pytestconfig))


@pytest.fixture
def latency_report(request: pytest.FixtureRequest) -> Report:
    """What the marker latency_budget measured for this test."""
    measured = _measured(request.node)
    if not measured:
        raise pytest.UsageError("latency_report needs the marker latency_budget on the test")
    return measured[0].report


_last: Callable[[Callable[[pytest.Item], None]], Callable[[pytest.Item], None]]
_last = pytest.hookimpl(trylast=True)


@_last
def pytest_runtest_setup(item: pytest.Item) -> None:
    """After its fixtures: they may skip it, and what they do to the machine is part of it."""
    if not item.config.getoption("setuponly", False):
        _measured(item)


def pytest_runtest_call(item: pytest.Item) -> None:
    for one in _measured(item):
        from ._budgets import judge

        judge(_state(item.config), item, one)


def pytest_runtest_teardown(item: pytest.Item) -> None:
    _state(item.config).measured.pop(item, None)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    state = _state(config)
    if not state.lines:
        return
    terminalreporter.section("latency")
    for line in state.lines:
        terminalreporter.write_line(line.replace("\n", "\n    "))
    if state.save is not None and not all(f"\n{KEPT} " in line for line in state.lines):
        terminalreporter.write_line(f"saved in {state.save}")


def pytest_unconfigure(config: pytest.Config) -> None:
    state = config.pluginmanager.get_plugin(_STATE)
    if state is not None and state.session is not None:
        state.session.close()
