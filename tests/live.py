#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The live table, seen through a pseudo-terminal of several sizes: what stands on the screen at any
moment, that nothing else is harmed, and that nothing is sent to what is no terminal."""
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time

TLAT = os.environ["TLAT"]
CPUS = sorted(os.sched_getaffinity(0))
FULL = "cpu done samples min p50 p99 max".split()
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
failures = 0


def check(condition, text):
    global failures
    if not condition:
        print(f"not ok: {text}")
        failures += 1


class Screen:
    """As much of a terminal as the table needs; lines that are too long go on in the next."""

    def __init__(self, columns, lines, before=()):
        self.columns, self.lines = columns, lines
        self.rows = [list(text.ljust(columns)) for text in before][-lines:]
        self.top = len(self.rows)
        self.rows += [[" "] * columns for _ in range(lines - len(self.rows))]
        self.x, self.y = 0, self.top
        self.pending = b""
        self.went_blank = self.wiped = False
        self.frames = []

    def down(self):
        if self.y + 1 < self.lines:
            self.y += 1
            return
        self.rows.pop(0)
        self.rows.append([" "] * self.columns)
        self.top -= 1

    def put(self, char):
        if self.x == self.columns:
            self.x = 0
            self.down()
        self.rows[self.y][self.x] = char
        self.x += 1

    def control(self, number, letter):
        n = int(number or 0)
        if letter == "A":
            self.y = max(0, self.y - (n or 1))
        elif letter == "K":
            self.rows[self.y][self.x:] = [" "] * (self.columns - self.x)
        elif letter == "J":
            self.rows[self.y][self.x:] = [" "] * (self.columns - self.x)
            for y in range(self.y + 1, self.lines):
                self.rows[y] = [" "] * self.columns
            if self.y == max(0, self.top) and self.x == 0:
                self.wiped = True
                return
            self.went_blank = self.went_blank or self.wiped  # not for good, as at the end
            self.frames.append(self.text())
        else:
            raise ValueError(f"unknown control {letter!r}")
        if self.frames and not self.text()[max(0, self.top)].strip():
            self.went_blank = True

    def feed(self, data):
        data = self.pending + data
        self.pending = b""
        while data:
            match = re.match(rb"\x1b\[(\d*)([A-Za-z])", data)
            if match:
                self.control(match[1].decode(), match[2].decode())
                data = data[match.end():]
                continue
            if data[:1] == b"\x1b":
                self.pending = data
                return
            char, data = data[:1].decode("latin-1"), data[1:]
            if char == "\r":
                self.x = 0
            elif char == "\n":
                self.down()
            else:
                self.put(char)

    def text(self):
        return ["".join(row).rstrip() for row in self.rows]


def set_size(fd, columns, lines):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def drain(fd, seconds):
    """What comes within that time, or until the other side is closed."""
    end, data = time.monotonic() + seconds, b""
    os.set_blocking(fd, False)
    while time.monotonic() < end:
        try:
            part = os.read(fd, 65536)
        except BlockingIOError:
            time.sleep(0.02)
            continue
        except OSError:  # EIO: nobody has the terminal any more
            return data
        if not part:
            return data
        data += part
    return data


def start(args, columns, lines, out=True, err=True, term="xterm"):
    """tlat with a terminal for standard output, error, both or none."""
    master, slave = pty.openpty()
    set_size(master, columns, lines)
    env = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
    child = subprocess.Popen([TLAT, "run", *args], stdin=subprocess.DEVNULL,
                             stdout=slave if out else subprocess.DEVNULL,
                             stderr=slave if err else subprocess.DEVNULL,
                             env=env | {"TERM": term})
    os.close(slave)
    return child, master


def finish(child, master):
    data = drain(master, 20)
    os.close(master)
    try:
        child.wait(20)
    except subprocess.TimeoutExpired:
        child.kill()
        check(False, "tlat does not end")
    return data


def threads(n=None):
    return ["timer-nanosleep", "-c", ",".join(map(str, CPUS[:n])), "-d", "1500ms"]


def nanoseconds(text):
    match = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", text)
    return float(match[1]) * UNITS[match[2]]


def table(frame, top):
    """Title, head and rows of a frame."""
    lines = frame[top:]
    while lines and not lines[-1]:
        lines.pop()
    return lines[0], lines[1].split() if len(lines) > 1 else [], [row.split() for row in lines[2:]]


def shown(args, columns, lines, before=()):
    child, master = start(args, columns, lines)
    screen = Screen(columns, lines, before)
    screen.feed(finish(child, master))
    check(child.returncode == 0, f"{args}: exit {child.returncode}")
    check(len(screen.frames) >= 2, f"{columns}x{lines}: {len(screen.frames)} frames in 1.5 s")
    check(not screen.went_blank, f"{columns}x{lines}: the table was blank between two frames")
    return screen


def a_wide_terminal_has_all_columns():
    screen = shown(threads(), 120, 30, before=["$ tlat run"])
    for frame in screen.frames:
        title, head, rows = table(frame, 1)
        check(frame[0] == "$ tlat run", "the line above the table is harmed")
        check("timer-nanosleep" in title and "%" in title, f"title: {title}")
        check(head == FULL, f"head at 120 columns: {head}")
        check([int(row[0]) for row in rows] == CPUS, f"rows are not one per CPU: {rows}")
        for row in rows:
            check(len(row) == len(FULL), f"cells: {row}")
    row = table(screen.frames[-1], 1)[2][0]
    values = [nanoseconds(text) for text in row[3:]]
    check(values == sorted(values) and int(row[2]) > 0, f"figures: {row}")


def a_narrow_terminal_has_what_fits():
    screen = shown(threads(), 40, 24)
    for frame in screen.frames:
        title, head, rows = table(frame, 0)
        check(head == "cpu samples p50 p99 max".split(), f"head at 40 columns: {head}")
        check(len(rows) == len(CPUS), f"rows at 40 columns: {rows}")
        check(max(map(len, frame)) < 40, f"a line of {max(map(len, frame))} at 40 columns")
    tiny = shown(threads(1), 14, 24).frames[-1]
    check(table(tiny, 0)[1] == ["cpu", "max"], f"head at 14 columns: {tiny[:3]}")


def a_short_terminal_is_not_scrolled():
    before = ["one", "two", "three"]
    for lines in (3, 4, 5):
        screen = shown(threads(), 80, lines, before=before[:1])
        for frame in screen.frames:
            check(sum(1 for text in frame if text) <= lines, f"{lines} lines: {frame}")
            check(sum("timer-nanosleep" in text for text in frame) == 1, f"titles: {frame}")
    if len(CPUS) > 1:
        frame = shown(threads(), 80, 4).frames[-1]
        check(any(text.startswith("and ") and text.endswith(" more") for text in frame),
              f"what there is no room for is not said: {frame}")


def a_resized_terminal_is_followed():
    child, master = start(threads(), 120, 30)
    wide, narrow = Screen(120, 30), Screen(50, 30)
    wide.feed(drain(master, 0.9))
    check(wide.frames and table(wide.frames[-1], 0)[1] == FULL, "no full table before the change")
    set_size(master, 50, 30)
    narrow.feed(finish(child, master))
    heads = [table(frame, 0)[1] for frame in narrow.frames]
    check(heads and len(heads[-1]) < len(FULL), f"after the change to 50 columns: {heads}")


def the_end_leaves_nothing_behind():
    screen = shown(threads(1), 100, 200, before=["$ tlat run"])
    last = screen.text()
    check(not any("samples" in text and "done" in text for text in last), "the head is left")
    check(last[1].startswith("kernel "), f"the results do not take the table's place: {last[1]}")
    child, master = start(threads(1), 100, 200)
    screen = Screen(100, 200)
    screen.feed(drain(master, 1))
    child.send_signal(signal.SIGINT)
    screen.feed(finish(child, master))
    check(screen.text()[0].startswith("kernel "), "an interrupt leaves the table behind")


def rows_can_be_sorted_by_max():
    screen = shown([*threads(), "--sort", "max"], 120, 30)
    for frame in screen.frames:
        values = [nanoseconds(row[-1]) for row in table(frame, 0)[2] if row[-1] != "-"]
        check(values == sorted(values, reverse=True), f"--sort max: {values}")


def nothing_is_sent_where_there_is_no_terminal():
    cases = [({"out": False}, []), ({"err": False}, []), ({"term": "dumb"}, []), ({}, ["--quiet"])]
    for how, more in cases:
        child, master = start(threads(1) + more, 120, 30, **how)
        data = finish(child, master)
        check(b"\x1b" not in data, f"control codes with {how} {more}: {data[:80]}")
        check(how.get("out", True) or not data, f"{how}: standard error has {data[:80]}")


def seconds_of_job(slave, foreground, words):
    """A job of the session that has this terminal: how long until it stopped or ended, and whether
    it was stopped; then it goes on in the foreground, to the exit code. For a process of its own."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)

    def become_job():
        os.setpgid(0, 0)
        if foreground:
            os.tcsetpgrp(slave, os.getpgrp())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)

    begun = time.monotonic()
    job = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                           env=os.environ | {"TERM": "xterm"}, preexec_fn=become_job)
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    seconds, stopped = time.monotonic() - begun, os.WIFSTOPPED(status)
    if stopped:
        os.tcsetpgrp(slave, job.pid)
        os.killpg(job.pid, signal.SIGCONT)
        _, status = os.waitpid(job.pid, 0)
    return [seconds, stopped, os.waitstatus_to_exitcode(status)]


