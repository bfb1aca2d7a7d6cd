# SPDX-License-Identifier: MIT
"""Files of ours and of other tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import pytest

import timerlat

CYCLICTEST = """\
# /dev/cpu_dma_latency set to 0us
# Histogram
000000 000000\t000000
000001 000003\t000002
000002 000010\t000011
000003 000000\t000000
# Total: 000000013 000000013
# Min Latencies: 00001 00001
# Avg Latencies: 00002 00002
# Max Latencies: 00939 00002
# Histogram Overflows: 00002 00000
# Histogram Overflow at cycle number:
# Thread 0: 00002 00005
# Thread 1:

"""

RTLA = """\
# RTLA timerlat histogram
# Time unit is microseconds (us)
# Duration:   0 00:00:05
Index   IRQ-002   Thr-002   IRQ-003   Thr-003
0          1234         0         5         1
1            10      1200         0         4
7             1        40         0         0
over:         0         3         0         0
count:     1245      1243         5         5
min:          0         1         0         0
avg:          0         1         0         0
max:          7        57         0         1
ALL:        IRQ       Thr
count:     1250      1248
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file"
    path.write_text(text)
    return path


def test_a_cyclictest_histogram(tmp_path: Path) -> None:
    report = timerlat.load(written(tmp_path, CYCLICTEST))
    first, second = report.results
    assert (first.probe, first.n, second.n) == ("cyclictest", 15, 13)
    assert (first.min, first.max, second.max) == (1000, 939_000, 2000)
    assert list(first.histogram.counts) == [3, 10, 0, 1, 0, 1]
    assert list(first.histogram.edges[:5]) == [1000, 2000, 3000, 4000, 5000]
    assert report.n == 28, "two threads of one run"
    assert [finding.id for finding in report.findings] == [
        "foreign",
        "unit-assumed",
        "histogram-overflow",
    ]
    assert first.meets("max<=1ms").verdict is timerlat.Verdict.INCONCLUSIVE, "what ran over"


def found(report: timerlat.Report) -> list[str]:
    return [finding.id for finding in report.findings]


def test_the_unit_of_a_cyclictest_text_is_given_or_marked_as_assumed(tmp_path: Path) -> None:
    path = written(tmp_path, CYCLICTEST.replace("Overflows: 00002", "Overflows: 00000"))
    assumed, us, ns = timerlat.load(path), timerlat.load(path, unit="us"), timerlat.load(path, "ns")
    assert assumed.results[0].min == us.results[0].min == 1000
    assert (ns.results[0].min, ns.results[1].max) == (1, 2)
    assert found(assumed) == ["foreign", "unit-assumed"]
    assert found(us) == found(ns) == ["foreign"]
    assert 'unit="ns"' in str(assumed.findings[1].remedy)
    assert timerlat.load_all(path, unit="ns")[0].results[0].min == 1
    with pytest.raises(timerlat.InvalidOption, match="ms.*after -N"):
        timerlat.load(path, unit="ms")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "command, ns",
    [
        ("# /usr/bin/cyclictest -q -N -h 100", 1),
        ("$ sudo cyclictest -mqN -h100", 1),
        ("cyclictest --nsecs --histogram=100", 1),
        ("# cyclictest -q -h 100", 1000),
        ("# cyclictest -q -h 100 | grep -N 3", 1000),
        ("# cyclictest -t2 -c NANO -h 100", 1000),
    ],
)
def test_a_command_line_beside_a_text_tells_its_unit(
    tmp_path: Path, command: str, ns: int
) -> None:
    report = timerlat.load(written(tmp_path, f"{command}\n{CYCLICTEST}"))
    assert report.results[0].min == ns
    assert "unit-assumed" not in found(report)


@pytest.mark.parametrize("in_ns", [0, 1])
def test_a_cyclictest_document(tmp_path: Path, in_ns: int) -> None:
    thread = {"histogram": {"5": 7, "3000": 2}, "cycles": 10, "min": 5, "max": 9000, "avg": 1.0}
    document = {
        "file_version": 1,
        "cmdline:": "cyclictest -q -h 4000",
        "resolution_in_ns": in_ns,
        "thread": {"0": {**thread, "cpu": 3}, "1": {**thread, "cycles": 9, "cpu": 4}},
    }
    report = timerlat.load(written(tmp_path, json.dumps(document)))
    ns = 1 if in_ns else 1000
    first, second = report.results
    assert (first.n, second.n, first.where, second.where) == (10, 9, "3", "4")
    assert first.min == 5 * ns
    assert 8999 * ns / 1.001 < first.max <= 9001 * ns * 1.001
    assert "4000 ns" in first.findings[0].text or "4000 us" in first.findings[0].text
    assert not second.findings


