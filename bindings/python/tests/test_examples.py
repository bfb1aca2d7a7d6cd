# SPDX-License-Identifier: MIT
"""The examples run as they are printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import timerlat

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PLAIN = sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith("test_"))


def run(*command: str, cwd: Path) -> str:
    path = str(Path(timerlat.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("example", PLAIN, ids=lambda path: path.stem)
def test_scripts(example: Path, tmp_path: Path) -> None:
    assert "n=" in run(str(example), cwd=tmp_path) or list(tmp_path.glob("*.png"))


def test_the_budget_example_is_a_test(tmp_path: Path) -> None:
    output = run(
        "-m", "pytest", "-p", "timerlat.pytest_plugin", "-p", "no:cacheprovider",
        str(EXAMPLES / "test_budget.py"), cwd=tmp_path,
    )  # fmt: skip
    assert "= latency =" in output


def test_every_cell_of_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    names: dict[str, object] = {}
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 4
    for cell in cells:
        *statements, last = cell.splitlines()
        exec("\n".join(statements), names)
        shown = eval(last, names)
        assert shown is not None
        if ".plot(" in last:
            assert shown._repr_png_().startswith(b"\x89PNG"), "a notebook shows the picture"
