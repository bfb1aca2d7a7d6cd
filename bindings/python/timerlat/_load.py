# SPDX-License-Identifier: MIT
"""
Files into reports: our own, and what cyclictest and rtla write. Theirs hold whole microseconds or
nanoseconds, which stay what they are: the unit of the histogram is theirs.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from . import native
from ._command import Command, read_command
from ._documents import Document, bin_index, read_text
from ._options import invalid
from ._report import Report

#: Between the tokens of JSON.
_BLANKS = " \t\r\n"
_EXPIRY = "the programmed expiry"
_HZ = {"us": 10**6, "ns": 10**9}
#: What has an early bin of its own, as a number of units before 0.
_EARLY_MAX = 2**18 - 1
#: A command line that a script put beside the output; cyclictest itself writes none.
_COMMAND = re.compile(
    r"(?:^|[\s/])(?:tlat-)?cyclictest\s+(-[^|;&<>#]*?)(?=\s\d*[<>]|[|;&<>#]|$)"
)


@dataclass
class _Series:
    """One thread of another tool's run, in units of 1/hz seconds."""

    probe: str
    begins: str
    ends: str
    cpu: int | None
    hz: int
    counts: dict[int, int] = field(default_factory=dict)  # by the lowest value of a row
    width: int = 1  # of a row
    over: int = 0  # values that are known only to be at or above limit
    limit: int | None = None  # None: not known, but above all of counts
    min: int | None = None
    max: int | None = None
    mean: int | None = None  # cut off

    @property
    def unit(self) -> str:
        return "ns" if self.hz == 10**9 else "us"


def _placed(series: _Series) -> dict[int, int]:
    """
    Counts by value, of what the rows hold. A value that is known only to be in a row is at its
    upper end, as anything less could be below what the tool saw; the smallest and the largest are
    where the tool says. The row 0 has values below it, too.
    """
    counts: dict[int, int] = {}
    for row, count in series.counts.items():
        if count:
            first = row or min(0, series.min or 0)
            last = row + series.width - 1
            value = last if series.max is None else max(first, min(last, series.max))
            counts[value] = counts.get(value, 0) + count
    if series.min is not None and counts and series.min < min(counts):
        _move(counts, min(counts), series.min)
    if not series.over and series.max is not None and counts and series.max > max(counts):
        _move(counts, max(counts), series.max)
    return counts


def _move(counts: dict[int, int], value: int, to: int) -> None:
    """One of what is at a value."""
    counts[value] -= 1
    if not counts[value]:
        del counts[value]
    counts[to] = counts.get(to, 0) + 1


def _known(series: _Series) -> dict[int, int]:
    """
    Counts by value. The largest of what ran over is at max, the rest at the limit; where that is
    not known, at max too, as anything less could be below what the tool saw.
    """
    counts = _placed(series)
    if series.over:
        top = max(series.limit or 0, series.max or 0, max(counts, default=-1) + 1)
        rest = top if series.limit is None else series.limit
        counts[top] = counts.get(top, 0) + 1
        if series.over > 1:
            counts[rest] = counts.get(rest, 0) + series.over - 1
    return counts


def _slot(value: int) -> int:
    """Its bin; early ones are ~index, and the last of them has all that was earlier still."""
    return bin_index(value) if value >= 0 else ~bin_index(min(-value, _EARLY_MAX))


def _extreme(given: int | None, found: int) -> int:
    """What the tool says, if it lies in the bin where it has to be."""
    return given if given is not None and _slot(given) == _slot(found) else found


def _early(counts: dict[int, int]) -> int:
    return sum(count for value, count in counts.items() if value < 0)


def _histogram(series: _Series, counts: dict[int, int]) -> Document:
    bins: dict[int, int] = {}
    for value, count in counts.items():
        bins[_slot(value)] = bins.get(_slot(value), 0) + count
    return {
        "layout": "hdr",
        "digits": 3,
        "unit": "ns" if series.hz == 10**9 else "ticks",
        "hz": series.hz,
        "min": _extreme(series.min, min(counts)) if counts else None,
        "max": _extreme(series.max, max(counts)) if counts else None,
        "overflow": 0,
        "counts": [[slot, bins[slot]] for slot in sorted(bins) if slot >= 0],
        "early": [[~slot, bins[slot]] for slot in sorted(bins, reverse=True) if slot < 0],
    }