def test_an_rtla_histogram(tmp_path: Path) -> None:
    report = timerlat.load(written(tmp_path, RTLA))
    irq, thread, *_ = report.results
    assert [result.probe for result in report.results] == [
        "rtla-timerlat-irq",
        "rtla-timerlat-thread",
    ] * 2
    assert (irq.n, thread.n, irq.where, irq.max) == (1245, 1243, "2", 7000)
    assert (thread.min, thread.max, thread.p50) == (1000, 57_000, 1000)
    nanoseconds = RTLA.replace("microseconds (us)", "nanoseconds (ns)")
    assert timerlat.load(written(tmp_path, nanoseconds)).results[1].max == 57


def test_json_lines(tmp_path: Path, solo: timerlat.Report, threads: timerlat.Report) -> None:
    path = tmp_path / "runs.jsonl"
    for report in (solo, threads, solo):
        report.save(path, append=True)
    apart = timerlat.load_all(path)
    assert [len(report.results) for report in apart] == [1, 2, 1]
    assert apart[1].document == threads.document
    together = timerlat.load(path)
    assert [result.p50 for result in together.results] == [
        result.p50 for report in (solo, threads, solo) for result in report.results
    ]
    assert (numpy.asarray(apart[0].values) == solo.values).all()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello\n",
        "{",
        "{}",
        "[]",
        '{"schema": "timerlat-report/9"}',
        '{"schema": 1, "thread": {}}',
        '{"thread": {"0": {"cycles": 1}}}',
        '{"thread": {"0": {"histogram": {"x": 1}, "cycles": 1, "min": 0, "max": 0}}}',
        '{"thread": 3}',
        "Index   FOO-000\n0 1\n",
        "T: 0 (  123) P:80 I:1000 C:  100 Min: 1 Act: 2 Avg: 2 Max: 3\n",
        CYCLICTEST.replace("000002 000010\t000011", "000002 000010"),
    ],
)
def test_what_is_no_report_is_refused(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(timerlat.InvalidOption) as error:
        timerlat.load(path)
    assert error.value.strerror.startswith(f"{path}: "), "it names the file, once"
    assert error.value.strerror.count(str(path)) == 1 and "/proc/" not in error.value.strerror


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        timerlat.load(tmp_path / "none")


def test_truncated_and_bent_documents_give_one_clear_error(
    tmp_path: Path, solo: timerlat.Report
) -> None:
    text = solo.to_json()
    for cut in range(0, len(text) - 1, len(text) // 23):
        with pytest.raises(timerlat.TimerlatError):
            timerlat.load(written(tmp_path, text[:cut]))
    for key in ("counts", "histogram", "wait"):
        wrong = json.loads(text)
        wrong["results"][0][key] = [1]
        with pytest.raises(timerlat.InvalidOption):
            timerlat.load(written(tmp_path, json.dumps(wrong)))


def test_what_the_library_refuses_is_told_with_its_place(
    tmp_path: Path, solo: timerlat.Report
) -> None:
    wrong = json.loads(solo.to_json())
    wrong["results"][0]["counts"]["asked"] += 1
    path = written(tmp_path, solo.to_json() + "\n" + json.dumps(wrong))
    with pytest.raises(timerlat.InvalidOption, match=r"file: .*results\[0\].*counts"):
        timerlat.load_all(path)
    path.write_bytes(solo.to_json().encode().replace(b"timer-nanosleep", b"timer-\xff", 1))
    with pytest.raises(timerlat.InvalidOption, match=r"file: not JSON, line 1"):
        timerlat.load(path)


def test_documents_are_read_as_they_were_written(tmp_path: Path, solo: timerlat.Report) -> None:
    text = solo.to_json().replace('"seed":', '"seed":1,"seed":', 1)
    with pytest.raises(timerlat.InvalidOption, match="duplicate"):
        timerlat.load(written(tmp_path, text))
