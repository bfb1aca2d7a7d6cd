#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Write reports as a run would have left them, of simulated latencies from a fixed seed.

usage: make_reports.py FILE [key=value ...]
n=20 side=A factor=1.0 sd=0.002 tail=1.0 kernel=6.12 boots=1 boot=0 start=0 step=2 seed=1
samples=5000 settle=50000 design=1 planned=0 planned pairs; step: minutes from run to run
"""
import json
import math
import random
import sys

defaults = dict(n=20, side="A", factor=1.0, sd=0.002, tail=1.0, kernel="6.12", boots=1, boot=0,
                start=0, step=2, seed=1, samples=5000, settle=50000, design=1, planned=0)


def bin_of(value):
    shift = max(0, value.bit_length() - 11)
    return (shift << 10) + (value >> shift)


def latency(o, rng):
    level = o["factor"] * math.exp(o["sd"] * rng.gauss(0, 1))
    values = []
    for _ in range(o["samples"]):
        value = 1800 * level * math.exp(0.05 * rng.gauss(0, 1))
        if rng.random() < 0.01 * o["tail"]:
            value *= 3
        values.append(int(value))
    counts = {}
    for value in values:
        counts[bin_of(value)] = counts.get(bin_of(value), 0) + 1
    return {"layout": "hdr", "digits": 3, "unit": "ns", "hz": 1000000000, "min": min(values),
            "max": max(values), "overflow": 0, "counts": sorted(counts.items()), "early": []}


def report(o, i, rng):
    minute = o["start"] + i * o["step"] + (i % 2 if o["design"] else 0) * (1 if o["side"] == "A" else -1)
    boot = o["boot"] + (i % o["boots"]) * 2
    side = {"priority": 40, "slack_ns": 1, "policy": "fifo", "tid": 1}
    return {
        "schema": "timerlat-report/1", "tool": {"version": "0.1.0", "argv": ["tlat"]},
        "run": {"id": "%08x-0000-4000-8000-000000000000" % rng.getrandbits(32),
                "boot_id": "%08x-0000-4000-8000-000000000000" % boot,
                "start": "2026-01-01T%02d:%02d:00.000000000Z" % (minute // 60, minute % 60),
                "duration_ns": 1000000000, "seed": 1, "repeat": "tlat run wake-futex -c 1",
                "end": "time"},
        "design": {"side": o["side"], "pair": i, "order": "ABBA", "seed": 7,
                   "planned": o["planned"], "looks": o["planned"] > 0} if o["design"] else None,
        "findings": [], "clock": None,
        "machine": {"kernel": o["kernel"], "hostname": "sim", "timer_migration": 1},
        "results": [{
            "kind": "latency", "probe": "wake-futex", "supported": True, "pair": True,
            "relation": "same-cpu", "wait": {**side, "cpu": 1}, "kick": {**side, "cpu": 1},
            "settle_ns": o["settle"], "duration_ns": 1000000000,
            "counts": {"asked": o["samples"], "recorded": o["samples"]},
            "histogram": latency(o, rng)}],
    }


def main():
    o = dict(defaults)
    for word in sys.argv[2:]:
        key, value = word.split("=")
        o[key] = type(defaults[key])(value)
    rng = random.Random(o["seed"])
    with open(sys.argv[1], "w") as out:
        for i in range(o["n"]):
            print(json.dumps(report(o, i, rng), separators=(",", ":")), file=out)


main()
