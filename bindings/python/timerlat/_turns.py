# SPDX-License-Identifier: MIT
"""One measurement at a time, whichever process of this user makes it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import warnings
from collections.abc import Iterator
from typing import Callable

from ._calls import block_signals

#: In a fixed place: processes whose TMPDIR or session differ must meet there as well.
_PATH = f"/tmp/timerlat-{os.getuid()}.lock"
#: From when on it is said that somebody else measures; most tests take less.
_PATIENCE_S = 5.0

Say = Callable[[str], None]


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


def _sign(fd: int) -> None:
    """Who has the lock, for those who wait: no more than a courtesy, so that it may fail."""
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, b"%d\n" % os.getpid(), 0)


def _waiting_for(fd: int) -> str:
    holder = os.pread(fd, 20, 0).strip().decode("ascii", "replace")
    who = f"process {holder} measures" if holder.isdigit() else "another process measures"
    remedy = f"; if it was stopped: kill -CONT {holder}, or end it" if holder.isdigit() else ""
    return f"timerlat waits for its turn to measure: {who} ({_PATH}){remedy}"


@contextlib.contextmanager
def _telling(fd: int, say: Say | None) -> Iterator[None]:
    """Say once what is waited for, when that takes long. No thread of it is there afterwards."""
    got = threading.Event()

    def tell() -> None:
        block_signals()
        if say is not None and not got.wait(_PATIENCE_S):
            say(_waiting_for(fd))

    teller = threading.Thread(target=tell, name="timerlat", daemon=True)
    teller.start()
    try:
        yield
    finally:
        got.set()
        teller.join()


def _lock(fd: int, say: Say | None) -> None:
    """The kernel drops it with the process, however that ends."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with _telling(fd, say):
            fcntl.flock(fd, fcntl.LOCK_EX)


def _take(say: Say | None) -> int:
    while True:
        fd = _open()
        try:
            _lock(fd, say)
            if _is_in_place(fd):
                _sign(fd)
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _give_back(fd: int) -> None:
    fcntl.flock(fd, fcntl.LOCK_UN)  # closing is not enough where a forked child has it, too
    os.close(fd)


@contextlib.contextmanager
def turn(say: Say | None = None) -> Iterator[None]:
    """
    Wait until nobody else measures; say what for, when it takes long. Without a place for the
    lock, warn and go on.
    """
    try:
        fd = _take(say)
    except OSError as error:
        warnings.warn(f"others may measure at the same time: no lock: {error}", stacklevel=3)
        yield
        return
    try:
        yield
    finally:
        _give_back(fd)
