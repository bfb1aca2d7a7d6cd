# SPDX-License-Identifier: MIT
"""Look at a run while it goes on; Ctrl-C ends it and keeps what it has."""

import timerlat

with timerlat.Session(duration="2s") as session:
    run = session.start("timer-nanosleep")
    try:
        while not run.over:
            for progress in run.progress():
                print(f"{progress.done:4.0%} {progress.count} values, max {progress.max:.0f} ns")
            try:
                run.wait(timeout=0.5)
            except TimeoutError:
                pass
        report = run.wait()
    except timerlat.Interrupted as interrupted:
        if interrupted.report is None:
            raise
        report = interrupted.report
print(report)
