# SPDX-License-Identifier: MIT
"""What the records of each part must show. A judge appends what is wrong to boot.problems."""
import fnmatch
import json
import os

LAB = os.path.dirname(os.path.abspath(__file__))


class Files:
    """What one part recorded."""

    def __init__(self, recorded, part):
        self.recorded, self.part = recorded, part

    def text(self, name):
        return self.recorded[f"{self.part}/{name}"]

    def lines(self, name):
        """The lines of a file; none if it was never written."""
        return self.recorded.get(f"{self.part}/{name}", "").splitlines()

    def code(self, name):
        return int(self.text(name + ".code"))

    def report(self, name):
        """The report of a run; None, and a problem, where there is none."""
        try:
            return json.loads(self.text(name + ".out"))
        except json.JSONDecodeError:
            raise ValueError(f"{name}: no report; exit {self.code(name)}: "
                             f"{self.text(name + '.err').strip()}") from None


def cpus_of(text):
    """The CPUs of a list as the kernel writes it."""
    found = set()
    for item in (text or "").strip().split(","):
        first, _, last = item.partition("-")
        if first.isdigit():
            found |= set(range(int(first), int(last or first) + 1))
    return found


def waiting(report):
    return {result["wait"]["cpu"] for result in report["results"]}


def findings(report):
    """All findings as "id: text"."""
    listed = report["findings"] + [f for r in report["results"] for f in r["findings"]]
    return [f"{finding['id']}: {finding['text']}" for finding in listed]


def expect(boot, holds, text):
    if not holds:
        boot.problems.append(text)


def balance(counts):
    return counts["asked"] - (counts["recorded"] + counts["early"] + counts["overflow"] +
                              counts["missed"] + counts["unfinished"] +
                              sum(counts["rejected"].values()))


def measured(result):
    counts = result["counts"]
    return counts["recorded"] + counts["early"] + counts["overflow"] > 0 and not balance(counts)


# == isolation ==

def judge_words(boot, files, online):
    isolated, nohz_full = (cpus_of(boot.expected[key]) for key in ("isolated", "nohz_full"))
    allowed = cpus_of(boot.expected["inside"]) if "inside" in boot.expected else online
    meant = {"isolated": isolated, "nohz-full": nohz_full & allowed,
             "housekeeping": (online - isolated - nohz_full) & allowed, "node:0": allowed}
    for word, cpus in meant.items():
        name = f"word-{word}"
        if cpus:
            got = waiting(files.report(name))
            expect(boot, got == cpus, f"-c {word} measured on {got}, not on {cpus}")
        else:
            expect(boot, files.code(name) == 2, f"-c {word} was not refused, though it is empty")


def judge_threads(boot, files, measuring):
    """Threads under SCHED_FIFO measure; each may run on its own CPU, runs there, and all are there.
    What is left at the end is off the measuring CPUs if there is another."""
    seen, last = set(), {}
    for line in files.lines("threads.out"):
        fields = line.split()
        if len(fields) == 5:
            sample, thread, policy, cpu, allowed = fields
            last.setdefault(sample, []).append((int(thread), cpus_of(allowed), int(cpu), policy))
    for _, allowed, cpu, policy in sum(last.values(), []):
        if policy == "1" and len(allowed) == 1:
            expect(boot, allowed == {cpu}, f"a thread for CPUs {allowed} was seen on CPU {cpu}")
            seen |= allowed
    expect(boot, measuring <= seen, f"threads were seen measuring on {seen}, not on {measuring}")
    for sample in last.values():
        busy = {cpu for _, allowed, cpu, policy in sample if policy == "1"}
        others = [allowed for thread, allowed, _, policy in sample if policy == "0" and thread]
        if busy == measuring:
            expect(boot, all(not allowed & measuring for allowed in others),
                   f"a controller may run on {others} while CPUs {measuring} are measured")


