#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind C: offline CPUs, SMT, large counts, NUMA. CPUs have numbers, not a count."""
import itertools
import os
import re
from typing import Any

from surroundings import (CYCLICTEST, FOLDER, SHORT, TLAT, cyclictest, failing, findings, main,
                          need_root, need_two_cpus, preloaded, read, report, run, tlat, traced,
                          with_texts, without_cgroups)

CPU = "/sys/devices/system/cpu"


def with_cpus(online: str, present: str) -> list[Any]:
    """Of another machine, whose CPUs no cpuset of this one restricts."""
    return [*without_cgroups(), *with_texts({f"{CPU}/online": online + "\n",
                                             f"{CPU}/present": present + "\n"})]


ODD = "1,3,5,7"  # as far as they are tried here


def c1_cpus_are_known_by_number() -> None:
    """The mask is that of a machine whose odd CPUs are offline."""
    half = with_cpus("0,2,4,6", "0-7")
    mask = {**preloaded("affinity"), "FAKE_OFFLINE": ODD}
    machine = report("check", under=half, FAKE_MASK="128:0-6", **mask)["machine"]
    assert machine["online"] == "0,2,4,6", machine
    tlat(*SHORT, "-c", "1", under=half, FAKE_MASK="128:0,6", **mask).expect(
        2, "CPU 1 is offline (online: 0,2,4,6)")
    tlat(*SHORT, "-c", "7", under=half, FAKE_MASK="128:0,6", **mask).expect(2, "CPU 7 is offline")
    # Taken as a CPU of this machine, which it is not: the kernel, not the list, refuses.
    ended = tlat(*SHORT, "-c", "6", under=half, FAKE_MASK="128:0,6", **mask)
    assert ended.code and "CPU list" not in ended.err, ended


def c1_a_count_in_place_of_the_list_is_not_believed() -> None:
    """In a container that is shown as many CPUs as it may use, from 0 on, those of the kernel's mask
    are online all the same, and so are those that it has beside them."""
    need_two_cpus()
    counted = with_texts({f"{CPU}/online": "0\n", f"{CPU}/present": "0-1\n"})
    machine = report("check", under=counted)["machine"]
    assert machine["online"] == machine["allowed"] == "0-1", machine
    for mask, cpu in itertools.product(("0-1", "1"), "01"):
        found = report(*SHORT, "-c", cpu, under=[*counted, "taskset", "-c", mask])
        assert [result["wait"]["cpu"] for result in found["results"]] == [int(cpu)], found
    result = report("run", "wake-futex", "-n", "10", under=counted)["results"][0]
    assert {result["kick"]["cpu"], result["wait"]["cpu"]} == {0, 1}, result
    ended = cyclictest("-S", "-l", "10", under=counted).expect(0)
    assert len(re.findall("^T:", ended.out, re.M)) == 2, ended


def c2_offline_cpus_are_never_chosen() -> None:
    half = with_cpus("0,2,4,6", "0-7")
    for mask in ("0-7", "1-7", "0-5", "1-4", "5-7"):  # which have offline CPUs in them
        ended = tlat("check", under=half, FAKE_MASK=f"128:{mask}", FAKE_OFFLINE=ODD,
                     **preloaded("affinity"))
        chosen = re.findall(r"cpu (\d+)", ended.expect(0).out)
        first, last = map(int, mask.split("-"))
        assert chosen and {int(cpu) for cpu in chosen} <= {0, 2, 4, 6}, ended
        assert all(first <= int(cpu) <= last for cpu in chosen), ended


def c3_a_mask_is_as_long_as_any_kernels() -> None:
    """The first mask asked for is long enough for 8192 CPUs, the most Linux can be built for, or
    a refused one is asked for again; so none is ever refused for its length."""
    log = os.path.join(FOLDER, "masks")
    for words in ([TLAT, *SHORT], [TLAT, "check"], [CYCLICTEST, "-q", "-l", "9"]):
        run(words, traced("sched_getaffinity,sched_setaffinity", log)).expect(0)
        calls = re.findall(r"sched_(?:get|set)affinity\(\d+, (\d+), .* = (-?\d+)", read(log))
        assert calls, read(log)
        for length, answer in calls:
            assert int(length) >= 1024 and int(answer) >= 0, (words, length, answer)
    tlat("check", under=failing("sched_getaffinity:error=EINVAL:when=1")).expect(0)


def c4_masks_of_more_than_1024_cpus_are_read() -> None:
    online = with_cpus("0,1500", "0-1500")
    machine = report("check", under=online, FAKE_MASK="256:0,1500",
                     **preloaded("affinity"))["machine"]
    assert machine["online"] == machine["allowed"] == "0,1500", machine
    tlat("check", under=online, FAKE_MASK="256:0,1500", **preloaded("affinity")).expect(
        0, "cpu 0 -> cpu 1500")


def c5_masks_of_any_width_are_read() -> None:
    for count in (65, 96, 128):
        cpus = f"0-{count - 1}"
        online = with_cpus(cpus, cpus)
        mask = preloaded("affinity")
        machine = report("check", under=online, FAKE_MASK=f"16:{cpus}", **mask)["machine"]
        assert machine["allowed"] == cpus, machine
        tlat(*SHORT, "-c", str(count), under=online, FAKE_MASK=f"16:{cpus}", **mask).expect(
            2, f"CPU {count} is not on this machine (online: {cpus})")
        assert cyclictest("-a", str(count), "-l", "9", under=online, FAKE_MASK=f"16:{cpus}",
                          **mask).expect(1, f"(online: {cpus})")


def c6_siblings_are_named_with_the_cores_needed() -> None:
    need_two_cpus()
    under = with_texts({f"{CPU}/cpu{cpu}/topology/thread_siblings_list": "0-1\n"
                        for cpu in (0, 1)})
    said = findings(report(*SHORT, "-c", "0-1", under=under))["smt-sibling"]
    assert "CPU 0 and CPU 1 are SMT siblings" in said["text"], said
    said = findings(report(*SHORT, "-c", "1", under=under))["smt-sibling"]
    assert "the controller's CPU 0 shares a core with a measured CPU" in said["text"], said
    assert "2 cores are needed" in said["text"], said
    assert "fewer cores" in said["remedy"], said


def c7_numa_calls_are_not_needed() -> None:
    need_root()
    log = os.path.join(FOLDER, "numa")
    calls = "get_mempolicy,set_mempolicy,mbind,migrate_pages,move_pages"
    for words in ([TLAT, *SHORT], [TLAT, "check"],
                  [CYCLICTEST, "-q", "-l", "9", "-S", "--numa"]):
        run(words, failing("get_mempolicy,mbind,set_mempolicy:error=EPERM")).expect(0)
        run(words, traced(calls, log)).expect(0)
        assert "(" not in read(log), read(log)


if __name__ == "__main__":
    main([c1_cpus_are_known_by_number, c1_a_count_in_place_of_the_list_is_not_believed,
          c2_offline_cpus_are_never_chosen, c3_a_mask_is_as_long_as_any_kernels,
          c4_masks_of_more_than_1024_cpus_are_read, c5_masks_of_any_width_are_read,
          c6_siblings_are_named_with_the_cores_needed, c7_numa_calls_are_not_needed])
