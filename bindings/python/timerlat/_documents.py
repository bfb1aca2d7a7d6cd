# SPDX-License-Identifier: MIT
"""Reports as JSON documents: into the library, and what is in them."""

from __future__ import annotations

import os
from typing import Any

from . import native

Document = dict[str, Any]
Pairs = list[list[int]]


def read_text(text: str, name: str | os.PathLike[str] = "report") -> native.TlatReport:
    """The report that a document says; name stands for it in errors."""
    return native.report_parse(text.encode("utf-8", "surrogateescape"), os.fsencode(name))[1]


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


def block_pairs(block: Document) -> Pairs:
    """The bins of a block, whose counts are index and count in turn."""
    counts: list[int] = block["counts"]
    return [list(pair) for pair in zip(counts[::2], counts[1::2])]