def _finding(identity: str, severity: str, text: str, remedy: str | None = None) -> Document:
    return {"id": identity, "severity": severity, "text": text, "remedy": remedy}


def _findings(series: _Series) -> list[Document]:
    return _findings_of_early(series) + _findings_of_over(series)


def _findings_of_early(series: _Series) -> list[Document]:
    if series.min is None or series.min >= 0:
        return []
    text = (
        f"the smallest value is {series.min} {series.unit}: the row 0 has all that are below 0, "
        f"and its values count as {min(0, series.max or 0)}, but for the smallest"
    )
    return [_finding("early", "error", text, "check the clock: a timer never fires early")]


def _findings_of_over(series: _Series) -> list[Document]:
    if not series.over:
        return []
    if series.limit is None:
        return _findings_without_limit(series)
    text = (
        f"{series.over} values are known only to be {series.limit} {series.unit} or more: "
        "they count as that, but for the largest"
    )
    return [_finding("histogram-overflow", "warn", text, "let the tool keep more columns")]


def _findings_without_limit(series: _Series) -> list[Document]:
    """One value that ran over is the largest, and known."""
    if series.over == 1:
        return []
    least = max((row + series.width for row, count in series.counts.items() if count), default=0)
    between = f"{least} and {series.max} {series.unit}"
    text = (
        f"{series.over} values are known only to be between {between}, as the file does not say "
        "where its histogram ends: they count as the largest, which makes upper quantiles too large"
    )
    remedy = "say it: load(path, limit=N), as in cyclictest -h N"
    return [_finding("limit-unknown", "error", text, remedy)]


def _fits(series: _Series, limit: int) -> bool:
    """Whether a histogram that ends there can have counted this."""
    if any(row + series.width > limit for row, count in series.counts.items() if count):
        return False
    return not series.over or series.max is None or series.max >= limit


def _set_limit(many: list[_Series], asked: int | None, said: int | None) -> None:
    """What the caller asks for, else what the file says, if it can be."""
    if asked is not None and not all(_fits(series, asked) for series in many):
        raise ValueError(f"limit: {asked} cannot be where a histogram with these values ends")
    if said is not None and not all(_fits(series, said) for series in many):
        said = None
    for series in many:
        series.limit = said if asked is None else asked
        if series.over and series.limit is None and series.max is None:
            raise ValueError(
                "values beyond a histogram that does not say where it ends, nor how large they "
                "were; say it: load(path, limit=N), as in cyclictest -h N"
            )


def _side(cpu: int | None) -> Document:
    return {
        "cpu": cpu,
        "policy": "inherit",
        "policy_asked": "inherit",
        "priority": 0,
        "priority_asked": 0,
        "slack_ns": 0,
    }


def _result(series: _Series, thread: int) -> Document:
    counts = _known(series)
    n, early = sum(counts.values()), _early(counts)
    nothing = ("dwell", "corrected", "uncertainty", "call", "floor", "floor_pair", "watch", "kick")
    zero = ("interval_ns", "settle_ns", "dither_ns", "phase_ns", "warmup")
    return {
        "kind": "latency",
        "probe": series.probe,
        "from": series.begins,
        "to": series.ends,
        "thread": thread,
        "relation": None,
        "wait": _side(series.cpu),
        "repeat": None,
        **dict.fromkeys(zero, 0),
        "counts": {
            **dict.fromkeys(("overflow", "missed", "unfinished"), 0),
            "asked": n,
            "recorded": n - early,
            "early": early,
            "rejected": {},
        },
        "disturbed": {},
        "summary": None,
        "needs": {},
        "interval": {},
        **dict.fromkeys(nothing),
        "metrics": [],
        "histogram": _histogram(series, counts),
        "blocks": [],
        "outliers": [],
        "findings": _findings(series),
    }


def _document(tool: str, many: Iterable[_Series]) -> Document:
    threads: dict[str, int] = {}
    results = []
    for series in many:
        threads[series.probe] = threads.get(series.probe, -1) + 1
        results.append(_result(series, threads[series.probe]))
    text = f"written by {tool}: whole units, cut off, on a clock that was not calibrated"
    return {
        "schema": "timerlat-report/1",
        "tool": {"version": tool, "argv": []},
        "run": {
            "id": str(uuid.uuid4()),
            "boot_id": None,
            "start": "1970-01-01T00:00:00.000000000Z",
            "duration_ns": 0,
            "seed": 0,
            "repeat": None,
            "end": "count",
        },
        "design": None,
        "findings": [_finding("foreign", "info", text)],
        "machine": None,
        "clock": None,
        "results": results,
    }


