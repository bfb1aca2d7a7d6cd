#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What happens to output while a command goes on: the file or its directory vanishes or becomes
something else, a reader takes 1 MiB a second, or does not read at all. Nothing hangs, and nothing
that was not lost is missing."""
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from typing import Callable

import leftover
from leftover import Ended, Place
from output_lost import Cases, has_results, put_old, says_lost, try_all

LONG = {
    "run": (["tlat", "run", "timer-nanosleep", "-d", "800ms", "--save-every", "10ms"], 2),
    "storm": (["tlat", "storm", "-d", "600ms"], 2),
    "cyclictest": (["cyclictest", "-q", "-i", "1000", "-l", "600"], 1),
}


def in_mid_run(place: Place, name: str, happens: Callable[[str], None]) -> tuple[Ended, str]:
    os.mkdir(place.path("dir"))
    out = put_old(place.path("dir/out"))
    child = place.start(leftover.command([*LONG[name][0], "--json", out]), text=True,
                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.45)
    happens(out)
    _, err = child.communicate(timeout=leftover.LIMIT_S)
    return Ended(child.returncode, "", err), out


def directory_vanishes(place: Place, name: str) -> None:
    def remove(out: str) -> None:
        while os.path.exists(os.path.dirname(out)):
            with contextlib.suppress(OSError):  # a file was made in it meanwhile
                shutil.rmtree(os.path.dirname(out))

    ended, _ = in_mid_run(place, name, remove)
    says_lost(name, ended, "No such file")
    assert not os.path.exists(place.path("dir"))


def file_vanishes(place: Place, name: str) -> None:
    ended, out = in_mid_run(place, name, os.unlink)
    assert ended.code == 0, f"exit {ended.code}: {ended.err}"
    assert has_results(out, name)
    assert os.listdir(os.path.dirname(out)) == ["out"], "further files are left"
    shutil.rmtree(place.path("dir"))


def file_becomes_a_directory(place: Place, name: str) -> None:
    def replace(out: str) -> None:
        os.unlink(out)
        with contextlib.suppress(FileExistsError):  # it was written again meanwhile
            os.mkdir(out)

    ended, out = in_mid_run(place, name, replace)
    if os.path.isdir(out):
        says_lost(name, ended, "Is a directory", "not a file")
    assert os.listdir(os.path.dirname(out)) == ["out"], "further files are left"
    shutil.rmtree(place.path("dir"))


def closed_streams_are_nobodys(place: Place, name: str) -> None:
    """What is opened later must not get what is printed."""
    child = place.start(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh",
                         *leftover.command([*LONG[name][0], "--json", place.path("out")])])
    time.sleep(0.3)
    streams = [os.readlink(f"/proc/{child.pid}/fd/{fd}") for fd in range(3)]
    assert streams == ["/dev/null"] * 3, f"0, 1 and 2 are {streams}"
    assert child.wait(leftover.LIMIT_S) == LONG[name][1], "what was printed was lost"
    assert has_results(place.path("out"), name)


# == Readers ==

def read_slowly(fd: int, bytes_per_s: int) -> bytes:
    data, begin = b"", time.monotonic()
    while part := os.read(fd, 16384):
        data += part
        time.sleep(max(0.0, begin + len(data) / bytes_per_s - time.monotonic()))
    return data


def all_that_is_read(place: Place, command: list[str]) -> tuple[int, bytes]:
    read, write = os.pipe()
    child = place.start(leftover.command(command), stdout=write, stderr=subprocess.DEVNULL)
    os.close(write)
    data = read_slowly(read, 1 << 20)
    os.close(read)
    return child.wait(leftover.LIMIT_S), data


def reader_is_slow(place: Place, _: str) -> None:
    code, data = all_that_is_read(place, ["tlat", "run", "null", "-n", "250000", "--raw",
                                          "250000", "--json", "-"])
    document = leftover.check_schema.parse(data)
    assert code == 0 and len(data) > 1 << 20, f"exit {code}, {len(data)} bytes"
    assert document["results"][0]["counts"]["recorded"] == 250000
    code, data = all_that_is_read(place, ["cyclictest", "-v", "-t2", "-i", "100", "-d", "0", "-l",
                                          "9000"])
    values = [line for line in data.splitlines() if line.lstrip()[:2] in (b"0:", b"1:")]
    assert code == 0 and len(values) == 18000, f"exit {code}, {len(values)} values"
    code, data = all_that_is_read(place, ["tlat", "storm", "-d", "30ms", "--json", "-"])
    assert code == 0 and leftover.check_schema.parse(data)["results"], f"exit {code}"
    code, data = all_that_is_read(place, ["tlat", "compare", "a.json", "b.json", "--shift"])
    assert code == 77 and b"verdict: " in data, f"exit {code}"


def reader_does_not_read(place: Place, _: str) -> None:
    """Whoever waits for it can be ended, by the second signal at the latest."""
    for command in (["tlat", "run", "null", "-n", "60000", "--raw", "60000", "--json", "-"],
                    ["cyclictest", "-v", "-t2", "-i", "100", "-d", "0"]):
        read, write = os.pipe()
        child = place.start(leftover.command(command), stdout=write, stderr=subprocess.DEVNULL)
        os.close(write)
        time.sleep(1.5)
        assert child.poll() is None, "the pipe has room for all of it"
        for _ in range(2):
            child.send_signal(signal.SIGTERM)
            time.sleep(0.7)
        code = child.poll()
        os.close(read)
        child.kill()
        child.wait()
        assert code == -signal.SIGTERM, f"{command}: {code} after two signals"
    # what a killed one had to leave, its successor takes away
    place.run(leftover.command(["cyclictest", "-q", "-l", "5"]))


CASES: Cases = (
    (directory_vanishes, tuple(LONG)),
    (file_vanishes, tuple(LONG)),
    (file_becomes_a_directory, tuple(LONG)),
    (closed_streams_are_nobodys, tuple(LONG)),
    (reader_is_slow, ("all",)),
    (reader_does_not_read, ("all",)),
)

if __name__ == "__main__":
    try_all(CASES, "changes in mid-run")
