# SPDX-License-Identifier: MIT
"""Reports: what Python says is what the report says."""

from __future__ import annotations

import copy
import errno
import gc
import json
import math
import pickle
import random
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest

import timerlat
from timerlat import native
from timerlat._documents import bin_low, read_text


def test_figures_are_those_of_the_document(solo: timerlat.Report) -> None:
    summary = solo.document["results"][0]["summary"]
    interval = solo.document["results"][0]["interval"]
    for name in ("min", "max", "mean", "sd"):
        assert getattr(solo, name) == summary[f"{name}_ns"]
    for name, percent in [("p50", 50), ("p90", 90), ("p99", 99), ("p999", 99.9), ("p9999", 99.99)]:
        if summary[f"{name}_ns"] is None:
            with pytest.raises(timerlat.NotEnoughSamples):
                getattr(solo, name)
            continue
        assert getattr(solo, name) == solo.percentile(percent) == summary[f"{name}_ns"]
        low, high = solo.interval[f"p{percent}"]
        assert [low, high] == interval[f"{name}_ns"]
    assert solo.n == sum(solo.counts[name] for name in ("recorded", "early", "overflow"))
    assert solo.counts["asked"] == solo.document["results"][0]["counts"]["asked"]
    assert solo.uncertainty is not None
    assert float(solo.uncertainty) == solo.document["results"][0]["uncertainty"]["u_ns"]


def test_what_the_samples_cannot_carry_is_an_error_or_a_bound(solo: timerlat.Report) -> None:
    with pytest.raises(timerlat.NotEnoughSamples, match=r"p99\.9999.*max so far") as caught:
        solo.percentile(99.9999)
    assert caught.value.bound_ns == solo.max
    assert solo.percentile(99.9999, bound=True) == solo.max
    for outside in (0, 100, -1, 101, math.nan):
        with pytest.raises(timerlat.InvalidOption):
            solo.percentile(outside)


def test_a_percentile_is_per_cent(solo: timerlat.Report) -> None:
    """0.99 is not 99 %: it is a value that few are below, or that the samples cannot carry."""
    assert solo.percentile(50) == solo.p50
    for share in (0.5, 0.99):
        try:
            assert solo.percentile(share) <= solo.percentile(5)
        except timerlat.NotEnoughSamples as error:
            assert f"p{share:g}" in str(error)


def test_the_histogram_holds_every_value(solo: timerlat.Report) -> None:
    edges, counts = solo.histogram.edges, solo.histogram.counts
    assert len(edges) == len(counts) + 1
    assert counts.sum() + solo.histogram.overflow == solo.n
    assert (numpy.diff(edges) > 0).all()
    assert edges[0] <= solo.min < edges[1] and edges[-2] <= solo.max < edges[-1]
    assert not edges.flags.writeable and not counts.flags.writeable
    assert solo.histogram.to_dataframe()["count"].sum() == solo.n


def test_raw_values_are_those_of_the_histogram(solo: timerlat.Report) -> None:
    kept = min(1000, solo.n)
    assert len(solo.values) == kept > 0
    assert numpy.allclose(solo.values, solo.document["results"][0]["raw_ns"], rtol=1e-12)
    again, _ = numpy.histogram(solo.values, solo.histogram.edges)
    assert again.sum() == kept and (again <= solo.histogram.counts).all()


def test_arrays_outlive_everything() -> None:
    with timerlat.Session(policy="other", floor=False) as session:
        values = session.run("null", samples=1000, raw=1000).values
        counts = session.run("null", samples=1000).histogram.counts
    before = values.copy(), counts.copy()
    del session
    gc.collect()
    [bytearray(8000) for _ in range(100)]
    assert (values == before[0]).all() and (counts == before[1]).all()


def test_blocks_cover_the_run(solo: timerlat.Report) -> None:
    assert sum(block.n for block in solo.blocks) == solo.n
    resolution = 1 + 2**-9
    assert min(block.min for block in solo.blocks) <= solo.min * resolution
    assert max(block.max for block in solo.blocks) >= solo.max / resolution
    assert [block.start for block in solo.blocks] == [
        i * solo.blocks[0].length for i in range(len(solo.blocks))
    ]
    assert solo.outliers[0].value == solo.max