def _cyclictest(cpu: int | None, hz: int) -> _Series:
    return _Series("cyclictest", _EXPIRY, "after the thread read the clock", cpu, hz)


def _cyclictest_json(document: Document, limit: int | None) -> Document:
    """Its command line has the program's name first, and no quotes."""
    hz = 10**9 if document.get("resolution_in_ns") else 10**6
    command = read_command(str(document.get("cmdline:", "")).split()[1:])
    threads = _object(document, "thread", "document")
    numbers = sorted(threads, key=lambda number: _number(number, "thread"))
    many = [_json_thread(_object(threads, one, "thread"), f"thread {one}", hz) for one in numbers]
    if limit is None and (not command or not command.limit) and not any(s.counts for s in many):
        raise ValueError("empty histograms: run cyclictest with --histogram")
    _set_limit(many, limit, command.limit if command else None)
    return _document("cyclictest", many)


def _json_thread(thread: Document, name: str, hz: int) -> _Series:
    if "histogram" not in thread:
        raise ValueError("threads without histogram: run cyclictest with --histogram")
    series = _cyclictest(thread.get("cpu"), hz)
    series.counts = {
        _number(value, f"{name}: histogram"): _number(n, f"{name}: histogram")
        for value, n in _object(thread, "histogram", name).items()
    }
    series.min, series.max = _figure(thread, "min", name), _figure(thread, "max", name)
    cycles = _number(thread.get("cycles"), f"{name}: cycles")
    series.over = max(0, cycles - sum(series.counts.values()))
    return series


def _object(document: Document, key: str, name: str) -> Document:
    found = document[key]
    if not isinstance(found, dict):
        raise ValueError(f"{name}: {key}: {found!r:.40} is no object")
    return found


def _figure(thread: Document, key: str, name: str) -> int | None:
    """null is that of a thread without a value."""
    if key not in thread:
        raise ValueError(f"{name}: {key} is missing")
    return None if thread[key] is None else _number(thread[key], f"{name}: {key}")


def _number(word: Any, where: str) -> int:
    try:
        return int(word)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{where}: {word!r:.40} is no number") from None


def _numbers(text: str, where: str) -> list[int]:
    return [_number(word, where) for word in text.split()]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _command_said(lines: list[str]) -> Command | None:
    for line in lines:
        command = _COMMAND.search(line)
        if command:
            return read_command(_words(command[1]))
    return None


def _cyclictest_text(lines: list[str], unit: str | None, limit: int | None) -> Document:
    """Its numbers look the same whatever their unit, so that one nobody names is a guess."""
    command = _command_said(lines)
    known = unit or (None if command is None else "ns" if command.ns else "us")
    many = _cyclictest_table(lines, _HZ[known or "us"])
    _set_limit(many, limit, _limit_shown(lines) or (command.limit if command else None))
    document = _document("cyclictest", many)
    if not known:
        text = (
            "cyclictest's text does not say its unit: the values count as microseconds, which "
            "makes those of cyclictest -N 1000 times too large"
        )
        remedy = 'say it: load(path, unit="us"), or unit="ns" after -N'
        document["findings"].append(_finding("unit-assumed", "warn", text, remedy))
    return document


#: A row of a table of cyclictest.
_ROW = re.compile(r"(\d+)\s+\d")
#: What stands below its rows.
_NOTE = re.compile(
    r"# (Total|Min Latencies|Avg Latencies|Max Latencies|Histogram Overflows"
    r"|Histogram Overflow at cycle number|Thread \d+):"
)


def _tables(lines: list[str]) -> Iterator[list[str]]:
    """
    Each table with what stands before it: output is appended to logs, and the next run begins
    where rows start again, or notes, or the heading comes.
    """
    begin = end = 0  # of the table under way, as far as is known
    row = -1
    notes: set[str] = set()
    for number, line in enumerate(lines):
        is_row, note = _ROW.match(line), _NOTE.match(line)
        if is_row:
            again = bool(notes) or int(is_row[1]) <= row
        else:
            again = note[1] in notes if note else line.rstrip() == "# Histogram"
        if again and (row >= 0 or notes):
            yield lines[begin:end]
            begin, row, notes = end, -1, set()
        if is_row:
            row = int(is_row[1])
        if note:
            notes.add(note[1])
        if is_row or note:
            end = number + 1
    yield lines[begin:]


