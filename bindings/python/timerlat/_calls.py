# SPDX-License-Identifier: MIT
"""Calls that block in C, so that Ctrl-C does not have to wait for them."""

from __future__ import annotations

import threading
from typing import Callable, Generic, TypeVar

T = TypeVar("T")


class Helper(Generic[T]):
    """One call on a thread of its own, whose result somebody may not wait for."""

    def __init__(self, call: Callable[[], T], dispose: Callable[[T], object]) -> None:
        self._call = call
        self._dispose = dispose
        self._lock = threading.Lock()
        self._abandoned = False
        self._over = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="timerlat", daemon=True).start()

    def _run(self) -> None:
        try:
            result = self._call()
        except BaseException as error:  # for whoever waits
            self._error = error
        else:
            with self._lock:
                unwanted = self._abandoned
                if not unwanted:
                    self._result.append(result)
            if unwanted:
                self._dispose(result)
        self._over.set()

    def wait(self) -> T:
        """The result, or what was raised; an exception here leaves the call going on."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._result.pop()

    def late(self, timeout: float) -> T | None:
        """The result if there is one in so many seconds; later it is disposed of."""
        self._over.wait(timeout)
        with self._lock:
            self._abandoned = True
            return self._result.pop() if self._result else None


def interruptible(call: Callable[[], T], dispose: Callable[[T], object] = id) -> T:
    """
    What the call returns. Python handles signals on the main thread only, and not while that is
    in C: there the call goes to a helper, which inherits the caller's policy, CPUs and slack, and
    disposes of the result if an exception such as KeyboardInterrupt comes first.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    helper = Helper(call, dispose)
    try:
        return helper.wait()
    except BaseException:
        unused = helper.late(0)
        if unused is not None:
            dispose(unused)
        raise