def isolation(boot, files):
    want, online = boot.expected, cpus_of(files.text("online.out"))
    report, check = files.report("default"), files.text("check.out")
    machine, result = report["machine"], report["results"][0]
    if "online" in want:
        expect(boot, online == cpus_of(want["online"]), f"online: {online}")
    for key in ("isolated", "nohz_full"):
        got = cpus_of(machine.get(key)) & online
        expect(boot, got == cpus_of(want[key]), f"{key}: {machine.get(key)}, not {want[key]}")
    said = " ".join(check.split())
    expect(boot, want.get("refused", "") in said, f"tlat check does not say: {want.get('refused')}")
    expect(boot, ("not-isolated" in said) == (not want["isolated"]), "not-isolated is wrong")
    expect(boot, machine["hz"] == 250, f"HZ is {machine['hz']}, not 250")
    expect(boot, machine["timer_migration"] == 1, "timer_migration is not 1")
    expect(boot, (machine["preempt"] == "rt") == boot.kernel.endswith("-rt"),
           f"preemption: {machine['preempt']}")
    pair = {result["kick"]["cpu"], result["wait"]["cpu"]}
    isolated = cpus_of(want["isolated"])
    if len(isolated) >= 2:
        expect(boot, pair <= isolated, f"chose {pair}, not of the isolated CPUs {isolated}")
        arrow = f"{result['kick']['cpu']}->{result['wait']['cpu']}"
        expect(boot, arrow in files.text("table.out"), f"the table does not say {arrow}")
    if len(online) > 3 and "inside" not in want:
        judge_threads(boot, files, pair)
    judge_words(boot, files, online)


# == topology ==

def topology(boot, files):
    want = boot.expected
    online = cpus_of(files.text("online.out"))
    expect(boot, online == cpus_of(want["online"]), f"online: {online}")
    for pair, relation in want["relations"].items():
        got = files.report(f"pair-{pair}")["results"][0]["relation"]
        expect(boot, got == relation, f"CPUs {pair} are {got}, not {relation}")
    for word, cpus in want["nodes"].items():
        got = waiting(files.report(f"word-{word}"))
        expect(boot, got == cpus_of(cpus), f"-c {word} measured on {got}, not on {cpus}")
    expect(boot, measured(files.report("default")["results"][0]), "nothing measured by default")


# == probes ==

def may_be_explained(kernel, user, probe):
    with open(os.path.join(LAB, "explained"), encoding="utf-8") as lines:
        for line in lines:
            fields = line.split(None, 3)
            if fields and not fields[0].startswith("#") and all(
                    fnmatch.fnmatchcase(*pair) for pair in zip((kernel, user, probe), fields)):
                return True
    return False


def fate(boot, user, result):
    """measured, explained or failed; a failure is a problem too."""
    unsupported = [f["text"] for f in result["findings"] if f["id"] == "unsupported" and f["text"]]
    if result["supported"] and measured(result):
        return "measured"
    if unsupported and may_be_explained(boot.kernel, user, result["probe"]):
        return "explained"
    boot.problems.append(f"{result['probe']} as {user} was not measured: " +
                         "; ".join(unsupported or findings({"findings": [], "results": [result]})))
    return "failed"


def listed(files):
    lines = files.text("list.out").splitlines()[1:]
    return [line.split()[0] for line in lines if line and not line[0].isspace()]


def judge_all(boot, files, name, user):
    """Every probe is in the report, and each met an allowed fate."""
    report = files.report(name)
    fates = {result["probe"]: fate(boot, user, result) for result in report["results"]}
    expect(boot, files.code(name) == 0, f"{name} ended with {files.code(name)}")
    return fates


# What expires in the thread ktimers, at SCHED_FIFO 1, on PREEMPT_RT. The others are sleeps: those of
# threads with a real-time policy have their own interrupt there too (kernel/time/hrtimer.c,
# HRTIMER_MODE_HARD), those of other threads expire in ktimers as well. What spins does not sleep.
SOFT = ("timer-timerfd*", "timer-posix-*", "timer-itimer", "timer-uring*", "timer-sockopt")
SPINS = ("timer-spin", "timer-cputime")
REAL_TIME = ("fifo", "rr", "deadline")


def judge_expiry(boot, result):
    """The finding on ktimers is where it belongs, and nowhere else."""
    soft = any(fnmatch.fnmatchcase(result["probe"], pattern) for pattern in SOFT)
    if result["probe"].startswith("timer-") and result["probe"] not in SPINS:
        soft = soft or result["wait"]["policy"] not in REAL_TIME
    said = any(f["id"] == "softirq-expiry" for f in result["findings"])
    expect(boot, said == (soft and boot.kernel.endswith("-rt")),
           f"{result['probe']}: softirq-expiry is {'' if said else 'not '}said")


