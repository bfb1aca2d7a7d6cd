# SPDX-License-Identifier: MIT
"""The same command lines to rt-tests' own cyclictest and to ours: the same class of exit code, and
standard output of the same shape, line by line. Where we mean to differ is in DIFFERENT, with the
reason; nothing else may. Skipped without cyclictest 2.4, or where it cannot have its priorities."""
import os
import re
import shutil
import sys

import cyc

THEIRS = shutil.which("cyclictest")

SAME = """
-q -l 5
-q -l 5 -t
-q -l 5 -t2
-q -l 5 -t 2
-q -l 5 -t2 -d 0
-q -l 5 -t3 -i 2000 -d 250
-q -l 5 -t3 --json=@json
-q -l 5 -t --json=@json
-q -l 5 -S
-q -l 5 -S -p 80 -m
-q -l 5 -S -a 0 --json=@json
-q -l 5 -a
-q -l 5 -a 0
-q -l 5 -a0 -t2
-q -l 5 --affinity=0 --threads=2
-q -l 5 -p 95 -i100 -t2 -a0
-q -l 5 -a 0 1 -t 2 --json=@json
-q -l 5 stray
-q -l 5 -d -5
-q -l 5 -d -5 -t2 -h 20
-v -l 5 -d -5
-q -l 5 -p 80 -t3 --priospread
-q -l 5 --policy=rr -p 3
-q -l 5 --policy=fifo
-q -l 5 --policy=other
-q -l 5 -t3 --policy=fifo
-q -l 5 -t3 --policy=rr -p 0
-q -l 5 --priospread
-q -l 5 -t3 --priospread
-q -l 5 -S --priospread
-q -l 5 -p 0
-q -l 5 -t3 -p 0
-q -l 5 --policy=batch -p 0
-q -l 5 -p 0 --policy=other
-q -l 5 -p 5 --policy=other
-q -l 5 -p 3 --policy=FIFO
-q -l 5 -D 1M
-q -l 5 -N
-q -l 5 -D 3
-q -D 1 -i 200000
-q -D -1 -t2 --json=@json
-q -l 5 -D -1m
-q -l 5 -u
-q -l 5 -M
-q -l 5 --default-system
-q -l 5 --laptop
-q -l 5 --latency=50
-q -l 5 -A 200 -t2
-q -l 5 --secaligned=100 -i 5000
-q -l 5 -A 200 --secaligned=100
-q -l 5 --trace -b 50000000
--ver -q -l 5
-q -l 5 -h 20
-q -l 5 -h 20 -t2
-q -l 5 -H 20 -t2
-q -l 5 -H 20
-q -l 5 -N -h 20
-q -l 5 -h 20 --histfile=@hist
-q -l 5 -h 50000 --json=@json
-q -l 5 -t2 -N --json=@json
-q -l 5 --json=-
-q -l 5 -b 50000000
-q -l 5 -b 1
-q -l 5 -b 1 -h 3
-q -l 5 --spike=1
-q -l 5 --spike=50000000
-q -l 5 -t2 --spike=1 --spike-nodes=3
-v -l 5
-v -q -l 5 -t2
-v -l 5 -a 0 -t2
-l 5 -a 0 -v
-v -l 6 -o 2
-v -l 5 -h 4
-l 5
-l 5 -t2
-l 5 -h 3
-l 5 -p 20 -M
-q -l 5 -R
-q -l 5 --mainaffinity=0 -a 0
-q -l 5 --tracemark -b 1
-q -l 5 -s -x
-p 100 -q -l 5
-c 7 -q -l 5
-h 0 -q -l 5
-a 9999 -q -l 5
-q -l 5 -o 2
-q -l 5 --smi -a 0
-q -l 5 --json=/no/such/place
'' -q -l 5
-qmu '-h 35' -p95 -t2 -a0 -i100 -l5
""".strip().splitlines()

# The same shape, or, in a build whose library lacks the probe, an explanation.
WAYS = ["-q -l 5 -r", "-q -l 5 -s", "-q -l 5 -x", "-q -l 5 -x -t3 -p 80", "-q -l 5 -x -r",
        "-q -l 5 -c 1", "-q -l 5 -c 1 -h 20", "-q -l 5 -c 1 -r", "-q -l 5 -x -c 1"]
