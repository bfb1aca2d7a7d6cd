# SPDX-License-Identifier: MIT
"""The enumerations of timerlat.h; a test holds them equal to it."""

from __future__ import annotations

from enum import IntEnum

from . import native


class Severity(IntEnum):
    """How bad a finding is."""

    INFO = native.INFO  #: worth knowing: not isolated, hypervisor
    WARN = native.WARN  #: the figures are degraded
    ERROR = native.ERROR  #: the figures are not what was asked for


class Policy(IntEnum):
    """Scheduling policy of the measuring threads, never of the interpreter."""

    INHERIT = native.SCHED_INHERIT  #: as the calling thread has it
    OTHER = native.SCHED_OTHER
    FIFO = native.SCHED_FIFO
    RR = native.SCHED_RR
    BATCH = native.SCHED_BATCH
    DEADLINE = native.SCHED_DEADLINE
    IDLE = native.SCHED_IDLE
    EXT = native.SCHED_EXT  #: read back only


class Verdict(IntEnum):
    """Whether a budget is met; the worse, the larger."""

    PASS = native.PASS
    INCONCLUSIVE = native.INCONCLUSIVE
    FAIL = native.FAIL


class ClockSource(IntEnum):
    """Where stamps come from."""

    AUTO = native.CLOCK_AUTO  #: the counter if it can be trusted
    TSC = native.CLOCK_TSC
    CNTVCT = native.CLOCK_CNTVCT
    RDTIME = native.CLOCK_RDTIME
    GETTIME = native.CLOCK_GETTIME
