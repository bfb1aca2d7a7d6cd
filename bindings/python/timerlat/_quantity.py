# SPDX-License-Identifier: MIT
"""Times for people to read: four digits and the unit that suits them."""

from __future__ import annotations

import math

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


def time_text(ns: float) -> str:
    """ "16.71us"; "-" for what is not known."""
    if ns == 0:
        return "0ns"
    if not math.isfinite(ns):
        return "-"
    for scale, unit in _UNITS:
        if abs(ns) >= scale or unit == "ns":
            break
    value = ns / scale
    digits = max(0, 3 - (math.floor(math.log10(abs(value))) if abs(value) >= 1 else 0))
    return f"{value:.{digits}f}{unit}"


def percent_name(percent: float) -> str:
    """ "p99.9" """
    return f"p{percent:.10g}"
