#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind G: clocks and time arithmetic, with clocks that have a fault."""
import json
import os
import re
import signal
import subprocess
import time
from typing import Any

from surroundings import (CYCLICTEST, FOLDER, HANG_S, SHORT, TLAT, cyclictest, findings, main,
                          preloaded, read, report, tlat, traced, with_texts)

CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
GETTIME = ["run", "null", "-n", "500", "--clock", "clock_gettime"]


def faulty(fault: str) -> dict[str, Any]:
    return {**preloaded("clock"), "FAKE_CLOCK": fault}


def sent(words: list[Any], *signals: int) -> str:
    """Start it, send signals to it, the last one ends it; what it wrote to out.json."""
    path = os.path.join(FOLDER, "out.json")
    child = subprocess.Popen([*words, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1.2)
    for number in signals:
        child.send_signal(number)
        time.sleep(0.005)
    code = child.wait(timeout=HANG_S)
    assert code == 0, f"{words} ends with {code}"
    return read(path)


def g2_a_signal_in_mid_sleep_makes_no_sample() -> None:
    """At an interval of 10 s there is no expiry in that time, whatever the signals."""
    window = [signal.SIGWINCH] * 100
    document = json.loads(sent([TLAT, "run", "timer-nanosleep", "-i", "10s", "-d", "1h",
                                "--warmup", "0", "--json"], *window, signal.SIGINT))
    counts = document["results"][0]["counts"]
    assert document["run"]["end"] == "signal", document["run"]
    assert counts["early"] == 0 and counts["recorded"] <= 1, counts
    assert counts["asked"] == counts["recorded"] + counts["unfinished"], counts
    both = [number for _ in range(100) for number in (signal.SIGWINCH, signal.SIGUSR1)]
    for end in (signal.SIGINT, signal.SIGTERM):
        text = sent([CYCLICTEST, "-q", "-t", "2", "-h", "100", "-i", "10000000", "--json"], *both,
                    end)
        for thread in json.loads(text)["thread"].values():
            assert thread["cycles"] == 0 and thread["histogram"] == {}, thread
    # Where there are expiries, none is early for being interrupted.
    text = sent([CYCLICTEST, "-q", "-t", "2", "-h", "100", "-i", "1000", "--json"], *both,
                signal.SIGINT)
    for thread in json.loads(text)["thread"].values():
        assert thread["cycles"] > 0 and thread["min"] >= 0, thread


def g3_a_clocksource_that_is_no_counter_is_named() -> None:
    for name in ("hpet", "acpi_pm"):
        under = with_texts({CLOCKSOURCE: name + "\n"})
        document = report(*SHORT, under=under)
        said = findings(document)["clocksource"]
        assert name in said["text"] and said["severity"] == "warn", said
        assert document["clock"]["source"] == "clock_gettime", document["clock"]
        assert document["clock"]["kernel_clocksource"] == name, document["clock"]


def g3_a_slow_clock_raises_the_floor() -> None:
    document = report(*GETTIME, **faulty("slow:2000"))
    clock, result = document["clock"], document["results"][0]
    assert clock["read_cost_ns"] >= 2000 and clock["gettime_cost_ns"] >= 2000, clock
    assert result["floor"]["min_ns"] >= 2000 and result["summary"]["min_ns"] >= 2000, result


def g3_a_slow_clock_is_no_noise() -> None:
    """What a stamp takes is no gap, and nobody's fault."""
    noise = ["noise", "-d", "200ms", "--policy", "other", "--clock", "clock_gettime"]
    for fault in ("slow:2000", "round:4000"):
        document = report(*noise, **faulty(fault))
        clock, result = document["clock"], document["results"][0]
        used = {metric["name"]: metric["value"] for metric in result["metrics"]}["threshold_ns"]
        assert used >= 2 * max(clock["read_p99_ns"], clock["quantum_ns"]) >= 4000, (clock, used)
        said = findings(document)
        assert said["clock-slow"]["severity"] == "warn", said
        assert "firmware" not in said.get("noise-unknown", {"text": ""})["text"], said


def g4_the_step_is_the_one_seen() -> None:
    for step in (1000, 2000):
        clock = report(*GETTIME, **faulty(f"round:{step}"))["clock"]
        assert clock["quantum_ns"] == step, clock
        ended = cyclictest("-R", "-l", "9", **faulty(f"round:{step}")).expect(0)
        assert f"measured clock resolution approximately: {step} nsec" in ended.err, ended


def g4_timers_that_expire_at_the_tick_are_told() -> None:
    words = ["run", "timer-nanosleep", "-d", "100ms"]
    for command in (["check"], words):
        document = report(*command, **faulty("tick:4000000"))
        found = findings(document)["low-resolution"]
        assert found["severity"] == "warn" and "steps of 4 ms" in found["text"], found
        assert document["machine"]["timer_resolution_ns"] == 4000000, document["machine"]
    warning = "High resolution timers not available: timers expire at the tick, in steps of 4 ms"
    ended = cyclictest("-l", "9", **faulty("tick:4000000")).expect(0)
    assert ended.err.count(warning) == 1, ended
    ended = cyclictest("-l", "9", **faulty("tick:1")).expect(0)
    assert warning[:20] not in ended.err, ended
    assert "low-resolution" not in findings(report(*words, **faulty("tick:1")))


def g5_equal_readings_do_not_hide_the_step() -> None:
    clock = report(*GETTIME, **faulty("third:52"))["clock"]
    assert clock["quantum_ns"] == 52, clock


def g5_a_clock_that_stands_still_is_refused() -> None:
    frozen = faulty("frozen")
    for words in (GETTIME, SHORT, ["check"], ["noise", "-d", "100ms", "-c", "0"]):
        ended = tlat(*words, **frozen).expect(2, "CLOCK_MONOTONIC_RAW stands still")
        assert not ended.out and ended.err.count("\n") == 1, ended
    for words in (["-l", "9"], ["-R", "-l", "9"]):
        ended = cyclictest(*words, **frozen).expect(1, "stands still")
        assert not re.search(r"\d{15}", ended.err), ended


def g6_a_clock_that_may_not_be_read_is_refused() -> None:
    for words in (GETTIME, SHORT, ["check"], ["run", "wake-futex", "-n", "50"]):
        ended = tlat(*words, **faulty("refused")).expect(
            2, "clock not usable: clock_gettime(CLOCK_MONOTONIC_RAW)")
        assert not ended.out, ended
    cyclictest("-l", "9", **faulty("refused")).expect(1, "clock not usable")


def g8_the_settable_clock_counts_no_overrun() -> None:
    """Missed is what the grid says, and all of it adds up, across the seconds of any clock."""
    for probe in ("timer-nanosleep", "timer-nanosleep-realtime", "timer-timerfd"):
        result = report("run", probe, "-d", "1s", "-i", "1ms", "--warmup", "0")["results"][0]
        counts, summary = result["counts"], result["summary"]
        kept = sum(counts[name] for name in ("recorded", "early", "overflow", "missed",
                                             "unfinished")) + sum(counts["rejected"].values())
        assert counts["asked"] == kept and counts["early"] == 0, counts
        # An expiry is missed only while one before it was late by more than an interval.
        assert counts["missed"] == 0 or summary["max_ns"] > 1000000, (counts, summary)


def g9_a_calibration_waits_once() -> None:
    """For the rate of a counter, what is left of 100 ms; not for a clock whose rate is known."""
    log = os.path.join(FOLDER, "sleeps")
    sleeps = traced("clock_nanosleep,nanosleep,poll,ppoll,select,pselect6", log)
    clock = tlat("check", "--json", "-", under=sleeps).expect(0).json["clock"]
    sleeps_made = read(log).count("nanosleep(")
    assert sleeps_made <= (clock["method"] == "measured"), read(log)
    assert sleeps_made or clock["method"] == "nominal" or clock["span_ms"] >= 100, clock
    with_hpet = with_texts({CLOCKSOURCE: "hpet\n"})
    clock = tlat("check", "--json", "-", under=[*with_hpet, *sleeps]).expect(0).json["clock"]
    assert clock["method"] == "nominal" and "(" not in read(log), read(log)


if __name__ == "__main__":
    main([g2_a_signal_in_mid_sleep_makes_no_sample, g3_a_clocksource_that_is_no_counter_is_named,
          g3_a_slow_clock_raises_the_floor, g3_a_slow_clock_is_no_noise,
          g4_the_step_is_the_one_seen, g4_timers_that_expire_at_the_tick_are_told,
          g5_equal_readings_do_not_hide_the_step, g5_a_clock_that_stands_still_is_refused,
          g6_a_clock_that_may_not_be_read_is_refused, g8_the_settable_clock_counts_no_overrun,
          g9_a_calibration_waits_once])
