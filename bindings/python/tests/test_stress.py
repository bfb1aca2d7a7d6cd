# SPDX-License-Identifier: MIT
"""Storms and noise: results of metrics."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import time
from typing import Callable

import pytest

import timerlat


def test_a_storm_has_rates() -> None:
    report = timerlat.storm("monotonic,timerfd", duration="300ms", interval="1ms", cpus=0)
    (result,) = report.results
    assert result.kind == "storm"
    assert result.metrics["monotonic.delivered_hz"] > 0
    assert result.metrics["timerfd.requested_hz"] == pytest.approx(1000, rel=0.5)
    assert "n=" in repr(report)


def test_words_are_those_of_the_tool() -> None:
    report = timerlat.storm(duration="100ms", interval="1ms", cpus=0, handler="rearm")
    (result,) = report.results
    assert result.repeat is not None and "--handler rearm" in result.repeat


def test_noise_has_gaps() -> None:
    report = timerlat.noise(duration="200ms", cpus=0, policy="other")
    (result,) = report.results
    assert result.kind == "noise" and "gap.count" in result.metrics
    assert result.metrics["gap.count"] == result.histogram.counts.sum() + result.histogram.overflow


def test_metrics_have_what_the_report_says_of_them() -> None:
    (result,) = timerlat.scale("timers", sizes=(100, 200, 400), rounds=2, cpus=0).results
    document = json.loads(result._report.to_json())["results"][0]
    assert document["metrics"]
    for said, (name, metric) in zip(document["metrics"], result.metrics.items()):
        found = [name, metric.unit, metric.sd, metric.n, metric.better]
        assert found == [said[key] for key in ("name", "unit", "sd", "n", "better")]
        assert metric == pytest.approx(said["value"]) and metric + 1 > metric
        kept = pickle.loads(pickle.dumps(metric))
        assert (kept, vars(kept)) == (metric, vars(metric))
    assert {"lower"} <= {metric.better for metric in result.metrics.values()}
    assert {"ns"} <= {metric.unit for metric in result.metrics.values()}


def test_scaling_has_exponents() -> None:
    report = timerlat.scale("timers", sizes=(100, 200, 400), rounds=2, cpus=0)
    (result,) = report.results
    assert result.kind == "scale"
    names = list(result.metrics)
    assert any(name.endswith(".exponent") for name in names), names
    assert any(".N400." in name for name in names), names


@pytest.mark.parametrize(
    "measure, asked",
    [
        (lambda: timerlat.noise(duration="50ms", cpus=0), "--policy fifo -p 40"),
        (lambda: timerlat.noise(duration="50ms", cpus=0, policy="rr"), "--policy rr -p 40"),
        (lambda: timerlat.noise(duration="50ms", cpus=0, policy="other"), "--policy other"),
        (lambda: timerlat.storm(duration="50ms", interval="1ms", cpus=0), "--policy other"),
        (lambda: timerlat.scale("timers", sizes=(10, 20), rounds=1, cpus=0), "--policy other"),
    ],
)
def test_the_policy_is_that_of_the_tool(
    measure: Callable[[], timerlat.Report], asked: str
) -> None:
    """Granted or not: the command that repeats a result says what was asked for."""
    (result,) = measure().results
    assert result.repeat is not None
    assert f"{asked} " in f"{result.repeat} "
    assert ("-p " in result.repeat) == ("-p " in asked)


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(timerlat.InvalidOption, match="sundial"):
        timerlat.storm("sundial")
    with pytest.raises(timerlat.InvalidOption):
        timerlat.noise(threshold="2s")
    with pytest.raises(timerlat.InvalidOption, match="timers, wakeups, pairs"):
        timerlat.scale("fish")
    with pytest.raises(timerlat.InvalidOption, match="timers: "):
        timerlat.storm(timers=-1)
    with pytest.raises(timerlat.InvalidOption, match="sizes: "):
        timerlat.scale("timers", sizes=[100, 2**70])
    with pytest.raises(timerlat.InvalidOption, match="custom, timer, timermix"):
        timerlat.storm(preset="tornado")
    with pytest.raises(timerlat.InvalidOption, match="plain, rearm"):
        timerlat.storm(handler="none")
    with pytest.raises(TypeError):
        timerlat.noise(duration=0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", ["storm", "noise"])
def test_ctrl_c_ends_it(python: Callable[..., subprocess.Popen[str]], what: str) -> None:
    program = """
import json, sys, timerlat
try:
    print("running", flush=True)
    getattr(timerlat, sys.argv[1])(duration="60s", cpus=0, policy="other")
except timerlat.Interrupted as error:
    print(json.dumps(error.report is not None))
"""
    child = python(program, what)
    assert child.stdout is not None and child.stdout.readline() == "running\n"
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    assert json.loads(child.communicate(timeout=20)[0]) in (True, False)
