# SPDX-License-Identifier: MIT
"""One measurement at a time, whichever process of this user makes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import warnings
from collections.abc import Iterator

#: In a fixed place: processes whose TMPDIR or session differ must meet there as well.
_PATH = f"/tmp/timerlat-{os.getuid()}.lock"


def _open() -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(_PATH, flags, 0o600)
    if os.fstat(fd).st_uid != os.getuid():  # its owner could keep everybody waiting
        os.close(fd)
        raise PermissionError(f"{_PATH} is another user's; remove it")
    return fd


def _is_in_place(fd: int) -> bool:
    """Not removed meanwhile, by those who tidy /tmp: the next one would lock another file."""
    try:
        return os.path.samestat(os.fstat(fd), os.stat(_PATH, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _take() -> int:
    """Wait for the lock. The kernel drops it with the process, however that ends."""
    while True:
        fd = _open()
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            if _is_in_place(fd):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _give_back(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)  # closing is not enough where a forked child has it, too
    os.close(fd)


@contextlib.contextmanager
def turn() -> Iterator[None]:
    """Wait until nobody else measures. Without a place for the lock, warn and go on."""
    try:
        fd = _take()
    except OSError as error:
        warnings.warn(f"others may measure at the same time: no lock: {error}", stacklevel=3)
        yield
        return
    try:
        yield
    finally:
        _give_back(fd)
