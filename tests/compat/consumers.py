# SPDX-License-Identifier: MIT
"""Every reader of cyclictest's output that we know, in our own words, on our output: a program that
is written to be read by others is tested by reading it as they do. What each reader finds must be
what the JSON file of the same run says.

Readers of rtla's and of the pair tests' output are not here: that is another program's."""
import re
import shlex
import subprocess
import sys
import tempfile

import cyc


def rows_of(out):
    """The histogram as a list of (row, counts), by what is not a comment."""
    rows = []
    for line in out.lines:
        if line and not line.startswith("#"):
            fields = line.split()
            rows.append((int(fields[0]), [int(f) for f in fields[1:]]))
    return rows


def whole(value):
    """A figure as the text has it: whole, and 0 where nothing was measured."""
    return 0 if value is None else int(value)


def expect(condition, form, what, found, wanted):
    assert found == wanted, f"{condition}, {form}: {what}: {found}, not {wanted}"


# == Each takes the condition and its forms of output ==


def rteval(condition, forms):
    """Comments by their words, other lines by number of CPU; a row that is short is an error."""
    out = forms["histogram"]
    n = len(out.threads)
    maxima, buckets = [], [{} for _ in range(n)]
    for line in out.lines:
        if line.startswith("#"):
            if line.startswith("# Break value: "):
                raise AssertionError("there was no break")
            if line.startswith("# Max Latencies: "):
                maxima = [int(v) for v in line.split(":")[1].split()]
            continue
        fields = line.split()
        if not fields:
            continue
        index = int(fields[0])
        for i in range(n):
            count = int(fields[i + 1])
            if count:
                buckets[i][index] = count
    expect(condition, "-h", "maxima", maxima, [whole(t["max"]) for t in out.threads])
    for i, thread in enumerate(out.threads):
        expect(condition, "-h", f"rows of {i}", {str(k): v for k, v in buckets[i].items()},
               thread["histogram"])


def rteval_partial(condition, forms):
    """A reader must not meet half a row: what there is of a killed run's output is whole lines."""
    if condition != "normal":
        return
    import signal  # the one place that needs SIGKILL

    out = cyc.run(["-q", "-t2", "-h", "400"], (0.6, signal.SIGKILL))
    assert not out.out or out.out.endswith("\n"), out.out
    assert not rows_of(out), "a histogram of a run that did not end"


def rteval_break(condition, forms):
    """The value that was too large, from a comment that is there only then."""
    if condition != "normal":
        return
    out = cyc.run(["-q", "-t2", "-h", "400", "-b", "1"])
    values = [int(line.split(":")[1]) for line in out.lines
              if line.startswith("# Break value: ")]
    assert len(values) == 1 and values[0] > 1, out.out


def linaro(condition, forms):
    """The JSON file, by keys, into lines that the next reader takes."""
    out = forms["summary"]
    for i, thread in enumerate(out.threads):
        for figure in ("min", "avg", "max"):
            value = thread[figure]
            if condition == "zero-cycle":
                assert value is None, value
                continue
            assert isinstance(value, (int, float)) and value >= 0, value
            line = f"t{i}-{figure}-latency pass {value} us"
            assert re.fullmatch(r"\S+ (pass|fail|skip|unknown) \S+ \S+", line), line
    expect(condition, "json", "return_code", out.json["return_code"], 0)


def lava(condition, forms):
    """Signals made of those lines: name, result, measurement as a decimal number, unit."""
    for thread in forms["summary"].threads:
        for figure in ("min", "avg", "max"):
            if thread[figure] is not None:
                assert re.fullmatch(r"\d+(\.\d+)?", str(thread[figure])), thread[figure]


def kcidb(condition, forms):
    """A number with a unit, of each figure; what was not measured is left out."""
    for thread in forms["summary"].threads:
        numbers = [{"value": float(thread[k]), "unit": "us"} for k in ("min", "avg", "max")
                   if thread[k] is not None]
        assert len(numbers) == (0 if condition == "zero-cycle" else 3)


def summary_lines(out):
    return [line for line in out.lines if line.startswith("T:")]


