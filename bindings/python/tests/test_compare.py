# SPDX-License-Identifier: MIT
"""Comparisons and merging: the same answers as the command gives on the same files."""

from __future__ import annotations

import copy
import json
import math
import os
import random
import subprocess
from pathlib import Path
from typing import Any

import matplotlib
import pytest

import timerlat
from timerlat import native
from timerlat._compare import CompareVerdict
from timerlat._documents import bin_index, read_text

matplotlib.use("Agg")


def runs(made: timerlat.Report, side: str, factor: float, n: int) -> list[timerlat.Report]:
    """Runs of one probe whose latencies are log-normal; the same for the same arguments."""
    rng = random.Random(f"{side}{n}")
    found = []
    for number in range(n):
        document: Any = copy.deepcopy(made.document)
        document["findings"] = []
        document["run"].update(id=f"{number:08x}-0000-4000-8000-{ord(side):012x}",
                               start=f"2026-01-01T00:{2 * number + (side == 'B'):02}:00.000000000Z")
        result = document["results"][0]
        centre = 20_000 * factor * math.exp(rng.gauss(0, 0.004))
        values = [round(rng.lognormvariate(math.log(centre), 0.1)) for _ in range(4000)]
        bins: dict[int, int] = {}
        for value in values:
            bins[bin_index(value)] = bins.get(bin_index(value), 0) + 1
        result["histogram"].update(unit="ns", hz=10**9, early=[], overflow=0, min=min(values),
                                   max=max(values), counts=[[i, bins[i]] for i in sorted(bins)])
        result["counts"].update(asked=4000, recorded=4000, early=0, overflow=0, missed=0,
                                unfinished=0)
        result.update(blocks=[], outliers=[], findings=[])
        result.pop("raw_ns", None)
        found.append(timerlat.Report(read_text(json.dumps(document))))
    return found


@pytest.fixture(scope="module")
def sides(solo: timerlat.Report) -> tuple[list[timerlat.Report], list[timerlat.Report]]:
    return runs(solo, "A", 1, 12), runs(solo, "B", 1.03, 12)


def written(folder: Path, reports: list[timerlat.Report]) -> Path:
    folder.mkdir()
    for number, report in enumerate(reports):
        report.save(folder / f"{number:02}.json")
    return folder


def test_a_shift_of_three_per_cent_is_a_regression(sides: Any) -> None:
    found = timerlat.compare(*sides)
    assert found.verdict is CompareVerdict.REGRESSION and not found
    (item,) = found.items
    assert item.low < 1.03 < item.high and item.unit == "ns"
    assert (item.n_base, item.n_next) == (12, 12)
    assert item.alpha == 0.01
    assert timerlat.compare(*sides, alpha=0.05).items[0].alpha == 0.05
    assert "REGRESSION" in repr(found) and "\n" not in repr(found)
    assert any(figure.tail for figure in item.figures)
    assert found.document["schema"] == "timerlat-comparison/1"
    better = timerlat.compare(sides[1], sides[0])
    assert better.verdict is CompareVerdict.IMPROVEMENT and better


def test_the_command_says_the_same_of_the_same_files(sides: Any, tmp_path: Path) -> None:
    a, b = (written(tmp_path / name, side) for name, side in zip("ab", sides))
    command = [os.environ["TLAT"], "compare", str(a), str(b), "--json", "-"]
    said = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert said == timerlat.compare(a, b).document


def test_sides_can_be_reports_files_folders_and_lists(sides: Any, tmp_path: Path) -> None:
    folder = written(tmp_path / "a", sides[0])
    lines = tmp_path / "b.jsonl"
    for report in sides[1]:
        report.save(lines, append=True)
    expected = timerlat.compare(*sides).document
    assert timerlat.compare(folder, str(lines)).document == expected
    assert timerlat.compare(sorted(folder.iterdir()), [lines]).document == expected


def test_what_is_not_comparable_is_refused(sides: Any, session: timerlat.Session) -> None:
    other = session.run("null", samples=100)
    with pytest.raises(timerlat.InvalidOption):
        timerlat.compare(sides[0], other)
    with pytest.raises(timerlat.InvalidOption):
        timerlat.compare([], [])
    with pytest.raises(TypeError):
        native.compare([None], [None], native.TlatCompareOpts())  # type: ignore[list-item]


def test_a_comparison_is_drawn(sides: Any, tmp_path: Path) -> None:
    ax = timerlat.compare(*sides).plot()
    ax.figure.savefig(os.environ.get("TLAT_PLOT", tmp_path / "compare.png"))
    assert ax.get_legend().get_texts()[0].get_text().startswith("timer-nanosleep")


def test_enums_of_comparisons_are_those_of_the_header() -> None:
    roles = {"FORCE", "TAIL", "SHIFT"}
    assert {verdict.name: int(verdict) for verdict in CompareVerdict} == {
        name[len("COMPARE_") :]: value
        for name, value in vars(native).items()
        if name.startswith("COMPARE_") and name[len("COMPARE_") :] not in roles
    }


def test_merging_is_exact(sides: Any) -> None:
    whole = timerlat.merge(sides[0])
    assert whole.n == sum(report.n for report in sides[0])
    assert whole.max == max(report.max for report in sides[0])
    assert whole.histogram.counts.sum() == whole.n
    assert len(whole.blocks) == 12


def test_merged_blocks_follow_each_other(sides: Any) -> None:
    reports = []
    for number, report in enumerate(sides[0][:3]):
        document: Any = copy.deepcopy(report.document)
        document["results"][0]["duration_ns"] = (number + 1) * 10**9
        reports.append(timerlat.Report(read_text(json.dumps(document))))
    blocks = timerlat.merge(reports).blocks
    assert [(block.start, block.length) for block in blocks] == [
        (0, 10**9), (10**9, 2 * 10**9), (3 * 10**9, 3 * 10**9)
    ]


def test_merging_refuses_what_differs(sides: Any, session: timerlat.Session) -> None:
    with pytest.raises(timerlat.InvalidOption):
        timerlat.merge([sides[0][0], session.run("null", samples=100)])
