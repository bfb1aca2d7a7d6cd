# SPDX-License-Identifier: MIT
"""The pytest plugin, run by pytest on tests of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import timerlat


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Reports are made up: what they say must not depend on this machine."""
    pytester.makeconftest(
        """
        import json, pathlib, pytest
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
            if degraded:
                result["findings"] = [{"id": "policy-refused", "severity": "warn",
                                       "text": "fifo was refused", "remedy": None}]
            return timerlat.Report(timerlat._documents.read_document(document))

        def measure(self, probe, lowest=1000, degraded=False, n=2000, missing=False):
            if missing:
                raise timerlat.Unsupported(95, "no such kernel")
            return report(lowest, degraded, n)

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
    return pytester.runpytest_subprocess("-p", "timerlat.pytest_plugin", "-p", "no:cacheprovider",
                                         *options)


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


def test_baselines_are_saved_and_compared(pytester: pytest.Pytester) -> None:
    marked(pytester, "max<10us")
    run(pytester, "--timerlat-compare=v1", "-rs").assert_outcomes(skipped=1)
    result = run(pytester, "--timerlat-save=v1")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["saved in *.timerlat/v1"])
    assert len(list((pytester.path / ".timerlat" / "v1").iterdir())) == 1
    run(pytester, "--timerlat-compare=v1").assert_outcomes(passed=1)
    marked(pytester, "max<10us", "lowest=1050")
    run(pytester, "--timerlat-compare=v1").assert_outcomes(passed=1)
    result = run(pytester, "--timerlat-compare=v1", "--timerlat-threshold=2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["baseline v1, 2 % slower allowed: FAIL", "*p50 1.05?us (*samples), baseline 1.00?us*FAIL"]
    )
    marked(pytester, "max<10us", "lowest=1020, n=40")
    run(pytester, "--timerlat-compare=v1", "--timerlat-threshold=2").assert_outcomes(skipped=1)
    assert run(pytester, "--timerlat-save=../v1").ret == pytest.ExitCode.USAGE_ERROR


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
