# SPDX-License-Identifier: MIT
"""
Tables of other tools whose rows are wider than a unit, several of them in one file, and documents
as other programs pass them on.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

import timerlat
from test_load import CYCLICTEST, RTLA, written
from test_load_limit import document_of, ids, loaded_us


def rtla_of(
    threads: list[list[int]],
    width: int = 1,
    entries: int = 256,
    *,
    zeros: bool = False,
    summary: bool = True,
    unit: str = "microseconds (us)",
) -> str:
    """As rtla timerlat hist -b width -E entries writes it; a column for each list of values."""
    found = [Counter(value // width for value in values) for values in threads]
    names = [f"{('IRQ', 'Thr')[i % 2]}-{i // 2:03}" for i in range(len(threads))]
    lines = ["# RTLA timerlat histogram", f"# Time unit is {unit}", "# Duration:   0 00:00:05"]
    lines.append("Index" + "".join(f"   {name}" for name in names))

    def line(name: str, figures: list[object]) -> str:
        return f"{name:6}" + "".join(f"{figure:>9} " for figure in figures)

    for row in range(min(entries, max([0, *sum(threads, [])]) // width + 1)):
        counts: list[object] = [one[row] for one in found]
        if zeros or any(counts):
            lines.append(line(str(row * width), counts))
    lines.append(line("over:", [sum(v // width >= entries for v in t) for t in threads]))
    if summary:
        lines.append(line("count:", [len(values) for values in threads]))
        lines.append(line("min:", [min(values, default="-") for values in threads]))
        lines.append(line("avg:", [sum(v) // len(v) if v else "-" for v in threads]))
        lines.append(line("max:", [max(values, default="-") for values in threads]))
        lines += [line("ALL:", ["IRQ", "Thr"]), line("count:", [1, 1])]
    return "\n".join([*lines, ""])


# == Rows of rtla -b N ==


def test_wide_rows_keep_the_extremes_of_the_tool(tmp_path: Path) -> None:
    values = [3, 12, 14, 22, 23, 28, 31, 36, 44, 47, 51, 55, 57]
    report = timerlat.load(written(tmp_path, rtla_of([values], 10)))
    assert (report.n, report.min, report.max) == (13, 3000, 57_000)
    assert loaded_us(report) == [[3, 19, 19, 29, 29, 29, 39, 39, 49, 49, 57, 57, 57]]
    assert report.meets("max<=55us").verdict is timerlat.Verdict.FAIL
    assert report.meets("max<=57us").verdict is timerlat.Verdict.PASS
    found = [finding for finding in report.findings if finding.id == "bucket-size"]
    assert len(found) == 1 and "10 us wide" in found[0].text and "9 us" in found[0].text
    assert "10 us wide" in str(report)


def test_rows_of_a_unit_are_what_they_say(tmp_path: Path) -> None:
    assert ids(timerlat.load(written(tmp_path, RTLA))) == ["foreign", "limit-unknown"]
    values = [4] * 90 + [8] * 9 + [16]
    report = timerlat.load(written(tmp_path, rtla_of([values])))
    assert loaded_us(report) == [values] and ids(report) == ["foreign"]
    zero = timerlat.load(written(tmp_path, rtla_of([[0] * 50, [0] * 9 + [3]])))
    assert loaded_us(zero) == [[0] * 50, [0] * 9 + [3]] and ids(zero) == ["foreign"]


@pytest.mark.parametrize(
    "values, width, summary",
    [
        ([1, 12, 31], 10, True),
        ([14, 35], 10, False),  # nobody says where in its row a value was
        ([7, 8, 9], 100, True),  # the first row, which all widths have
    ],
)
def test_few_rows_do_not_tell_how_wide_they_are(
    tmp_path: Path, values: list[int], width: int, summary: bool
) -> None:
    report = timerlat.load(written(tmp_path, rtla_of([values], width, summary=summary)))
    assert ids(report) == ["foreign", "bucket-unknown"]
    assert all(got >= had for got, had in zip(loaded_us(report)[0], values))


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("values", [[7, 8, 9], [7, 8, 150], [0]])
def test_the_first_row_alone_does_not_pass_for_zeros(
    tmp_path: Path, values: list[int], zeros: bool
) -> None:
    text = rtla_of([values, []], 100, 1, zeros=zeros, summary=False)
    report = timerlat.load(written(tmp_path, text), limit=100)
    (found,) = (finding for finding in report.findings if finding.id == "bucket-unknown")
    assert found.severity is timerlat.Severity.ERROR and "row 0" in found.text
    assert "error bucket-unknown" in str(report)
    assert report.meets("max<1us").verdict is not timerlat.Verdict.PASS


def test_no_value_needs_no_width(tmp_path: Path) -> None:
    text = rtla_of([[], []], zeros=True, summary=False)
    assert ids(timerlat.load(written(tmp_path, text))) == ["foreign"]


def test_wide_rows_in_nanoseconds(tmp_path: Path) -> None:
    values = [[100 * i for i in range(3, 90)]]
    text = rtla_of(values, 500, unit="nanoseconds (ns)")
    report = timerlat.load(written(tmp_path, text))
    assert (report.min, report.max) == (300, 8900)
    assert "500 ns wide" in report.findings[1].text


def test_the_end_of_a_table_with_wide_rows(tmp_path: Path) -> None:
    values = [*range(100), 130, 500]
    path = written(tmp_path, rtla_of([values], 10, 10))
    report = timerlat.load(path)
    assert loaded_us(report)[0][-4:] == [99, 99, 500, 500] and "limit-unknown" in ids(report)
    known = timerlat.load(path, limit=100)
    assert loaded_us(known)[0][-4:] == [99, 99, 100, 500]
    with pytest.raises(timerlat.InvalidOption, match="limit: 95 cannot be"):
        timerlat.load(path, limit=95)


def test_no_value_of_a_wide_row_is_put_below_where_it_was(tmp_path: Path) -> None:
    draw = random.Random(1)
    for _ in range(150):
        width = draw.choice((1, 1, 2, 5, 10, 25))
        top = draw.choice((3, 30, 300))
        threads = [
            [draw.randrange(top + 1) for _ in range(draw.randrange(0, 60))] for _ in range(2)
        ]
        zeros, entries = draw.random() < 0.2, draw.choice((10, 256))
        text = rtla_of(threads, width, entries, zeros=zeros)
        report = timerlat.load(written(tmp_path, text))
        for loaded, values, result in zip(loaded_us(report), threads, report.results):
            assert len(loaded) == len(values)
            if values and min(values) < width * entries:
                assert (result.min, result.max) == (1000 * min(values), 1000 * max(values))
            least = sum(values) // (len(values) or 1)
            assert sum(loaded) // (len(loaded) or 1) >= least
            if width == 1 or any(one.startswith("bucket-") for one in ids(report)):
                assert all(got >= had for got, had in zip(loaded, sorted(values)))


# == Several tables ==


def test_tables_of_cyclictest_in_one_file_stay_apart(tmp_path: Path) -> None:
    other = CYCLICTEST.replace("000002 000010\t000011", "000002 000020\t000021").replace(
        "Max Latencies: 00939", "Max Latencies: 00777"
    )
    report = timerlat.load(written(tmp_path, CYCLICTEST + other), unit="us")
    assert [result.n for result in report.results] == [15, 13, 25, 23]
    assert [result.max for result in report.results[::2]] == [939_000, 777_000]
    apart = timerlat.load_all(tmp_path / "file", unit="us")
    assert [[result.n for result in one.results] for one in apart] == [[15, 13], [25, 23]]


def test_each_table_has_the_command_before_it(tmp_path: Path) -> None:
    text = f"# cyclictest -q -N -h 4\n{CYCLICTEST}# cyclictest -q -h 4\n{CYCLICTEST}{CYCLICTEST}"
    first, second, third = timerlat.load_all(written(tmp_path, text))
    assert [one.results[0].min for one in (first, second, third)] == [1, 1000, 1000]
    assert ["unit-assumed" in ids(one) for one in (first, second, third)] == [False, False, True]


def test_rows_that_begin_again_are_another_table(tmp_path: Path) -> None:
    rows = "000000 000001\n000001 000004\n"
    apart = timerlat.load_all(written(tmp_path, rows + "some words\n" + rows), unit="us")
    assert [one.n for one in apart] == [5, 5]
    notes = "# Min Latencies: 00009\n# Max Latencies: 00009\n# Histogram Overflows: 00001\n"
    apart = timerlat.load_all(written(tmp_path, notes + notes), unit="us")
    assert [(one.n, one.max) for one in apart] == [(1, 9000)] * 2


def test_words_between_the_rows_of_a_table_are_of_no_matter(tmp_path: Path) -> None:
    text = CYCLICTEST.replace("000002 000010", "T: 0 ( 123) P:80\n000002 000010")
    text = text.replace("# Avg", "WARN: late\n\n# Avg")
    assert [one.n for one in timerlat.load_all(written(tmp_path, text))] == [28]


def test_tables_of_rtla_in_one_file_stay_apart(tmp_path: Path) -> None:
    text = rtla_of([[1, 2], [3]], unit="nanoseconds (ns)") + rtla_of([[1, 2, 300], [4]])
    first, second = timerlat.load_all(written(tmp_path, text))
    assert [one.results[0].n for one in (first, second)] == [2, 3]
    assert [one.results[0].max for one in (first, second)] == [2, 300_000]


@pytest.mark.parametrize(
    "text, why",
    [
        (RTLA + CYCLICTEST, "rtla and of cyclictest"),
        (CYCLICTEST + RTLA, "rtla and of cyclictest"),
        (RTLA[RTLA.index("0  ") :], "--no-header"),
        ("# Histogram\n" + CYCLICTEST + "# Histogram\n", "no histogram"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(timerlat.InvalidOption, match=why):
        timerlat.load(written(tmp_path, text))


OSNOISE = """\
# RTLA osnoise histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:05
Index   CPU-000   CPU-001
0            12        10
over:         0         0
count:       12        10
min:          0         0
avg:          0         0
max:          0         0
"""

TOP = """\
                                     Timer Latency
  0 00:00:06   |          IRQ Timer Latency (us)        |         Thread Timer Latency (us)
