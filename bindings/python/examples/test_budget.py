# SPDX-License-Identifier: MIT
"""A latency budget as a test: pytest bindings/python/examples/test_budget.py"""

import pytest

import timerlat as tlat


@pytest.mark.latency_budget("p50<1ms, n>=1000", probe="wake-futex", samples=5000)
def test_wakes_in_time(latency_report: tlat.Report) -> None:
    assert latency_report.n >= 1000


def test_timers_are_never_early(timerlat: tlat.Session) -> None:
    report = timerlat.run("timer-nanosleep", samples=500)
    assert report.counts["early"] == 0
