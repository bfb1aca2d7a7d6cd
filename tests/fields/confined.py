# SPDX-License-Identifier: MIT
"""Field reports L: containers, sandboxes, virtual machines."""
import os
import re
import tempfile
import threading
import time

from surroundings import (CPUS, CYCLICTEST, GROUP, LAST, Skip, TLAT, command, findings, group,
                          main, need_commands, need_root, preloaded, report_of, strict)

QUICK = ["timer-nanosleep", "-n", 50, "--warmup", 0]


def l1():
    """Refused in spite of privileges: it measures as an ordinary thread, marked; --strict stops
    with the reason."""
    need_commands("strace")
    refuse = ["strace", "-f", "-o", "/dev/null", "-e",
              "inject=sched_setscheduler,sched_setattr:error=EPERM"]
    found = report_of(*QUICK, "-p", 80, before=refuse)
    wait = found["results"][0]["wait"]
    assert (wait["policy"], wait["priority"], wait["policy_asked"]) == ("other", 0, "fifo"), wait
    assert "SCHED_FIFO 80 refused" in findings(found)["policy-refused"]["text"]
    text = command(*refuse, TLAT, "run", *QUICK, "-q").out
    assert re.search(r"^timer-nanosleep .* other\*", text, re.M), text
    done = command(*refuse, TLAT, "run", *QUICK, "-p", 80, "-q", "--strict")
    assert done.code == 2 and not done.out and "SCHED_FIFO 80 refused" in done.err, done


def l2():
    """Inside a cpuset: the CPUs are those of the set, one outside is an error that names the set,
    and each result says where it ran."""
    if len(CPUS) < 2:
        raise Skip("needs two CPUs")
    with open("/sys/devices/system/node/online", encoding="ascii") as file:
        nodes = file.read().strip()
    with group("cpuset", mems=nodes, cpus=LAST) as inside:
        for words in (QUICK, [*QUICK, "-c", "all"]):
            results = report_of(*words, before=inside)["results"]
            assert [r["wait"]["cpu"] for r in results] == [CPUS[-1]], results
            assert not results[0]["counts"]["rejected"]["timeout"]
        done = command(*inside, CYCLICTEST, "-q", "-S", "-l", 10, "--tlat-json", "-")
        document = strict(done.out[done.out.index('{"schema"'):].splitlines()[0])
        assert [r["wait"]["cpu"] for r in document["results"]] == [CPUS[-1]], done
        for done in (command(*inside, TLAT, "run", *QUICK, "-c", CPUS[0]),
                     command(*inside, CYCLICTEST, "-q", "-a", CPUS[0], "-l", 10)):
            assert done.code in (1, 2) and "T:" not in done.out, done
            assert f"CPU {CPUS[0]} is outside" in done.err and f"/{GROUP}: {LAST}" in done.err, done


def l3():
    """As many threads as CPUs may be used, whatever the machine has; a quota is named, not counted.
    """
    done = command("taskset", "-c", LAST, CYCLICTEST, "-q", "-S", "-l", 10)
    assert len(re.findall("^T:", done.out, re.M)) == 1, done
    # Without a list the mask decides; the word means all CPUs that can be reached.
    for words, cpus in (([], [LAST]), (["-c", "all"], CPUS)):
        found = report_of(*QUICK, *words, before=["taskset", "-c", LAST])
        assert [str(r["wait"]["cpu"]) for r in found["results"]] == list(map(str, cpus)), words
    with group("cpu", cfs_quota_us="20000") as inside:
        found = report_of(*QUICK, "-c", "all", "--policy", "other", before=inside)
        assert len(found["results"]) == len(CPUS), found["results"]
        quota = findings(found)["cpu-quota"]
        assert f"/{GROUP}" in quota["text"] and "20000 us" in quota["text"], quota
        busy = report_of("timer-spin", "-c", LAST, "-d", "700ms", "-i", "1ms", "--policy", "other",
                      before=inside)
        assert "throttled" in findings(busy), "the quota was used up and nothing says so"
        assert busy["results"][0]["disturbed"]["throttled"] > 0


class Stolen:
    """A copy of /proc/stat in which the host takes a good part of each CPU's time."""

    def __init__(self, path):
        self.path, self.steps, self.over = path, 0, threading.Event()
        with open("/proc/stat", encoding="ascii") as file:
            self.lines = file.read().splitlines()
        self.write()
        self.thread = threading.Thread(target=self.go_on)
        self.thread.start()

    def write(self):
        lines = [re.sub(r"^(cpu\d+(?: \d+){7}) \d+", rf"\1 {10**8 + self.steps:09d}", line)
                 for line in self.lines]
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb", buffering=0) as file:
            file.write(("\n".join(lines) + "\n").encode())

    def go_on(self):
        while not self.over.wait(0.02):
            self.steps += 1
            self.write()

    def end(self):
        self.over.set()
        self.thread.join()


def l4():
    """Time that the host took is in the result of the CPUs measured, and a warning when it is much.
    """
    need_root()
    with tempfile.TemporaryDirectory() as folder:
        stolen = Stolen(f"{folder}/stat")
        try:
            found = report_of("timer-nanosleep", "-c", LAST, "-d", "1s", before=[
                "unshare", "-m", "sh", "-c",
                f'mount --bind {folder}/stat /proc/stat; exec "$@"', "sh"])
        finally:
            stolen.end()
    result = found["results"][0]
    assert result["watch"]["steal_ns"] >= 20_000_000, result["watch"]["steal_ns"]
    assert result["disturbed"]["steal"] > 0, result["disturbed"]
    finding = findings(found)["stolen-time"]
    assert finding["severity"] == "warn", finding
    taken = int(re.search(r"took (\d+) ms", finding["text"])[1])
    assert taken == result["watch"]["steal_ns"] // 1_000_000, finding


def l5():
    """A clock of which each reading takes 20 us: calibration says so, and each result that is
    stamped by it carries a warning; one stamped by the counter does not."""
    env = {**preloaded("clock"), "FAKE_CLOCK": "slow:20000"}
    found = report_of("null", *QUICK, "--clock", "clock_gettime", "-c", LAST, env=env)
    own = report_of("null", *QUICK, "-c", LAST, env=env)
    assert found["clock"]["read_cost_ns"] > 20000 and "traps" in found["clock"]["reason"]
    slow = {r["probe"]: [f for f in r["findings"] if f["id"] == "clock-slow"]
            for r in found["results"]}
    assert all(len(f) == 1 and f[0]["severity"] == "warn" for f in slow.values()), slow
    took = float(re.search(r"takes ([0-9.]+) us", slow["null"][0]["text"])[1])
    assert took >= 20, slow
    assert found["results"][0]["floor"]["p50_ns"] >= 20000
    ids = {r["probe"]: [f["id"] for f in r["findings"]] for r in own["results"]}
    assert "clock-slow" in ids["timer-nanosleep"], ids
    assert ("clock-slow" in ids["null"]) == (own["clock"]["source"] == "clock_gettime"), ids


def l6():
    """The thread numbers of /proc are not those of the namespace: a signal to the process is sent
    all the same, as it is known which thread is which."""
    need_root()
    under = ["unshare", "-p", "-f"]
    if command(*under, "true").code:
        raise Skip("PID namespaces are not available")
    found = report_of("signal-kill-handler", "-n", 50, "--warmup", 0, before=under)
    assert "unsupported" not in findings(found), findings(found)["unsupported"]
    assert found["results"][0]["counts"]["recorded"] > 0, found["results"][0]["counts"]


if __name__ == "__main__":
    main([l1, l2, l3, l4, l5, l6])
