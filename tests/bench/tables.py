# SPDX-License-Identifier: MIT
"""The table of a run, for the terminal and as Markdown; both show the same cells."""
from __future__ import annotations

from typing import Any, Optional, Sequence

HEAD = ("figure", "ours", "peer or limit", "ratio (lo..hi)", "peer to itself", "bar", "verdict")


def quantity(value: Optional[float], unit: str) -> str:
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 1000 else 4
    text = f"{value:.0f}" if digits == 0 else f"{value:.{digits}g}"
    return f"{text} {unit}".strip()


def between(lo: Optional[float], hi: Optional[float]) -> str:
    return "-" if lo is None or hi is None else f"{lo:.3f}..{hi:.3f}"


def cells(row: dict[str, Any]) -> tuple[str, ...]:
    """Of one figure in the document."""
    peer = quantity(row["peer"], row["unit"])
    ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f} ({between(row['lo'], row['hi'])})"
    return (row["figure"], quantity(row["ours"], row["unit"]),
            f"{peer} {row['peer_name']}" if row["peer_name"] else "-", ratio,
            between(row["self_lo"], row["self_hi"]), row["bar"] or "-", row["verdict"])


def conclusion(document: dict[str, Any]) -> list[str]:
    """What one has to know beside the table: nothing that falls short, or is missing, is hidden."""
    short = [row["figure"] for row in document["figures"] if row["holds"] is False]
    judged = sum(row["bar"] is not None for row in document["figures"])
    lines = [f"{len(short)} of {judged} figures with a bar fall short" + (": " if short else "")
             + "; ".join(short)]
    unsure = [row["figure"] for row in document["figures"] if row["doubt"]]
    if unsure:
        lines.append("in doubt, as the rounds spread over the bar: " + "; ".join(unsure))
    lines += [f"not measured: {bar}" for bar in document["not_measured"]]
    lines += [f"left out: {one['bench']}: {one['reason']}" for one in document["left_out"]]
    return lines + [f"note: {row['figure']}: {row['note']}" for row in document["figures"]
                    if row["note"]]


def kernel_of(machine: dict[str, Any]) -> str:
    """Its release without what the builder called it, and how it was built."""
    release, _, built = str(machine.get("kernel") or "unknown").partition(" ")
    return f"{release.partition('-')[0]} {built}".strip()


def conditions(document: dict[str, Any]) -> list[str]:
    peers, load = document["peers"], document["load"]
    machine = {**document["machine"], "kernel": kernel_of(document["machine"])}
    known = ("kernel", "cpu_model", "online", "isolated", "hypervisor", "governor", "idle_driver",
             "clocksource")
    return [
        f"{document['date']}, tlat {document['version']}, built as {document['build_type']}"
        + (", --quick: few rounds" if document["quick"] else ""),
        "machine: " + ", ".join(f"{name} {machine[name]}" for name in known if machine.get(name)),
        "peers: " + (", ".join(f"{name} {version}" for name, version in peers.items()) or "none"),
        f"other load: CPUs {100 * load['before']['busy']:.0f} % busy before and "
        f"{100 * load['after']['busy']:.0f} % after, {100 * load['before']['stolen']:.0f} % and "
        f"{100 * load['after']['stolen']:.0f} % stolen" + (
            ": HIGH, the figures are noisy" if load["high"] else ""),
    ]


def as_text(document: dict[str, Any]) -> str:
    rows = [HEAD] + [cells(row) for row in document["figures"]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
             for row in rows]
    return "\n".join([*conditions(document), "", *table, "", *conclusion(document)])


def _markdown_row(row: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def as_markdown(document: dict[str, Any]) -> str:
    lines = ["# Figures of the last run", "",
             "Made by `tests/bench/run --markdown`; do not edit. lo..hi: least and greatest of the "
             "rounds; all else is their median. A bar holds if the median meets it; that is in doubt "
             "if the 95 % interval of the median lies on both sides of the bar.", ""]
    lines += [f"- {line}" for line in conditions(document)] + [""]
    lines += [_markdown_row(HEAD), _markdown_row(["---"] * len(HEAD))]
    lines += [_markdown_row(cells(row)) for row in document["figures"]] + [""]
    return "\n".join(lines + [f"- {line}" for line in conclusion(document)]) + "\n"
