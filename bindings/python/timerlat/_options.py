# SPDX-License-Identifier: MIT
"""Options of a run: from keywords to the struct of the library."""

from __future__ import annotations

import errno
import operator
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypedDict, Union

from . import native
from ._enums import Policy
from ._errors import InvalidOption, from_code

#: A time: text with its unit ("250us"), a timedelta, or whole nanoseconds.
Time = Union[str, int, timedelta]
#: CPUs: the syntax of tlat ("0-3,8", "isolated"), one number, or several.
Cpus = Union[str, int, Iterable[int]]

_UNITS_NS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_UNITS_NS |= {"\N{MICRO SIGN}s": 1000, "\N{GREEK SMALL LETTER MU}s": 1000}
_TIME = re.compile(rf"\s*(\d+(?:\.\d+)?)\s*({'|'.join(_UNITS_NS)})\s*\Z")


class RunOptions(TypedDict, total=False):
    """
    Keywords of timerlat.run(), Session, and all that starts runs. Left out, an option is as in
    "tlat run": FIFO 40 where it is granted (a finding says so where it is not), the best CPUs
    there are, 1 ns of timer slack, 2 s unless samples is given.
    """

    cpus: Cpus  #: solo: one thread on each; pairs: kick and wait, or one for both
    pair: str | tuple[int, int]  #: "KICK:WAIT", the same as cpus for a pair
    policy: Policy | str  #: of the measuring threads
    priority: int  #: 1 to 99, of the waiter (40)
    samples: int  #: cycles for each thread
    duration: Time  #: length of the measurement; timers: as many intervals as it spans
    interval: Time  #: solo: period (1 ms); pair: slot (0: closed loop)
    settle: Time  #: pair: from the announcement to the kick (50 us)
    dither: Time  #: pair: settle is longer by up to this, at random
    slack: Time  #: timer slack; "default": as the calling thread has it
    cpu_latency: Time  #: hold /dev/cpu_dma_latency at this; "default": do not touch
    warmup: int  #: unmeasured cycles at the beginning (1000 or 0.2 s, the shorter)
    seed: int  #: of phase and dither
    raw: int  #: keep so many first values, as Result.values
    threads: int  #: solo: so many on each CPU (1)
    offset: Time  #: solo: from one thread's grid to the next one's (drawn from the seed)
    total_threads: int  #: solo: so many, on the CPUs in turn (as threads says)
    interval_step: Time  #: solo: every further thread's interval is longer by this
    priority_step: int  #: solo: every further thread's priority is lower by this
    align: Time  #: solo: expiries are multiples of this on the probe's clock
    phase: Time  #: with align: so much later
    target: str  #: pair: what a wake finds the waiter doing, "sleeping" or "busy"
    break_above: Time  #: end the run at the first value above this
    runtime: Time  #: policy DEADLINE: CPU time in each period
    deadline: Time  #: policy DEADLINE (the period)
    period: Time  #: policy DEADLINE (the interval)
    round_trip: bool  #: pair: there and back, on one clock
    verify: bool  #: check in every cycle that the waiter slept
    strict: bool  #: a refused policy is an error
    trace_mark: bool  #: with break_above: mark the kernel's trace there, and stop it
    lock_all: bool  #: lock all memory of the process meanwhile
    floor: bool  #: measure the floor of the method too (True)


INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
#: Numbers that are no times, and the largest that their member of the struct can hold.
_COUNTS = {
    "samples": 2**64 - 1,
    "warmup": INT64_MAX,
    "seed": 2**64 - 1,
    "raw": 2**64 - 1,
    "threads": INT32_MAX,
    "total_threads": INT32_MAX,
    "priority_step": INT32_MAX,
}
#: Where 0 is a request of its own, not the default.
_ZERO_IS_MEANT = frozenset({"interval", "settle", "dither", "cpu_latency", "warmup", "offset"})
#: Members of the struct that have a unit; break is a word of Python's own.
_TIMES = {
    "duration": "duration_ns",
    "interval": "interval_ns",
    "settle": "settle_ns",
    "dither": "dither_ns",
    "slack": "slack_ns",
    "cpu_latency": "cpu_latency_ns",
    "break_above": "break_ns",
    "offset": "offset_ns",
    "interval_step": "interval_step_ns",
    "align": "align_ns",
    "phase": "phase_ns",
    "runtime": "runtime_ns",
    "deadline": "deadline_ns",
    "period": "period_ns",
}
_FLAGS = {
    "round_trip": native.RUN_ROUND_TRIP,
    "verify": native.RUN_VERIFY,
    "strict": native.RUN_STRICT,
    "lock_all": native.RUN_LOCK_ALL,
    "trace_mark": native.RUN_TRACE_MARK,

}