def job(foreground, stops):
    """What came to the terminal, and what seconds_of_job() says."""
    master, slave = pty.openpty()
    set_size(master, 120, 30)
    if stops:
        attributes = termios.tcgetattr(slave)
        attributes[3] |= termios.TOSTOP
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
    answer, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = seconds_of_job(slave, foreground, [TLAT, "run", *threads(1)])
            os.write(tell, json.dumps(told).encode())
        finally:
            os._exit(0)
    os.close(slave)
    os.close(tell)
    data = drain(master, 20)
    os.close(master)
    told = os.read(answer, 4096)
    os.close(answer)
    os.waitpid(child, 0)
    return data, *json.loads(told)


def a_job_in_the_background_leaves_the_terminal_alone():
    data, _, _, code = job(foreground=True, stops=False)
    check(b"\x1b" in data and code == 0, f"no table in the foreground: exit {code}, {data[:80]}")
    data, _, stopped, code = job(foreground=False, stops=False)
    check(b"\x1b" not in data, f"a table over the shell: {data[:80]}")
    check(b"timer-nanosleep" in data and code == 0, f"no results: exit {code}, {data[:80]}")
    check(not stopped, "stopped without tostop")
    data, seconds, stopped, code = job(foreground=False, stops=True)
    check(stopped and seconds >= 1.5, f"under tostop it was stopped after {seconds:.1f} s of 1.5")
    check(b"timer-nanosleep" in data and code == 0, f"tostop: exit {code}, {data[:80]}")


for test in (a_wide_terminal_has_all_columns, a_narrow_terminal_has_what_fits,
             a_short_terminal_is_not_scrolled, a_resized_terminal_is_followed,
             the_end_leaves_nothing_behind, rows_can_be_sorted_by_max,
             nothing_is_sent_where_there_is_no_terminal,
             a_job_in_the_background_leaves_the_terminal_alone):
    test()
print(f"{failures} failures")
sys.exit(failures > 0)
