# SPDX-License-Identifier: MIT
"""
A command line of cyclictest, read as getopt(3) reads it: letters in bundles, values in the same
word or the next, long names cut short. What the output means hangs on two of its options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: Of cyclictest, old and new, and tlat-cyclictest. The other letters take no value.
_NEEDS = frozenset("DFHOTbcdeghilopy")
_MAY = frozenset("Aat")
_LONG_NEEDS = frozenset(
    "breaktrace clock deepest-idle-state distance duration fifo histfile histofall histogram "
    "interval json latency loops mainaffinity of_max oscope policy prio priority shape spike "
    "spike-nodes tlat-json traceopt tracer".split()
)
_LONG_MAY = frozenset("affinity align aligned secaligned threads".split())
_LONG_ALONE = frozenset(
    "context dbg_cyclictest default-system dump-resolution event ftrace irqsoff laptop mlockall "
    "nanosleep notrace nsecs numa posix_timers preemptirqs preemptoff priospread quiet "
    "refresh_on_max relative resolution smi smp strict system tracemark unbuffered verbose wakeup "
    "wakeuprt".split()
)
_LONG = _LONG_NEEDS | _LONG_MAY | _LONG_ALONE
_LIMIT_MAX = 10**6  # of rows that cyclictest keeps


@dataclass(frozen=True)
class Command:
    """What a command line says of the numbers in the output."""

    ns: bool  #: they are nanoseconds
    limit: int | None  #: rows of the histogram; None: none, or not to be told


def _name(word: str) -> str:
    """A long option's whole name. ValueError: it has none, or several."""
    found = [word] if word in _LONG else [name for name in _LONG if name.startswith(word)]
    if len(found) != 1:
        raise ValueError(f"--{word} is no option of cyclictest")
    return found[0]


def _is_value(word: str, name: str) -> bool:
    """Whether it is the value, apart, of an option that may have one."""
    return word[:1].isdigit() or (name in ("a", "affinity") and word[:1] not in ("", "-"))


def _long(word: str) -> tuple[str, str, bool, bool]:
    name, equals, value = word.partition("=")
    name = _name(name)
    return name, value, name in _LONG_NEEDS and not equals, name in _LONG_MAY and not equals


def _bundle(word: str) -> Iterator[tuple[str, str, bool, bool]]:
    for at, letter in enumerate(word):
        value = word[at + 1 :]
        if letter in _NEEDS or letter in _MAY:
            yield letter, value, letter in _NEEDS and not value, letter in _MAY and not value
            return
        yield letter, "", False, False


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """Each option with its value. ValueError: a word is none, and belongs to none."""
    rest = iter(words)
    word = next(rest, None)
    while word is not None:
        if len(word) < 2 or word[0] != "-" or word == "--":
            raise ValueError(f"{word!r} is no option of cyclictest")
        found = [_long(word[2:])] if word.startswith("--") else list(_bundle(word[1:]))
        word = next(rest, None)
        for name, value, needs, may in found:
            if needs and word is None:
                raise ValueError(f"-{name} needs a value")
            if word is not None and (needs or (may and _is_value(word, name))):
                value, word = word, next(rest, None)
            yield name, value


def read_command(words: list[str]) -> Command | None:
    """
    What the words after the program's name say; None: they are no command line of cyclictest, as
    where a file name with blanks in it was written without quotes.
    """
    ns = False
    limits = set()
    try:
        for name, value in _options(words):
            ns = ns or name in ("N", "nsecs")
            if name in ("h", "H", "histogram", "histofall"):
                digits = re.match(r"\+?0*(\d+)", value)
                limits.add(min(int(digits[1]), _LIMIT_MAX) if digits else 0)
    except ValueError:
        return None
    limit = limits.pop() if len(limits) == 1 else 0
    return Command(ns, limit or None)
