# SPDX-License-Identifier: MIT
"""Field reports O1 and O2: musl, and programs that are linked whole. Compiles all of the library,
and is slow for that."""
import glob
import os
import tempfile

import surroundings
from surroundings import (HANG_S, SOURCE, command, main, need_commands, need_root)

PROGRAM = """
#include <stdio.h>
#include <timerlat.h>

int main(int argc, char **argv)
{
	struct tlat_summary summary = { .size = sizeof(summary) };
	struct tlat_report *report;
	struct tlat_error error;

	if (argc != 2 || tlat_run(&report, &TLAT_RUN_OPTS(.probe = argv[1], .samples = 20,
							  .interval_ns = 1000000), &error) < 0)
		return 2;
	tlat_result_summary(tlat_report_result(report, 0), &summary);
	printf("%s: %d\\n", argv[1], (int)summary.asked);
	tlat_report_free(report);
	return summary.asked != 20;
}
"""


def plain_sources():
    """Those of the library that do without jansson."""
    for path in sorted(glob.glob(f"{SOURCE}/libtimerlat/*.c")):
        with open(path, encoding="utf-8") as file:
            if '"report_json.h"' not in file.read():
                yield path


def build(folder):
    need_commands("musl-gcc")
    with open(f"{folder}/program.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    machine = os.uname().machine
    done = command("musl-gcc", "-std=c11", "-O1", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic",
               "-Werror", "-static", f"-I{SOURCE}/libtimerlat/include", f"-I{SOURCE}/libtimerlat",
               "-idirafter", "/usr/include", "-idirafter", f"/usr/include/{machine}-linux-gnu",
               *plain_sources(), *glob.glob(f"{SOURCE}/libtimerlat/probes/*.c"),
               f"{folder}/program.c", "-o", f"{folder}/program", "-pthread", "-lm")
    assert done.code == 0 and not done.err, done


def o1_and_o2():
    """Built with musl without a warning and linked whole, timers whose signals are aimed at a
    thread run, also where there is no file but the program."""
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        for probe in ("timer-posix-sigwait", "timer-posix-handler", "timer-posix-thread"):
            done = command(f"{folder}/program", probe)
            assert done.code == 0 and done.out == f"{probe}: 20\n", done
        need_root()
        os.mkdir(f"{folder}/empty")
        os.rename(f"{folder}/program", f"{folder}/empty/program")
        for probe in ("timer-posix-sigwait", "timer-timerfd", "wake-futex"):
            done = command("chroot", f"{folder}/empty", "/program", probe)
            assert done.code == 0, done


if __name__ == "__main__":
    surroundings.HANG_S = 500
    main([o1_and_o2])
