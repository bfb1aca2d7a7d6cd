# SPDX-License-Identifier: MIT
"""The package as a package: it brings what it needs, and can stand anywhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
import types
from pathlib import Path
import pytest

import timerlat
from timerlat import native

WHERE = """
import sys
before = set(sys.modules)
import {name}
try:
    {name}.run("wake-nothing")
except {name}.TimerlatError as error:
    assert type(error) is {name}.NotFound, repr(error)
assert any(probe.missing is None for probe in {name}.probes())
new = sorted(m for m in set(sys.modules) - before if "native" in m or "timerlat" in m)
print({name}.run("null", samples=20, policy="other", floor=False).n, *new)
"""


def test_no_library_of_the_module_is_missing() -> None:
    if not shutil.which("ldd"):
        pytest.skip("no ldd")
    for path in Path(timerlat.__file__).parent.glob("*.so"):
        found = subprocess.run(["ldd", str(path)], capture_output=True, text=True)
        assert "not found" not in found.stdout, found.stdout


def test_every_file_of_the_package_is_in_its_list_of_sources() -> None:
    source = Path(__file__).resolve().parents[1] / "timerlat"
    files = {path.name for path in (*source.glob("*.py*"), source / "py.typed")}
    assert files - {path.name for path in Path(timerlat.__file__).parent.iterdir()} == set()


def test_it_can_be_imported_from_any_folder(tmp_path: Path) -> None:
    program = WHERE.format(name="timerlat")
    path = str(Path(timerlat.__file__).parents[1])
    found = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": path},
    )
    number, *modules = found.stdout.split()
    assert number == "20", found.stderr
    assert all(m == "timerlat" or m.startswith("timerlat.") for m in modules), modules


def test_it_can_be_a_part_of_another_package(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    shutil.copytree(Path(timerlat.__file__).parent, outer / "timerlat")
    (outer / "__init__.py").touch()
    found = subprocess.run(
        [sys.executable, "-c", WHERE.format(name="outer.timerlat")],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path)},
    )
    number, *modules = found.stdout.split()
    assert number == "20", found.stderr
    assert all(m.startswith("outer.") for m in modules), modules


def test_the_native_module_has_the_names_of_its_headers_and_no_others() -> None:
    """Whatever version of SWIG made it: each of its functions and constants is one of the library's
    or of native.i. That none is missing is asserted by
    test_the_stub_of_the_native_module_names_what_there_is."""
    source = Path(__file__).resolve().parents[3]
    headers = [source / "libtimerlat/include/timerlat.h", source / "bindings/python/native.i"]
    declared = "".join(header.read_text() for header in headers).lower()
    odd = [
        name
        for name, member in vars(native).items()
        if name[0] != "_"
        and not isinstance(member, (type, types.ModuleType))
        and name.lower() not in declared
    ]
    assert not odd
