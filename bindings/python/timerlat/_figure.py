# SPDX-License-Identifier: MIT
"""
Figures that a notebook shows as pictures. Those of pyplot it shows by itself, but pyplot keeps what
it makes, and a report is not to get between the drawings of the program.
"""

from __future__ import annotations

import io
from typing import Any

from ._extras import extra

_Figure: Any = extra("matplotlib.figure").Figure
_Axes: Any = extra("matplotlib.axes").Axes


class ShownFigure(_Figure):  # type: ignore[misc]
    """What IPython shows of it is the picture."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png")
        return out.getvalue()


class ShownAxes(_Axes):  # type: ignore[misc]
    """The picture that they are in."""

    def _repr_png_(self) -> bytes:
        png: bytes = self.figure._repr_png_()
        return png


def axes() -> Any:
    """Axes of a new figure."""
    return ShownFigure(figsize=(8, 4.5), layout="constrained").add_subplot(axes_class=ShownAxes)
