# SPDX-License-Identifier: MIT
"""The pytest plugin, run by pytest on tests of its own."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

import timerlat


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Reports are made up: what they say must not depend on this machine."""
    pytester.makeconftest(
        """
        import json, os, pathlib, pytest, uuid
        import timerlat, timerlat._documents, timerlat._run

        def report(lowest, degraded=False, n=2000):
            counts = [[lowest + i, n // 10] for i in range(10)]
            document = json.loads(pathlib.Path(__file__).with_name("made.json").read_text())
            result = document["results"][0]
            result["histogram"].update(
                unit="ns", hz=10**9, counts=counts, min=lowest, max=lowest + 9, early=[])
            result["counts"].update(
                asked=n, recorded=n, early=0, overflow=0, missed=0, unfinished=0)
            result.update(blocks=[], outliers=[], findings=[])
            document["findings"] = []
            document["run"]["id"] = str(uuid.uuid4())
            result.update(json.loads(os.environ.get("MADE", "{}")))
            if degraded:
                result["findings"] = [{"id": "policy-refused", "severity": "warn",
                                       "text": "fifo was refused", "remedy": None}]
            return timerlat.Report(timerlat._documents.read_text(json.dumps(document)))

        def measure(self, probe, lowest=1000, degraded=False, n=2000, missing=False):
            if missing:
                raise timerlat.Unsupported(95, "no such kernel")
            return report(int(os.environ.get("LOWEST", lowest)), degraded, n)

        timerlat._run.Session.run = measure
        """
    )
    with timerlat.Session(policy="other", floor=False) as session:
        text = session.run("timer-nanosleep", samples=20, cpus="0").to_json()
    (pytester.path / "made.json").write_text(text)
    path = str(Path(timerlat.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", path)
    return pytester


def run(pytester: pytest.Pytester, *options: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(
        *options, "-p", "timerlat.pytest_plugin", "-p", "no:cacheprovider"
    )


def marked(pytester: pytest.Pytester, budget: str, options: str = "", body: str = "pass") -> None:
    pytester.makepyfile(
        f"""
        import pytest
        @pytest.mark.latency_budget({budget!r}, probe="timer-nanosleep", {options})
        def test_it(latency_report):
            {body}
        """
    )


def test_a_budget_that_is_met_passes(pytester: pytest.Pytester) -> None:
    marked(pytester, "p50<2us, max<2us", body="assert latency_report.max == 1009")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*= latency =*", "PASS *test_it: p50<2us, max<2us", "*p50*samples"])


def test_a_budget_that_is_broken_fails_and_tells_why(pytester: pytest.Pytester) -> None:
    marked(pytester, "p50<500ns", body="raise SystemExit('never reached')")
    result = run(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "latency budget FAIL: p50<500ns",
            "*p50 < 500 ns: FAIL*n 2000*",
            "timer-nanosleep 0: p50 1.00?us (1.00?us to 1.00?us), max 1.009us, 2000 samples",
            "repeat: tlat run timer-nanosleep *",
        ]
    )


@pytest.mark.parametrize("options", ["degraded=True", "n=20"])
def test_what_is_inconclusive_is_skipped_with_its_reasons(
    pytester: pytest.Pytester, options: str
) -> None:
    marked(pytester, "p99<2us", options)
    result = run(pytester, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*latency budget INCONCLUSIVE: p99<2us*"])
    if "degraded" in options:
        result.stdout.fnmatch_lines(["*warn policy-refused: fifo was refused*"])


@pytest.mark.parametrize("options", ["degraded=True", "n=20"])
def test_strict_fails_what_is_inconclusive(pytester: pytest.Pytester, options: str) -> None:
    marked(pytester, "p99<2us", options)
    result = run(pytester, "--timerlat-strict")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["latency budget INCONCLUSIVE: p99<2us"])


def test_a_probe_that_cannot_run_skips(pytester: pytest.Pytester) -> None:
    marked(pytester, "p99<2us", "missing=True")
    run(pytester).assert_outcomes(skipped=1)
    run(pytester, "--timerlat-strict").assert_outcomes(errors=1)


def test_baselines_are_saved_and_compared(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked(pytester, "max<10us")
    run(pytester, "--timerlat-compare=v1", "-rs").assert_outcomes(skipped=1)
    result = run(pytester, "--timerlat-save=v1")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["saved in *.timerlat/v1"])
    assert len(list((pytester.path / ".timerlat" / "v1").iterdir())) == 1
    run(pytester, "--timerlat-compare=v1").assert_outcomes(passed=1)
    monkeypatch.setenv("LOWEST", "1050")
    run(pytester, "--timerlat-compare=v1").assert_outcomes(passed=1)
    result = run(pytester, "--timerlat-compare=v1", "--timerlat-threshold=2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["baseline v1, 2 % slower allowed: FAIL", "*p50 1.05?us (*samples), baseline 1.00?us*FAIL"]
    )
    monkeypatch.setenv("LOWEST", "1020")
    run(pytester, "--timerlat-compare=v1", "--timerlat-threshold=2").assert_outcomes(skipped=1)
    assert run(pytester, "--timerlat-save=../v1").ret == pytest.ExitCode.USAGE_ERROR


def test_a_baseline_is_replaced_by_what_is_no_slower_only(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = ("--timerlat-save=v1", "--timerlat-compare=v1", "--timerlat-threshold=2", "-rs")
    marked(pytester, "max<10us")
    run(pytester, *both).assert_outcomes(skipped=1)  # the first one
    (path,) = (pytester.path / ".timerlat" / "v1").iterdir()
    for lowest, outcome in (("1050", "failed"), ("1020", "skipped"), ("1050", "failed")):
        before = path.read_text()
        monkeypatch.setenv("LOWEST", lowest)
        result = run(pytester, *both)
        result.assert_outcomes(**{outcome: 1})
        result.stdout.fnmatch_lines(["*the baseline v1 was kept*--timerlat-save v1 alone*"])
        result.stdout.no_fnmatch_line("saved in *")
        assert path.read_text() == before
    monkeypatch.setenv("LOWEST", "990")
    result = run(pytester, *both)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["saved in *.timerlat/v1"])
    assert timerlat.load(path).results[0].min == 990
    monkeypatch.setenv("LOWEST", "1050")
    run(pytester, *both, "--timerlat-save=v2").assert_outcomes(failed=1)
    assert len(list((pytester.path / ".timerlat" / "v2").iterdir())) == 1, "nothing was replaced"


def test_each_marker_of_a_test_has_a_baseline_of_its_own(pytester: pytest.Pytester) -> None:
    mark = '@pytest.mark.latency_budget("max<10us", probe="timer-nanosleep"'
    pytester.makepyfile(
        f"import pytest\n{mark})\n{mark})\n{mark}, lowest=1200)\ndef test_it(): ..."
    )
    run(pytester, "--timerlat-save=v1").assert_outcomes(passed=1)
    assert len(list((pytester.path / ".timerlat" / "v1").iterdir())) == 3
    run(pytester, "--timerlat-compare=v1").assert_outcomes(passed=1)


def test_a_baseline_is_of_the_options_that_it_was_measured_with(pytester: pytest.Pytester) -> None:
    marked(pytester, "max<10us", "lowest=1000, n=2000")
    run(pytester, "--timerlat-save=v1").assert_outcomes(passed=1)
    marked(pytester, "max<9us", "n=2000, lowest=1000")
    run(pytester, "--timerlat-compare=v1").assert_outcomes(passed=1)
    marked(pytester, "max<10us", "lowest=1001, n=2000")
    result = run(pytester, "--timerlat-compare=v1", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["no baseline of this test with these options*--timerlat-save v1"])


@pytest.mark.parametrize(
    "made, why",
    [
        ({"settle_ns": 50_000}, "*settle 0ns in one report, 50000ns in another*"),
        ({"interval_ns": 5}, "*interval 1000000ns in one report, 5ns in another*"),
        ({"wait": {"policy": "fifo"}}, "*policy other in one report, fifo in another*"),
        ({"wait": {"slack_ns": 70_000}}, "*run.slack: 1ns in the baseline, 70000ns now*"),
    ],
)
def test_what_was_measured_in_another_way_is_inconclusive(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    made: dict[str, Any],
    why: str,
) -> None:
    """As options are told apart already: by what the process was granted, or a new default."""
    marked(pytester, "max<10us")
    run(pytester, "--timerlat-save=v1").assert_outcomes(passed=1)
    wait = json.loads((pytester.path / "made.json").read_text())["results"][0]["wait"]
    if "wait" in made:
        made = {"wait": {**wait, **made["wait"]}}
    monkeypatch.setenv("MADE", json.dumps(made))
    result = run(pytester, "--timerlat-compare=v1", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines([f"baseline v1: {why}--timerlat-save v1"])
    result.stdout.no_fnmatch_line("*--force*")


def test_figures_go_into_the_junit_file(pytester: pytest.Pytester) -> None:
    marked(pytester, "p50<2us")
    run(pytester, "--junitxml=junit.xml").assert_outcomes(passed=1)
    text = (pytester.path / "junit.xml").read_text()
    assert '<property name="timerlat_verdict" value="PASS"' in text
    assert '<property name="timerlat_timer-nanosleep_0_max_ns" value="1009.0"' in text


def test_a_marker_without_budget_or_probe_is_an_error(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.latency_budget("p50<1s")
        def test_no_probe(): ...
        def test_no_marker(latency_report): ...
        @pytest.mark.latency_budget("p50<1", probe="null")
        def test_unreadable(): ...
        """
    )
    result = run(pytester)
    result.assert_outcomes(errors=2, failed=1)
    result.stdout.fnmatch_lines(["*needs a budget and a probe*", "*1 has no unit*"])


def test_the_fixture_measures_for_real(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("")
    pytester.makepyfile(
        """
        def test_it(timerlat):
            assert timerlat.run("null", samples=100, policy="other").n == 100
        """
    )
    run(pytester).assert_outcomes(passed=1)


def test_without_markers_nothing_is_measured_or_printed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    result = run(pytester)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*latency*")


# == When it measures ==

SEEN = """
measured = timerlat._run.Session.run

def seen(self, probe, **options):
    with open(pathlib.Path(__file__).with_name("seen"), "a") as file:
        print("measured", file=file)
    return measured(self, probe, **options)

timerlat._run.Session.run = seen

@pytest.fixture
def load():
    with open(pathlib.Path(__file__).with_name("seen"), "a") as file:
        print("load", file=file)
"""


def seen(pytester: pytest.Pytester) -> list[str]:
    path = pytester.path / "seen"
    return path.read_text().split() if path.exists() else []


def noticing(pytester: pytest.Pytester, test: str) -> None:
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text() + SEEN)
    mark = '@pytest.mark.latency_budget("p50<2us", probe="timer-nanosleep")'
    pytester.makepyfile(f"import pytest\n{mark}\n{test}")


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-only", "--collect-only"])
def test_a_plan_measures_nothing(pytester: pytest.Pytester, option: str) -> None:
    noticing(pytester, "def test_it(load): ...")
    assert run(pytester, option).ret == 0
    assert "measured" not in seen(pytester)


def test_a_plan_asks_for_no_report(pytester: pytest.Pytester) -> None:
    noticing(pytester, "def test_it(latency_report, timerlat): ...")
    assert run(pytester, "--setup-plan").ret == 0
    assert seen(pytester) == []


def test_a_test_that_a_fixture_skips_is_not_measured(pytester: pytest.Pytester) -> None:
    noticing(
        pytester,
        "def test_it(skips): ...\n@pytest.fixture\ndef skips(): pytest.skip('not here')",
    )
    run(pytester).assert_outcomes(skipped=1)
    assert seen(pytester) == []


@pytest.mark.parametrize(
    "arguments, order",
    [
        ("load", ["load", "measured"]),
        ("load, latency_report", ["load", "measured"]),
        ("latency_report, load", ["measured", "load"]),
    ],
)
def test_it_is_measured_once_and_with_the_fixtures_of_the_test(
    pytester: pytest.Pytester, arguments: str, order: list[str]
) -> None:
    noticing(pytester, f"def test_it({arguments}): ...")
    run(pytester).assert_outcomes(passed=1)
    assert seen(pytester) == order


# == Where nobody measures ==


def test_the_library_is_not_loaded_for_tests_that_do_not_measure(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("")
    pytester.makepyfile(
        """
        import sys
        def test_it():
            mine = {name for name in sys.modules if name.startswith("timerlat")}
            assert mine == {"timerlat", "timerlat.pytest_plugin"}
        """
    )
    run(pytester).assert_outcomes(passed=1)


def test_a_pytest_without_a_stash_will_do(pytester: pytest.Pytester) -> None:
    """As before pytest 7, for an environment's other tests at the least."""
    pytester.makepyfile(old="import pytest\ndel pytest.Stash, pytest.StashKey")
    marked(pytester, "p50<2us")
    run(pytester, "-p", "old").assert_outcomes(passed=1)


# == Several processes ==

#: A measurement that goes on until the other process is ready for its own, and a while longer.
MEETING = """
import json, os, pathlib, time
import timerlat, timerlat._run

folder = pathlib.Path(__file__).parent
before = timerlat._run.Session.run

def measure(self, probe, **options):
    begin, end = time.monotonic(), time.monotonic() + 20
    while len(list(folder.glob("ready-*"))) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.3)
    (folder / f"measured-{os.getpid()}").write_text(json.dumps([begin, time.monotonic()]))
    return before(self, probe, **options)

timerlat._run.Session.run = measure

def pytest_runtest_setup(item):
    (folder / f"ready-{os.getpid()}").touch()
"""

TWO = """
import pytest
@pytest.mark.latency_budget("p50<2us", probe="timer-nanosleep")
def test_first(): ...
@pytest.mark.latency_budget("p50<2us", probe="timer-nanosleep")
def test_second(): ...
"""


def meeting(pytester: pytest.Pytester) -> None:
    conftest = pytester.path / "conftest.py"
    conftest.write_text(conftest.read_text() + MEETING)
    pytester.makepyfile(TWO)


def assert_one_after_the_other(pytester: pytest.Pytester) -> None:
    first, second = sorted(
        json.loads(path.read_text()) for path in pytester.path.glob("measured-*")
    )
    assert first[1] <= second[0], "both measured at once"


def test_two_processes_measure_one_after_the_other(pytester: pytest.Pytester) -> None:
    meeting(pytester)
    options = ("-p", "timerlat.pytest_plugin", "-p", "no:cacheprovider", "-k")
    many = [
        pytester.popen(
            [sys.executable, "-m", "pytest", *options, name],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name in ("first", "second")
    ]
    assert [one.wait(60) for one in many] == [0, 0]
    assert_one_after_the_other(pytester)


@contextlib.contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_killed_process_leaves_nobody_waiting(
    python: Callable[..., subprocess.Popen[str]]
) -> None:
    hold = "import time, timerlat._turns as t\nwith t.turn(): print('mine', flush=True); time.sleep(60)"
    with ended(python(hold)) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "mine\n"
        with ended(python("import timerlat._turns as t\nwith t.turn(): pass")) as waiter:
            with pytest.raises(subprocess.TimeoutExpired):
                waiter.wait(0.5)
            holder.kill()
            assert waiter.wait(30) == 0


def test_a_removed_lock_is_not_waited_for_by_some(
    tmp_path: Path, python: Callable[..., subprocess.Popen[str]]
) -> None:
    """Who waited for the file that is gone goes on to the one that others find."""
    lock = tmp_path / "lock"
    program = f"""
import os, time, timerlat._turns as t
t._PATH = {str(lock)!r}
with t.turn():
    print(os.path.exists(t._PATH), flush=True)
    {{}}
"""
    with ended(python(program.format("time.sleep(60)"))) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "True\n"
        with ended(python(program.format("pass"))) as waiter:
            time.sleep(0.5)
            lock.unlink()
            holder.kill()
            assert waiter.communicate(timeout=30)[0] == "True\n"


def test_a_long_wait_is_told_while_it_goes_on(
    pytester: pytest.Pytester, python: Callable[..., subprocess.Popen[str]]
) -> None:
    lock = pytester.path / "lock"
    hold = (
        f"import time, timerlat._turns as t\nt._PATH = {str(lock)!r}\n"
        "with t.turn(): print('mine', flush=True); time.sleep(60)"
    )
    conftest = pytester.path / "conftest.py"
    conftest.write_text(
        conftest.read_text()
        + f"\nimport timerlat._turns\ntimerlat._turns._PATH = {str(lock)!r}\n"
        + "timerlat._turns._PATIENCE_S = 0.2\n"
    )
    marked(pytester, "p50<2us")
    with ended(python(hold)) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "mine\n"
        command = [sys.executable, "-m", "pytest", "-p", "timerlat.pytest_plugin"]
        with ended(pytester.popen(command, stdout=subprocess.PIPE, text=True)) as waiter:
            said = next(line for line in waiter.stdout if "waits for its turn" in line)
            assert f"process {holder.pid} measures" in said and str(lock) in said
            holder.kill()
            assert waiter.wait(30) == 0


def test_without_a_place_for_the_lock_it_warns_and_measures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timerlat._turns._PATH", str(tmp_path / "none" / "lock"))
    with pytest.warns(UserWarning, match="others may measure at the same time.*No such file"):
        with timerlat._turns.turn():
            pass


def test_reports_of_another_process_are_summed_up(pytester: pytest.Pytester) -> None:
    """As pytest-xdist passes them on: what a controller sees that measures nothing itself."""
    conftest = pytester.path / "conftest.py"
    made = conftest.read_text()
    conftest.write_text(
        made
        + """
def pytest_runtest_logreport(report):
    with open(pathlib.Path(__file__).with_name("reports"), "a") as file:
        print(json.dumps(report._to_json()), file=file)
"""
    )
    pytester.makepyfile(TWO)
    run(pytester).assert_outcomes(passed=2)
    conftest.write_text(
        """
import json, pathlib, pytest
def pytest_runtestloop(session):
    for line in pathlib.Path(__file__).with_name("reports").read_text().splitlines():
        report = pytest.TestReport._from_json(json.loads(line))
        session.config.hook.pytest_runtest_logreport(report=report)
    return True
"""
    )
    result = run(pytester)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        ["*= latency =*", "PASS *test_first: p50<2us", "*samples", "PASS *test_second: p50<2us"]
    )


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="needs pytest-xdist")
def test_under_xdist(pytester: pytest.Pytester) -> None:
    meeting(pytester)
    result = run(pytester, "-p", "xdist", "-n2")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*= latency =*"])
    for name in ("first", "second"):
        result.stdout.fnmatch_lines([f"PASS *test_{name}: p50<2us", "*p50*samples"])
    assert_one_after_the_other(pytester)
