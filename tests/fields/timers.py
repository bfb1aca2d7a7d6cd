# SPDX-License-Identifier: MIT
"""Field reports H: timer expiry. No upper bound of a latency is asserted."""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from surroundings import (CYCLICTEST, HANG_S, LAST, NOBODY, SOURCE, TLAT, assert_adds_up, command,
                          kept, main, need_commands, need_root, open_folder, report_of, strict)

MS = 1_000_000


def slack_of(tid):
    with open(f"/proc/{tid}/timerslack_ns", encoding="ascii") as file:
        return int(file.read())


def slacks_while_it_runs(tlat, words):
    """The slack of each thread of an ordinary user's run, and the report of it."""
    child = subprocess.Popen([*NOBODY, tlat, "run", "timer-nanosleep", "--policy", "other", "-c",
                              LAST, "-d", "600ms", "-q", "--json", "-", *words],
                             stdout=subprocess.PIPE, text=True)
    seen = {}
    while child.poll() is None:
        for tid in os.listdir(f"/proc/{child.pid}/task"):
            try:
                seen[int(tid)] = slack_of(tid)
            except OSError:
                pass  # it has ended
        time.sleep(0.02)
    out, _ = child.communicate(timeout=HANG_S)
    return seen, strict(out)["results"][0], child.pid


def h1():
    """Slack is that of the measuring thread itself, and stated; that it delays is asserted by
    slack_delays_ordinary_sleeps_by_itself."""
    need_root()
    with open_folder() as folder:
        tlat = shutil.copy(TLAT, folder)
        own = slack_of(os.getpid())
        for words, slack in (((), 1), (("--slack", "default"), own), (("--slack", "70us"), 70000)):
            seen, result, main = slacks_while_it_runs(tlat, words)
            assert result["wait"]["slack_ns"] == slack, result["wait"]
            assert seen[result["wait"]["tid"]] == slack, (seen, result["wait"])
            assert seen[main] == own, "the main thread's slack was changed"


SLOTS = 1200
TRIES = 5  # what the load of others can spoil is tried so often


def stop_all(children, files, stop_s):
    """As soon as all of them measure, which their files say."""
    for path in files:
        while not os.path.exists(path) and children[0].poll() is None:
            time.sleep(0.01)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for child in children:
            child.send_signal(number)
        time.sleep(stop_s)


def stopped(probes, stop_s):
    """Runs at 1 ms that are all stopped in their middle: result and all values of each."""
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{probe}" for probe in probes]
        children = [subprocess.Popen([TLAT, "run", probe, "-c", LAST, "-i", "1ms", "-n", str(SLOTS),
                                      "--warmup", "0", "--raw", str(SLOTS), "-q", "--json", path,
                                      "--save-every", "100ms"], stdout=subprocess.DEVNULL)
                    for probe, path in zip(probes, files)]
        stop_all(children, files, stop_s)
        for child, path in zip(children, files):
            assert child.wait(HANG_S) == 0, path
            with open(path, encoding="utf-8") as file:
                result = strict(file.read())["results"][0]
            assert_adds_up(result)
            assert len(result["raw_ns"]) == kept(result["counts"]), path
            yield result, result["raw_ns"]


def was_within(raw, stop_s):
    """The stop was neither before the first value nor after the last."""
    return max(raw) >= stop_s * 1e9 - 2 * MS and raw.index(max(raw)) < len(raw) - 20


def stopped_within(probes, stop_s):
    for _ in range(TRIES):
        found = list(stopped(probes, stop_s))
        if all(was_within(raw, stop_s) for _, raw in found):
            return found
    raise AssertionError(f"no stop of {stop_s} s was seen in {TRIES} tries")


def h2():
    """One stall is one event: what follows it is not late by the periods it hid."""
    probes = ["timer-posix-sigwait", "timer-posix-handler", "timer-timerfd", "timer-nanosleep"]
    for result, raw in stopped_within(probes, 0.2):
        probe = result["probe"]
        assert min(raw[raw.index(max(raw)) + 1:]) < 100 * MS, (probe, "what follows is shifted")
        assert result["counts"]["missed"] >= 198, (probe, result["counts"])
        assert "stall" in [f["id"] for f in result["findings"]], probe