CPU COUNT      |      cur       min       avg       max |      cur       min       avg       max
  0 #6056      |        1         1         1        10 |        2         2         2        30
"""

HWLATDETECT = """\
hwlatdetect:  test duration 10 seconds
Max Latency: 24us
Samples recorded: 1
ts: 1577455137.010, inner:24, outer:23
"""


def json_of(**members: object) -> str:
    thread = {"histogram": {"5": 7}, "cycles": 7, "min": 5, "max": 5, **members}
    return json.dumps({"thread": {"0": thread}})


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "it is empty"),
        (OSNOISE, "osnoise, which counts samples of noise, not latencies: only rtla timerlat hist"),
        (TOP, "no histogram: only those of cyclictest -h and of rtla timerlat hist"),
        (HWLATDETECT, "no histogram: only those of cyclictest -h and of rtla timerlat hist"),
        (RTLA.replace("Thr-003", "Foo-003"), "heading: 'Foo-003' is no column of rtla"),
        (RTLA.replace("Thr-003", "Thr-x"), "heading: CPU of 'Thr-x': 'x' is no number"),
        ("Index\n0 1\n", 'heading: "Index" without the columns'),
        (RTLA[: RTLA.index("1200")], "row 1: number of columns: 1, heading: 4"),
        (RTLA.replace("1200", "12oo"), "row 1: '12oo' is no number"),
        (CYCLICTEST.replace("000011", ""), "row 2: number of columns: 1, elsewhere: 2"),
        (CYCLICTEST.replace("000011", "0000ll"), "row 000002: '0000ll' is no number"),
        (CYCLICTEST.replace(": 00939 00002", ": 00939"), "Max Latencies: number of columns: 1"),
        (CYCLICTEST.replace(": 00939 00002", ": 00939 -"), "Max Latencies: '-' is no number"),
        ("# Histogram Overflows: 00001 00002\n", "no histogram"),
        ('{"thread": 3}', "document: thread: 3 is no object"),
        ('{"thread": {"0": 3}}', "thread: 0: 3 is no object"),
        (json_of(histogram=[1]), r"thread 0: histogram: \[1\] is no object"),
        (json_of(histogram={"x": 1}), "thread 0: histogram: 'x' is no number"),
        (json_of(cycles=None), "thread 0: cycles: None is no number"),
        ('{"thread": {"0": {"histogram": {}}}}', "thread 0: min is missing"),
        ("[{}, 5]", "5 where a report belongs"),
    ],
)
def test_what_is_nearly_known_is_refused_with_its_place(
    tmp_path: Path, text: str, why: str
) -> None:
    with pytest.raises(timerlat.InvalidOption, match=f"can be read: .*{why}"):
        timerlat.load(written(tmp_path, text))


def test_a_column_for_all_threads_is_none_of_a_thread(tmp_path: Path) -> None:
    """cyclictest -H."""
    text = "000001 000003\t000004\t000007\n# Min Latencies: 00001 00001\n"
    text += "# Max Latencies: 00001 00001\n# Histogram Overflows: 00000 00000 00000\n"
    assert [one.n for one in timerlat.load(written(tmp_path, text)).results] == [3, 4]


# == Documents ==


def test_a_byte_order_mark_is_no_part_of_a_document(
    tmp_path: Path, solo: timerlat.Report
) -> None:
    path = tmp_path / "file"
    for text in (solo.to_json(), document_of([[5]], 10, "cyclictest -h 10"), CYCLICTEST):
        path.write_text(text, encoding="utf-8-sig")
        assert timerlat.load(path).n in (solo.n, 1, 28)


def test_arrays_of_documents(tmp_path: Path, solo: timerlat.Report) -> None:
    foreign = document_of([[5]], 10, "cyclictest -h 10")
    path = tmp_path / "file"
    path.write_text(f"[{solo.to_json()} ,\n\t{foreign}]\n")
    ours, theirs = timerlat.load_all(path)
    assert ours.to_json() == solo.to_json() and theirs.max == 5000
    path.write_text(f"{foreign}\n[]\n[ {foreign} ]{solo.to_json()}")
    assert [report.n for report in timerlat.load_all(path)] == [1, 1, solo.n]
    path.write_text(json.dumps([json.loads(foreign), 5]))
    with pytest.raises(timerlat.InvalidOption):
        timerlat.load(path)


def test_a_prompt_is_no_array(tmp_path: Path) -> None:
    text = f"[root@rt ~]# cyclictest -q -N -h 4\n{CYCLICTEST}"
    assert timerlat.load(written(tmp_path, text)).results[0].min == 1


def test_documents_in_an_array_are_read_as_they_were_written(
    tmp_path: Path, solo: timerlat.Report
) -> None:
    text = solo.to_json().replace('"seed":', '"seed":1,"seed":', 1)
    with pytest.raises(timerlat.InvalidOption, match="duplicate"):
        timerlat.load(written(tmp_path, f"[{text}]"))
