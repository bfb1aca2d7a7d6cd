# SPDX-License-Identifier: MIT
"""Field reports I: ways of waking, io_uring, signals."""
import re
import tempfile

from surroundings import (CPUS, LAST, SOURCE, Skip, TLAT, assert_adds_up, command, findings, main,
                          need_commands, report_of, strict)


def i1():
    """What the kernel makes of a short timeout is reported with the tick beside it; below 10 us it
    is refused; without io_uring the cause is named."""
    short = command(TLAT, "run", "timer-uring", "-i", "5us", "-n", 1000)
    assert short.code == 2 and "below 10000 ns" in short.err and not short.out, short
    if command(TLAT, "run", "timer-uring", "-n", 1).code:
        raise Skip("timer-uring cannot run here")
    document = report_of("timer-uring", "-c", LAST, "-i", "10us", "-n", 1000, "--policy", "other")
    result = document["results"][0]
    assert_adds_up(result)
    assert result["counts"]["asked"] == 1000 and result["counts"]["early"] == 0, result["counts"]
    assert document["machine"]["hz"] > 0
    need_commands("strace")
    for error, words in (("EPERM", "kernel.io_uring_disabled"), ("ENOSYS", "CONFIG_IO_URING")):
        done = command("strace", "-f", "-o", "/dev/null", "-e", f"inject=io_uring_setup:error={error}",
                   TLAT, "run", "timer-uring", "-n", 10)
        assert done.code == 2 and words in done.err and done.err.count("\n") == 1, done
    for call, probe in (("epoll_pwait2", "timer-epoll-pwait2"),
                        ("futex_waitv", "timer-futex2-waitv")):
        refused = ["strace", "-f", "-o", "/dev/null", "-e", f"inject={call}:error=EPERM", TLAT, "run"]
        done = command(*refused, probe, "-n", 10)
        assert done.code == 2 and "seccomp" in done.err and done.err.count("\n") == 1, done
        done = command(*refused, f"{probe[:-2]}*", "timer-epoll-wait", "-n", 10)
        assert done.code == 0 and "seccomp" in done.out, done


def metric_of_the_manual():
    """The expression with which tlat(1) compares two ways of waking."""
    with open(f"{SOURCE}/tools/man/tlat.1", encoding="utf-8") as file:
        return re.search(r"^\t--metric '(\"summary\".*)'$", file.read(), re.M)[1]


# On a busy machine samples can hang together so much that they carry no median.
TRIES = 5
VERDICT = r"^verdict: (REGRESSION|TAIL-REGRESSION|IMPROVEMENT|EQUIVALENT|TRIVIAL|INCONCLUSIVE)$"


def in_turn(probes, *words):
    """Two mechanisms on one CPU, compared by tlat ab: what it prints, and its reports."""
    sides = [f"{TLAT} run {probe} -c {LAST} -n 3000 -q --json -" for probe in probes]
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            done = command(TLAT, "ab", "--a", sides[0], "--b", sides[1], "--metric",
                       metric_of_the_manual(), "--unit", "ns", "--state", f"{folder}/state", "-q",
                       *words)
            if "is not in what" not in done.err:
                with open(f"{folder}/state", encoding="utf-8") as file:
                    return done, [strict(line) for line in file]
    raise AssertionError(f"no median in any of {TRIES} tries: {done}")


def i1_time_namespaces():
    """Where they set the monotonic clock off, absolute timeouts are for another time: refused, with
    the offset; those that are relative are as they were."""
    if command(TLAT, "run", "timer-uring", "-n", 1).code:
        raise Skip("timer-uring cannot run here")
    inside = ["unshare", "-T", "--boottime", 1000, "--monotonic"]
    if command(*inside, 1000, "true").code:
        raise Skip("time namespaces are not available")
    for offset in (1000, -1000):
        run, storm = ([*inside, offset, TLAT, word] for word in ("run", "storm"))
        why = f"time namespace of this process (its monotonic offset is {offset} s); run it outside"
        refused = command(*run, "timer-uring", "-d", "1s", "-q")
        assert refused.code == 2 and why in refused.err and refused.err.count("\n") == 1, refused
        refused = command(*storm, "--clocks", "uring", "-d", "100ms")
        assert refused.code == 2 and why in refused.err and refused.err.count("\n") == 1, refused
        some = command(*storm, "--clocks", "uring,timerfd", "-d", "100ms", "--json", "-").json
        assert why in findings(some)["clock-missing"]["text"], findings(some)
        assert {m["name"] for m in some["results"][0]["metrics"]} >= {"timerfd.delivered_hz"}, some
        if not command(TLAT, "run", "timer-uring-multishot", "-n", 1).code:
            raw = command(*run, "timer-uring-multishot", "-n", 50, "-q", "--json", "-").json
            assert_adds_up(raw["results"][0])
            assert raw["results"][0]["counts"]["early"] == 0, raw["results"][0]["counts"]
    nothing = command(*inside, 0, TLAT, "run", "timer-uring", "-n", 50, "-q")
    assert nothing.code == 0, nothing


