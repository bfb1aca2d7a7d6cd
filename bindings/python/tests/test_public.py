# SPDX-License-Identifier: MIT
"""What is public: documented, typed, and the same as in timerlat.h."""

from __future__ import annotations

import ast
import doctest
import enum
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import timerlat
from timerlat import native

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[2]
PACKAGE = Path(timerlat.__file__).parent

CONSTANTS = {
    timerlat.Policy: "SCHED_",
    timerlat.ClockSource: "CLOCK_",
}
PLAIN = {
    timerlat.Severity: ("INFO", "WARN", "ERROR"),
    timerlat.Verdict: ("PASS", "INCONCLUSIVE", "FAIL"),
}


def members(kind: Any) -> dict[str, int]:
    return {member.name: int(member) for member in kind}


@pytest.mark.parametrize("kind", CONSTANTS)
def test_enums_have_the_members_of_the_header(kind: type[enum.IntEnum]) -> None:
    prefix = CONSTANTS[kind]
    assert members(kind) == {
        name[len(prefix) :]: value
        for name, value in vars(native).items()
        if name.startswith(prefix)
    }


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_enums_have_the_values_of_the_header(kind: type[enum.IntEnum]) -> None:
    assert members(kind) == {name: getattr(native, name) for name in PLAIN[kind]}


def test_the_stub_of_the_native_module_names_what_there_is() -> None:
    stub = ast.parse((PACKAGE / "native.pyi").read_text())
    nameless = {"TlatResult"}  # lives inside a report, and has no class
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_":
            assert node.name in nameless or hasattr(native, node.name), node.name
        if isinstance(node, ast.FunctionDef):
            found = list(inspect.signature(getattr(native, node.name)).parameters)
            assert found == [argument.arg for argument in node.args.args], node.name
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.target.id[0] != "_":
                assert hasattr(native, node.target.id), node.target.id


def test_structs_that_begin_with_their_size_have_it_set() -> None:
    sized = {
        name: kind
        for name, kind in vars(native).items()
        if isinstance(kind, type) and isinstance(vars(kind).get("size"), property)
    }
    assert {"TlatRare", "TlatDesign", "TlatMetric", "TlatRunOpts"} <= set(sized)
    assert [name for name, kind in sized.items() if not kind().size] == []


def test_structs_go_into_the_library_and_come_back(session: timerlat.Session) -> None:
    report = native.run(_null_run(session))[1]
    metric = native.TlatMetric()
    metric.name, metric.unit, metric.value, metric.better = "throughput", "Hz", 5.0, 1
    assert native.report_add_metric(report, "me", metric) == 0
    (result,) = timerlat.Report(report).results[1:]
    assert result.metrics == {"throughput": 5} and result.metrics["throughput"].unit == "Hz"
    with pytest.raises(timerlat.NotFound):
        native.report_design(report)
    design = native.TlatDesign()
    design.side, design.pair, design.order = ord("B"), 2, "ABBA"
    native.report_set_design(report, design)
    kept = native.report_design(report)[1]
    assert (kept.side, kept.pair, kept.order) == (ord("B"), 2, "ABBA")
    rare = native.result_rare(native.report_result(report, 0), 0.001)[1]
    assert 0 < rare.share_bound <= 1 and rare.needed > 0


def _null_run(session: timerlat.Session) -> Any:
    opts = native.TlatRunOpts()
    opts.probe, opts.samples = "null", 2000
    opts.machine, opts.clock = session._machine, session._clock
    return opts


def test_nothing_of_the_library_writes_into_an_array_of_unknown_length() -> None:
    assert not hasattr(native, "run_read") and not hasattr(native, "TlatSample")


def test_a_report_is_read_from_text_of_its_own_length(session: timerlat.Session) -> None:
    text = session.run("null", samples=50).to_json()
    read = timerlat.Report(native.report_parse(text.encode(), "it")[1])
    assert read.n == 50 and read.to_json() == text
    with pytest.raises(TypeError):
        native.report_parse(text.encode(), len(text) + 10_000, "it")


def documented(owner: str, name: str, thing: Any) -> list[str]:
    if isinstance(thing, type) and issubclass(thing, enum.Enum):
        return [] if thing.__doc__ else [owner + name]
    missing = [] if inspect.getdoc(thing) else [owner + name]
    if not isinstance(thing, type):
        return missing
    for inner, member in vars(thing).items():
        if inner[0] == "_" or not (
            inspect.isfunction(member) or isinstance(member, property) or hasattr(member, "func")
        ):
            continue
        function = getattr(member, "fget", None) or getattr(member, "func", member)
        inherited = any(inner in vars(base) for base in thing.__mro__[1:])
        if not function.__doc__ and not inherited:
            missing.append(f"{owner}{name}.{inner}")
    return missing


def test_every_public_name_is_documented() -> None:
    missing = []
    for name in timerlat.__all__:
        thing = getattr(timerlat, name)
        if callable(thing) and name not in ("Time", "Cpus", "Side"):
            missing += documented("", name, thing)
    assert not missing


def test_the_example_of_the_package_holds() -> None:
    assert doctest.testmod(timerlat).failed == 0


def test_the_examples_of_the_readme_hold() -> None:
    found = doctest.testfile(
        str(SOURCE / "README.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert found.attempted > 0 and found.failed == 0


def test_mypy_has_no_complaint() -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.fail("mypy is not installed: install python3-mypy")
    version = subprocess.run(
        [sys.executable, "-m", "mypy", "--version"], capture_output=True, text=True
    ).stdout.split()[1]
    old = tuple(map(int, version.split(".")[:2])) < (1, 7)
    checked = subprocess.run(
        [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            str(SOURCE / "pyproject.toml"),
            "--cache-dir=/dev/null",
            *(["--enable-incomplete-feature=Unpack"] if old else []),
            "timerlat",
        ],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
