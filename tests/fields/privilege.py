#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind A: permission and privilege. No figure under a policy that was not given."""
import subprocess
from typing import Any

from surroundings import (CYCLICTEST, NOBODY, SHORT, TLAT, cyclictest, failing, findings, group,
                          main, need, need_root, preloaded, report, run, tlat)

FIFO = ["--policy", "fifo", "-p", "80"]


def assert_measured_as_other(document: dict[str, Any]) -> None:
    """Asked for 80, given nothing: what is stored is what was in force."""
    for result in document["results"]:
        wait = result["wait"]
        assert (wait["policy"], wait["priority"]) == ("other", 0), wait
        assert (wait["policy_asked"], wait["priority_asked"]) == ("fifo", 80), wait
        assert result["counts"]["recorded"] > 0, result["counts"]
    assert findings(document)["policy-refused"]["severity"] == "warn"


def a1_a_call_that_lies_is_noticed() -> None:
    """Calls that claim success and do nothing: by the C library, and by the kernel."""
    need_root()
    lies = preloaded("policy")
    assert_measured_as_other(report(*SHORT, *FIFO, under=NOBODY, **lies))
    tlat(*SHORT, *FIFO, under=NOBODY, **lies).expect(0, "other*", "not the policy")
    cyclictest("-p", "80", "-l", "9", under=NOBODY, **lies).expect(1, "in force instead")
    liar = failing("sched_setscheduler,sched_setattr:retval=0")
    document = report(*SHORT, *FIFO, under=liar)
    assert_measured_as_other(document)
    assert "reported success but SCHED_OTHER" in findings(document)["policy-refused"]["text"]
    cyclictest("-p", "80", "-l", "9", under=liar).expect(1, "reported success but SCHED_OTHER")


def a2_a_priority_above_the_limit_is_not_printed_as_had() -> None:
    need_root()
    document = report(*SHORT, *FIFO, under=NOBODY)
    assert_measured_as_other(document)
    assert "RLIMIT_RTPRIO is 0" in findings(document)["policy-refused"]["text"]
    tlat(*SHORT, *FIFO, under=NOBODY).expect(0, "other*", "RLIMIT_RTPRIO is 0")
    tlat(*SHORT, *FIFO, "--strict", under=NOBODY).expect(2, "RLIMIT_RTPRIO is 0")
    ended = cyclictest("-p", "80", "-l", "9", under=NOBODY).expect(1, "RLIMIT_RTPRIO is 0")
    assert "T: 0" not in ended.out, ended


def a2_a_soft_limit_is_raised_to_the_hard_one() -> None:
    for command in (tlat(*SHORT, **preloaded("limits")), tlat("check", **preloaded("limits")),
                    cyclictest("-l", "9", **preloaded("limits"))):
        command.expect(0, "limit raised to 90")


def a2_a_limit_of_ten_gives_ten() -> None:
    need_root()
    ten = ["prlimit", "--rtprio=10:10", *NOBODY]
    need(subprocess.run(["prlimit", "--rtprio=10:10", "true"], stderr=subprocess.DEVNULL,
                        check=False).returncode == 0,
         "limits cannot be raised; test-rt-explain has the texts")
    document = report(*SHORT, *FIFO, under=ten)
    assert_measured_as_other(document)
    assert "at most 10" in findings(document)["policy-refused"]["text"]
    wait = report(*SHORT, "-p", "10", under=ten)["results"][0]["wait"]
    assert (wait["policy"], wait["priority"]) == ("fifo", 10), wait


def a3_a_group_without_budget_is_named() -> None:
    with group("cpu") as inside:
        need(run(["cat", "/sys/fs/cgroup/cpu/cpu.rt_runtime_us"]).code == 0,
             "this kernel has no real-time group scheduling")
        document = report(*SHORT, *FIFO, under=inside)
        assert_measured_as_other(document)
        why = findings(document)["policy-refused"]["text"]
        assert "no real-time budget (cpu.rt_runtime_us is 0)" in why and "echo " in why, why
        tlat(*SHORT, *FIFO, "--strict", under=inside).expect(2, "cpu.rt_runtime_us is 0")
        cyclictest("-p", "80", "-l", "9", under=inside).expect(1, "cpu.rt_runtime_us is 0")


def a4_a_filter_that_answers_enosys_is_a_refusal() -> None:
    need_root()
    for name in ("ENOSYS", "EPERM"):
        filtered = failing(f"sched_setscheduler,sched_setattr:error={name}")
        document = report(*SHORT, *FIFO, under=filtered)
        assert_measured_as_other(document)
        why = findings(document)["policy-refused"]["text"]
        assert f"gave {name}, and not from the kernel" in why, why
        tlat(*SHORT, *FIFO, "--strict", under=filtered).expect(2)
        cyclictest("-p", "80", "-l", "9", under=filtered).expect(1, "SCHED_FIFO 80 refused")


def a6_what_needs_no_privilege_asks_for_none() -> None:
    need_root()
    for words in ([TLAT, "--help"], [TLAT, "--version"], [TLAT, "list"], [TLAT, "check"],
                  [TLAT, "run", "--help"], [TLAT, *SHORT], [CYCLICTEST, "--help"],
                  [CYCLICTEST, "--version"], [CYCLICTEST, "-q", "-l", "9"]):
        assert run(words, NOBODY).expect(0).out, words


if __name__ == "__main__":
    main([a1_a_call_that_lies_is_noticed, a2_a_priority_above_the_limit_is_not_printed_as_had,
          a2_a_soft_limit_is_raised_to_the_hard_one, a2_a_limit_of_ten_gives_ten,
          a3_a_group_without_budget_is_named, a4_a_filter_that_answers_enosys_is_a_refusal,
          a6_what_needs_no_privilege_asks_for_none])
