#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind E: memory locking and the first sample."""
import os
import re
from typing import Any

from surroundings import (CYCLICTEST, FOLDER, NOBODY, TLAT, cyclictest, findings, main, need_root,
                          read, report, run, tlat, traced)

LOCKED = ["run", "timer-nanosleep", "--policy", "other", "--lock-all", "-n", "20", "--warmup", "0",
          "-i", "10ms", "-c", "0"]


def limited(soft: int, hard: int) -> list[Any]:
    return ["prlimit", f"--memlock={soft}:{hard}", *NOBODY]


def e1_a_refused_lock_is_a_finding_and_no_crash() -> None:
    """tlat measures without, and says so; tlat-cyclictest refuses before there is a thread."""
    need_root()
    for limit in (0, 65536, 4194304):
        under = limited(limit, limit)
        document = report(*LOCKED, "--threads", "8", under=under)
        said = findings(document)["lock-all-refused"]
        assert said["severity"] == "warn" and f"RLIMIT_MEMLOCK is {limit} bytes" in said["text"]
        assert len(document["results"]) == 8
        for result in document["results"]:
            counts = result["counts"]
            assert counts["recorded"] + counts["missed"] == counts["asked"] == 20, counts
        tlat(*LOCKED, "--strict", under=under).expect(2, "mlockall refused")
        ended = cyclictest("-m", "-t", "8", "-h", "100000", "-l", "9", under=under)
        ended.expect(1, f"RLIMIT_MEMLOCK is {limit} bytes")
        assert "T: 0" not in ended.out, ended


def e2_stacks_are_small_and_made_before_they_are_needed() -> None:
    """Those of sixteen measuring threads together have less than one of the C library's, so that
    locking them fails no sooner than locking the rest; and all memory is refused at once."""
    need_root()
    log = os.path.join(FOLDER, "stacks")
    run([TLAT, *LOCKED, "--threads", "16"], traced("mmap", log)).expect(0)
    stacks = [int(size) for size in
              re.findall(r"mmap\(NULL, (\d+), .*MAP_STACK.*MAP_POPULATE|"
                         r"mmap\(NULL, (\d+), .*MAP_POPULATE.*MAP_STACK", read(log))
              for size in size if size]
    assert len(stacks) >= 16 and sum(sorted(stacks)[:16]) <= 8 << 20, stacks
    document = report(*LOCKED, "--threads", "16", under=limited(4194304, 4194304))
    assert len(document["results"]) == 16
    assert "RLIMIT_MEMLOCK is 4194304 bytes" in findings(document)["lock-all-refused"]["text"]
    cyclictest("-m", "-t", "16", "-l", "9", under=limited(4194304, 4194304)).expect(
        1, "RLIMIT_MEMLOCK is 4194304 bytes")


def e3_the_limits_told_are_those_of_this_process() -> None:
    need_root()
    texts = ("RLIMIT_MEMLOCK is 65536 bytes (hard limit 131072 bytes)", "CAP_IPC_LOCK is missing",
             "memlock in /etc/security/limits.conf")
    for ended in (tlat(*LOCKED, under=limited(65536, 131072)).expect(0, *texts),
                  tlat("check", under=limited(65536, 131072)).expect(0, *texts),
                  run([CYCLICTEST, "-q", "-m", "-l", "9"], limited(65536, 131072)).expect(
                      1, *texts)):
        said = " ".join((ended.out + ended.err).split())
        needed = re.search(r"the process maps (\d+) bytes", said)
        assert needed and int(needed.group(1)) > 65536, ended


def e4_the_first_kept_sample_is_like_the_others() -> None:
    """Of 100 values the first is the largest in one run of 100; in 4 of 12 by chance once in
    200000 times."""
    first = 0
    for _ in range(12):
        document = report("run", "timer-nanosleep", "-n", "100", "-i", "200us", "--warmup", "100",
                          "--raw", "100")
        result = document["results"][0]
        assert 0 < result["warmup"] <= 100, result["warmup"]
        assert len(result["raw_ns"]) == result["counts"]["recorded"], result["counts"]
        first += result["raw_ns"][0] == max(result["raw_ns"])
    assert first < 4, f"the first value is the largest in {first} of 12 runs"
    assert report("run", "timer-nanosleep", "-n", "9")["results"][0]["warmup"] > 0


if __name__ == "__main__":
    main([e1_a_refused_lock_is_a_finding_and_no_crash,
          e2_stacks_are_small_and_made_before_they_are_needed,
          e3_the_limits_told_are_those_of_this_process,
          e4_the_first_kept_sample_is_like_the_others])
