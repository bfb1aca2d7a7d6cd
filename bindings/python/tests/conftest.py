# SPDX-License-Identifier: MIT
"""What the tests share. Nothing here or there judges how late this machine is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

import timerlat

pytest_plugins = ["pytester"]

#: What a run takes when the test is not about how it is taken: no privilege, little time.
QUICK = {"policy": "other", "floor": False}


@pytest.fixture(scope="session")
def session() -> timerlat.Session:
    return timerlat.Session(policy="other", floor=False)


@pytest.fixture(scope="session")
def solo(session: timerlat.Session) -> timerlat.Report:
    return session.run("timer-nanosleep", samples=20000, interval="100us", raw=1000, cpus="0")


@pytest.fixture(scope="session")
def threads(session: timerlat.Session) -> timerlat.Report:
    """One probe on as many CPUs as there are, at most two."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    return session.run("timer-nanosleep", duration="1s", interval="200us", raw=50, cpus=cpus)


@pytest.fixture
def python() -> Callable[..., subprocess.Popen[str]]:
    """Start a program of its own, with this package."""

    def start(program: str, *arguments: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(Path(timerlat.__file__).parents[1]), *sys.path])
        return subprocess.Popen(
            [sys.executable, "-c", program, *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )

    return start