NOT_THERE = "is measured by the probe timer-"

# command line -> our exit code, whether we print a summary, why we differ
DIFFERENT = {
    "--no-such-option": (1, False, "they print their help and exit with 0"),
    "-q -l 5 -p": (1, False, "the same, for an argument that is not there"),
    "-q -l 5 -n": (0, True, "an option that older versions had: a note is enough"),
    "-q -l 5 -U": (0, True, "the same"),
    "-q -l 5 -e 50": (0, True, "the same"),
    "-q -l 5 --notrace": (0, True, "the same"),
    "-q -l 5 --version": (0, False, "they do not know their version"),
    "-q -l 5 -a foo": (1, False, "an unreadable list means all CPUs to them"),
    "-q -l 5 -t2 -d -5": (1, False, "they spin for ever once an interval gets to 0"),
    "-q -l 5 -D 1x": (1, False, "they cut what is no number"),
    "-q -l 5 -i 10us": (1, False, "the same"),
    "-q -l 5 --policy=foo": (1, False, "an unknown policy means SCHED_OTHER to them"),
    "-q -l 5 -h 20 --histfile=/no/such/place": (1, False, "they exit with 0 and lose it"),
    "-q -l 5 -F /no/such/place": (1, False, "the same"),
    # never given to them: a process that does not end, not even by SIGTERM
    "-q -l 5 -i 0": (1, False, "they spin for ever"),
}
NEVER_THEIRS = {"-q -l 5 -i 0"}

# What was asked for is the same to the digit: of text, and of JSON.
ASKED = re.compile(r"^T: *(\d+) \( *\d+\) P: *(\d+) I:(\d+)", re.M)
CPU = re.compile(r'"cpu": (-?\d+)')

# A number and the blanks or zeros that pad it.
NUMBER = re.compile(r"[ ]*\d+(?:\.\d+)?")
# What repeats as often as values happen to come: it is the shape of one that counts.
REPEATS = [re.compile(p) for p in (r"^ *\d+: *\d+: *-?\d+$", r'^ +"\d+": \d+,?$',
                                   r"^T: *\d+ Spike:")]
SPECIAL = [
    (re.compile(r"^# Thread \d+:( \d{5,})*( # \d{5,} others)?$"), "# Thread N: cycles"),
    (re.compile(r'^  "cmdline:": ".*",$'), "cmdline"),
    (re.compile(r'^  "(start|end)_time": "\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [-+]\d{4}",$'),
     "time"),
    (re.compile(r"^policy: \w+(/\w+)?: loadavg: [\d.]+ [\d.]+ [\d.]+ \d+/\d+ \d+ {10}$"), "policy"),
    # theirs ends with the first thread: another may have none, and they print no number then
    (re.compile(r'^      "avg": (-?nan|\d+\.\d\d),$'), "avg"),
    # an empty histogram and one with rows, as the values fell
    (re.compile(r'^      "histogram": \{(      \},)?$'), "histogram"),
    (re.compile(r"^      \},$"), None),
]


def pattern_of(line):
    """A regular expression for lines of the shape of this one: a padded number has its width, or
    more where it is larger; one that is not padded may be as wide as it is."""
    parts, end = [], 0
    for match in NUMBER.finditer(line):
        text = match.group(0)
        parts.append(re.escape(line[end:match.start()]))
        digits = text.lstrip(" ")
        padded = text != digits and len(text) > len(digits) + 1
        if padded or (digits.startswith("0") and len(digits) > 1 and "." not in digits):
            width = len(text)
            blank = " " if text != digits else ""
            parts.append(rf"(?:(?=[ ]*\d)[ 0-9]{{{width}}}|{blank}?\d{{{max(1, width - 1)},}})")
        else:
            parts.append(r" *-?\d+(?:\.\d+)?")
        end = match.end()
    return "".join(parts) + re.escape(line[end:])


