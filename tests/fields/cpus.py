#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Reports of kind B: CPU lists, affinity and isolation. Where a run is, and who decides."""
import os
import re
from typing import Any

from surroundings import (FOLDER, SHORT, TLAT, Words, cyclictest, findings, group, main, mounted,
                          need, need_root, need_two_cpus, preloaded, report, run, tlat,
                          with_texts, without_cgroups)

CPU = "/sys/devices/system/cpu"
ON_0, ON_1 = ["taskset", "-c", "0"], ["taskset", "-c", "1"]


def cpus_of(document: dict[str, Any]) -> list[Any]:
    return [result["wait"]["cpu"] for result in document["results"]]


def cyclictest_cpus(*words: str, under: Words = ()) -> tuple[list[int], str]:
    """CPUs of the threads, and what was said on standard error."""
    ended = cyclictest("-l", "9", "--json", "-", *words, under=under).expect(0)
    text = ended.out[ended.out.index("\n{") + 1:]  # behind the summary
    return sorted(map(int, re.findall(r'"cpu": (-?\d+)', text))), ended.err


def b1_isolated_cpus_are_named_when_left_out_and_have_a_word() -> None:
    need_two_cpus()
    isolated = with_texts({f"{CPU}/isolated": "1\n"})
    assert cpus_of(report(*SHORT, "-c", "isolated", under=isolated)) == [1]
    # A mask without just the isolated ones is what every program starts with.
    assert cpus_of(report(*SHORT, under=[*isolated, *ON_0])) == [1]
    document = report(*SHORT, "-c", "0", under=[*isolated, *ON_0])
    said = findings(document)["not-isolated"]
    assert "without isolation: 0 (isolated: 1)" in said["text"], said
    assert "-c isolated" in said["remedy"], said
    for words in (["-S"], ["-a", "-t"], ["-t"]):
        _, err = cyclictest_cpus(*words, under=[*isolated, *ON_0])
        assert "left out, as they are isolated" in err and "-a 1" in err, err
    cpus, err = cyclictest_cpus("-a", "isolated", "-t", under=[*isolated, *ON_0])
    assert cpus == [1] and "left out" not in err, (cpus, err)


def b1_a_load_is_not_left_on_isolated_cpus() -> None:
    """Nothing spreads tasks over isolated CPUs. The mask is that of a larger machine."""
    need_two_cpus()
    for isolated, where in (("", "set to the CPUs that do not measure\n"),
                            ("2-3", "set to the CPUs that neither measure nor are isolated\n"),
                            ("0-3", "these are isolated, so that nothing spreads it")):
        under = [*without_cgroups(), *with_texts({
            f"{CPU}/online": "0-3\n", f"{CPU}/present": "0-3\n",
            f"{CPU}/isolated": f"{isolated}\n"})]
        document = report(*SHORT, "-c", "1", "--load", "exec sleep 60", under=under,
                          FAKE_MASK="128:0-3", **preloaded("affinity"))
        said = findings(document)["load"]["text"]
        assert where in said, said


def b2_a_named_cpu_overrides_the_mask_and_is_told() -> None:
    need_two_cpus()
    document = report(*SHORT, "-c", "1", under=ON_0)
    assert cpus_of(document) == [1]
    assert "mask 0 and overrides it: 1" in findings(document)["affinity-overridden"]["text"]
    cpus, err = cyclictest_cpus("-a", "1", under=ON_0)
    assert cpus == [1] and "affinity mask are used, as they are named: 1" in err, (cpus, err)


def b3_an_inherited_mask_is_obeyed_without_a_list() -> None:
    need_two_cpus()
    for under, cpu in ((ON_0, 0), (ON_1, 1)):
        document = report(*SHORT, under=under)
        assert cpus_of(document) == [cpu]
        assert document["machine"]["allowed"] == str(cpu)
        assert "affinity mask" in findings(document)["affinity-obeyed"]["text"]
        assert cpus_of(report(*SHORT, "-c", "all", under=under)) == [0, 1]
        assert cyclictest_cpus("-S", under=under)[0] == [cpu]
    with group("cpuset", mems="0", cpus="1") as inside:
        assert cpus_of(report(*SHORT, under=inside)) == [1]
        assert cpus_of(report(*SHORT, "-c", "all", under=inside)) == [1]
        assert cyclictest_cpus("-S", under=inside)[0] == [1]


def b4_a_list_is_read_however_it_is_attached_and_never_means_all() -> None:
    need_two_cpus()
    for words in (["-c", "0-1"], ["-c0-1"], ["--cpus", "0-1"], ["--cpus=0-1"], ["-c", "00-01"]):
        assert cpus_of(report(*SHORT, *words)) == [0, 1], words
    assert cpus_of(report(*SHORT, "-c", "0")) == [0]
    for words in (["-a", "0-1"], ["-a0-1"], ["--affinity", "0-1"], ["--affinity=0-1"],
                  ["-a", "00-01"]):
        assert cyclictest_cpus(*words, "-t")[0] == [0, 1], words
    assert cyclictest_cpus("-a", "0", "-t")[0] == [0]
    for bad in ("foo", "0-", "1-0", "0;1", "0-1-2", ","):
        tlat(*SHORT, "-c", bad).expect(2)
        ended = cyclictest("-l", "9", "-a", bad).expect(1)
        assert "T: 0" not in ended.out, ended


