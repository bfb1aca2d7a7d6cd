# SPDX-License-Identifier: MIT
"""Field reports K: output, JSON, exit codes."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from surroundings import (CYCLICTEST, HANG_S, LAST, SOURCE, Skip, TLAT, assert_adds_up, command,
                          findings, main, report_of, strict)

sys.path[:0] = [f"{SOURCE}/tests", f"{SOURCE}/tests/lab"]
import judge  # noqa: E402

QUICK = ["-n", 20, "--warmup", 0, "-c", LAST]
# Every command of tlat that writes a document, at its shortest.
COMMANDS = [["run", "null", "wake-futex", *QUICK], ["check"], ["list"], ["noise", "-d", "50ms"],
            ["storm", "-d", "100ms"], ["scale", "timers", "--sizes", "10,20", "--rounds", "2"],
            ["scale", "wakeups", "--sizes", "1,2", "--rounds", "2"],
            ["ab", "null", "--opt", f"-c {LAST} -n 20", "--pairs", "2", "-q"]]

OTHER_DOCUMENTS = ("list", "ab")  # than reports


def document(words):
    words = words + (["--json"] if words == ["list"] else ["--json", "-"])
    done = command(TLAT, *words)
    assert done.code in (0, 77), (words, done)
    return strict(done.out)


def keys(node):
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            # Interrupts and idle states have the kernel's names.
            yield from () if key in ("watch", "interrupts", "idle") else keys(value)
    elif isinstance(node, list):
        for value in node:
            yield from keys(value)


def k1():
    """Keys are plain, the version is the one of --version, and no control codes reach a file."""
    version = command(TLAT, "--version").out.split()[1]
    for words in COMMANDS:
        found = document(words)
        odd = [key for key in keys(found) if not re.fullmatch(r"[a-z0-9_]+", key)]
        assert not odd, (words, odd)
        assert found.get("tool", {"version": version})["version"] == version, words
    for words in COMMANDS + [["run", "null", *QUICK, "--quiet"]]:
        done = command(TLAT, *words)
        text = done.out + done.err
        assert not [c for c in text if ord(c) < 32 and c != "\n"], (words, text)
    done = command(CYCLICTEST, "-q", "-l", 10)
    assert not re.search(r"[^\n\x20-\x7e]", done.out), done
    # "cmdline:" and "rt_test_version:" have the colon that readers of cyclictest ask for
    own = command(CYCLICTEST, "-q", "-l", 10, "--tlat-json", "-").out
    assert strict(own[own.index('{"schema"'):].splitlines()[0])["tool"]["version"] == version


ODD = b'q"\\\t\n\xff\xc3\xa9z'


def k2():
    """Strings of any bytes are written so that they can be read, and are the same then."""
    text = ODD.decode(errors="replace")
    with tempfile.TemporaryDirectory() as folder:
        path = os.fsencode(folder) + b"/" + ODD
        child = [TLAT, "run", "null", "-n", "20", "-q", "--json", path, "--load",
                 b"true " + ODD + b'"']
        assert subprocess.run(child, stdout=subprocess.DEVNULL, check=False).returncode == 0
        with open(path, encoding="utf-8", errors="strict") as file:
            found = strict(file.read())
        argv = found["tool"]["argv"]
        assert text in argv[-3] and text in argv[-1], argv
        again = subprocess.run([TLAT, "show", path, "--json", "-"], capture_output=True, check=True)
        assert strict(again.stdout.decode("utf-8", "strict"))["tool"] == found["tool"]
        old = os.fsencode(folder) + b"/old"
        child = [CYCLICTEST, "-q", "-l", "3", b"--json=" + old, b"--histfile=" + path, "-h", "3"]
        assert subprocess.run(child, stdout=subprocess.DEVNULL, check=False).returncode == 0
        with open(old, encoding="utf-8", errors="strict") as file:
            assert text in strict(file.read())["cmdline:"]


def interrupted(words, after_s, number=signal.SIGTERM):
    """Exit code and report of a run that is ended so long after it began."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/report"
        words = [TLAT, "run", *words, "-c", LAST, "-d", "1h", "-q", "--json", path]
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(os.listdir(f"/proc/{child.pid}/task")) < 2:  # its handlers are there by then
            time.sleep(0.005)
        time.sleep(after_s)
        child.send_signal(number)
        code = child.wait(HANG_S)
        if not os.path.exists(path):
            return code, None
        with open(path, encoding="utf-8") as file:
            return code, strict(file.read())