def test_bins_are_where_the_library_has_them() -> None:
    for index in (0, 1, 2047, 2048, 3071, 3072, 20000):
        _, hist = native.hist_new(10**9)
        native.hist_record(hist, bin_low(index))
        native.hist_record(hist, bin_low(index + 1) - 1)
        assert list(numpy.asarray(native.hist_edges_ns(hist))) == [
            bin_low(index),
            bin_low(index + 1),
        ]
        if 0 < index < 4096:
            native.hist_reset(hist)
            native.hist_record(hist, -bin_low(index))
            assert numpy.asarray(native.hist_edges_ns(hist))[0] == bin_low(~index)


def test_gaps_are_bins_of_their_own() -> None:
    rng = random.Random(8)
    _, hist = native.hist_new(2 * 10**9)
    values = [round(rng.lognormvariate(8, 3)) - 40 for _ in range(2000)]
    for value in values:
        native.hist_record(hist, value)
    edges, counts = native.hist_edges_ns(hist), native.hist_counts(hist)
    expected, _ = numpy.histogram(numpy.array(values) / 2, numpy.asarray(edges))
    assert (expected == numpy.asarray(counts)).all()


def test_an_empty_distribution_has_empty_arrays(session: timerlat.Session) -> None:
    report = session.run("timer-nanosleep", samples=1, interval="1ms", cpus="0", warmup=0)
    document = copy.deepcopy(report.document)
    empty = document["results"][0]
    empty["counts"] = {**empty["counts"], "asked": 0, "recorded": 0, "unfinished": 0, "missed": 0}
    empty["histogram"].update(counts=[], early=[], min=None, max=None, overflow=0)
    empty.update(blocks=[], outliers=[], summary=None, interval={}, needs={})
    report = timerlat.Report(read_text(json.dumps(document)))
    assert report.n == 0 and len(report.histogram.counts) == len(report.histogram.edges) == 0
    assert report.blocks == () and len(report.values) == 0
    for name in ("p50", "min", "max", "mean", "sd"):
        with pytest.raises(timerlat.NotEnoughSamples):
            getattr(report, name)
    assert "n=0" in repr(report) and "<svg" not in report._repr_html_()


def test_threads_of_one_run_are_taken_together(threads: timerlat.Report) -> None:
    a, b = threads.results
    assert threads.n == a.n + b.n
    assert (threads.min, threads.max) == (min(a.min, b.min), max(a.max, b.max))
    assert threads.counts["asked"] == a.counts["asked"] + b.counts["asked"]
    assert min(a.p50, b.p50) <= threads.p50 <= max(a.p50, b.p50)
    assert threads.histogram.counts.sum() == threads.n
    assert sorted(threads.values) == sorted([*a.values, *b.values])
    assert sum(block.n for block in threads.blocks) == threads.n
    assert len(threads.blocks) <= 1 + max(len(a.blocks), len(b.blocks))


def test_joined_histograms_are_exact(threads: timerlat.Report) -> None:
    _, hist = native.hist_new(threads.document["results"][0]["histogram"]["hz"])
    for result in threads.results:
        found = native.result_hist(result._native)
        assert found is not None
        native.hist_merge(hist, found)
    edges = numpy.asarray(native.hist_edges_ns(hist))
    assert (edges == threads.histogram.edges).all()
    assert (numpy.asarray(native.hist_counts(hist)) == threads.histogram.counts).all()


def test_the_uncertainty_of_threads_is_that_of_all(threads: timerlat.Report) -> None:
    whole = timerlat.Report(native.report_join(threads._native)[1])
    assert len(whole.results) == 1 and threads.uncertainty is not None
    assert threads.uncertainty.u == pytest.approx(whole.results[0]._summary.u_ns)
    assert threads.uncertainty == whole.uncertainty
    first = threads.results[0].uncertainty
    assert first is not None and first != threads.uncertainty
    assert threads.interval["p50"] == whole.interval["p50"]


def test_metrics_of_several_cpus_are_not_one(session: timerlat.Session) -> None:
    report = timerlat.noise(cpus="all", duration="20ms", policy="other")
    if len(report.results) > 1:
        with pytest.raises(ValueError, match=r"choose one of \.results"):
            report.n