def b5_list_and_mask_follow_one_rule() -> None:
    """The list counts; python/tests/test_process.py has the same of the package."""
    need_two_cpus()
    document = report(*SHORT, "-c", "0-1", under=ON_1)
    assert cpus_of(document) == [0, 1] and document["machine"]["allowed"] == "1"
    assert "overrides it: 0" in findings(document)["affinity-overridden"]["text"]
    tlat(*SHORT, "-c", "0-1", under=ON_1).expect(0, "timer-nanosleep 0", "timer-nanosleep 1")
    cpus, err = cyclictest_cpus("-a", "0-1", "-t", under=ON_1)
    assert cpus == [0, 1] and "as they are named: 0" in err, (cpus, err)


def b6_options_mean_the_same_in_any_order() -> None:
    need_two_cpus()
    for words in (["-S", "-a", "1"], ["-a", "1", "-S"]):
        cpus, err = cyclictest_cpus(*words)
        assert cpus == [0, 1] and "-a is left out of account" in err, (words, cpus, err)
    pair = ["run", "wake-futex", "-n", "9"]
    for words in (["-c", "0", "--pair", "0:1"], ["--pair", "0:1", "-c", "0"]):
        tlat(*pair, *words).expect(2, "contradict")


def b7_any_version_of_cgroups_will_do() -> None:
    """This machine's; version 2 alone; a file system that has neither."""
    need_root()
    document = report("check")
    unified = os.path.join(FOLDER, "unified")
    os.makedirs(unified)
    for name, text in (("cgroup.controllers", "cpu cpuset\n"),
                       ("cpuset.cpus.effective", "0\n")):
        with open(os.path.join(unified, name), "w", encoding="ascii") as file:
            file.write(text)
    assert document["machine"]["cgroup"] in ("v1", "v2", "v1, v2"), document["machine"]
    below = mounted({"/sys/fs/cgroup": unified})
    machine = report("check", under=below)["machine"]
    assert machine["cgroup"] == "v2" and machine["cpuset"] in ("0", None), machine
    assert (machine["cpuset"] == "0") == (machine["online"] != "0"), machine
    tlat("check", under=below).expect(0, "cgroup v2")
    below = without_cgroups()
    assert report("check", under=below)["machine"]["cgroup"] is None
    assert cpus_of(report(*SHORT, under=below))


def b7_a_cpuset_is_told() -> None:
    need_two_cpus()
    with group("cpuset", mems="0", cpus="1") as inside:
        machine = report("check", under=inside)["machine"]
        assert machine["cpuset"] == "1" and "v1" in machine["cgroup"], machine


def b8_a_list_file_without_a_list_is_none_or_not_known() -> None:
    for text in ("\n", "", "  \n"):
        document = report("check", under=with_texts({f"{CPU}/isolated": text}))
        assert document["machine"]["isolated"] == "", document["machine"]
        assert "isolation-unknown" not in findings(document)
    for text in ("(null)\n", "      (null)\n"):
        under = with_texts({f"{CPU}/isolated": text})
        document = report("check", under=under)
        assert document["machine"]["isolated"] is None, document["machine"]
        assert "holds no CPU list" in findings(document)["isolation-unknown"]["text"]
        assert cpus_of(report(*SHORT, under=under))
        cyclictest("-S", "-l", "9", under=under).expect(0)


def b9_lists_are_read_to_their_end() -> None:
    for text in ("0-2,4-23", "0,2,4,6,8,10,12,14,16-31"):
        under = [*with_texts({f"{CPU}/online": text + "\n"}), *ON_0]  # on both lists
        machine = report("check", under=under)["machine"]
        assert machine["online"] == text, machine


def b10_an_impossible_cpu_is_refused_in_any_company() -> None:
    need_two_cpus()
    for words in ("2", "0-2", "0,2", "2,0"):
        ended = tlat(*SHORT, "-c", words).expect(2, "CPU 2 is not on this machine (online: 0-1)")
        assert ended.err.count("\n") == 1 and not ended.out, ended
        ended = cyclictest("-l", "9", "-a", words).expect(1, "CPU 2 is not on this machine")
        assert ended.err.count("\n") == 1, ended


def b11_isolation_is_what_is_in_effect() -> None:
    need(len(open(f"{CPU}/isolated", encoding="ascii").read()) < 2, "CPUs are isolated here")
    under = with_texts({"/proc/cmdline": "quiet isolcpus=nohz,domain,1\n"})
    document = report("check", under=under)
    assert document["machine"]["isolated"] == "", document["machine"]
    assert document["machine"]["isolated_requested"] == "1", document["machine"]
    said = findings(document)["isolation-not-effective"]
    assert "isolcpus: requested 1, effective none" in said["text"], said
    assert said["severity"] == "warn", said
    run([TLAT, *SHORT, "-c", "isolated"], under).expect(2, "requested isolcpus=1")


if __name__ == "__main__":
    main([b1_isolated_cpus_are_named_when_left_out_and_have_a_word,
          b1_a_load_is_not_left_on_isolated_cpus,
          b2_a_named_cpu_overrides_the_mask_and_is_told,
          b3_an_inherited_mask_is_obeyed_without_a_list,
          b4_a_list_is_read_however_it_is_attached_and_never_means_all,
          b5_list_and_mask_follow_one_rule, b6_options_mean_the_same_in_any_order,
          b7_any_version_of_cgroups_will_do, b7_a_cpuset_is_told,
          b8_a_list_file_without_a_list_is_none_or_not_known, b9_lists_are_read_to_their_end,
          b10_an_impossible_cpu_is_refused_in_any_company, b11_isolation_is_what_is_in_effect])
