# SPDX-License-Identifier: MIT
"""
Where a histogram of another tool ends: values beyond it were only counted. Whatever the file says
of that, load() puts none below where the tool had it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import timerlat
from timerlat._command import read_command


def text_of(threads: list[list[int]], limit: int, *, whole: bool) -> str:
    """As cyclictest -h limit writes it; whole: with all rows, up to rt-tests 2.6."""
    counts = [Counter(values) for values in threads]
    rows = [[row, *(count[row] for count in counts)] for row in range(limit)]
    lines = [
        f"{row[0]:06} " + "\t".join(f"{count:06}" for count in row[1:])
        for row in rows
        if whole or any(row[1:])
    ]

    def note(name: str, figures: list[int]) -> str:
        return f"# {name}: " + " ".join(f"{figure:05}" for figure in figures)

    over = [sum(value >= limit for value in values) for values in threads]
    if whole:
        lines.append(note("Total", [len(v) - n for v, n in zip(threads, over)]))
    lines.append(note("Min Latencies", [min(values, default=0) for values in threads]))
    lines.append(note("Avg Latencies", [0 for _ in threads]))
    lines.append(note("Max Latencies", [max(values, default=0) for values in threads]))
    lines.append(note("Histogram Overflows", over))
    return "\n".join(["# Histogram", *lines, ""])


def document_of(threads: list[list[int]], limit: int, command: str) -> str:
    def thread(values: list[int]) -> dict[str, object]:
        inside = Counter(value for value in values if value < limit)
        return {
            "histogram": {str(value): inside[value] for value in sorted(inside)},
            "cycles": len(values),
            "min": min(values, default=None),
            "max": max(values, default=None),
            "cpu": -1,
        }

    found = {str(number): thread(values) for number, values in enumerate(threads)}
    return json.dumps({"cmdline:": command, "resolution_in_ns": 0, "thread": found})


def loaded_us(report: timerlat.Report) -> list[list[int]]:
    """The values of each result, the lower edges of their bins."""
    return [
        [
            round(edge / 1000)
            for edge, count in zip(result.histogram.edges, result.histogram.counts)
            for _ in range(count)
        ]
        for result in report.results
    ]


def ids(report: timerlat.Report) -> list[str]:
    return [finding.id for finding in report.findings]


TAIL = [[3] * 900 + [57] * 97 + [500, 800, 1200]]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file"
    path.write_text(text)
    return path


def test_a_table_without_its_empty_rows_does_not_end_at_the_last_one(tmp_path: Path) -> None:
    path = written(tmp_path, text_of(TAIL, 400, whole=False))
    report = timerlat.load(path, unit="us")
    assert loaded_us(report)[0][-3:] == [1200] * 3
    assert report.max == 1_200_000
    found = [finding for finding in report.findings if finding.id == "limit-unknown"]
    assert len(found) == 1 and found[0].severity is timerlat.Severity.ERROR
    assert "between 58 and 1200 us" in found[0].text and "limit=N" in str(found[0].remedy)
    assert report.meets("p50<1ms").verdict is timerlat.Verdict.INCONCLUSIVE


def test_the_caller_can_say_where_it_ends(tmp_path: Path) -> None:
    path = written(tmp_path, text_of(TAIL, 400, whole=False))
    report = timerlat.load(path, unit="us", limit=400)
    assert loaded_us(report)[0][-3:] == [400, 400, 1200]
    assert ids(report) == ["foreign", "histogram-overflow"]
    assert timerlat.load_all(path, "us", 400)[0].document["results"] == report.document["results"]
    for limit in (57, 1201):
        with pytest.raises(timerlat.InvalidOption, match=f"limit: {limit} cannot be"):
            timerlat.load(path, limit=limit)
    for nonsense in (0, -1, True, 1.5):
        with pytest.raises(timerlat.InvalidOption, match="limit: .* is no number of rows"):
            timerlat.load(path, limit=nonsense)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "command, known",
    [
        ("cyclictest -q -h 400", True),
        ("tlat-cyclictest -q -h 400 --shape 2.7 > out-h58.txt", True),
        ("cyclictest -qh400 2>/dev/null", True),
        ("cyclictest -q -h 58", True),  # another run's: it can be, as far as can be seen
        ("cyclictest -q -h 40", False),  # another run's for certain
        ("cyclictest -q", False),
    ],
)
def test_a_command_line_beside_a_text_tells_where_it_ends(
    tmp_path: Path, command: str, known: bool
) -> None:
    report = timerlat.load(written(tmp_path, f"# {command}\n" + text_of(TAIL, 400, whole=False)))
    assert ("limit-unknown" not in ids(report)) is known


def test_a_table_with_all_rows_ends_at_its_last(tmp_path: Path) -> None:
    report = timerlat.load(written(tmp_path, text_of(TAIL, 400, whole=True)), unit="us")
    assert loaded_us(report)[0][-3:] == [400, 400, 1200]
    assert ids(report) == ["foreign", "histogram-overflow"]


def test_one_value_beyond_the_end_is_the_largest(tmp_path: Path) -> None:
    text = text_of([[3, 57, 1200], []], 400, whole=False)
    report = timerlat.load(written(tmp_path, text), unit="us")
    assert loaded_us(report) == [[3, 57, 1200], []]
    assert ids(report) == ["foreign"]


def test_a_table_that_all_values_are_beyond(tmp_path: Path) -> None:
    text = text_of([[50, 60, 70]], 1, whole=False)
    report = timerlat.load(written(tmp_path, text), unit="us")
    assert loaded_us(report) == [[70] * 3] and "limit-unknown" in ids(report)


def test_values_of_which_nothing_is_known_are_refused(tmp_path: Path) -> None:
    text = text_of(TAIL, 400, whole=False)
    text = "".join(line for line in text.splitlines(True) if "Max Latencies" not in line)
    with pytest.raises(timerlat.InvalidOption, match=r"limit=N"):
        timerlat.load(written(tmp_path, text))
    assert loaded_us(timerlat.load(tmp_path / "file", limit=400))[0][-3:] == [400] * 3


@pytest.mark.parametrize(
    "words, ns, limit",
    [
        ("-q -h 400", False, 400),
        ("-qmh400", False, 400),
        ("-qmNh 400", True, 400),
        ("-q --histogram=400 -N", True, 400),
        ("--histog 400 --nsecs", True, 400),
        ("-H400 -t 4 -a 0-3 -p95", False, 400),
        ("-t -a -h400", False, 400),
        ("--histofall 400 -c NANO", False, 400),
        ("--json=run-h200.json --histfile a-h300 -qh 400", False, 400),
        ("-ah400", False, None),  # on the CPUs "h400"
        ("-q -h 2000000", False, 1_000_000),
        ("-q -D 10", False, None),
        ("-h 400 --json a -h 200", False, None),  # one of them is a part of a file's name
    ],
)
def test_command_lines_are_read_as_getopt_does(words: str, ns: bool, limit: int | None) -> None:
    command = read_command(words.split())
    assert command is not None and (command.ns, command.limit) == (ns, limit)


@pytest.mark.parametrize("words", ["-q -h", "-h 400 name of file", "--hist 400", "--what -h 400"])
def test_what_is_no_command_line_says_nothing(words: str) -> None:
    assert read_command(words.split()) is None


@pytest.mark.parametrize(
    "command, last",
    [
        ("cyclictest -qmh400", [400, 400, 1200]),
        ("cyclictest --json=run-h200.json -q -h 400", [400, 400, 1200]),
        ("./cyclictest -q --histofall=400 -t1", [400, 400, 1200]),
        ("cyclictest -q --json my -h200 file -h 400", [1200] * 3),
    ],
)
def test_the_command_of_a_document_tells_where_it_ends(
    tmp_path: Path, command: str, last: list[int]
) -> None:
    report = timerlat.load(written(tmp_path, document_of(TAIL, 400, command)))
    assert loaded_us(report)[0][-3:] == last


def test_a_thread_without_a_value_has_no_figures(tmp_path: Path) -> None:
    report = timerlat.load(written(tmp_path, document_of([[], [5]], 10, "cyclictest -h 10")))
    assert [result.n for result in report.results] == [0, 1]
    assert report.results[0].where == "-"


def test_a_document_without_a_histogram_is_refused(tmp_path: Path) -> None:
    with pytest.raises(timerlat.InvalidOption, match="--histogram"):
        timerlat.load(written(tmp_path, document_of([[5, 6]], 0, "cyclictest -q")))


#: As tlat-cyclictest has them after its clock was set back: the first row has what is below 0, too.
EARLY = {
    "us": ([-70_000, -5, 0, 3, 3], [-70_000, 0, 0, 3, 3]),
    "ns": ([-300_000, 7, 7], [-300_000, 7, 7]),  # beyond the last early bin
    "all": ([-9, -5, -5], [-9, -5, -5]),
}


def with_first_row(values: list[int]) -> Counter[int]:
    return Counter(max(value, 0) for value in values)


@pytest.mark.parametrize("name", sorted(EARLY))
@pytest.mark.parametrize("as_json", [False, True])
def test_values_below_0_are_early_ones(tmp_path: Path, name: str, as_json: bool) -> None:
    values, known = EARLY[name]
    rows = [with_first_row(values)[row] for row in range(10)]
    text = "".join(f"{row:06} {count:06}\n" for row, count in enumerate(rows))
    text += f"# Total: {len(values):09}\n# Min Latencies: {min(values):05}\n"
    text += f"# Max Latencies: {max(values):05}\n# Histogram Overflows: 00000\n"
    if as_json:
        document = json.loads(document_of([values], 10, "cyclictest -h 10"))
        document["resolution_in_ns"] = int(name == "ns")
        document["thread"]["0"]["histogram"] = with_first_row(values)
        text = json.dumps(document)
    report = timerlat.load(written(tmp_path, text), unit="ns" if name == "ns" else "us")
    result, unit = report.results[0], 1 if name == "ns" else 1000
    early = sum(value < 0 for value in known)
    assert (result.min, result.max) == (min(known) * unit, max(known) * unit)
    assert (result.counts["recorded"], result.counts["early"]) == (len(known) - early, early)
    if name == "all":
        assert loaded_us(report) == [known]
    assert [(found.id, found.severity.name) for found in result.findings] == [("early", "ERROR")]
    assert result.meets("max<1s").verdict is timerlat.Verdict.INCONCLUSIVE


def check(report: timerlat.Report, threads: list[list[int]], limit: int, known: bool) -> None:
    for loaded, values in zip(loaded_us(report), threads):
        assert len(loaded) == len(values)
        for got, had in zip(loaded, sorted(values)):
            least = min(had, limit) if known else had
            assert got >= least * (1 - 2**-10), f"{had} us at {got}, limit {limit}"


def test_no_value_is_put_below_where_the_tool_had_it(tmp_path: Path) -> None:
    draw = random.Random(1)
    for _ in range(60):
        limit = draw.randrange(1, 300)
        threads = [
            [draw.choice((draw.randrange(300), 3000)) for _ in range(draw.randrange(1, 40))]
            for _ in range(draw.randrange(1, 4))
        ]
        for whole in (True, False):
            report = timerlat.load(written(tmp_path, text_of(threads, limit, whole=whole)))
            check(report, threads, limit, whole)
        for command in (f"cyclictest -qmh{limit}", "cyclictest -q -h 1 2", ""):
            path = written(tmp_path, document_of(threads, limit, command))
            if not any(value < limit for values in threads for value in values):
                continue
            check(timerlat.load(path), threads, limit, "qmh" in command)


@pytest.mark.skipif(os.environ.get("TLAT_CYCLICTEST") is None, reason="needs tlat-cyclictest")
@pytest.mark.parametrize("shape", ["2.0", "2.4", "2.6", "2.7", "2.8"])
@pytest.mark.parametrize("rows", [2, 400])
def test_what_our_own_drop_in_writes(tmp_path: Path, shape: str, rows: int) -> None:
    done = subprocess.run(
        [os.environ["TLAT_CYCLICTEST"], f"-qh{rows}", "-l50", "-i200", "--shape", shape]
        + ["--json", str(tmp_path / "json")],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    document = json.loads((tmp_path / "json").read_text())["thread"]["0"]
    over = document["cycles"] - sum(document["histogram"].values())
    for path in (written(tmp_path, done.stdout), tmp_path / "json"):
        loaded = loaded_us(timerlat.load(path))[0]
        assert len(loaded) == document["cycles"]
        assert sum(value >= rows for value in loaded) >= over
        inside = Counter(value for value in loaded if value < rows)
        assert inside == {int(row): n for row, n in document["histogram"].items()}