def test_results_that_do_not_belong_together_must_be_chosen(
    solo: timerlat.Report, threads: timerlat.Report
) -> None:
    mixed = timerlat.Report(native.report_copy(solo._native)[1])
    native.report_append(mixed._native, native.report_copy(threads._native)[1])
    with pytest.raises(ValueError, match=r"3 results.*choose one of \.results"):
        mixed.p50
    assert mixed.results[0].p50 == solo.p50


def test_reports_survive_pickle_and_files(solo: timerlat.Report, tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(solo)).document == solo.document
    (result,) = pickle.loads(pickle.dumps(solo.results))
    assert (result.n, result.p50, repr(result)) == (solo.n, solo.p50, repr(solo.results[0]))
    path = tmp_path / "rep\udcffort.json"
    solo.save(path)
    assert json.loads(path.read_text()) == solo.document
    solo.save(path, append=True)
    assert len(path.read_text().splitlines()) == 2
    with pytest.raises(timerlat.NotFound):
        solo.save(tmp_path / "no" / "such" / "folder")


def test_data_frames(solo: timerlat.Report, threads: timerlat.Report) -> None:
    frame = threads.to_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["n"]) == [result.n for result in threads.results]
    assert list(frame["p50_ns"]) == [result.p50 for result in threads.results]
    assert math.isnan(solo.to_dataframe()["p9999_ns"][0])


def test_budgets_say_what_they_rest_on(solo: timerlat.Report) -> None:
    passed = solo.meets("p50<1000s, n>=100")
    failed = solo.meets("p50<1ns")
    assert failed.verdict is timerlat.Verdict.FAIL and not failed
    assert f"n {solo.n}" in failed.text and "FAIL" in repr(failed)
    assert passed.verdict in (timerlat.Verdict.PASS, timerlat.Verdict.INCONCLUSIVE)
    assert bool(passed) == (passed.verdict is timerlat.Verdict.PASS)
    with pytest.raises(timerlat.InvalidOption, match="p50"):
        solo.meets("p50<50")


def test_a_run_whose_clock_failed_meets_no_budget(solo: timerlat.Report) -> None:
    document: Any = copy.deepcopy(solo.document)
    for result in document["results"]:
        result["findings"] = []
    document["findings"] = [{"id": "cpu-governor", "severity": "warn", "text": "powersave"}]
    assert timerlat.Report(read_text(json.dumps(document))).meets("p50<1000s")
    document["findings"] += [{"id": "clock-broken", "severity": "error", "text": "backwards"}]
    judged = timerlat.Report(read_text(json.dumps(document))).meets("p50<1000s")
    assert judged.verdict is timerlat.Verdict.INCONCLUSIVE and "degraded" in judged.text


def test_the_worst_thread_decides_a_budget(threads: timerlat.Report) -> None:
    a, b = threads.results
    limit = math.ceil((a.min + b.min) / 2)
    judged = threads.meets(f"min<={limit}ns")
    assert judged.verdict is max(r.meets(f"min<={limit}ns").verdict for r in threads.results)
    assert judged.text.count("timer-nanosleep") == 2


def test_a_report_in_one_line(solo: timerlat.Report) -> None:
    assert "\n" not in repr(solo)
    assert repr(solo).startswith("<Report timer-nanosleep 0 other:0 n=")
    assert "p50=" in str(solo)


def test_a_build_without_json_has_all_but_text(
    session: timerlat.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = session.run("timer-nanosleep", samples=100, interval="1ms", cpus="0")

    def not_built(report: native.TlatReport) -> tuple[int, str]:
        raise timerlat.Unsupported(errno.EOPNOTSUPP, "not in this build")

    monkeypatch.setattr(native, "report_format", not_built)
    assert f"n={report.n}" in repr(report) and report.results[0].kind == "latency"
    with pytest.raises(timerlat.NotEnoughSamples, match="max so far"):
        report.p9999
    with pytest.raises(timerlat.Unsupported):
        report.to_json()


def test_facts_and_the_command_that_repeats_it(solo: timerlat.Report) -> None:
    assert solo.facts["machine.kernel"] == solo.document["machine"]["kernel"]
    assert solo.repeat is not None and solo.repeat.startswith("tlat run timer-nanosleep ")
    assert solo.document["tool"]["argv"]