def shape_of(text):
    """Lines as (pattern, line); repeats once. Of what is redrawn, the last drawing."""
    drawn = re.split(r"\x1b\[\d+A", text)
    shapes = []
    if len(drawn) > 1:
        head = drawn[0].split("policy:")[0]
        text = head + drawn[-1]
    for line in text.split("\n"):
        named = next((name for special, name in SPECIAL if special.match(line)), "")
        if named is None:
            continue
        repeated = next((p.pattern for p in REPEATS if p.match(line)), None)
        pattern = named or repeated or pattern_of(line)
        if (named or repeated) and shapes and shapes[-1][0] == pattern and \
                not named.startswith("# Thread"):
            continue
        shapes.append((pattern, line))
    return shapes


def fits(theirs, ours):
    """Whether one line has the shape of the other, in either direction: a number that fills its
    column is a pattern that says less."""
    (pattern, line), (other_pattern, other) = theirs, ours
    if pattern == other_pattern:
        return True
    return bool(re.fullmatch(pattern, other) or re.fullmatch(other_pattern, line))


def compare(what, theirs, ours):
    a, b = shape_of(theirs), shape_of(ours)
    for i in range(max(len(a), len(b))):
        if i >= len(a) or i >= len(b) or not fits(a[i], b[i]):
            them = a[i][1] if i < len(a) else "(end)"
            us = b[i][1] if i < len(b) else "(end)"
            return f"{what}, line {i + 1}:\n  theirs {them!r}\n  ours   {us!r}"
    return None


def words_of(command):
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]


def asked_in(text):
    """Numbers that are not measured: threads, priorities and intervals; CPUs."""
    return list(dict.fromkeys(ASKED.findall(text))), CPU.findall(text)


def check_same(command):
    theirs = cyc.run(words_of(command), program=THEIRS)
    ours = cyc.run(words_of(command))
    if (theirs.code == 0) != (ours.code == 0):
        return f"exit {theirs.code} became {ours.code}: {ours.err}"
    if theirs.code != 0:
        # Refused. Their 90 lines of help are on standard output; ours is one line that says why.
        return None if ours.err.count("\n") == 1 else f"not one line: {ours.err!r}"
    problem = compare("stdout", theirs.out, ours.out)
    for name in theirs.files:
        problem = problem or compare(name, theirs.files[name], ours.files.get(name, ""))
    for a, b in [(theirs.out, ours.out), *((theirs.files[n], ours.files[n]) for n in theirs.files)]:
        if not problem and asked_in(a) != asked_in(b):
            problem = f"threads:\n  theirs {asked_in(a)}\n  ours   {asked_in(b)}"
    return problem


def check_way(command):
    ours = cyc.run(words_of(command))
    if ours.code == 1 and NOT_THERE in ours.err and not ours.out:
        return None
    return check_same(command)


def check_different(command):
    code, prints, _ = DIFFERENT[command]
    ours = cyc.run(words_of(command))
    if ours.code != code:
        return f"exit {ours.code}, not {code}: {ours.err}"
    if ("T: 0" in ours.out) != prints:
        return f"standard output: {ours.out!r}"
    if command in NEVER_THEIRS or not prints:
        return None
    theirs = cyc.run(words_of(command), program=THEIRS)
    if compare("stdout", theirs.out, ours.out) is None and theirs.code == ours.code:
        return "is not different any more: move it"
    return None


def main():
    if os.environ.get("TLAT_SANITIZE"):
        print("skipped: sanitizers refuse -m")
        return 77
    if not THEIRS:
        print("skipped: no cyclictest; apt-get install rt-tests")
        return 77
    if "V 2.40" not in cyc.run(["--help"], program=THEIRS).out:
        print("skipped: this cyclictest is not version 2.4")
        return 77
    if os.geteuid() or cyc.run(["-q", "-l", "1", "-p", "95"], program=THEIRS).code:
        print("skipped: cyclictest gets no priority here, and refuses to run without")
        return 77
    failed = 0
    for commands, check in ((SAME, check_same), (WAYS, check_way), (DIFFERENT, check_different)):
        for command in commands:
            problem = check(command)
            if problem:
                print(f"not ok: cyclictest {command}: {problem}")
                failed += 1
    print(f"{len(SAME) + len(WAYS)} command lines of the same shape, {len(DIFFERENT)} that differ on "
          f"purpose, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
