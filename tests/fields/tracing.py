# SPDX-License-Identifier: MIT
"""Field reports P: the kernel's tracing tools."""
import os
import tempfile

from surroundings import (CYCLICTEST, LAST, TLAT, command, main, need_commands, need_root, strict)

QUICK = ["-c", LAST, "-n", 20, "--warmup", 0, "-q"]


def p1():
    """The kernel's tracer of the same name is not used: asked for, it is no probe, in one line and
    without a file; a mark without a tracefs is refused with what to mount."""
    with tempfile.TemporaryDirectory() as folder:
        for words in (["timerlat"], ["null", "--trace", "timerlat"]):
            done = command(TLAT, "run", *words, *QUICK, "--json", f"{folder}/r.json")
            assert done.code == 2 and done.err.count("\n") == 1 and not done.out, done
            assert not os.listdir(folder), "a file was made"
    need_root()
    done = command(*without_kernel_debug(), TLAT, "run", "null", *QUICK, "--break", "1s",
                   "--trace-mark")
    assert done.code == 2 and done.err.count("\n") == 1, done
    assert "trace_marker" in done.err and "mount -t tracefs" in done.err, done


def p3():
    """Nothing of tracing is touched unasked."""
    need_commands("strace")
    for words in ([TLAT, "run", "wake-futex", "timer-nanosleep", *QUICK],
                  [TLAT, "run", "null", *QUICK, "--break", "1000s"],
                  [CYCLICTEST, "-q", "-l", 5, "-b", 100000000]):
        with tempfile.TemporaryDirectory() as folder:
            done = command("strace", "-f", "-o", f"{folder}/calls", "-e", "trace=file", *words)
            assert done.code == 0, done
            with open(f"{folder}/calls", encoding="utf-8", errors="replace") as file:
                calls = file.read()
        assert "/" in calls and "tracing" not in calls and "trace_marker" not in calls, words


def without_kernel_debug():
    """Words before a command, for which debugfs and tracefs hold nothing."""
    return ["unshare", "-m", "sh", "-c", "for d in debug tracing; do d=/sys/kernel/$d; "
            '[ ! -d $d ] || mount -t tmpfs none $d || exit 3; done; exec "$@"', "sh"]


def p4():
    """No command needs a file below debugfs or tracefs."""
    need_root()
    before = without_kernel_debug()
    done = command(*before, TLAT, "run", "*", *QUICK, "--json", "-")
    assert done.code == 0, done
    usual = {r["probe"]: r["supported"] for r in
             strict(command(TLAT, "run", "*", *QUICK, "--json", "-").out)["results"]}
    assert {r["probe"]: r["supported"] for r in strict(done.out)["results"]} == usual
    for words in ([TLAT, "check"], [TLAT, "noise", "-d", "50ms"], [TLAT, "storm", "-d", "50ms"],
                  [TLAT, "scale", "wakeups", "--sizes", "1,2", "--rounds", 2],
                  [CYCLICTEST, "-q", "-l", 5]):
        done = command(*before, *words)
        assert done.code == 0, done


if __name__ == "__main__":
    main([p1, p3, p4])
