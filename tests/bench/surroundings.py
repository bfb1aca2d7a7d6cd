# SPDX-License-Identifier: MIT
"""What the figures were taken on: the machine as "tlat check" has it, versions of peers, and what
else ran meanwhile."""
from __future__ import annotations

import json
import re
import subprocess
import time
from typing import Any

#: Of all CPUs, before anything runs: a figure beside more than that is one of the load as well.
BUSY, STOLEN = 0.05, 0.02
SECONDS = 1.0

#: Not of interest to others, or nobody's business.
PRIVATE = ("hostname", "cmdline")

PEERS = {"cyclictest": ["cyclictest", "--help"], "oslat": ["oslat", "--version"],
         "stress-ng": ["stress-ng", "--version"], "perf": ["perf", "--version"],
         "hdr_histogram": ["pkg-config", "--modversion", "hdr_histogram"]}


def peers() -> dict[str, str]:
    """Version of each peer that is installed."""
    found = {}
    for name, command in PEERS.items():
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        version = re.search(r"[0-9]+\.[0-9.]*[0-9]", done.stdout)
        if version and (done.returncode == 0 or name != "hdr_histogram"):
            found[name] = version[0]
    return found


def machine(tlat: str) -> tuple[dict[str, Any], str]:
    """The machine and the version of tlat, from the report of its audit."""
    said = subprocess.run([tlat, "check", "--json", "-"], stdout=subprocess.PIPE, text=True,
                          timeout=60, check=False).stdout
    report = json.loads(said)
    facts = {name: fact for name, fact in report["machine"].items() if name not in PRIVATE}
    return facts, report["tool"]["version"]


def _cpu_time() -> list[int]:
    with open("/proc/stat", encoding="ascii") as stat:
        return [int(word) for word in stat.readline().split()[1:9]]


def load() -> dict[str, float]:
    """Shares of the time of all CPUs, while this process sleeps."""
    before = _cpu_time()
    time.sleep(SECONDS)
    user, nice, system, idle, iowait, irq, softirq, stolen = (
        b - a for a, b in zip(before, _cpu_time()))
    busy = user + nice + system + irq + softirq
    total = max(1, busy + idle + iowait + stolen)
    return {"busy": busy / total, "stolen": stolen / total}


def is_high(shares: dict[str, float]) -> bool:
    return shares["busy"] > BUSY or shares["stolen"] > STOLEN
