# SPDX-License-Identifier: MIT
"""Packages that are not needed until something of them is."""

from __future__ import annotations

import importlib
from typing import Any

from ._errors import MissingExtra

_EXTRA = {"numpy": "numpy", "pandas": "pandas", "matplotlib": "plot"}


def extra(module: str) -> Any:
    """The module, or MissingExtra saying how to get it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"this needs {package}: pip install 'timerlat[{_EXTRA[package]}]'", name=package
        ) from error
