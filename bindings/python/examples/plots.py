# SPDX-License-Identifier: MIT
"""Several probes side by side, as pictures and as a table. Needs matplotlib and pandas."""

import sys
from pathlib import Path

import pandas

import timerlat

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
with timerlat.Session(duration="1s") as session:
    reports = {name: session.run(name) for name in ("wake-futex", "timer-nanosleep")}

print(pandas.concat(report.to_dataframe() for report in reports.values()).to_string(index=False))
for name, report in reports.items():
    for kind in ("histogram", "nines", "timeline"):
        report.plot(kind).figure.savefig(folder / f"{name}-{kind}.png")
