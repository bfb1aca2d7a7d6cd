#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Delays that are injected and have to come back within the uncertainty that is stated for them: "tlat
check --self-test". Prints; judges nothing. The limit of the uncertainty is that of the bar, 60 ns and
1 % of the delay.

    TLAT=build/tlat self_test.py [TRIALS]       (default 100, of each delay)
"""
from __future__ import annotations

import re
import subprocess

import figures

TLAT = figures.from_environment("TLAT", "tlat")
TRIALS = figures.rounds(100)
LINE = re.compile(r"self-test +(\S+): recovered (\d+) of (\d+), median error (\S+), "
                  r"uncertainty (\S+?)[,\s]*$", re.M)
UNITS_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def ns(text: str) -> float:
    number, unit = re.fullmatch(r"([-+0-9.e]+)([a-z]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * UNITS_NS[unit]


# Its exit code is a verdict, which is not asked for here.
said = subprocess.run([TLAT, "check", "--self-test", "--trials", str(TRIALS)],
                      stdout=subprocess.PIPE, text=True, check=False).stdout
found = LINE.findall(said)
if not found:
    figures.leave_out("no delay was injected: " + (said.splitlines() or ["nothing was printed"])[-1])
within = sum(int(came_back) for _, came_back, _, _, _ in found)
trials = sum(int(n) for _, _, n, _, _ in found)
for delay, came_back, n, error, u in found:
    print(f"{delay}: {came_back} of {n} within {u}, median error {error}")
    figures.write(f"injected {delay}, uncertainty", "ns", [ns(u)], "limit, 60 ns + 1 %",
                  [60 + ns(delay) / 100])
figures.write("injected delays, share that came back", "", [within / trials],
              note=f"{within} of {trials}")