def i2():
    """Mechanisms are compared in turn, in an order drawn at random, on the same CPU under the same
    policy, each beside its floor; tlat ab refuses to compare their reports without that."""
    done, runs = in_turn(("wake-futex", "wake-eventfd"), "--pairs", 4, "--seed", 1)
    assert re.search(VERDICT, done.out, re.M), done
    order = "".join(r["design"]["side"] for r in runs)
    assert re.fullmatch("(ABBA|BAAB){2}", order), order
    document = report_of("wake-futex", "wake-eventfd", "-c", LAST, "-n", 300)
    one, other = document["results"]
    for key in ("settle_ns", "interval_ns", "relation"):
        assert one[key] == other[key], key
    for side in ("wait", "kick"):
        kept = ("cpu", "policy", "priority")
        assert [one[side][k] for k in kept] == [other[side][k] for k in kept], side
    assert one["floor"]["n"] > 0 and other["floor"]["n"] > 0
    refused = command(TLAT, "ab", "--a", f"{TLAT} run wake-futex -c {LAST} -n 50 -q", "--b",
                  f"{TLAT} run wake-eventfd -c {LAST} -n 50 -q", "--pairs", 2, "-q")
    assert refused.code == 2 and "same probe on both sides" in refused.err, refused


def i3():
    """Every wake is matched with its kick: none is lost, none ends by a bound, on one CPU and on
    two, with the CPUs busy."""
    for cpus in [LAST] + ([f"{CPUS[0]},{LAST}"] if len(CPUS) > 1 else []):
        document = report_of("wake-futex", "-c", cpus, "-n", 5000, "--policy", "other", "--settle", 0,
                          "--load", "while :; do :; done & while :; do :; done", "-d", "20s")
        result = document["results"][0]
        assert_adds_up(result)
        counts = result["counts"]
        assert counts["recorded"] > 0 and counts["rejected"]["timeout"] == 0, counts
        assert counts["rejected"]["coalesced"] == 0 and counts["early"] == 0, counts
        assert "lost-wake" not in findings(document)
        assert result["from"].startswith("before futex(FUTEX_WAKE)"), result["from"]


def i5():
    """A limit that nothing is above never ends a run of signals; one that all are above ends it at
    the first value, which is said with its thread."""
    words = ["signal-tgkill-sigwait", "signal-tgkill-handler", "-c", LAST, "-n", 500, "--warmup", 0]
    document = report_of(*words, "--break", "1000s")
    assert document["run"]["end"] == "count"
    assert [r["counts"]["asked"] for r in document["results"]] == [500, 500]
    done = command(TLAT, "run", *words, "--break", "1ns", "-q", "--json", "-")
    broken = strict(done.out)
    result = broken["results"][0]
    assert done.code == 1 and broken["run"]["end"] == result["end"] == "break", done
    counts = result["counts"]
    assert counts["asked"] <= 2 and result["outliers"][0]["value_ns"] > 1, counts
    assert f"CPU {LAST}" in findings(broken)["break"]["text"], findings(broken)["break"]
    assert "signal-tgkill-handler" in findings(broken)["not-started"]["text"]


def i6():
    """A difference has an interval, and one of which the interval holds none is never called one.
    """
    with tempfile.TemporaryDirectory() as folder:
        done, runs = in_turn(("wake-eventfd", "wake-eventfd"), "--pairs", 8, "--json",
                             f"{folder}/comparison")
        with open(f"{folder}/comparison", encoding="utf-8") as file:
            item = strict(file.read())["items"][0]
    low, high = item["interval"]
    assert len(runs) == 16 and low <= item["ratio"] <= high and low < high, item
    undecided = item["verdict"] in ("EQUIVALENT", "INCONCLUSIVE") and done.code in (0, 77)
    assert undecided == (low <= 1 <= high), done
    few, _ = in_turn(("wake-eventfd", "wake-futex"), "--pairs", 3)
    assert few.code == 77 and "verdict: INCONCLUSIVE" in few.out, few


if __name__ == "__main__":
    main([i1, i1_time_namespaces, i2, i3, i5, i6])
