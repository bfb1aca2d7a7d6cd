#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How often a comparison is wrong, and how often it finds what is there: what
test-compare-simulated.c prints of thousands of them, from fixed seeds. Prints; judges nothing.

    TLAT_BUILD=build simulated.py [ROUNDS]      (it is the same in every round: there is one)
"""
from __future__ import annotations

import os
import re
import subprocess

import figures

PROGRAM = os.path.join(figures.from_environment("TLAT_BUILD", "the build"), "tests",
                       "test-compare-simulated")


def found(tests: str, pattern: str) -> list[int]:
    # A test that fails has printed its figures, and they are what is asked for.
    said = subprocess.run([PROGRAM, tests], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False).stdout
    match = re.search(pattern, said)
    if not match:
        figures.fail(f"{PROGRAM} printed no figures: {said}")
    print(match[0], flush=True)
    return [int(number) for number in match.groups()]


primary, tail, comparisons = found("false_alarms_are_rare*",
                                   r"A/A: (\d+) primary and (\d+) tail alarms in (\d+)")
figures.write("false alarms of 2000 A/A comparisons, primary", "", [primary * 2000 / comparisons])
figures.write("false alarms of 2000 A/A comparisons, tail", "", [tail * 2000 / comparisons])
regressions, of = found("a_shift_of_one_percent_is_found",
                        r"\+1 % at sd 1 %: REGRESSION (\d+).* of (\d+)")
figures.write("shift of 1 % called REGRESSION, 20 pairs, sd 1 %", "%", [100 * regressions / of])
