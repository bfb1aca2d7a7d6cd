#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How far quantiles of the histogram are from those of the sorted samples, at worst: what test-hist.c
prints of 17 shapes and 400 quantiles each, from fixed seeds. Prints; judges nothing.

    TLAT_BUILD=build quantiles.py [ROUNDS]      (it is the same in every round: there is one)
"""
from __future__ import annotations

import os
import re
import subprocess

import figures

PROGRAM = os.path.join(figures.from_environment("TLAT_BUILD", "the build"), "tests", "test-hist")
said = subprocess.run([PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                      check=False).stdout
match = re.search(r"quantiles against sorted samples: off by ([0-9.]+) of .*", said)
if not match:
    figures.fail(f"{PROGRAM} printed no figures: {said}")
print(match[0])
figures.write("worst quantile against sorted samples, share of 0.05 % + 1 quantum", "",
              [float(match[1])])
