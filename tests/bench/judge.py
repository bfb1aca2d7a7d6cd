# SPDX-License-Identifier: MIT
"""From what a bench measured in each round to a row of the table: medians, ratio and its spread, and
whether the bar holds. Pure: no I/O."""
from __future__ import annotations

from dataclasses import asdict, dataclass
from math import comb, inf
from statistics import median
from typing import Any, Mapping, Optional, Sequence

from bars import BARS, Bar, bar_of

HOLDS, SHORT, OPEN, NONE = "holds", "FALLS SHORT", "not decided", "no bar"
DOUBT = ", in doubt"


@dataclass(frozen=True)
class Row:
    bench: str
    figure: str
    unit: str
    ours: float  #: median of the rounds
    peer: Optional[float]  #: the same; of the bar's limit where there is no peer
    peer_name: Optional[str]
    ratio: Optional[float]  #: median of the rounds' ratios of ours to the peer's
    lo: Optional[float]  #: least and greatest of these ratios
    hi: Optional[float]
    self_lo: Optional[float]  #: the same of the peer against its neighbour in time
    self_hi: Optional[float]
    bar: Optional[str]
    holds: Optional[bool]  #: whether the median is inside; None: no bar, or too few rounds for it
    doubt: bool  #: the 95 % interval of the median lies on both sides of the bar
    note: Optional[str]
    rounds: Mapping[str, Sequence[float]]

    @property
    def verdict(self) -> str:
        if self.bar is None:
            return NONE
        if self.holds is None:
            return OPEN
        return (HOLDS if self.holds else SHORT) + (DOUBT if self.doubt else "")

    def document(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def _beside(ours: Sequence[float], peer: Sequence[float]) -> list[float]:
    """Each of ours against its neighbours in time: one, or one before and one after it."""
    if len(peer) == len(ours) + 1:
        peer = [(a + b) / 2 for a, b in zip(peer, peer[1:])]
    if len(peer) != len(ours):
        raise ValueError(f"{len(peer)} values of the peer beside {len(ours)} of ours")
    return [a / b for a, b in zip(ours, peer)]


def _around_median(values: Sequence[float]) -> tuple[float, float]:
    """Between which two of the values the median lies at 95 % or more (sign interval; Conover 1999,
    3.2). Fewer than six have no such interval: the median alone."""
    n, below, k = len(values), 0, 0
    while k < n // 2 and 2 * (below + comb(n, k)) <= 0.05 * 2**n:
        below += comb(n, k)
        k += 1
    ordered = sorted(values)
    return (ordered[k - 1], ordered[n - k]) if k else (median(values), median(values))


def _held(bar: Bar, values: Sequence[float],
          of_peer: Sequence[float]) -> tuple[Optional[bool], bool]:
    """Whether the median is inside, and whether its interval reaches over the bar."""
    least, most = bar.least, bar.most
    if bar.within_peer:
        if not of_peer:
            return None, False
        least, most = min(of_peer), max(of_peer)
    if not values:
        return None, False
    least, most = -inf if least is None else least, inf if most is None else most
    inside = [least <= value <= most for value in (median(values), *_around_median(values))]
    return inside[0], len(set(inside)) > 1


def judged(line: Mapping[str, Any]) -> Row:
    """ValueError, KeyError: this is not what a bench writes."""
    ours = [float(value) for value in line["ours"]]
    peer = [float(value) for value in line.get("peer", ())]
    name: Optional[str] = line.get("peer_name")
    bar = bar_of(line["figure"])
    if not ours:
        raise ValueError(f"{line['figure']}: no values")
    if not peer and bar is not None and bar.of == "ours" and bar.limit:
        name, peer = "limit", [bar.limit] * len(ours)
    limit = name is not None and name.startswith("limit")
    ratios = _beside(ours, peer) if peer else []
    same = [b / a for a, b in zip(peer, peer[1:])] if not limit else []
    ratio = median(ratios) if ratios else None
    holds, doubt = (None, False)
    if bar is not None:
        holds, doubt = _held(bar, ours if bar.of == "ours" else ratios, same)
    return Row(
        line["bench"], line["figure"], line["unit"], median(ours),
        median(peer) if peer else None, name, ratio, min(ratios, default=None),
        max(ratios, default=None), min(same, default=None), max(same, default=None),
        bar.text(line["unit"]) if bar else None,
        holds, doubt, line.get("note"),
        {"ours": ours, "peer": [] if limit else peer})


def without_figure(rows: Sequence[Row], benches: Sequence[str]) -> list[Bar]:
    """Bars of these benches for which nothing was measured."""
    return [bar for bar in BARS
            if bar.bench in benches and not any(bar_of(row.figure) is bar for row in rows)]