def _rows(lines: list[str]) -> list[list[int]]:
    return [_numbers(line, f"row {line.split()[0]}") for line in lines if _ROW.match(line)]


def _limit_shown(lines: list[str]) -> int | None:
    """Up to rt-tests 2.6 every row is there, also those without a value, and then their sum."""
    rows = _rows(lines)
    whole = any(line.startswith("# Total:") for line in lines) or any(
        not any(row[1:]) for row in rows
    )
    return rows[-1][0] + 1 if rows and whole else None


_CYCLICTEST_FIGURES = {
    "Min Latencies": "min",
    "Max Latencies": "max",
    "Histogram Overflows": "over",
}


def _cyclictest_table(lines: list[str], hz: int) -> list[_Series]:
    rows = _rows(lines)
    notes = {
        match[1]: _numbers(match[2], match[1])
        for match in (re.match(r"# ([A-Z][\w ]+?):\s*([-\d ]+)$", line) for line in lines)
        if match and match[1] in _CYCLICTEST_FIGURES
    }
    if not rows and not ("Histogram Overflows" in notes and notes.get("Min Latencies")):
        raise ValueError(
            "no histogram: only those of cyclictest -h and of rtla timerlat hist are read"
        )
    of_threads = len(notes.get("Min Latencies", [])) or len(rows[0]) - 1
    _check_columns(rows, notes, of_threads)
    many = [_cyclictest(None, hz) for _ in range(of_threads)]
    for number, series in enumerate(many):
        series.counts = {row[0]: row[1 + number] for row in rows}
        for key, name in _CYCLICTEST_FIGURES.items():
            if key in notes:
                setattr(series, name, notes[key][number])
    return many


def _check_columns(rows: list[list[int]], notes: dict[str, list[int]], of_threads: int) -> None:
    """cyclictest -H adds a column for all threads, not everywhere."""
    columns = {f"row {row[0]}": len(row) - 1 for row in rows}
    wide = max(columns.values(), default=of_threads)
    for key, found in [*columns.items(), *((key, len(note)) for key, note in notes.items())]:
        if found not in (of_threads, of_threads + 1) or (key in columns and found != wide):
            expected = wide if key in columns else of_threads
            raise ValueError(f"{key}: number of columns: {found}, elsewhere: {expected}")


_RTLA_FIGURES = {"min:": "min", "avg:": "mean", "max:": "max"}
#: What rtla takes as the size of a bucket, and as the number of rows.
_BUCKET_MAX = 10**6 - 1
_ENTRIES_MIN = 10
#: Of more it would be by chance that all are multiples of more than the size of a bucket.
_MANY_ROWS = 5
_RTLA = {
    "IRQ": ("rtla-timerlat-irq", "the timer's interrupt handler"),
    "Thr": ("rtla-timerlat-thread", "the tracer's thread"),
    "Usr": ("rtla-timerlat-user", "after a user thread returned"),
}


def _rtla(above: list[str], lines: list[str], limit: int | None) -> Document:
    """
    A table from its heading on. Sums over CPUs ("ALL") that follow it repeat what is in it. Rows
    without a value are left out, so that it does not say where it ends.
    """
    ns = any("nanoseconds" in line for line in above)
    many = _rtla_heading(lines[0], 10**9 if ns else 10**6)
    for line in lines[1:]:
        words = line.split()
        if not words or words[0] == "ALL:":
            break
        row, found = words[0].rstrip(":"), len(words) - 1
        if (row.isdigit() or row == "over") and found != len(many):
            raise ValueError(f"row {row}: number of columns: {found}, heading: {len(many)}")
        for series, word in zip(many, words[1:]):
            _rtla_cell(series, words[0], word)
    findings = _set_width(many)
    _set_limit(many, limit, None)
    document = _document("rtla", many)
    document["findings"] += findings
    for series, result in zip(many, document["results"]):
        if _is_of_unknown_width(series, many):
            result["findings"].append(_finding_without_width(series.unit))
    return document


def _rtla_heading(line: str, hz: int) -> list[_Series]:
    """A series for each column, such as IRQ-003."""
    many = []
    for column in line.split()[1:]:
        kind, _, cpu = column.partition("-")
        if kind == "CPU":
            raise ValueError(
                "a table of rtla osnoise, which counts samples of noise, not latencies: "
                "only rtla timerlat hist is read"
            )
        if kind not in _RTLA:
            raise ValueError(
                f"heading: {column!r:.40} is no column of rtla timerlat hist, such as IRQ-000"
            )
        probe, ends = _RTLA[kind]
        place = _number(cpu, f"heading: CPU of {column!r:.40}")
        many.append(_Series(probe, "the expiry of the tracer's timer", ends, place, hz))
    if not many:
        raise ValueError('heading: "Index" without the columns of rtla timerlat hist')
    return many