def k3():
    """Ended before the first value: it parses, figures are null, and how it ended is said. Of
    tlat-cyclictest: a_signal_before_the_first_value_invents_nothing."""
    code, found = interrupted(["timer-nanosleep", "-i", "30s"], 0.6)
    assert code == 0 and found["run"]["end"] == "signal", (code, found)
    result = found["results"][0]
    assert result["summary"] is None and result["counts"]["recorded"] == 0, result["summary"]
    assert result["histogram"]["min"] is result["histogram"]["max"] is None, result["histogram"]


def assert_metrics_are_listed(found):
    """compare --metric wants their names, which nobody has to look for in reports."""
    with open(f"{SOURCE}/libtimerlat/man/timerlat.7", encoding="utf-8") as file:
        page = file.read().partition("\n.Sh METRICS\n")[2].partition("\n.Sh ")[0]
    names = {metric["name"] for one in found for result in one["results"]
             for metric in result.get("metrics", [])}
    assert len(names) > 20, names
    lost = {name for name in names
            if not re.search(rf"\b{name.rpartition('.')[2]}\b", page)}
    assert not lost, f"not in timerlat(7): {sorted(lost)}"


def k4():
    """Every probe, on one thread and on three, every kind of document: all are what the published
    schema says, and have no key that it does not name."""
    try:
        import check_schema
    except SystemExit:
        raise Skip("python3-jsonschema is not installed") from None
    with tempfile.TemporaryDirectory() as folder:
        runs = [["run", "*", "--raw", "5"], ["run", "timer-*", "--threads", "3"],
                ["run", "wake-*", "--verify"]]
        runs = [words + QUICK for words in runs]
        runs += [words for words in COMMANDS[1:] if words[0] not in OTHER_DOCUMENTS]
        files = []
        for i, words in enumerate(runs):
            files.append(f"{folder}/{i}")
            done = command(TLAT, *words, "--json", files[-1])
            assert done.code == 0, (words, done)
        faults = [(words, fault) for words, path in zip(runs, files)
                  for found in check_schema.documents(path)
                  for fault in check_schema.check_document(found)]
        faults += [(words, fault) for words in COMMANDS if words[0] in OTHER_DOCUMENTS
                   for fault in check_schema.check_document(document(words))]
        assert not faults, faults
        assert_metrics_are_listed([found for path in files for found in check_schema.documents(path)])


RECIPE = "tlat run timer-timerfd -n 100 --budget 'max<1000s' --json r.json || exit 1; echo pass"


def k5():
    """Without the tool, or with nothing in its file, nothing passes: neither a recipe, nor a
    comparison, nor our own lab."""
    with tempfile.TemporaryDirectory() as folder:
        done = command("/bin/sh", "-c", f"cd {folder}; {RECIPE}", env={"PATH": folder})
        assert done.code == 1 and "pass" not in done.out, done
        empty = f"{folder}/empty"
        with open(empty, "w", encoding="utf-8"):
            pass
        for words in (["show", empty], ["compare", empty, empty], ["merge", empty],
                      ["ab", "--a", "no-such-tool", "--b", "no-such-tool", "--pairs", 2, "-q"],
                      ["ab", "--a", "true", "--b", "true", "--pairs", 2, "-q"]):
            done = command(TLAT, *words)
            assert done.code == 2 and done.err.count("\n") >= 1 and "verdict" not in done.out, done
    for out in ("", "{"):
        files = judge.Files({"x/run.out": out, "x/run.code": "127", "x/run.err": "tlat: not found"},
                            "x")
        try:
            raise AssertionError(f"the lab took it for a report: {files.report('run')}")
        except ValueError as error:
            assert "127" in str(error) and "not found" in str(error), error


