# SPDX-License-Identifier: MIT
"""Reports as JSON documents: into the library and out of it, and the threads of a run made one."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterable
from typing import Any

from . import native
from ._errors import TimerlatError, from_code

Document = dict[str, Any]
Pairs = list[list[int]]

_OUTLIERS_MAX = 64


def read_text(text: str) -> native.TlatReport:
    """The report that a document says. The library reads files only: this one has no name."""
    fd = os.memfd_create("timerlat-report", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(fd), "w", encoding="utf-8") as file:
            file.write(text)
        return native.report_read(f"/proc/self/fd/{fd}")[1]
    except TimerlatError as error:
        raise from_code(error.errno, error.strerror.replace(f"/proc/self/fd/{fd}: ", "")) from None
    finally:
        os.close(fd)


def read_document(document: Document) -> native.TlatReport:
    return read_text(json.dumps(document))


def bin_low(index: int) -> int:
    """The lowest value of a bin of the HDR layout with 3 digits; early bins are ~index."""
    if index < 0:
        return -(bin_low(~index + 1) - 1)
    if index < 2048:
        return index
    octave, step = divmod(index - 1024, 1024)
    return (1024 + step) << octave


def bin_index(value: int) -> int:
    """The bin of the HDR layout that a value, not below 0, lies in."""
    octave = max(0, value.bit_length() - 11)
    return (octave << 10) + (value >> octave)


def _add_pairs(many: Iterable[Pairs]) -> Pairs:
    total: dict[int, int] = {}
    for pairs in many:
        for index, count in pairs:
            total[index] = total.get(index, 0) + count
    return [[index, total[index]] for index in sorted(total)]


def _add_histograms(histograms: list[Document]) -> Document:
    full = [histogram for histogram in histograms if histogram["min"] is not None]
    return {
        **histograms[0],
        "min": min((histogram["min"] for histogram in full), default=None),
        "max": max((histogram["max"] for histogram in full), default=None),
        "overflow": sum(histogram.get("overflow", 0) for histogram in histograms),
        "counts": _add_pairs(histogram["counts"] for histogram in histograms),
        "early": _add_pairs(histogram["early"] for histogram in histograms),
    }


def _coarsen(blocks: list[Document], length_ns: int) -> list[Document]:
    """Neighbours added up until each block has that length, as a run does when it gets long."""
    per = length_ns // blocks[0]["length_ns"]
    return [_add_blocks(blocks[i : i + per], length_ns) for i in range(0, len(blocks), per)]


def block_pairs(block: Document) -> Pairs:
    """The bins of a block, whose counts are index and count in turn."""
    counts: list[int] = block["counts"]
    return [list(pair) for pair in zip(counts[::2], counts[1::2])]


def _add_blocks(blocks: list[Document], length_ns: int) -> Document:
    return {
        "n": sum(block["n"] for block in blocks),
        "length_ns": length_ns,
        "counts": [number for pair in _add_pairs(map(block_pairs, blocks)) for number in pair],
    }


def _join_blocks(of_threads: list[list[Document]]) -> list[Document]:
    """Blocks that were at the same time, as one block each."""
    full = [blocks for blocks in of_threads if blocks]
    if not full:
        return []
    length_ns = max(blocks[0]["length_ns"] for blocks in full)
    coarse = [_coarsen(blocks, length_ns) for blocks in full]
    return [
        _add_blocks([blocks[i] for blocks in coarse if i < len(blocks)], length_ns)
        for i in range(max(map(len, coarse)))
    ]


def _add_counts(many: list[Document]) -> Document:
    total: Document = {}
    for counts in many:
        for name, count in counts.items():
            if isinstance(count, dict):
                total[name] = _add_counts([total.get(name, {}), count])
            else:
                total[name] = total.get(name, 0) + count
    return total


def _first_per_text(many: Iterable[list[Document]]) -> list[Document]:
    found = {(finding["id"], finding["text"]): finding for some in many for finding in some}
    return list(found.values())


def join_threads(document: Document) -> Document:
    """The same report with its results, threads of one run, made one result. Exact."""
    results: list[Document] = document["results"]
    joined = copy.deepcopy(results[0])
    joined["counts"] = _add_counts([result["counts"] for result in results])
    joined["disturbed"] = _add_counts([result["disturbed"] for result in results])
    joined["warmup"] = sum(result["warmup"] for result in results)
    joined["histogram"] = _add_histograms([result["histogram"] for result in results])
    joined["blocks"] = _join_blocks([result["blocks"] for result in results])
    outliers = [outlier for result in results for outlier in result["outliers"]]
    outliers.sort(key=lambda outlier: float(outlier["value_ns"]), reverse=True)
    joined["outliers"] = outliers[:_OUTLIERS_MAX]
    joined["findings"] = _first_per_text(result["findings"] for result in results)
    joined["raw_ns"] = [value for result in results for value in result.get("raw_ns", [])]
    for key in ("verdict", "budget") + (() if joined["raw_ns"] else ("raw_ns",)):
        joined.pop(key, None)
    return {**document, "results": [joined]}