def _rtla_cell(series: _Series, row: str, word: str) -> None:
    if row.isdigit():
        series.counts[_number(row, "row")] = _number(word, f"row {row}")
    elif row == "over:":
        series.over = _number(word, row.rstrip(":"))
    elif row in _RTLA_FIGURES and word.isdigit():
        setattr(series, _RTLA_FIGURES[row], int(word))


def _least_width(series: _Series) -> int:
    """That of rows in which the smallest and the largest value are."""
    rows = [row for row, count in series.counts.items() if count]
    least = 1
    if rows and series.min is not None:
        least = max(least, series.min - min(rows) + 1)
    if rows and series.max is not None and not series.over:
        least = max(least, series.max - max(rows) + 1)
    return least


def _is_exact(series: _Series) -> bool:
    """Whether all of its values are in rows whose mean is what the tool says."""
    n = sum(series.counts.values())
    if series.mean is None or series.over or not n:
        return not n
    return sum(row * count for row, count in series.counts.items()) // n == series.mean


def _possible_widths(many: list[_Series], rows: set[int]) -> list[int]:
    """Of the rows' common divisors those that are at odds with nothing, the smallest first."""
    common, least = math.gcd(*rows), max(map(_least_width, many), default=1)
    beyond = [series.max for series in many if series.over and series.max is not None]
    most = min([largest // _ENTRIES_MIN for largest in beyond], default=_BUCKET_MAX)
    if not common:  # at most the first row, which all widths have
        return [least] if not beyond or most <= least else [least, most]
    sizes = range(least, min(common, most, _BUCKET_MAX) + 1)
    return [size for size in sizes if common % size == 0]


def _is_of_unknown_width(series: _Series, many: list[_Series]) -> bool:
    """Whether it has values in the first row, nobody has others, and nothing is said of them."""
    others = any(row for one in many for row in one.counts)
    return not others and bool(series.counts.get(0)) and series.max is None


def _set_width(many: list[_Series]) -> list[Document]:
    """
    Rows are multiples of the size of rtla's buckets (-b), which it does not say. They are as wide
    as they can be, unless the smallest, largest and mean values are those of single units.
    """
    rows = {row for series in many for row in series.counts}
    if any(_is_of_unknown_width(series, many) for series in many):
        return []
    widths = (_possible_widths(many, rows) if rows else []) or [1]
    if widths[-1] == 1 or (widths[0] == 1 and all(map(_is_exact, many))):
        return []
    for series in many:
        series.width = widths[-1]
    sure = rows != {0} and (len(widths) == 1 or len(rows) > _MANY_ROWS)
    return [_finding_of_width(widths[-1], many[0].unit, sure)]


def _finding_of_width(width: int, unit: str, sure: bool) -> Document:
    are = "are" if sure else "may be, as far as so few of them tell,"
    text = (
        f"rows {are} {width} {unit} wide: each value counts as the largest of its row, which makes "
        f"figures up to {width - 1} {unit} too large, but for the smallest and the largest value"
    )
    remedy = "measure with rtla timerlat hist -b 1"
    return _finding("bucket-size" if sure else "bucket-unknown", "warn", text, remedy)


def _finding_without_width(unit: str) -> Document:
    text = (
        f"all values are in the row 0, and nothing tells how many {unit} wide it is: they count as "
        "0, and may have been anything below the tool's next row"
    )
    remedy = "measure with rtla timerlat hist -b 1, or without --no-summary"
    return _finding("bucket-unknown", "error", text, remedy)


def _foreign_texts(text: str, unit: str | None, limit: int | None) -> list[Document]:
    lines = text.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("Index")]
    of_cyclictest = any(_NOTE.match(line) for line in lines)
    if not heads and any(line.startswith("over:") for line in lines):
        raise ValueError("a table of rtla without its heading: run rtla without --no-header")
    if not heads:
        return [_cyclictest_text(table, unit, limit) for table in _tables(lines)]
    if of_cyclictest:
        raise ValueError("tables of rtla and of cyclictest: load each from a file of its own")
    ends = [*heads[1:], len(lines)]
    above = [0, *heads]
    return [
        _rtla(lines[before:head], lines[head:end], limit)
        for before, head, end in zip(above, heads, ends)
    ]


def _behind(text: str, at: int, what: str) -> int:
    while text[at : at + 1] and text[at] in what:
        at += 1
    return at


def _items(text: str, at: int) -> Iterator[tuple[Any, str]]:
    """The elements of the array that begins there, which is known to be one."""
    decoder = json.JSONDecoder()
    at = _behind(text, at + 1, _BLANKS)
    while text[at] != "]":
        document, end = decoder.raw_decode(text, at)
        yield document, text[at:end]
        at = _behind(text, end, _BLANKS + ",")


def _decoded(text: str) -> list[tuple[Any, str]]:
    """All JSON documents of a text, one after the other or in arrays, each with its part of it."""
    decoder = json.JSONDecoder()
    documents: list[tuple[Any, str]] = []
    at = 0
    while at < len(text):
        document, end = decoder.raw_decode(text, at)
        documents += _items(text, at) if isinstance(document, list) else [(document, text[at:end])]
        at = _behind(text, end, _BLANKS)
    if not documents:
        raise ValueError("an array without a report")
    return documents


def _document_text(document: Any, part: str, limit: int | None) -> str:
    """As the library reads it; ours as it is."""
    if not isinstance(document, dict):
        raise ValueError(f"{document!r:.40} where a report belongs")
    if "schema" not in document and "thread" in document:
        return json.dumps(_cyclictest_json(document, limit))
    return part


def _documents_of(text: str, unit: str | None, limit: int | None) -> list[str]:
    if not text:
        raise ValueError("it is empty")
    if not re.match(r"\{|\[\s*[]{]", text):
        return [json.dumps(document) for document in _foreign_texts(text, unit, limit)]
    return [_document_text(document, part, limit) for document, part in _decoded(text)]


def _check_asked(unit: str | None, limit: int | None) -> None:
    if unit is not None and unit not in _HZ:
        raise invalid(f'unit: {unit!r} is none of cyclictest\'s; use "us", or "ns" after -N')
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise invalid(f"limit: {limit!r} is no number of rows; use N of cyclictest -h N")


def load_all(
    path: str | os.PathLike[str],
    unit: Literal["us", "ns"] | None = None,
    limit: int | None = None,
) -> list[Report]:
    """
    The reports of a file, one for each document or table: ours (JSON, an array of it, or JSON
    Lines), cyclictest's (text with a histogram, or JSON) or rtla's (timerlat hist). unit is that of
    a text of cyclictest, which does not say it: "ns" after cyclictest -N. Left out, it is that of
    the command line if one stands before the table, else "us", and the finding unit-assumed says
    so. All other files say theirs, which holds.

    limit is where a histogram of cyclictest or rtla ends, N of cyclictest -h N, in the file's
    unit: values from there on were only counted. Left out, it is that of the command line in the
    file, or of a table that has all its rows. Where it is not known, all such values count as the
    largest, and the finding limit-unknown, an error, says so. Of rows wider than a unit (rtla -b)
    each value counts as the largest, and the finding bucket-size says so; bucket-unknown, where
    the table does not tell how wide: an error if it has the row 0 alone and no largest value, as
    all values then count as 0. The finding early, an error: there are values below 0, all of
    which such files have in their row 0.

    InvalidOption: it is none of these, has no histogram, or none that ends at limit; OSError: it
    cannot be read.
    """
    _check_asked(unit, limit)
    with open(path, encoding="utf-8-sig", errors="surrogateescape") as file:
        text = file.read().lstrip()
    try:
        documents = _documents_of(text, unit, limit)
    except (LookupError, TypeError, ValueError) as error:
        raise invalid(f"{os.fspath(path)}: is no report that can be read: {error}") from error
    return [Report(read_text(document, path)) for document in documents]


def load(
    path: str | os.PathLike[str],
    unit: Literal["us", "ns"] | None = None,
    limit: int | None = None,
) -> Report:
    """
    A report from a file, with unit and limit as in load_all(); of several documents or tables, one
    report with all their results, which load_all() keeps apart.
    """
    first, *others = load_all(path, unit, limit)
    if not others:
        return first
    whole = Report(native.report_copy(first._native)[1])
    for other in others:
        native.report_append(whole._native, other._native)
    return whole