def linaro_legacy(condition, forms):
    """Nine numbers in a summary line, whatever stands between them."""
    out = forms["summary"]
    lines = summary_lines(out)
    expect(condition, "-q", "lines", len(lines), len(out.threads))
    for i, line in enumerate(lines):
        match = re.match(r"\D*" + r"(\d+)\D+" * 8 + r"(\d+)\D*$", line)
        assert match, f"{condition}: {line}"
        number, _, priority, _, cycles, least, _, average, most = map(int, match.groups())
        thread = out.threads[i]
        expect(condition, "-q", line, (number, priority, cycles, least, average, most),
               (i, 0, thread["cycles"], whole(thread["min"]), whole(thread["avg"]),
                whole(thread["max"])))


def openshift(condition, forms):
    """Whatever stands after the words, cut at blanks, each a whole number."""
    out = forms["histogram"]
    match = re.search(r"# Max Latencies:\t*\s*(.*)\s*\t*", out.out)
    values = [int(v) for v in match.group(1).split(" ")]
    expect(condition, "-h", "maxima", values, [whole(t["max"]) for t in out.threads])


def crucible(condition, forms):
    """The last column under --histofall: the largest of all threads."""
    out = forms["sums"]
    line = next(line for line in out.lines if re.match(r"# Max Latencies:\s+", line))
    last = int(line.split()[-1])
    expect(condition, "-H", "largest", last, max(whole(t["max"]) for t in out.threads))


def mmtests(condition, forms):
    """Figures and overflows, cut at single blanks; its loop ends one column early."""
    for form in ("histogram", "sums"):
        out = forms[form]
        found = {}
        for line in out.lines:
            match = re.match(r"^# (...) Latencies: (.*)", line)
            if match:
                found[match.group(1)] = match.group(2).split(" ")
            match = re.match(r"^# Histogram Overflows: (.*)", line)
            if match:
                found["over"] = match.group(1).split(" ")
        assert sorted(found) == ["Avg", "Max", "Min", "over"], found
        for name, columns in found.items():
            assert all(re.fullmatch(r"\d+", c) for c in columns), (name, columns)
            for column in columns[:-1]:
                int(column)


def snafu(condition, forms):
    """The first place in all of the output where a word stands, and the text after its colon: no
    line before may have the word."""
    for form in ("summary", "histogram"):
        out = forms[form]
        assert not re.search("allowed.+|running.+", out.out)
        for word, figure in (("Avg", "avg"), ("Max", "max"), ("Min", "min")):
            text = re.search(word + ".+", out.out).group(0)
            value = int(text.split(":")[1].split()[0])
            expect(condition, form, word, value, whole(out.threads[0][figure]))


def yardstick(condition, forms):
    """The fourth word of a line: the first thread."""
    out = forms["histogram"]
    for name, figure in (("Min", "min"), ("Avg", "avg"), ("Max", "max")):
        words = next(li for li in out.lines if f"# {name} Latencies:" in li).split()
        expect(condition, "-h", name, int(words[3]), whole(out.threads[0][figure]))


def checkbox(condition, forms):
    """Maxima and overflows wherever the words stand in a line, whole numbers after the colon."""
    out = forms["histogram"]
    found = {}
    for line in out.lines:
        for words in ("# Max Latencies", "# Histogram Overflows"):
            if words in line:
                found[words] = [int(v) for v in line.split(":")[1].split()]
    for i, thread in enumerate(out.threads):
        within = sum(thread["histogram"].values())
        expect(condition, "-h", "overflows", found["# Histogram Overflows"][i],
               thread["cycles"] - within)
        assert found["# Max Latencies"][i] == whole(thread["max"])


def phoronix(condition, forms):
    """The token after Avg: in the line of the first thread."""
    out = forms["summary"]
    line = next(line for line in out.lines if line.startswith("T: 0 ("))
    words = line.split()
    value = words[words.index("Avg:") + 1] if "Avg:" in words else line.split("Avg:")[1].split()[0]
    expect(condition, "-q", "average", int(value), whole(out.threads[0]["avg"]))


PLOT = r"""
set -e
grep "Max Latencies" out | tr " " "\n" | sort -n | tail -1 | sed s/^0*//
grep -v -e "^#" -e "^$" out | tr " " "\t" >rows
for i in $(seq $1); do cut -f1,$((i + 1)) rows | awk -F'\t' '{ n += $2 } END { print NF, n + 0 }'; done
"""