def invalid(text: str) -> InvalidOption:
    error = from_code(errno.EINVAL, text)
    assert isinstance(error, InvalidOption)
    return error


def count(value: Any, name: str, most: int = INT64_MAX) -> int:
    """A whole number from 0 to most. InvalidOption: it is none."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= most:
        raise invalid(f"{name}: {value!r} is no whole number from 0 to {most}")
    return number


def _nanoseconds_of_text(text: str, name: str) -> int:
    match = _TIME.match(text)
    if match:
        return int(Decimal(match[1]) * _UNITS_NS[match[2]])
    if text.strip() == "0":
        return 0
    raise invalid(f'{name}: "{text}" is no time; write for example 250us, 1.5ms or 2s')


def _nanoseconds_of_number(value: Any, name: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f'{name}: {value!r} is no time; give text such as "250us", a timedelta, '
            "or whole nanoseconds"
        ) from None


def nanoseconds(value: Time, name: str) -> int:
    """A time as whole nanoseconds. InvalidOption, TypeError: it is none."""
    if isinstance(value, timedelta):
        ns = ((value.days * 86400 + value.seconds) * 10**6 + value.microseconds) * 1000
    elif isinstance(value, str):
        ns = _nanoseconds_of_text(value, name)
    else:
        ns = _nanoseconds_of_number(value, name)
    if not 0 <= ns <= INT64_MAX:
        raise invalid(f"{name}: {value} is not from 0 to {INT64_MAX} ns, 292 years")
    return ns


def cpu_list(cpus: Cpus) -> str:
    """CPUs in the syntax of the library."""
    if isinstance(cpus, str):
        return cpus
    numbers = cpus if isinstance(cpus, Iterable) else (cpus,)
    return ",".join(str(count(cpu, "cpus", INT32_MAX)) for cpu in numbers)


def policy_number(policy: Policy | str) -> int:
    if isinstance(policy, str):
        return native.policy_from_name(policy.lower())
    return int(policy)


def _pair(pair: str | tuple[int, int]) -> str:
    sides = pair.split(":") if isinstance(pair, str) else pair
    if len(sides) != 2:
        raise invalid(f"pair: {pair!r} is not KICK:WAIT, such as 0:1")
    return f"{sides[0]},{sides[1]}"


def _placement(options: Mapping[str, Any]) -> str | None:
    if "pair" in options and "cpus" in options:
        raise invalid("pair and cpus both place the threads; use one")
    if "pair" in options:
        return _pair(options["pair"])
    return cpu_list(options["cpus"]) if "cpus" in options else None


def _number(name: str, value: Any) -> int:
    if name == "target":
        return native.target_from_name(value)
    if name in _TIMES:
        number = 0 if value == "default" else nanoseconds(value, name)
    else:
        number = count(value, name, _COUNTS[name])
    return native.ZERO if number == 0 and name in _ZERO_IS_MEANT and value != "default" else number


def scheduling(policy: Policy | str, priority: int | None) -> dict[str, int]:
    """The members that say how threads are scheduled; priority None: 40 where there are any."""
    number = policy_number(policy)
    if priority is None:
        priority = 40 if number in (Policy.FIFO, Policy.RR) else 0
    return {"policy": number, "priority": count(priority, "priority", INT32_MAX)}


def fields_of(probe: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The members of struct tlat_run_opts. TypeError: there is no such option."""
    unknown = options.keys() - RunOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"no such option of a run: {', '.join(sorted(unknown))}")
    flags = sum(flag for name, flag in _FLAGS.items() if options.get(name))
    if not options.get("floor", True):
        flags |= native.RUN_NO_FLOOR
    fields: dict[str, Any] = {
        "probe": probe,
        "cpus": _placement(options),
        "slack_ns": 1,
        **scheduling(options.get("policy", Policy.FIFO), options.get("priority")),
        "flags": flags,
    }
    apart = {"cpus", "pair", "policy", "priority", "floor", *_FLAGS}
    for name in options.keys() - apart:
        fields[_TIMES.get(name, name)] = _number(name, options[name])
    return fields
