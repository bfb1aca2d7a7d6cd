# SPDX-License-Identifier: MIT
"""Measure one probe, say how sure the figures are, and keep the report."""

import sys

import timerlat

report = timerlat.run("wake-futex", samples=20_000)
print(report)
low, high = report.interval["p50"]
print(f"p50 {report.p50:.0f} ns, 95 % sure of {low:.0f} to {high:.0f} ns")
print("p99.9 so far:", round(report.percentile(99.9, bound=True)), "ns")
for finding in report.findings:
    print(finding)
if len(sys.argv) > 1:
    report.save(sys.argv[1])