def k6():
    """A word that cannot be read: the exit code of wrong usage, one line that names it, nothing
    measured."""
    for words, name in ((["--nosuch"], "--nosuch"), (["-c", "foo"], "foo"), (["-d", "1x"], "1x"),
                        (["-i", "10"], "10us"), (["-n", "1e99"], "1e99"), (["extra"], "extra")):
        done = command(TLAT, "run", "timer-nanosleep", *words)
        assert done.code == 2 and done.err.count("\n") == 1 and not done.out, (words, done)
        assert name in done.err, done
    for words, name in ((["--nosuch"], "--nosuch"), (["-a", "foo"], "foo"), (["-D", "1x"], "1x"),
                        (["-i", "10us"], "10us"), (["-t", "extra"], "extra"),
                        (["-p", "100"], "100")):
        done = command(CYCLICTEST, "-q", "-l", 10, *words)
        assert done.code == 1 and done.err.count("\n") == 1 and not done.out, (words, done)
        assert name in done.err, done
    done = command(CYCLICTEST, "-q", "-l", 10, "extra")  # as cyclictest does, but for the line
    assert done.code == 0 and "'extra' is no option" in done.err, done


def k7():
    """Ctrl-C keeps what was measured, whole and marked: exit code 0 as after a shorter run, and no
    PASS where there was a budget. A second one ends it at once."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        code, found = interrupted(["timer-nanosleep", "--warmup", "0"], 0.6, number)
        assert code == 0 and found["run"]["end"] == "signal", (code, number)
        assert found["results"][0]["counts"]["recorded"] > 0, found["results"][0]["counts"]
        assert_adds_up(found["results"][0])
    code, found = interrupted(["timer-nanosleep", "--warmup", "0", "--budget", "max<1000s"], 0.6)
    assert code == 77 and found["verdict"] == "INCONCLUSIVE", (code, found["verdict"])
    with tempfile.TemporaryDirectory() as folder:
        assert two_ctrl_c(folder) == [-signal.SIGINT] * 2


def two_ctrl_c(folder):
    """Exit codes of tools that write to where nobody reads."""
    os.mkfifo(f"{folder}/pipe")
    children = [subprocess.Popen([*words, f"{folder}/pipe"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
                for words in ([TLAT, "run", "null", "-n", "10", "--json"],
                              [CYCLICTEST, "-q", "-l", "3", "--json"])]
    try:
        time.sleep(1.5)  # they have measured by then, or end by the first
        for _ in range(2):
            for child in children:
                child.send_signal(signal.SIGINT)
            time.sleep(0.7)
        return [child.wait(20) for child in children]
    finally:
        for child in children:
            child.kill()


def k8():
    """Nothing of the environment but TLAT_JSON changes a run, and the result has what was asked for
    beside what is in force."""
    names = "PRIORITY POLICY CPUS AFFINITY INTERVAL LOOPS DURATION THREADS SLACK TLAT_PRIORITY"
    words = ["timer-nanosleep", *QUICK, "-p", 80, "--seed", 7]
    plain = report_of(*words)
    found = report_of(*words, env={name: "48" for name in names.split()})
    assert found["run"]["repeat"] == plain["run"]["repeat"]
    wait = found["results"][0]["wait"]
    assert (wait["policy_asked"], wait["priority_asked"]) == ("fifo", 80), wait
    granted = wait["policy"] == "fifo"
    assert wait["priority"] == (80 if granted else 0), wait
    assert granted != ("policy-refused" in findings(found)), findings(found)


if __name__ == "__main__":
    main([k1, k2, k3, k4, k5, k6, k7, k8])
