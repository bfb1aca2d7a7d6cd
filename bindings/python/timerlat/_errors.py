# SPDX-License-Identifier: MIT
"""What fails, as exceptions: the native module has from_code() make them of the library's text."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from . import native

if TYPE_CHECKING:
    from ._report import Report


class TimerlatError(OSError):
    """A call of the library failed: errno says why, strerror what, why and what to do about it."""

    def __str__(self) -> str:
        return self.strerror or super().__str__()


class PermissionDenied(TimerlatError, PermissionError):
    """A privilege is missing; the text names it and what to type."""


class NotFound(TimerlatError, FileNotFoundError):
    """No such probe, file or item."""


class InvalidOption(TimerlatError, ValueError):
    """An option, CPU list, budget or file that makes no sense; the text names the bad part."""


class Unsupported(TimerlatError):
    """This kernel lacks it (ENOSYS), or this build does (EOPNOTSUPP)."""


class NotEnoughSamples(TimerlatError):
    """The samples cannot carry the figure. bound_ns is the largest value seen: "max so far"."""

    bound_ns: float = float("nan")


class MissingExtra(ImportError):
    """An optional package is needed for this call; the text says which one to install."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run. report is what it had measured until then (None: nothing)."""

    def __init__(self, report: Report | None) -> None:
        super().__init__("the run was interrupted")
        self.report = report


_KINDS: dict[int, type[TimerlatError]] = {
    errno.EPERM: PermissionDenied,
    errno.EACCES: PermissionDenied,
    errno.ENOENT: NotFound,
    errno.EINVAL: InvalidOption,
    errno.E2BIG: InvalidOption,
    errno.ENOSYS: Unsupported,
    errno.EOPNOTSUPP: Unsupported,
    errno.ENODATA: NotEnoughSamples,
}


def from_code(code: int, text: str) -> TimerlatError:
    return _KINDS.get(code, TimerlatError)(code, text)


native.errors_by(from_code)
