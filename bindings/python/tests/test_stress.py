# SPDX-License-Identifier: MIT
"""Storms and noise: results of metrics."""

from __future__ import annotations

import json
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


def test_scaling_has_exponents() -> None:
    report = timerlat.scale("timers", sizes=(100, 200, 400), rounds=2, cpus=0)
    (result,) = report.results
    assert result.kind == "scale"
    names = list(result.metrics)
    assert any(name.endswith(".exponent") for name in names), names
    assert any(".N400." in name for name in names), names


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(timerlat.InvalidOption, match="sundial"):
        timerlat.storm("sundial")
    with pytest.raises(timerlat.InvalidOption):
        timerlat.noise(threshold="2s")
    with pytest.raises(timerlat.InvalidOption, match="timers, wakeups, pairs"):
        timerlat.scale("fish")
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
