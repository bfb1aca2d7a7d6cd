# SPDX-License-Identifier: MIT
"""The bars: what the project promises of each figure, and nothing else."""
from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Optional


@dataclass(frozen=True)
class Bar:
    bench: str
    figures: str  #: pattern of their names
    of: str  #: what is held against the bar: "ours" or "ratio"
    least: Optional[float] = None
    most: Optional[float] = None
    within_peer: bool = False  #: the ratio, within the range of the peer against itself

    def text(self, unit: str) -> str:
        if self.within_peer:
            return "ratio as of the peer against itself"
        tail = f" {unit}" if self.of == "ours" and unit else ""
        if self.least is not None and self.most is not None:
            return f"{self.of} {self.least:g} to {self.most:g}{tail}"
        limit = f">= {self.least:g}" if self.least is not None else f"<= {self.most:g}"
        return f"{self.of} {limit}{tail}"

    @property
    def limit(self) -> Optional[float]:
        """The one value that ours is held against."""
        return self.most if self.least is None else self.least


BARS = (
    Bar("wake_bias", "p50 of wake-*, one CPU", "ratio", least=0.98, most=1.02),
    Bar("wake_bias", "p50 of wake-*, two CPUs", "ratio", within_peer=True),
    Bar("self_test", "injected delays, share that came back", "ours", least=370 / 400),
    Bar("self_test", "injected *, uncertainty", "ratio", most=1),
    Bar("record_cost", "record *", "ours", most=2),
    Bar("record_cost", "page faults of *", "ours", most=0),
    Bar("cyclic_vs", "1 kHz timer thread, CPU time*", "ratio", most=1),
    Bar("cyclic_vs", "1 kHz timer thread, p50*", "ratio", most=1.02),
    Bar("startup", "exec to the end of a run of one sample", "ours", most=300),
    Bar("calibrate", "calibration*", "ours", most=250),
    Bar("startup", "memory of a timer thread, with its blocks", "ours", most=600),
    Bar("startup", "memory locked by a thread of a pair", "ours", most=600),
    Bar("compare_cost", "compare 2 x 20 report files", "ours", most=100),
    Bar("simulated", "false alarms of 2000 A/A comparisons, *", "ours", most=30),
    Bar("simulated", "shift of 1 % called REGRESSION, *", "ours", least=90),
    Bar("quantiles", "worst quantile against sorted samples, *", "ours", most=1),
    Bar("storm_vs", "storm of timers, delivered *", "ratio", least=1),
    Bar("python_vs", "Python, p50 of *", "ratio", least=0.99, most=1.01),
    Bar("python_vs", "Python, Session.run beyond its measurement", "ours", most=5),
    Bar("python_vs", "Python, .histogram of 10^6 samples", "ours", most=1),
)


def bar_of(figure: str) -> Optional[Bar]:
    return next((bar for bar in BARS if fnmatchcase(figure, bar.figures)), None)
