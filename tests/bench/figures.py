# SPDX-License-Identifier: MIT
"""For benches: where tools and peers are, and what was measured in each round, as a line of JSON for
tests/bench/run, in the file that TLAT_BENCH_JSON names. figure.h is the same for benches in C."""
from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from typing import Any, NoReturn, Optional, Sequence

LEFT_OUT = 77  #: exit code of a bench that cannot run here; its last line says why


def fail(reason: str, code: int = 2) -> NoReturn:
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    print(f"{name}: {reason}", file=sys.stderr)
    sys.exit(code)


def leave_out(reason: str) -> NoReturn:
    fail(reason, LEFT_OUT)


def from_environment(name: str, what: str) -> str:
    """The path of one of our tools: TLAT, TLAT_CYCLICTEST; or of the build, TLAT_BUILD."""
    value = os.environ.get(name)
    if not value:
        fail(f"{name} is to be the path of {what}")
    return value


def argument(index: int, normal: float) -> float:
    """Of the command line, the first one being the rounds; all of them are positive numbers."""
    try:
        value = float(sys.argv[index]) if len(sys.argv) > index else normal
    except ValueError:
        value = 0
    if value <= 0 and (value < 0 or index == 1):
        fail("usage: [ROUNDS ...], numbers above 0")
    return value


def rounds(normal: int) -> int:
    return int(argument(1, normal))


def last_cpu() -> int:
    return max(os.sched_getaffinity(0))


def peer(command: str, package: str) -> str:
    """The path of another project's program, without which the bench is left out."""
    path = shutil.which(command)
    if path is None:
        leave_out(f"{command} is missing: apt-get install {package}")
    return path


def bare(name: str) -> str:
    """The path of a hand-written loop, which stands in for a peer that is missing."""
    return os.path.join(from_environment("TLAT_BUILD", "the build"), "tests", f"bench-{name}")


def output_of(*command: str) -> str:
    """What a command prints; its failure is ours."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        fail(f"{' '.join(command)} gave {done.returncode}")
    return done.stdout


def report_of(*command: str) -> Any:
    """The report of one of our commands, given --json -."""
    return json.loads(output_of(*command, "--json", "-"))


def spread(values: Sequence[float], digits: int = 0) -> str:
    """Least / median / greatest."""
    return " / ".join(f"{value:.{digits}f}"
                      for value in (min(values), statistics.median(values), max(values)))


def write(figure: str, unit: str, ours: Sequence[float], peer_name: Optional[str] = None,
          peers: Sequence[float] = (), note: Optional[str] = None) -> None:
    """peers: one next to each of ours, or one more, before the first and after each of ours."""
    path = os.environ.get("TLAT_BENCH_JSON")
    if not path:
        return
    line: dict[str, object] = {
        "bench": os.path.splitext(os.path.basename(sys.argv[0]))[0], "figure": figure,
        "unit": unit, "ours": list(ours)}
    if peer_name is not None:
        line.update(peer_name=peer_name, peer=list(peers))
    if note is not None:
        line["note"] = note
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