def hidden(raw):
    """Expiries that passed while each value lasted, up to the end, and values that hid one."""
    return min(sum(int(value // MS) for value in raw), SLOTS - len(raw)), sum(v >= MS for v in raw)


def h3():
    """Missed is the count read less one, whatever stalls there were: an expiry may pass between the
    read and the stamp, no more."""
    probes = ["timer-timerfd", "timer-nanosleep"]
    for stop_s, found in ((0, stopped(probes, 0)), (0.05, stopped_within(probes, 0.05))):
        for result, raw in found:
            passed, late = hidden(raw)
            missed = result["counts"]["missed"]
            slack = late if result["probe"] == "timer-timerfd" else 0
            assert passed - slack <= missed <= passed, (stop_s, passed, late, missed)
            assert missed >= 48 or not stop_s, missed


def traced(words, calls, *options):
    """Lines of strace for these calls of a run, and the run."""
    need_commands("strace")
    with tempfile.TemporaryDirectory() as folder:
        done = command("strace", "-f", "-o", f"{folder}/calls", "-e", f"trace={calls}", *options,
                   *words)
        with open(f"{folder}/calls", encoding="utf-8", errors="replace") as file:
            return file.readlines(), done


def h4():
    """The descriptor is the probe's own and blocks; it is armed once, so that no read finds it
    armed anew. An EAGAIN all the same is no sample."""
    for probe in ("timer-timerfd", "timer-timerfd-poll", "timer-timerfd-epoll"):
        words = [TLAT, "run", probe, "-c", LAST, "-n", "50", "--warmup", "0", "-q", "--json", "-"]
        lines, done = traced(words, "timerfd_create,timerfd_settime")
        assert done.code == 0, done
        made = [line for line in lines if "timerfd_create(" in line]
        armed = [line for line in lines if "timerfd_settime(" in line]
        assert len(made) == len(armed) == 1 and "NONBLOCK" not in made[0], lines
        _, done = traced(words, "read", "-P", "anon_inode:[timerfd]", "-e",
                         "inject=read:error=EAGAIN:when=5")
        result = strict(done.out)["results"][0]
        assert_adds_up(result)
        assert "probe-failed" in [f["id"] for f in result["findings"]] and done.code == 2, done
        summary = result["summary"]
        assert result["counts"]["recorded"] > 0 and summary["min_ns"] > 0, summary


def deadlines(lines):
    """In ns, as clock_nanosleep(2) was given them, by the thread that gave most; -1: a span."""
    found = {}
    for line in lines:
        match = re.match(r"(\d+) +clock_nanosleep\(CLOCK_MONOTONIC, (\w+), "
                         r"\{tv_sec=(\d+), tv_nsec=(\d+)\}", line)
        if match:
            ns = int(match[3]) * 10**9 + int(match[4])
            found.setdefault(match[1], []).append(ns if match[2] == "TIMER_ABSTIME" else -1)
    return max(found.values(), key=len)


def h5():
    """Deadlines are absolute and on one grid, so that no cycle adds to the next; a relative mode is
    asked for and says so."""
    words = [TLAT, "run", "timer-nanosleep", "-c", LAST, "-n", "300", "--warmup", "0", "-q"]
    for command in (words, [CYCLICTEST, "-q", "-a", LAST, "-l", "300"]):
        lines, done = traced(command, "clock_nanosleep")
        due = deadlines(lines)
        assert done.code == 0 and len(due) > 5 and min(due) > 0, done
        assert all((ns - due[0]) % MS == 0 for ns in due), due[:20]
    asked = report_of("timer-nanosleep", "-c", LAST, "-d", "700ms", "-i", "1ms", "--warmup", 0)
    assert asked["results"][0]["counts"]["asked"] == 700, asked["results"][0]["counts"]
    relative = report_of("timer-nanosleep-rel", "-c", LAST, "-n", 20)["results"][0]
    assert "a span from before the call" in relative["from"] and relative["counts"]["missed"] == 0
    lines, _ = traced([CYCLICTEST, "-q", "-r", "-a", LAST, "-l", "50"], "clock_nanosleep")
    assert set(deadlines(lines)) == {-1}, "-r is not relative"


def h6():
    """After a late cycle the next deadline is the first of the grid that is ahead: no burst, and
    each one passed over is counted."""
    words = [TLAT, "run", "timer-nanosleep", "-c", LAST, "-n", "300", "--warmup", "0", "-q",
             "--policy", "other", "--json", "-"]
    lines, done = traced(words, "clock_nanosleep", "-e",
                         "inject=clock_nanosleep:delay_exit=20000:when=10")
    steps = [(b - a) // MS for a, b in zip(deadlines(lines), deadlines(lines)[1:])]
    counts = strict(done.out)["results"][0]["counts"]
    assert min(steps) >= 1, "a deadline was asked for twice"
    assert max(steps) >= 20, "the injected delay is not there"
    # those after the last deadline are counted up to the limit, and were never waited for
    assert sum(s - 1 for s in steps) <= counts["missed"], (steps, counts)
    assert 300 - counts["missed"] == len(steps) + 1, (len(steps), counts)


def h7():
    """Two tools differ where they measure something else. Ours say what: the same run gives the
    same figures in cyclictest's text, in its JSON and in the report, which names both ends."""
    with tempfile.TemporaryDirectory() as folder:
        done = command(CYCLICTEST, "-q", "-N", "-a", LAST, "-l", 200, f"--json={folder}/old",
                   f"--tlat-json={folder}/new")
        with open(f"{folder}/old", encoding="utf-8") as file:
            old = strict(file.read())["thread"]["0"]
        with open(f"{folder}/new", encoding="utf-8") as file:
            new = strict(file.read())["results"][0]
    least, most = map(int, re.search(r"Min: *(\d+) .*Max: *(\d+)", done.out).groups())
    assert (least, most) == (old["min"], old["max"]), (done, old)
    assert (least, most) == (int(new["summary"]["min_ns"]), int(new["summary"]["max_ns"]))
    assert new["from"].startswith("the programmed expiry") and "returned" in new["to"]
    assert new["interval_ns"] == MS and new["phase_ns"] is not None
    with open(f"{SOURCE}/tools/man/tlat-cyclictest.1", encoding="utf-8") as file:
        page = file.read()
    for words in ("Timer slack is", "begin together", ".Sh DIFFERENCES", "timer-nanosleep"):
        assert words in page, f"tlat-cyclictest(1) does not explain: {words}"


if __name__ == "__main__":
    main([h1, h2, h3, h4, h5, h6, h7])
