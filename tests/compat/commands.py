# SPDX-License-Identifier: MIT
"""How programs and people call cyclictest: command lines that must be taken, with no environment at
all, standard output a file; signals that end it or ask it; what it leaves behind; which threads run
where and how."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import cyc

PRIVILEGED = os.geteuid() == 0 and cyc.run(["-q", "-l", "1", "-p", "95"]).code == 0
LOCKS = PRIVILEGED and not os.environ.get("TLAT_SANITIZE")  # which answer for mlockall(2)
CPUS = sorted(os.sched_getaffinity(0))
ONE = str(CPUS[-1])
LIST = ",".join(map(str, CPUS[:2]))
TRACING = "/sys/kernel/tracing"
MARKS = os.access(f"{TRACING}/trace_marker", os.W_OK)

# Words as the callers give them; what takes minutes there takes a second here.
COMMANDS = {
    "rteval": ["-i100", "-qmu", "-h 3500", "-p95", f"-t{len(CPUS)}", f"-a{LIST}"],
    "rteval, no interval": ["", "-qmu", "-h 3500", "-p95", "-t1", f"-a{ONE}"],
    "rteval, system left alone": ["-i100", "-qmu", "-h 3500", "-p95", "-t1", f"-a{ONE}",
                                  "--default-system", "-b60000000", "--tracemark"],
    "Linaro": ["-q", "-p", "98", "-i", "1000", "-t", "1", "-a", ONE, "-D", "1s", "-h", "100", "-m",
               "--json=@json"],
    "Linaro, all": ["-q", "-p", "98", "-i", "1000", "-t", "1", "-a", "all", "-D", "1", "-m",
                    "--json=@json"],
    "OpenShift": ["--duration", "1", "--priority", "1", "--threads", "1", "--affinity", ONE,
                  "--histogram", "30", "--interval", "1000", "--mlockall", "--mainaffinity", ONE,
                  "--quiet"],
    "crucible": ["--policy", "fifo", "--priority", "95", "--interval", "100", "--histofall", "100",
                 "--histfile", "@histogram.txt", "--duration", "1", "--quiet", "--affinity", LIST,
                 "--threads", "2", "--mlockall", "--json", "@json", "--mainaffinity", ONE,
                 "--breaktrace=60000000"],
    "checkbox": [f"-a{LIST}", "-t2", "-m", "-p99", "-i250", "-h700", "-q", "-D", "1"],
    "mmtests": ["--mlockall", "-p99", "--threads", "2", "-a", f"--mainaffinity={ONE}",
                "--duration=1", "--distance=0", "--histogram=100", "--interval=500", "--quiet"],
    "mmtests, verbose": ["--mlockall", "-p99", "--threads", "2", "--duration=1", "-v"],
    "OSADL": ["-l2000", "-m", "-Sp90", "-i200", "-h400", "-q"],
    "OSADL, old": ["-l1000", "-m", "-n", "-a0", "-t1", "-p99", "-i400", "-h400", "-q"],
    "phoronix": ["-t", "1", "-p", "80", "-n", "-i", "10000", "-l", "50", "-q"],
    "NUMA": ["-q", "-l", "50", "--numa", "--notrace", "-p80"],
    "labgrid": ["-SN", "-D", "1", "-q"],
    "obsolete letters": ["-q", "-l", "10", "-B", "-C", "-E", "-f", "-I", "-P", "-w", "-W", "-X",
                         "-g", "5", "-O", "x", "-T", "x", "-y", "fifo", "-p", "5", "-Q"],
}
ENDLESS = {"rteval", "rteval, no interval", "rteval, system left alone"}


def without_locks(words):
    return [{"-qmu": "-qu"}.get(word, word) for word in words if word not in ("-m", "--mlockall")]


def unprivileged(words):
    """Without the right to a priority the same words still have to be taken."""
    kept, skip = [], False
    for i, word in enumerate(words):
        if skip:
            skip = False
        elif word in ("-p", "--priority", "--policy", "-y"):
            skip = True
        elif word == "-Q" or re.match(r"-p\d", word):
            continue
        else:
            kept.append(word.replace("-Sp90", "-S"))
    return kept


def the_command_lines_of_others_run():
    for name, words in COMMANDS.items():
        words = words if LOCKS else without_locks(words)
        words = words if PRIVILEGED else unprivileged(words)
        words = words if MARKS else [word for word in words if word != "--tracemark"]
        stop = (1, signal.SIGINT) if name in ENDLESS else None
        out = cyc.run(words, stop, env={})
        assert out.code == 0, (name, out.code, out.err)
        assert out.out, name
        if "@json" in " ".join(words):
            assert all(t["cycles"] > 0 for t in out.threads), name
        if name == "crucible":
            assert "# Max Latencies:" in out.files["histogram.txt"], out.files


def a_signal_before_the_first_value_invents_nothing():
    for sent in (signal.SIGTERM, signal.SIGINT):
        out = cyc.run(["-q", "-t2", "-i", "30000000", "--json=@json"], (0.6, sent))
        assert out.code == 0, out.err
        for thread in out.threads:
            assert thread["cycles"] == 0 and thread["histogram"] == {}, thread
            assert thread["min"] is thread["max"] is thread["avg"] is None, thread
        assert "1000000" not in out.out and "nan" not in out.files["json"]


def timeout_ends_it_with_its_figures():
    """timeout(1) sends its signal twice, to the process and to its group."""
    for sent in ("INT", "TERM"):
        ended = subprocess.run(["timeout", "--preserve-status", "-s", sent, "1", cyc.PROGRAM, "-q"],
                               stdout=subprocess.PIPE, text=True, check=False)
        assert ended.returncode == 0 and ended.stdout.splitlines()[-1].startswith("T: 0"), ended


def json_and_text_are_of_the_same_cycles():
    out = cyc.run(["-q", "-t2", "-i", "500", "--json=@json"], (0.7, signal.SIGINT))
    cycles = [int(c) for c in re.findall(r"C: *(\d+)", out.out)]
    assert cycles == [t["cycles"] for t in out.threads], (cycles, out.threads)


def no_file_in_a_directory_that_is_gone_is_measured_for():
    for option in ("--json", "--histfile", "--tlat-json"):
        with tempfile.TemporaryDirectory() as work:
            gone = f"{work}/gone"
            os.mkdir(gone)
            out = subprocess.run([cyc.PROGRAM, "-q", "-D", "30", option, "file"], cwd=gone, text=True,
                                 preexec_fn=lambda path=gone: os.rmdir(path), capture_output=True,
                                 check=False)
        assert out.returncode == 1 and not out.stdout, (option, out.stdout)
        assert out.stderr.startswith(f"tlat-cyclictest: {option} file: cannot be written: "), out


def strings_are_escaped():
    out = cyc.run(["-q", "-l", "1", '--json=@j"\\\t\udcff'.replace("@j", "@json"), ""])
    name = next(n for n in out.files)
    document = json.loads(out.files[name])
    assert document["cmdline:"].endswith('json"\\\t\ufffd '), document["cmdline:"]


def ended(child):
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 0, err
    return out, err


def started(*words, below=()):
    child = subprocess.Popen([*below, cyc.PROGRAM, "-q", *words], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
    return child


def until(what, check):
    for _ in range(100):
        found = check()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"never: {what}")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


LINE = r"T:[ \d]\d \([ \d]{4}\d+\) P:[ \d]\d I:\d+ C:[ \d]{6}\d+ Min:[ \d]{6}\d+ " \
    r"Act:[ \d]{4}\d+ Avg:[ \d]{4}\d+ Max:[ \d]{7}\d+\n"
BLOCK = rf"#-+\n# cyclictest current status:\n({LINE}){{2}}#-+\n"


def figures_can_be_had_while_it_runs():
    with tempfile.TemporaryDirectory() as work:
        pipe = f"{work}/pipe"
        child = started("-t2", "-F", pipe)
        shared = f"/dev/shm/cyclictest{child.pid}"
        until("the file in /dev/shm", lambda: os.path.exists(shared))
        until("threads", lambda: len(os.listdir(f"/proc/{child.pid}/task")) >= 4)
        time.sleep(0.3)
        child.send_signal(signal.SIGUSR2)
        text = until("SIGUSR2", lambda: read(shared))
        assert re.fullmatch(BLOCK, text), text
        for _ in range(2):
            assert re.fullmatch(f"({LINE}){{2}}", read(pipe)), "the pipe's readers"
        child.send_signal(signal.SIGUSR1)
        time.sleep(0.5)
        out, err = ended(child)
        assert re.search(BLOCK, err), err
        assert re.search(f"^({LINE}){{2}}", out, re.M), out
        assert not os.path.exists(shared) and not os.path.exists(pipe)


def a_pipe_that_is_there_is_replaced():
    with tempfile.TemporaryDirectory() as work:
        pipe, file = f"{work}/pipe", f"{work}/file"
        os.mkfifo(pipe)
        out = cyc.run(["-q", "-l", "5", "-F", pipe])
        assert out.code == 0 and not os.path.exists(pipe), out.err
        with open(file, "w", encoding="utf-8") as kept:
            kept.write("kept")
        os.symlink("pipe", f"{work}/link")
        os.mkfifo(pipe)
        for path in (file, f"{work}/link", work):
            out = cyc.run(["-q", "-l", "5", "-F", path])
            assert out.code == 1 and f"--fifo {path}: cannot be made" in out.err, out.err
        assert read(file) == "kept" and os.path.exists(f"{work}/link")


def an_unreadable_list_is_named_by_its_option():
    for option in ("--affinity", "--mainaffinity"):
        out = cyc.run(["-q", "-l", "5", option, "9999"])
        assert out.code == 1 and out.err.startswith(f"tlat-cyclictest: {option} '9999': "), out.err
        assert out.err.count("\n") == 1, out.err


def threads_of(child):
    """The measuring threads as they are numbered in the lines that SIGUSR2 asks for."""
    shared = f"/dev/shm/cyclictest{child.pid}"
    until("the file in /dev/shm", lambda: os.path.exists(shared))

    def found():
        child.send_signal(signal.SIGUSR2)
        time.sleep(0.2)
        tids = [int(t) for t in re.findall(r"T:[ \d]\d \( *(\d+)\)", read(shared))]
        return tids if tids and all(tids) else None
    return until("threads", found), child.pid


def policies_are_in_force_and_main_is_elsewhere():
    if len(CPUS) < 2:
        return
    for name, policy in (("batch", os.SCHED_BATCH), ("idle", os.SCHED_IDLE)):
        child = started("--policy", name, f"-a{ONE}", "-t2")
        tids, main = threads_of(child)
        assert [os.sched_getscheduler(t) for t in tids] == [policy] * 2, name
        assert all(os.sched_getaffinity(t) == {int(ONE)} for t in tids)
        assert int(ONE) not in os.sched_getaffinity(main)
        ended(child)
    child = started(f"-a{ONE}", "-t2", f"--mainaffinity={ONE}")
    _, main = threads_of(child)
    assert os.sched_getaffinity(main) == {int(ONE)}
    ended(child)


def slack_is_what_the_program_was_started_with():
    """Below a real-time process that is none since Linux 6.12, whatever the policy of the threads."""
    below = ["chrt", "-f", "10"]
    if not PRIVILEGED:
        return
    for words, policy in ((), os.SCHED_OTHER), (("-p", "20"), os.SCHED_FIFO):
        with tempfile.NamedTemporaryFile() as report:
            child = started(*words, f"--tlat-json={report.name}", below=below)
            (tid,), main = threads_of(child)
            slack, own = (read(f"/proc/{task}/timerslack_ns") for task in (tid, main))
            found = os.sched_getscheduler(tid)
            ended(child)
            assert found == policy and slack == own, (found, slack, own)
            wait = json.loads(read(report.name))["results"][0]["wait"]
            assert wait["slack_ns"] == int(slack), (wait, slack)


def memory_is_locked_within_the_limit_of_a_user():
    """8 MiB, the kernel's default, without the right to more. What is too much for it says so, and
    does so before anything is measured."""
    few = ["prlimit", "--memlock=8388608:8388608", "setpriv", "--inh-caps=-all",
           "--bounding-set=-all,+sys_nice", cyc.PROGRAM]
    if not LOCKS:
        return
    out = cyc.run([*few[1:], "-q", "-m", "-p80", "-l20", "-t2"], program=few[0])
    assert out.code == 0 and out.out.count("C:     20") == 2, out.err
    for words in (["-t64"], ["-h", "1000000"]):
        out = cyc.run([*few[1:], "-q", "-m", "-p80", "-l20", *words], program=few[0])
        assert out.code == 1 and "T: 0" not in out.out, out.out
        assert "RLIMIT_MEMLOCK" in out.err and out.err.count("\n") == 1, out.err
        assert "NPROC" not in out.err, out.err


def threads_without_a_list_are_pinned_up_to_2_4():
    in_turn = [{CPUS[i % len(CPUS)]} for i in range(3)]
    for words, places in ([], in_turn), (["-a"], in_turn), (["--shape", "2.5"], [set(CPUS)] * 3):
        child = started("-t3", *words)
        tids, _ = threads_of(child)
        found = [os.sched_getaffinity(t) for t in tids]
        assert found == places, (words, found)
        ended(child)
    if len(CPUS) < 2:
        return
    child = started()
    _, main = threads_of(child)
    assert CPUS[0] not in os.sched_getaffinity(main), "the only measured CPU is not the main thread's"
    ended(child)


def smis_are_counted_by_cpu():
    """Where the processor or the machine does not count them, that is what is said."""
    out = cyc.run(["-q", "-l", "5", "--smi"])
    assert out.code == 0 or "--smi: " in out.err, out.err
    out = cyc.run(["-q", "-l", "5", "--smi", "--shape", "2.5"])
    assert out.code == 1 and "--smi counts by CPU" in out.err, out.err


def the_cursor_ends_below_what_is_drawn():
    for options in ([], ["-M"]):
        out = cyc.run(["-l", "30", "-t", "2", *options])
        assert out.code == 0, out.err
        row = lowest = 0
        for up_or_down in re.findall(r"\x1b\[\d+[AB]|\n", out.out):
            if up_or_down == "\n":
                row += 1
                lowest = max(lowest, row)
            else:
                row += int(up_or_down[2:-1]) * (1 if up_or_down[-1] == "B" else -1)
        assert row == lowest, f"{options}: row {row}, and the last that is written is {lowest}"


def what_is_strict_is_honest():
    assert cyc.run(["-q", "-b", "1"]).code == 0
    assert cyc.run(["-q", "-b", "1", "--strict"]).code == 1
    out = cyc.run(["-q", "-i", "30000000", "--strict"], (0.6, signal.SIGINT))
    assert out.code == 1, out.err


def the_whole_report_says_what_the_text_cannot():
    out = cyc.run(["-q", "-t2", "-l", "30", "--tlat-json=@report", "--json=@json"])
    report = json.loads(out.files["report"])
    assert report["schema"] == "timerlat-report/1"
    assert report["run"]["repeat"].startswith(cyc.PROGRAM)
    assert len(report["results"]) == 2
    for result, thread in zip(report["results"], out.threads):
        counts = result["counts"]
        assert counts["recorded"] + counts["early"] == thread["cycles"] == 30
        assert result["interval_ns"] in (1000000, 1500000)
    missed = sum(r["counts"]["missed"] for r in report["results"])
    assert ("missed" in out.err) == (missed > 0), out.err
    if missed:
        assert f"missed: {missed} " in out.err, out.err


def newer_versions_shape():
    """What changed from 2.4 to 2.10: rows of zeros and the totals are left out, and so is an empty
    histogram; a thread that is not pinned has no CPU; 2.4 pins."""
    out = cyc.run(["-q", "-l", "20", "-t2", "-h", "2000", "--json=@json", "--shape", "2.10"])
    rows = [line for line in out.lines if re.match(r"\d{6} ", line)]
    assert rows and not any(re.fullmatch(r"\d{6} 000000\t000000", r) for r in rows), rows
    assert "# Total" not in out.out and out.json["rt_test_version:"] == "2.10"
    assert [t["cpu"] for t in out.threads] == [-1, -1]
    out = cyc.run(["-q", "-l", "20", "-t2", "--json=@json"])
    assert [t["cpu"] for t in out.threads] == [CPUS[0], CPUS[1 % len(CPUS)]]
    out = cyc.run(["-q", "-l", "20", "--json=@json", "--shape", "2.7", "-a", ONE])
    assert "histogram" not in out.threads[0] and out.threads[0]["cpu"] == int(ONE)


def a_way_that_is_not_measured_is_explained():
    """Each of these runs, or says which probe it needs."""
    for words in (["-r"], ["-s"], ["-x"], ["-c", "1"], ["-r", "-c1"], ["-x", "-c1"], ["-x", "-r"]):
        out = cyc.run(["-q", "-l", "5", *words])
        if out.code:
            assert out.code == 1 and re.fullmatch(
                r"tlat-cyclictest: -\S.* is measured by the probe timer-\S+, which libtimerlat "
                r"\S+ does not have; leave .*\n", out.err), (words, out.err)
        else:
            assert re.search(r"T: 0 .*C: +5 ", out.out), (words, out.out)


def threads_that_could_not_measure_are_no_success():
    """Their timers are refused: those of all threads, or of the last ones only."""
    for limit, threads in ((0, 1), (2, 3)):
        below = [f"--sigpending={limit}:{limit}", cyc.PROGRAM]
        out = cyc.run([*below, "-x", "-q", "-l", "10", f"-t{threads}", "--json=@json"],
                      program="prlimit")
        assert out.code == 1 and out.json["return_code"] == 1, (out.code, out.json)
        assert "unsupported: timer_create() failed" in out.err, out.err
        assert "RLIMIT_SIGPENDING" in out.err, out.err
        assert any(t["cycles"] == 0 for t in out.threads), out.threads


def the_trace_is_marked_and_stopped():
    if not PRIVILEGED or not MARKS:
        return
    before = read(f"{TRACING}/tracing_on").strip()
    try:
        with open(f"{TRACING}/tracing_on", "w", encoding="utf-8") as file:
            file.write("1")
        out = cyc.run(["-q", "-b", "1", "--tracemark"])
        value = re.search(r"# Break value: (\d+)", out.out).group(1)
        assert read(f"{TRACING}/tracing_on").strip() == "0"
        marks = re.findall(r"timerlat: timer-nanosleep .*: (\d+) ns is above 1999 ns",
                           read(f"{TRACING}/trace"))  # of earlier runs, too
        assert marks and int(marks[-1]) // 1000 == int(value), (marks, value)
    finally:
        with open(f"{TRACING}/tracing_on", "w", encoding="utf-8") as file:
            file.write(before)


TESTS = [the_command_lines_of_others_run, a_signal_before_the_first_value_invents_nothing,
         timeout_ends_it_with_its_figures, json_and_text_are_of_the_same_cycles,
         no_file_in_a_directory_that_is_gone_is_measured_for, strings_are_escaped,
         figures_can_be_had_while_it_runs, a_pipe_that_is_there_is_replaced,
         an_unreadable_list_is_named_by_its_option, policies_are_in_force_and_main_is_elsewhere,
         slack_is_what_the_program_was_started_with, memory_is_locked_within_the_limit_of_a_user,
         threads_without_a_list_are_pinned_up_to_2_4, smis_are_counted_by_cpu,
         the_cursor_ends_below_what_is_drawn, what_is_strict_is_honest,
         the_whole_report_says_what_the_text_cannot, newer_versions_shape,
         a_way_that_is_not_measured_is_explained, threads_that_could_not_measure_are_no_success,
         the_trace_is_marked_and_stopped]


def begin_again_with_a_tracefs():
    """In a mount namespace of its own, where this process may make one."""
    mounted = ["unshare", "-m", "sh", "-c", f'mount -t tracefs tracefs {TRACING} && exec "$@"', "sh"]
    if PRIVILEGED and not MARKS and subprocess.run([*mounted, "true"], check=False,
                                                   stderr=subprocess.DEVNULL).returncode == 0:
        os.execvp(mounted[0], [*mounted, sys.executable, *sys.argv])


def main():
    begin_again_with_a_tracefs()
    failed = 0
    for test in TESTS:
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok: {name}")
        except Exception as error:  # whatever it stumbles over
            print(f"not ok: {name}: {error!r}")
            failed += 1
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
