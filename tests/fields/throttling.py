#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind D: throttling, starvation and hangs. Every run ends, and says what stopped it."""
import json
import os
import re
import signal
import subprocess
import time

from surroundings import (CYCLICTEST, FOLDER, HANG_S, NOBODY, SHORT, TLAT, Skip, cyclictest,
                          findings, group, main, need_root, need_two_cpus, read, report, run,
                          tlat, traced)

# What a measuring tool may open for writing: the idle request, and what its user named.
MAY_BE_WRITTEN = re.compile(r'"/?(dev/(cpu_dma_latency|null|tty)|dev/shm/cyclictest\d+|'
                            rf'{FOLDER[1:]}/.*)"')


def d1_a_spinning_thread_is_told_of_its_budget() -> None:
    need_two_cpus()
    with group("cpu", rt_runtime_us="10000") as inside:
        words = ["-c", "1", "-d", "1500ms", "--strict", "--json", "-"]
        document = tlat("noise", *words, under=inside).expect(2, "--strict").json
        said = findings(document)["rt-throttled"]
        assert said["severity"] == "warn" and "10000 of every 1000000 us" in said["text"], said
        document = report("run", "wake-spin", "-p", "10", "-d", "1500ms", "-c", "0,1",
                          under=inside)
        said = findings(document)["rt-throttled"]
        assert "10000 of every 1000000 us" in said["text"], said
        assert document["results"][0]["wait"]["policy"] == "fifo", document["results"][0]["wait"]


def d2_throttling_is_seen_without_the_kernel_log() -> None:
    need_root()
    log = os.path.join(FOLDER, "opened")
    no_log = ["setpriv", "--bounding-set=-syslog", "--inh-caps=-syslog"]
    with group("cpu", rt_runtime_us="10000") as inside:
        tlat("noise", "-c", "0", "-d", "1500ms", under=[*inside, *no_log]).expect(
            0, "rt-throttled", "sysctl -w kernel.sched_rt_runtime_us=-1")
    tlat("noise", "-c", "0", "-d", "100ms", under=traced("openat,open,syslog", log)).expect(0)
    assert "kmsg" not in read(log) and "syslog(" not in read(log)


def d3_no_setting_of_the_system_is_written() -> None:
    """The tools need more opened for reading than for writing; of the latter there is a list."""
    need_root()
    log = os.path.join(FOLDER, "written")
    saved = os.path.join(FOLDER, "saved.json")
    for words in ([TLAT, *SHORT, "-p", "80", "--cpu-latency", "0", "--json", saved],
                  [TLAT, "run", "wake-futex", "-n", "50"], [TLAT, "check"],
                  [TLAT, "noise", "-d", "100ms", "-c", "0"],
                  [CYCLICTEST, "-q", "-l", "9", "-p", "80", "-m"]):
        run(words, traced("openat,open,creat", log)).expect(0)
        for line in read(log).splitlines():
            if re.search(r"O_WRONLY|O_RDWR|creat\(", line):
                assert MAY_BE_WRITTEN.search(line), (words, line)
        assert "sched_rt" not in "".join(
            line for line in read(log).splitlines() if "O_RDONLY" not in line)


def d4_a_thread_that_cannot_start_ends_the_run() -> None:
    need_root()
    few = ["prlimit", "--nproc=5", *NOBODY]
    for ended in (tlat("run", "timer-nanosleep", "--threads", "64", "-c", "0", under=few).expect(2),
                  cyclictest("-t", "64", "-l", "9", under=few).expect(1)):
        said = re.search(r"(\d+) of 64 threads started: .*RLIMIT_NPROC", ended.err)
        assert said and int(said.group(1)) < 64, ended
        assert "T: 0" not in ended.out, ended


def d5_priorities_stay_in_their_range() -> None:
    need_root()
    for words in (["-p", "100"], ["-p", "0", "--policy", "fifo"]):
        ended = tlat(*SHORT, *words).expect(2, "1 to 99")
        assert not ended.out, ended
    for words in (["-p", "100"], ["-p", "-1"]):
        ended = cyclictest("-l", "9", *words).expect(1, "0..99")
        assert "T: 0" not in ended.out, ended
    ended = cyclictest("-p", "2", "-t", "4", "--priospread", "-l", "9").expect(0)
    assert re.findall(r"P: *(\d+)", ended.out) == ["2", "1", "1", "1"], ended
    ended = cyclictest("-p", "98", "-t", "4", "--priospread", "-l", "9").expect(0)
    assert re.findall(r"P: *(\d+)", ended.out) == ["98", "97", "96", "95"], ended


def d6_a_run_ends_after_its_duration_in_any_display() -> None:
    for words in ([TLAT, "run", "timer-nanosleep", "-d", "1s"],
                  [CYCLICTEST, "-D", "1"], [CYCLICTEST, "-D", "1", "-M"],
                  [CYCLICTEST, "-D", "1", "-v"]):
        begun = time.monotonic()
        run(words).expect(0)
        assert time.monotonic() - begun >= 1, words


def d7_a_stopped_process_knows_what_it_missed() -> None:
    """SIGSTOP for a while: the expiries of that time are missed, and the value says stall."""
    saved = os.path.join(FOLDER, "stopped.json")
    child = subprocess.Popen([TLAT, "run", "timer-nanosleep", "-d", "3s", "--json", saved,
                              "--strict"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True)
    time.sleep(1.5)
    child.send_signal(signal.SIGSTOP)
    time.sleep(1.2)
    child.send_signal(signal.SIGCONT)
    out = child.communicate(timeout=HANG_S)[0]
    assert child.returncode == 2, out
    document = json.loads(read(saved))
    counts = document["results"][0]["counts"]
    if counts["asked"] < 2900:
        raise Skip("the stop came before the run or after it")
    assert counts["missed"] >= 1000, counts
    kept = sum(counts[name] for name in ("recorded", "early", "overflow", "missed", "unfinished"))
    assert counts["asked"] == kept + sum(counts["rejected"].values()), counts
    said = findings(document)
    assert "suspended" not in said, said
    assert "stall rather than a latency" in said["stall"]["text"], said
    assert "expiries passed while an earlier one was late" in said["many-missed"]["text"], said
    assert document["results"][0]["summary"]["max_ns"] >= 1.1e9


if __name__ == "__main__":
    main([d1_a_spinning_thread_is_told_of_its_budget, d2_throttling_is_seen_without_the_kernel_log,
          d3_no_setting_of_the_system_is_written, d4_a_thread_that_cannot_start_ends_the_run,
          d5_priorities_stay_in_their_range, d6_a_run_ends_after_its_duration_in_any_display,
          d7_a_stopped_process_knows_what_it_missed])
