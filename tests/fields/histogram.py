# SPDX-License-Identifier: MIT
"""Field reports J: histograms and what is said of them."""
import json
import os
import pty
import re
import subprocess
import tempfile

from surroundings import (CPUS, CYCLICTEST, HANG_S, LAST, TLAT, command, main, strict)

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
BEYOND = 2**37  # units; the histogram of the library ends there


def numbers(out, words):
    return [int(n) for n in re.search(rf"^# {words}: (.*)$", out, re.M)[1].split()]


def rows_of_cyclictest():
    """Values past the last row are counted as such, and the extremes are theirs."""
    with tempfile.TemporaryDirectory() as folder:
        done = command(CYCLICTEST, "-q", "-t2", "-l", 40, "-h", 5, f"--json={folder}/json")
        with open(f"{folder}/json", encoding="utf-8") as file:
            threads = strict(file.read())["thread"]
    over, total = numbers(done.out, "Histogram Overflows"), numbers(done.out, "Total")
    assert [a + b for a, b in zip(over, total)] == [40, 40], done
    assert sum(over) > 0, "nothing is above 5 us: the test shows nothing"
    assert numbers(done.out, "Max Latencies") == [threads[i]["max"] for i in "01"], done
    assert all(int(row) < 5 for i in "01" for row in threads[i]["histogram"]), threads


def a_report_beyond_the_range(folder):
    """200 values of which 150 are longer than the histogram can hold."""
    path = f"{folder}/report"
    done = command(TLAT, "run", "timer-nanosleep", "-c", LAST, "-n", 200, "-q", "--json", path)
    assert done.code == 0, done
    with open(path, encoding="utf-8") as file:
        document = strict(file.read())
    result = document["results"][0]
    index = result["histogram"]["counts"][0][0]
    result["counts"].update(asked=200, recorded=50, overflow=150, missed=0, unfinished=0)
    result["histogram"].update(counts=[[index, 50]], overflow=150, max=BEYOND + 10**9)
    result.update(blocks=[], outliers=[])
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document))
    return path


def j1():
    """A quantile past the range has an interval that begins where the range ends; the overflow and
    the true maximum are said."""
    rows_of_cyclictest()
    with tempfile.TemporaryDirectory() as folder:
        path = a_report_beyond_the_range(folder)
        text = command(TLAT, "show", path).out
        assert "150 too long for the histogram" in text and "138.4s" in text, text
        assert re.search(r"^ +above +150 up to 138\.4s$", text, re.M), text
        again = command(TLAT, "merge", path, "--json", f"{folder}/again")
        assert again.code == 0, again
        with open(f"{folder}/again", encoding="utf-8") as file:
            result = strict(file.read())["results"][0]
    assert result["counts"]["overflow"] == result["histogram"]["overflow"] == 150
    assert result["summary"]["max_ns"] == BEYOND + 10**9
    low, high = result["interval"]["p50_ns"]
    assert BEYOND - 1 <= low <= BEYOND and high == BEYOND + 10**9, (low, high)


def shown_by_cyclictest():
    """Minimum, count and maximum of each redrawing of one thread."""
    done = command(CYCLICTEST, "-a", LAST, "-i", 500, "-D", 1)
    return [tuple(map(int, found)) for found in
            re.findall(r"T: 0 .* C: *(\d+) Min: *(\d+) .* Max: *(\d+)", done.out)]


def shown_by_tlat():
    """The same of the table that is redrawn on a terminal."""
    master, slave = pty.openpty()
    child = subprocess.Popen([TLAT, "run", "timer-nanosleep", "-c", LAST, "-d", "1500ms"],
                             stdout=slave, stderr=slave,
                             env={**os.environ, "TERM": "xterm", "COLUMNS": "120"})
    os.close(slave)
    data = b""
    try:
        while part := os.read(master, 65536):
            data += part
    except OSError:  # nobody has the terminal any more
        pass
    os.close(master)
    child.wait(HANG_S)
    live = data.decode().split("kernel ")[0]
    cell = r"([0-9.]+)(ns|us|ms|s)"
    rows = re.findall(rf"{LAST} +\d+% +(\d+) +{cell}.* {cell}(?:\x1b|\s|$)", live)
    return [(int(n), float(a) * UNITS[u], float(b) * UNITS[v]) for n, a, u, b, v in rows]


def j5():
    """What is shown while it runs: the maximum never falls, the minimum never rises."""
    for shown in (shown_by_cyclictest(), shown_by_tlat()):
        shown = [row for row in shown if row[0] > 0]
        assert len(shown) >= 3, shown
        for before, after in zip(shown, shown[1:]):
            assert before[0] <= after[0] and before[1] >= after[1] and before[2] <= after[2], \
                (before, after)


def j7():
    """A CPU without an event has a row that says so, and the run is fine."""
    cpus = ",".join(map(str, CPUS[:2]))
    done = command(TLAT, "noise", "-c", cpus, "-d", "200ms", "--threshold", "1s", "--json", "-")
    assert done.code == 0, done
    results = strict(done.out)["results"]
    assert [r["wait"]["cpu"] for r in results] == CPUS[:2]
    for result in results:
        counted = {m["name"]: m["value"] for m in result["metrics"]}
        assert counted["gap.count"] == 0 and result["kind"] == "noise", result
    text = command(TLAT, "noise", "-c", cpus, "-d", "200ms", "--threshold", "1s").out
    assert len(re.findall(r"^gap +0 +0 +0$", text, re.M)) == len(CPUS[:2]), text


def j8():
    """Any number of rows is printed, or refused before anything is measured; more than there are is
    said. tlat's histogram has one size."""
    for rows in (1, 999, 1000, 1001, 65536, 1000000):
        done = command(CYCLICTEST, "-q", "-h", rows, "-l", 10)
        lines = re.findall(r"^\d{6,} \d+$", done.out, re.M)
        assert done.code == 0 and len(lines) == rows and "rows" not in done.err, (rows, len(lines))
    most = command(CYCLICTEST, "-q", "-h", 2000000000, "-l", 10)
    assert most.code == 0 and "1000000 rows, which is the most" in most.err, most.err
    for rows in (0, -1):
        done = command(CYCLICTEST, "-q", f"--histogram={rows}", "-l", 10)
        assert done.code == 1 and not done.out and done.err.count("\n") == 1, done


if __name__ == "__main__":
    main([j1, j5, j7, j8])
