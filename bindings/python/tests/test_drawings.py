# SPDX-License-Identifier: MIT
"""Plots and tables: that they are drawn, with labels, units and every thread."""

from __future__ import annotations

import io
from typing import Any
from xml.etree import ElementTree

import matplotlib
import matplotlib.image
import pytest

import timerlat
from timerlat._quantity import time_text

matplotlib.use("Agg")

# Of pyparsing, as some releases of matplotlib use it.
pytestmark = pytest.mark.filterwarnings("ignore:.*Forward.*:UserWarning")


def texts(ax: Any) -> list[str]:
    return [label.get_text() for label in ax.get_legend().get_texts()]


def png(ax: Any) -> bytes:
    out = io.BytesIO()
    ax.figure.savefig(out, format="png")
    return out.getvalue()


@pytest.mark.parametrize("kind", ["histogram", "nines", "timeline"])
def test_every_thread_is_drawn_with_units(kind: str, threads: timerlat.Report) -> None:
    ax = threads.plot(kind)
    assert png(ax).startswith(b"\x89PNG")
    for result in threads.results:
        assert any(f"timer-nanosleep {result.where} (other:0)" in text for text in texts(ax))
    axis = ax.xaxis if kind == "histogram" else ax.yaxis
    assert axis.get_scale() == "log"
    low, high = axis.get_view_interval()
    names = [
        tick.label1.get_text()
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high
    ]
    assert len(names) >= 2 and all(name.endswith(("s", "us", "ms", "ns")) for name in names)
    assert ax.get_xlabel() and ax.get_ylabel() and ax.get_title()


@pytest.mark.parametrize("kind", ["histogram", "nines", "timeline", "comparison"])
def test_a_notebook_shows_the_picture(kind: str, solo: timerlat.Report) -> None:
    """As IPython asks for it, whether pyplot is in use or not."""
    if kind == "comparison":
        ax = timerlat.compare(solo, solo, force=True).plot()
    else:
        ax = solo.plot(kind)
    for shown in (ax, ax.figure):
        picture = matplotlib.image.imread(io.BytesIO(shown._repr_png_()))
        height, width, _ = picture.shape
        assert 300 < height < width < 2000
        assert len({tuple(colour) for colour in picture[:: 4].reshape(-1, 4)}) > 10, "not blank"


def test_axes_can_be_given(solo: timerlat.Report) -> None:
    figure = matplotlib.figure.Figure()
    ax = figure.add_subplot()
    assert solo.plot("nines", ax=ax) is ax


def test_a_kind_that_does_not_exist_is_refused(solo: timerlat.Report) -> None:
    with pytest.raises(ValueError, match="pie.*histogram, nines, timeline"):
        solo.plot("pie")


def test_a_distribution_of_one_value(session: timerlat.Session) -> None:
    report = session.run("timer-nanosleep", samples=1, warmup=0, cpus="0")
    for kind in ("histogram", "nines", "timeline"):
        assert png(report.plot(kind))


def test_no_data_says_so() -> None:
    for kind in ("histogram", "nines", "timeline"):
        ax = timerlat.check().plot(kind)
        assert [text.get_text() for text in ax.texts] == ["no samples"]
        assert png(ax)


def test_a_notebook_shows_a_table_with_pictures(threads: timerlat.Report) -> None:
    html = f"<div>{threads._repr_html_()}</div>"
    tree = ElementTree.fromstring(html)
    assert len(tree.findall(".//tbody/tr")) == 2
    pictures = tree.findall(".//{http://www.w3.org/2000/svg}svg")
    assert len(pictures) == 2
    assert all("latency from" in picture.attrib["aria-label"] for picture in pictures)


def test_a_notebook_shows_findings_of_a_check() -> None:
    tree = ElementTree.fromstring(f"<div>{timerlat.check()._repr_html_()}</div>")
    assert tree.find(".//table") is None


@pytest.mark.parametrize(
    "ns, text",
    [
        (0, "0ns"),
        (1.5, "1.500ns"),
        (999.94, "999.9ns"),
        (16_710, "16.71us"),
        (2e6, "2.000ms"),
        (-1500, "-1.500us"),
        (3.2e9, "3.200s"),
        (float("nan"), "-"),
    ],
)
def test_times_for_people(ns: float, text: str) -> None:
    assert time_text(ns) == text