def osadl_plot(condition, forms):
    """With the shell's own tools: one blank after the row's number, single tabs."""
    out = forms["histogram"]
    with tempfile.TemporaryDirectory() as work:
        with open(f"{work}/out", "w", encoding="utf-8") as file:
            file.write(out.out)
        script = f"cd {shlex.quote(work)}; {PLOT}"
        found = subprocess.run(["bash", "-c", script, "plot", str(len(out.threads))],
                               stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")
    largest = max(whole(t["max"]) for t in out.threads)
    if largest:  # words and zeros are all 0 to sort
        expect(condition, "-h", "largest", int(found[0]), largest)
    for i, thread in enumerate(out.threads):
        expect(condition, "-h", f"column {i}", found[i + 1],
               f"2 {sum(thread['histogram'].values())}")


def pandas_plot(condition, forms):
    """A table of columns parted by blanks, comments left out, the first row taken for names; the
    figures by the beginnings of comments."""
    out = forms["histogram"]
    rows = rows_of(out)
    n = len(out.threads)
    assert all(len(counts) == n for _, counts in rows)
    assert [row for row, _ in rows] == list(range(len(rows)))
    for name in ("# Min", "# Avg", "# Max"):
        assert len([line for line in out.lines if line.startswith(name)]) == 1


def qa_farm(condition, forms):
    """A data set of cores[][] and maxima[], from the columns."""
    out = forms["histogram"]
    rows = rows_of(out)
    cores = [[counts[i] for _, counts in rows] for i in range(len(out.threads))]
    assert len({len(core) for core in cores}) == 1
    for core, thread in zip(cores, out.threads):
        expect(condition, "-h", "cycles", sum(core), sum(thread["histogram"].values()))


def labgrid(condition, forms):
    """The last line of all. It also wants a blank before each figure, which a figure that fills its
    column does not have here and never had."""
    out = forms["summary"]
    match = re.search(r"Min:\s*(\w+)\s+Act:\s*\w+\s+Avg:\s*(\w+)\s+Max:\s*(\w+)", out.lines[-1])
    thread = out.threads[-1]
    expect(condition, "-q", "last line", [int(v) for v in match.groups()],
           [whole(thread[k]) for k in ("min", "avg", "max")])


TOP = ["file_version", "cmdline:", "rt_test_version:", "start_time", "end_time", "return_code",
       "sysinfo", "num_threads", "resolution_in_ns", "thread"]
SYSTEM = ["sysname", "nodename", "release", "version", "machine", "realtime"]
THREAD = ["histogram", "cycles", "min", "max", "avg", "cpu", "node"]


def strict_keys(condition, forms):
    """A reader that refuses keys it does not know, and reconciles file and text."""
    for form, out in forms.items():
        expect(condition, form, "keys", list(out.json), TOP)
        expect(condition, form, "keys of sysinfo", list(out.json["sysinfo"]), SYSTEM)
        for thread in out.threads:
            expect(condition, form, "keys of a thread", list(thread), THREAD)
        assert out.json["resolution_in_ns"] == (condition == "nanoseconds")
        assert out.json["file_version"] == 1 and out.json["rt_test_version:"] == "2.40"
    out = forms["sums"]
    for i, thread in enumerate(out.threads):
        column = sum(counts[i] for _, counts in rows_of(out))
        expect(condition, "-H", "cycles in rows", column, sum(thread["histogram"].values()))
    for row, counts in rows_of(out):
        expect(condition, "-H", f"sum of row {row}", sum(counts[:-1]), counts[-1])


def equal_counts(condition, forms):
    """Ours: with -l every thread has as many cycles as were asked for."""
    for form, out in forms.items():
        cycles = {t["cycles"] for t in out.threads}
        asked = {"zero-cycle": 0, "64-thread": 5, "interrupted": None}.get(condition, 40)
        assert asked is None or cycles == {asked}, (condition, form, cycles)


CONSUMERS = [rteval, rteval_partial, rteval_break, linaro, lava, kcidb, linaro_legacy, openshift,
             crucible, mmtests, snafu, yardstick, checkbox, phoronix, osadl_plot, pandas_plot,
             qa_farm, labgrid, strict_keys, equal_counts]


def main():
    found = cyc.outputs()
    failed = 0
    for consumer in CONSUMERS:
        for condition, forms in found.items():
            try:
                consumer(condition, forms)
            except Exception as error:  # a reader that stumbles is a failure, whatever it says
                print(f"not ok: {consumer.__name__}, {condition}: {error!r}")
                failed += 1
                break
        else:
            print(f"ok: {consumer.__name__} reads {', '.join(found)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
