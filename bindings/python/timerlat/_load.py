# SPDX-License-Identifier: MIT
"""
Files into reports: our own, and what cyclictest and rtla write. Theirs hold whole microseconds or
nanoseconds, which stay what they are: the unit of the histogram is theirs.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from . import native
from ._command import Command, read_command
from ._documents import Document, bin_index, read_text
from ._options import invalid
from ._report import Report

_EXPIRY = "the programmed expiry"
_HZ = {"us": 10**6, "ns": 10**9}
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
    counts: dict[int, int] = field(default_factory=dict)
    over: int = 0  # values that are known only to be at or above limit
    limit: int | None = None  # None: not known, but above all of counts
    min: int | None = None
    max: int | None = None


def _known(series: _Series) -> dict[int, int]:
    """
    Counts by value. The largest of what ran over is at max, the rest at the limit; where that is
    not known, at max too, as anything less could be below what the tool saw.
    """
    counts = {value: count for value, count in series.counts.items() if count}
    if series.over:
        top = max(series.limit or 0, series.max or 0, max(counts, default=-1) + 1)
        rest = top if series.limit is None else series.limit
        counts[top] = counts.get(top, 0) + 1
        if series.over > 1:
            counts[rest] = counts.get(rest, 0) + series.over - 1
    return counts


def _extreme(given: int | None, found: int) -> int:
    """What the tool says, if it lies in the bin where it has to be."""
    return given if given is not None and bin_index(given) == bin_index(found) else found


def _histogram(series: _Series, counts: dict[int, int]) -> Document:
    bins: dict[int, int] = {}
    for value, count in counts.items():
        bins[bin_index(value)] = bins.get(bin_index(value), 0) + count
    return {
        "layout": "hdr",
        "digits": 3,
        "unit": "ns" if series.hz == 10**9 else "ticks",
        "hz": series.hz,
        "min": _extreme(series.min, min(counts)) if counts else None,
        "max": _extreme(series.max, max(counts)) if counts else None,
        "overflow": 0,
        "counts": [[index, bins[index]] for index in sorted(bins)],
        "early": [],
    }


def _finding(identity: str, severity: str, text: str, remedy: str | None = None) -> Document:
    return {"id": identity, "severity": severity, "text": text, "remedy": remedy}


def _findings(series: _Series) -> list[Document]:
    if not series.over:
        return []
    unit = "ns" if series.hz == 10**9 else "us"
    if series.limit is None:
        return _findings_without_limit(series, unit)
    text = (
        f"{series.over} values are known only to be {series.limit} {unit} or more: "
        "they count as that, but for the largest"
    )
    return [_finding("histogram-overflow", "warn", text, "let the tool keep more columns")]


def _findings_without_limit(series: _Series, unit: str) -> list[Document]:
    """One value that ran over is the largest, and known."""
    if series.over == 1:
        return []
    least = max((value for value, count in series.counts.items() if count), default=-1) + 1
    text = (
        f"{series.over} values are known only to be between {least} and {series.max} {unit}, as "
        "the file does not say where its histogram ends: they count as the largest, which makes "
        "upper quantiles too large"
    )
    remedy = "say it: load(path, limit=N), as in cyclictest -h N"
    return [_finding("limit-unknown", "error", text, remedy)]


def _fits(series: _Series, limit: int) -> bool:
    """Whether a histogram that ends there can have counted this."""
    if any(value >= limit for value, count in series.counts.items() if count):
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
    n = sum(counts.values())
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
            **dict.fromkeys(("early", "overflow", "missed", "unfinished"), 0),
            "asked": n,
            "recorded": n,
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
    command = read_command(document.get("cmdline:", "").split()[1:])
    many = []
    for number in sorted(document["thread"], key=int):
        thread = document["thread"][number]
        if "histogram" not in thread:
            raise ValueError("threads without histogram: run cyclictest with --histogram")
        series = _cyclictest(thread.get("cpu"), hz)
        series.counts = {int(value): int(n) for value, n in thread["histogram"].items()}
        series.min, series.max = _figure(thread["min"]), _figure(thread["max"])
        series.over = max(0, int(thread["cycles"]) - sum(series.counts.values()))
        many.append(series)
    if limit is None and (not command or not command.limit) and not any(s.counts for s in many):
        raise ValueError("empty histograms: run cyclictest with --histogram")
    _set_limit(many, limit, command.limit if command else None)
    return _document("cyclictest", many)


def _figure(value: Any) -> int | None:
    """null is that of a thread without a value."""
    return None if value is None else int(value)


def _numbers(text: str) -> list[int]:
    return [int(word) for word in text.split()]


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


def _rows(lines: list[str]) -> list[list[int]]:
    return [_numbers(line) for line in lines if re.match(r"\d+\s+\d", line)]


def _limit_shown(lines: list[str]) -> int | None:
    """Up to rt-tests 2.6 every row is there, also those without a value, and then their sum."""
    rows = _rows(lines)
    whole = any(line.startswith("# Total:") for line in lines) or any(
        not any(row[1:]) for row in rows
    )
    return rows[-1][0] + 1 if rows and whole else None


def _cyclictest_table(lines: list[str], hz: int) -> list[_Series]:
    rows = _rows(lines)
    notes = dict(
        (match[1], match[2])
        for match in (re.match(r"# ([A-Z][\w ]+?):\s*([-\d ]+)$", line) for line in lines)
        if match
    )
    if not rows and "Histogram Overflows" not in notes:
        raise ValueError("no histogram: run cyclictest with -h")
    of_threads = len(_numbers(notes.get("Min Latencies", ""))) or len(rows[0]) - 1
    many = [_cyclictest(None, hz) for _ in range(of_threads)]
    for number, series in enumerate(many):
        series.counts = {row[0]: row[1 + number] for row in rows}
        for name, key in (("min", "Min Latencies"), ("max", "Max Latencies")):
            if key in notes:
                setattr(series, name, _numbers(notes[key])[number])
        if "Histogram Overflows" in notes:
            series.over = _numbers(notes["Histogram Overflows"])[number]
    return many


_RTLA = {
    "IRQ": ("rtla-timerlat-irq", "the timer's interrupt handler"),
    "Thr": ("rtla-timerlat-thread", "the tracer's thread"),
    "Usr": ("rtla-timerlat-user", "after a user thread returned"),
}


def _rtla(lines: list[str], head: int, limit: int | None) -> Document:
    """
    Sums over CPUs ("ALL") that follow the table repeat what is in it. Rows without a value are
    left out, so that the table does not say where it ends.
    """
    ns = any("nanoseconds" in line for line in lines[:head])
    many = []
    for column in lines[head].split()[1:]:
        kind, _, cpu = column.partition("-")
        probe, ends = _RTLA[kind]
        hz = 10**9 if ns else 10**6
        many.append(_Series(probe, "the expiry of the tracer's timer", ends, int(cpu), hz))
    for line in lines[head + 1 :]:
        words = line.split()
        if not words or words[0] == "ALL:":
            break
        for series, word in zip(many, words[1:]):
            _rtla_cell(series, words[0], word)
    _set_limit(many, limit, None)
    return _document("rtla", many)


def _rtla_cell(series: _Series, row: str, word: str) -> None:
    if row.isdigit():
        series.counts[int(row)] = int(word)
    elif row == "over:":
        series.over = int(word)
    elif row in ("min:", "max:") and word.isdigit():
        setattr(series, row[:-1], int(word))


def _foreign_text(text: str, unit: str | None, limit: int | None) -> Document:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("Index"):
            return _rtla(lines, number, limit)
    return _cyclictest_text(lines, unit, limit)


def _decoded(text: str) -> list[tuple[Any, str]]:
    """All JSON documents of a text, one after the other, each with its part of it."""
    decoder = json.JSONDecoder()
    documents, at = [], 0
    while at < len(text):
        document, end = decoder.raw_decode(text, at)
        documents.append((document, text[at:end]))
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    return documents


def _documents_of(text: str, unit: str | None, limit: int | None) -> list[str]:
    """As texts that the library reads; ours as they are."""
    if not text.startswith("{"):
        return [json.dumps(_foreign_text(text, unit, limit))]
    documents = _decoded(text)
    if "schema" not in documents[0][0] and "thread" in documents[0][0]:
        return [json.dumps(_cyclictest_json(document, limit)) for document, _ in documents]
    return [part for _, part in documents]


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
    The reports of a file, one for each document: ours (JSON or JSON Lines), cyclictest's (text
    with a histogram, or JSON) or rtla's (timerlat hist). unit is that of a text of cyclictest,
    which does not say it: "ns" after cyclictest -N. Left out, it is that of the command line if
    one stands in the file, else "us", and the finding unit-assumed says so. All other files say
    theirs, which holds.

    limit is where a histogram of cyclictest or rtla ends, N of cyclictest -h N, in the file's
    unit: values from there on were only counted. Left out, it is that of the command line in the
    file, or of a table that has all its rows. Where it is not known, all such values count as the
    largest, and the finding limit-unknown, an error, says so.

    InvalidOption: it is none of these, has no histogram, or none that ends at limit; OSError: it
    cannot be read.
    """
    _check_asked(unit, limit)
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
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
    A report from a file, with unit and limit as in load_all(); of several documents, one report
    with all their results, which load_all() keeps apart.
    """
    first, *others = load_all(path, unit, limit)
    if not others:
        return first
    whole = Report(native.report_copy(first._native)[1])
    for other in others:
        native.report_append(whole._native, other._native)
    return whole
