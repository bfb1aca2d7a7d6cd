#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tests/bench/run: the table, the Markdown and the JSON say the same; a bar that does not hold, a bar
that nothing was measured for and a bench that fails are said. No time is judged."""
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

BUILD = Path(os.environ["TLAT_BUILD"])
RUN = Path(os.environ["TLAT_SOURCE"]) / "tests" / "bench" / "run"


def line(bench, figure, unit, ours, peer_name=None, peer=None):
    more = {} if peer_name is None else {"peer_name": peer_name, "peer": peer}
    return json.dumps({"bench": bench, "figure": figure, "unit": unit, "ours": ours, **more})


#: What benches could have written, and what is to be said of it.
FAKE = {
    line("wake_bias", "p50 of wake-a, one CPU", "ns", [102, 100, 101], "bare loop",
         [100, 100, 100, 100]): "holds",
    line("wake_bias", "p50 of wake-b, one CPU", "ns", [104, 103, 102], "bare loop",
         [100, 100, 100, 100]): "FALLS SHORT",
    line("wake_bias", "p50 of wake-c, one CPU", "ns", [97], "bare loop", [100, 100]): "FALLS SHORT",
    line("wake_bias", "p50 of wake-a, two CPUs", "ns", [120, 130], "bare loop",
         [100, 130, 100]): "holds",
    line("wake_bias", "p50 of wake-b, two CPUs", "ns", [140, 150], "bare loop",
         [100, 110, 100]): "FALLS SHORT",
    line("wake_bias", "p50 of wake-c, two CPUs", "ns", [100], "bare loop", [100]): "not decided",
    line("record_cost", "record a value", "ns", [1.5, 2.5, 1.9], "bare increment",
         [0.5, 0.5, 0.5]): "holds",
    line("record_cost", "record another value", "ns", [2.1]): "FALLS SHORT",
    line("record_cost", "record on a noisy machine", "ns",
         [2.2, 1.9, 2.1, 2.3, 1.8, 2.1, 2.0, 2.2, 2.4]): "FALLS SHORT, in doubt",
    line("record_cost", "record luckily", "ns",
         [1.9, 2.2, 1.8, 2.3, 1.9, 1.7, 2.1, 1.9, 2.2]): "holds, in doubt",
    line("record_cost", "record slowly", "ns",
         [2.2, 2.1, 2.1, 2.3, 2.4, 2.1, 2.6, 2.2, 1.9]): "FALLS SHORT",
    line("simulated", "shift of 1 % called REGRESSION, of many", "%", [89.9]): "FALLS SHORT",
    line("simulated", "false alarms of 2000 A/A comparisons, tail", "", [30]): "holds",
    line("noise_vs", "gaps", "/s", [3, 5, 4], "oslat", [2, 2, 2]): "no bar",
}


def run(work, *options):
    """The exit code, the document, what was printed and the Markdown."""
    written, table = work / "run.json", work / "run.md"
    done = subprocess.run([RUN, "--json", written, "--markdown", table, *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert written.exists(), done.stdout
    return done.returncode, json.loads(written.read_text()), done.stdout, table.read_text()


def assert_same(document, text, markdown):
    """Each figure is in the JSON, in the table and in the Markdown, with the same cells."""
    rows = [row[2:-2].split(" | ") for row in markdown.splitlines() if row.startswith("| ")]
    assert len(rows) == 2 + len(document["figures"]), markdown
    for figure, cells in zip(document["figures"], rows[2:]):
        assert cells[0] == figure["figure"] and cells[-1] == figure["verdict"], cells
        in_text = [row for row in text.splitlines() if row.startswith(figure["figure"] + "  ")]
        assert [cell.strip() for cell in in_text[-1].split("  ") if cell.strip()] == cells, in_text
        ours = float(cells[1].split()[0])
        assert abs(ours - figure["ours"]) <= 1e-3 * abs(figure["ours"]) + 0.5 * (ours >= 1000), cells
        if figure["ratio"] is not None:
            assert cells[3].startswith(f"{figure['ratio']:.3f} ({figure['lo']:.3f}"), cells
        assert figure["ours"] == statistics.median(figure["rounds"]["ours"])
    short = [row["figure"] for row in document["figures"]
             if row["verdict"].startswith("FALLS SHORT")]
    judged = sum(row["bar"] is not None for row in document["figures"])
    unsure = [row["figure"] for row in document["figures"] if "in doubt" in row["verdict"]]
    for where in (text, markdown):
        assert all(figure in where.rpartition("in doubt, as ")[2] for figure in unsure), where
        assert f"{len(short)} of {judged} figures with a bar fall short" in where, where


def what_falls_short_is_said(work):
    figures = work / "figures"
    figures.write_text("\n".join(FAKE) + "\n")
    code, document, text, markdown = run(work, "--build", BUILD, "--figures", figures)
    found = [figure["verdict"] for figure in document["figures"]]
    assert found == list(FAKE.values()), found
    assert code == 1, code
    assert_same(document, text, markdown)
    by_name = {figure["figure"]: figure for figure in document["figures"]}
    one = by_name["p50 of wake-a, two CPUs"]
    assert one["ratio"] == (120 / 115 + 130 / 115) / 2 and one["self_hi"] == 1.3, one
    limit = by_name["record another value"]
    assert (limit["peer"], limit["peer_name"], limit["ratio"]) == (2, "limit", 2.1 / 2), limit
    assert limit["holds"] is False and by_name["gaps"]["holds"] is None
    missing = [bar for bar in document["not_measured"] if bar.startswith("calibration")]
    assert missing and f"not measured: {missing[0]}" in text and missing[0] in markdown, text
    assert not any(bar.startswith("record") for bar in document["not_measured"])


def all_that_holds_is_no_failure(work):
    figures = work / "figures"
    figures.write_text("\n".join(one for one, verdict in FAKE.items()
                                 if verdict.startswith(("holds", "no bar"))) + "\n")
    code, document, text, markdown = run(work, "--build", BUILD, "--figures", figures)
    assert code == 0, text
    assert_same(document, text, markdown)


def a_real_bench_gives_a_table(work):
    code, document, text, markdown = run(work, "--build", BUILD, "--quick", "--only",
                                         "record_cost")
    assert {figure["bench"] for figure in document["figures"]} == {"record_cost"}, document
    assert len(document["figures"]) == 5 and document["quick"], document
    assert all(len(figure["rounds"]["ours"]) == 5 for figure in document["figures"])
    assert not document["left_out"] and not document["not_measured"], document
    assert document["figures"][-1]["ours"] == 0, "recording faults"
    short = any(figure["ours"] > 2 for figure in document["figures"])
    assert code == int(short), (code, text)
    assert_same(document, text, markdown)
    assert document["machine"]["kernel"] and "hostname" not in document["machine"], document


def a_bench_that_fails_is_said(work):
    fake = work / "tlat"
    fake.write_text(f"#!/bin/sh\n[ \"$1\" != check ] || exec {BUILD / 'tlat'} \"$@\"\n"
                    "echo out of order >&2; exit 3\n")
    fake.chmod(0o755)
    code, document, text, markdown = run(work, "--build", work, "--quick", "--only", "startup")
    assert code == 2, text
    assert [one["bench"] for one in document["left_out"]] == ["startup"], document
    assert len(document["not_measured"]) == 3 and not document["figures"], document
    for where in (text, markdown):
        assert "left out: startup: exit 2: " in where and "not measured: exec to" in where, where


for test in (what_falls_short_is_said, all_that_holds_is_no_failure, a_real_bench_gives_a_table,
             a_bench_that_fails_is_said):
    with tempfile.TemporaryDirectory() as folder:
        test(Path(folder))
    print(f"{test.__name__}: fine")
