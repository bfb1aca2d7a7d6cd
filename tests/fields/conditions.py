#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind F: idle states and recorded conditions."""
import json
import os
import re
import subprocess
from typing import Any

from surroundings import (CYCLICTEST, FOLDER, NOBODY, SHORT, TLAT, cyclictest, findings, main,
                          mounted, need, need_root, read, report, run, tlat, traced)

AWAKE = [*SHORT, "--cpu-latency", "0"]
DEVICE = "/dev/cpu_dma_latency"
CPU = "/sys/devices/system/cpu"


def f1_a_refused_idle_request_is_told_and_not_claimed() -> None:
    need_root()
    need(os.path.exists(DEVICE), f"no {DEVICE}")
    document = report(*AWAKE, "--policy", "other", under=NOBODY)
    said = findings(document)["cpu-latency-refused"]
    assert said["severity"] == "warn" and "EACCES" in said["text"], said
    assert document["results"][0]["cpu_latency_ns"] is None, "held, says the report"
    assert document["results"][0]["counts"]["recorded"] > 0
    assert report(*AWAKE)["results"][0]["cpu_latency_ns"] == 0
    ended = cyclictest("-l", "9", under=NOBODY).expect(0, f"{DEVICE} refused: EACCES", "T: 0")
    assert ended.err.count(DEVICE) == 1 and DEVICE not in ended.out, ended


BARE_DEV = 'cd "$1"; shift; for f in null zero full random urandom; do : >$f; ' \
    'mount --bind /dev/$f $f; done; mount --rbind . /dev; exec "$@"'


def f2_a_kernel_without_the_device_is_no_reason_to_end() -> None:
    need_root()
    folder = os.path.join(FOLDER, "dev")
    os.makedirs(os.path.join(folder, "shm"), exist_ok=True)
    under = ["unshare", "-m", "sh", "-c", BARE_DEV, "sh", folder]
    document = report(*AWAKE, under=under)
    assert "is not there" in findings(document)["cpu-latency-refused"]["text"]
    assert document["results"][0]["cpu_latency_ns"] is None
    assert "cpu-latency-refused" not in findings(report(*SHORT, under=under))
    cyclictest("-l", "9", under=under).expect(0, "is not there", "T: 0")


def with_nohz_full(cpus: str) -> list[Any]:
    """A copy of the CPUs' files, as the file may not be there to be mounted over."""
    copy = os.path.join(FOLDER, "cpus-" + cpus)
    subprocess.run(["cp", "-r", "--no-preserve=all", CPU, copy], stderr=subprocess.DEVNULL,
                   check=False)  # some files cannot be read
    with open(os.path.join(copy, "nohz_full"), "w", encoding="ascii") as file:
        file.write(cpus + "\n")
    return mounted({CPU: copy})


def f3_conditions_are_stored_and_told_when_they_differ() -> None:
    need_root()
    long = ["run", "timer-nanosleep", "-n", "300", "-i", "200us", "--policy", "other"]
    paths = []
    for cpus in ("", "1"):
        document = report(*long, under=with_nohz_full(cpus))
        assert document["machine"]["nohz_full"] == cpus, document["machine"]
        for name in ("kernel", "isolated", "clocksource", "governor", "hz", "preempt", "cmdline"):
            assert name in document["machine"], name
        assert document["clock"]["quantum_ns"] > 0 and document["clock"]["source"]
        summary = document["results"][0]["summary"]
        assert summary["min_ns"] > 0 and summary["mean_ns"] > 0, summary
        # To a nanosecond: microseconds would all be multiples of 1000.
        assert any(summary[name] % 1000 for name in ("min_ns", "p50_ns", "mean_ns")), summary
        assert document["results"][0]["floor"]["p50_ns"] > 0
        paths.append(os.path.join(FOLDER, f"nohz-{cpus}.json"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            json.dump(document, file)
    ended = tlat("compare", *paths)
    told = re.findall(r"^ +machine\.nohz_full: (.*)$", ended.out, re.M)
    assert told == ["(not known) -> 1"], ended


def f4_the_policy_had_is_in_the_row() -> None:
    need_root()
    rows = {}
    users: dict[str, Any] = {"root": [], "nobody": NOBODY}
    for who, under in users.items():
        out = tlat(*SHORT, "-p", "80", under=under).expect(0).out
        head, row = [line for line in out.splitlines() if re.match(r"(probe|timer-\S+) ", line)][:2]
        rows[who] = row.split()[head.split().index("policy")]
    assert rows == {"root": "fifo:80", "nobody": "other*"}, rows
    ended = cyclictest("-l", "9", under=NOBODY).expect(0)
    assert "P: 0" in ended.out, ended


def f5_without_options_it_measures_what_is_representative() -> None:
    """A real-time policy where it is granted, no timer slack, and what else there is to do."""
    need_root()
    policies: dict[str, Any] = {"fifo": [], "other": NOBODY}
    for policy, under in policies.items():
        document = report("run", "timer-nanosleep", "-d", "300ms", under=under)
        wait = document["results"][0]["wait"]
        assert wait["policy"] == policy and wait["slack_ns"] <= 1, wait
        assert document["results"][0]["interval_ns"] == 1000000
    said = findings(document)
    assert "setcap cap_sys_nice" in said["policy-refused"]["text"], said
    if not document["machine"]["isolated"]:
        assert "isolcpus" in said["not-isolated"]["remedy"], said
    ended = tlat("run", "timer-nanosleep").expect(0, "fifo:40", "not-isolated")
    asked = re.search(r"(\d+) asked", ended.out)
    assert asked and int(asked.group(1)) == 2000, ended


def f6_the_system_is_left_alone_unless_asked() -> None:
    log = os.path.join(FOLDER, "opened")
    for words in ([TLAT, *SHORT], [TLAT, *SHORT, "--cpu-latency", "default"],
                  [CYCLICTEST, "-q", "-l", "9", "--default-system"],
                  [CYCLICTEST, "-q", "-l", "9", "--laptop"]):
        ended = run(words, traced("openat,open", log)).expect(0)
        assert "cpu_dma_latency" not in read(log), words
        assert "set to" not in ended.out, ended
    need_root()
    need(os.path.exists(DEVICE), f"no {DEVICE}")
    run([TLAT, *AWAKE], traced("openat,open", log)).expect(0, "cpu-latency 0")
    assert "cpu_dma_latency" in read(log)
    cyclictest("-l", "9").expect(0, f"# {DEVICE} set to 0us")


if __name__ == "__main__":
    main([f1_a_refused_idle_request_is_told_and_not_claimed,
          f2_a_kernel_without_the_device_is_no_reason_to_end,
          f3_conditions_are_stored_and_told_when_they_differ, f4_the_policy_had_is_in_the_row,
          f5_without_options_it_measures_what_is_representative,
          f6_the_system_is_left_alone_unless_asked])