def probes(boot, files):
    names = listed(files)
    expect(boot, len(names) >= 6, f"only {len(names)} probes are listed")
    for user in ("root", "nobody"):
        fates = judge_all(boot, files, user, user)
        expect(boot, set(fates) == set(names),
               f"listed, but not run as {user}: {set(names) - set(fates)}")
        boot.probes |= {(probe, user): fate for probe, fate in fates.items()}
        for result in files.report(user)["results"]:
            if result["supported"]:
                judge_expiry(boot, result)


# == storms ==

def judge_storm(boot, files, name, stale):
    """It ended by itself, its expirations are conserved, and stale signals are as expected."""
    expect(boot, files.code(name) == 0, f"{name} ended with {files.code(name)}")
    ids = {finding.split(":")[0] for finding in findings(files.report(name))}
    expect(boot, "conservation" not in ids, f"{name}: expirations are not conserved")
    expect(boot, ("stale-signals" in ids) == stale,
           f"{name}: stale-signals is {'not ' if stale else ''}found")


def storms(boot, files):
    for name in ("plain", "conserve", "timer", "timermix"):
        judge_storm(boot, files, name, stale=False)
    judge_storm(boot, files, "rearm", boot.expected["stale"])
    expect(boot, files.code("scale") == 0, f"scale ended with {files.code('scale')}")


# == behaviour ==

def judge_offline(boot, files, name):
    report = files.report(name)
    result = report["results"][0]
    expect(boot, files.code(name) == 2, f"{name} ended with {files.code(name)}, not with 2")
    expect(boot, report["run"]["end"] == "error", f"{name}: end {report['run']['end']}")
    expect(boot, measured(result), f"{name}: what was measured before is not there")
    expect(boot, any(f.startswith("cpu-lost: CPU 3") for f in findings(report)),
           f"{name}: no finding says that CPU 3 was lost: {findings(report)}")


def behaviour(boot, files):
    judge_offline(boot, files, "offline-timer")
    judge_offline(boot, files, "offline-pair")
    for name, needle in (("clock-steps", "clock-stepped"), ("suspend", "suspended")):
        report = files.report(name)
        expect(boot, files.code(name) == 0, f"{name} ended with {files.code(name)}")
        expect(boot, all(map(measured, report["results"])), f"{name}: a probe was not measured")
        expect(boot, any(f.startswith(needle) for f in findings(report)),
               f"{name}: no finding {needle}")
    expect(boot, files.text("suspends.out").strip() == "1", "the machine was not suspended")
    for name in ("no-io-uring", "no-tracefs", "no-sys"):
        judge_all(boot, files, name, name)
    expect(boot, files.code("no-sys-check") == 0, "tlat check fails without /sys")


# == tracers ==

def rtla_medians(text):
    """Medians of an rtla histogram's columns IRQ, Thr, Usr, in microseconds, and their counts."""
    bins = {column: {} for column in ("IRQ", "Thr", "Usr")}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 3 and all(field.isdigit() for field in fields):
            for column, count in zip(bins, fields[1:]):
                bins[column][int(fields[0])] = int(count)
    return {column: median(counts) for column, counts in bins.items() if sum(counts.values())}


def median(counts):
    half, below = sum(counts.values()) / 2, 0
    for value in sorted(counts):
        below += counts[value]
        if below >= half:
            return value
    return None


def tracers(boot, files):
    result = files.report("tlat")["results"][0]
    counts, mine = result["counts"], result["summary"]["p50_ns"] / 1000
    expect(boot, counts["early"] == 0, f"{counts['early']} expiries were early")
    expect(boot, measured(result), "samples are lost: the counts do not add up")
    kernel = rtla_medians(files.text("rtla.out"))
    expect(boot, "Thr" in kernel, f"rtla has no thread latencies: {files.text('rtla.err')}")
    for column, meaning in (("IRQ", "to the interrupt"), ("Thr", "to the kernel's thread"),
                            ("Usr", "to the return to user space")):
        if column in kernel:
            boot.notes.append(f"timer expiry {meaning}: rtla {kernel[column]} us; "
                              f"tlat {mine:.0f} us: ratio {mine / max(kernel[column], 1):.2f}, "
                              f"difference {mine - kernel[column]:.0f} us")
    said = files.text("traced.out")
    expect(boot, files.code("traced") == 0 and "wakes with a switch" in said,
           f"stamps and tracer disagree: {said} {files.text('traced.err')}")
    boot.notes += [line for line in said.splitlines() if "switch" in line]
    ratio = mine / max(kernel.get("Thr", 1), 1)
    expect(boot, 0.5 <= ratio <= 2, f"tlat's median is {ratio:.2f} times rtla's thread latency")
