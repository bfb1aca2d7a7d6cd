# SPDX-License-Identifier: MIT
"""
Calls that block in C, on threads of their own. Not for runs: the thread that starts a run blocks
the signal of its probe, and is the one that has to wait for it.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Generic, TypeVar

T = TypeVar("T")


def block_signals() -> None:
    """
    On this thread, for good. What is sent to the process must find no thread but a probe's waiter,
    or the probe is refused; and the kernel knows a thread for a moment longer than Python does.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


class Helper(Generic[T]):
    """One call on a thread of its own, whose result somebody may not wait for."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._over = threading.Event()
        self._result: list[T] = []
        self._error: BaseException | None = None
        threading.Thread(target=self._run, name="timerlat", daemon=True).start()

    def _run(self) -> None:
        try:
            self._result.append(self._call())
        except BaseException as error:  # for whoever waits
            self._error = error
        block_signals()
        self._over.set()

    def wait(self) -> T:
        """The result, or what was raised; an exception here leaves the call going on."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return self._result.pop()

    def late(self, timeout: float) -> T | None:
        """The result if there is one in so many seconds; later it goes away with the thread."""
        self._over.wait(timeout)
        return self._result.pop() if self._result else None


def interruptible(call: Callable[[], T]) -> T:
    """
    What the call returns. Python handles signals on the main thread only, and not while that is
    in C: there the call goes to a helper, which inherits the caller's policy, CPUs and slack.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    return Helper(call).wait()


async def aside(call: Callable[[], T]) -> T:
    """What the call returns, while the event loop goes on."""
    pool = ThreadPoolExecutor(1, "timerlat", block_signals)
    try:
        return await asyncio.get_running_loop().run_in_executor(pool, call)
    finally:
        pool.shutdown(wait=False)
