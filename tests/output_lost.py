#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Output that cannot be written: a full disk, a limit of file sizes, a closed stream, a reader that
leaves, a file that cannot be made. Every command ends, says what was lost in one line and by its exit
code, and an older file of results stays whole."""
from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import Callable, Iterator, Tuple

import leftover
from leftover import Ended, Place, Tally

OLD = '{"before": 1}\n'
LIMIT = 200  # bytes of a file, less than any results
Cases = Tuple[Tuple[Callable[[Place, str], None], Tuple[str, ...]], ...]
# The command, its option for a results file, and its exit code when output is lost.
COMMANDS = {
    "run": (["tlat", "run", "null", "-n", "200"], "--json", 2),
    "compare": (["tlat", "compare", "a.json", "b.json"], "--json", 2),
    "storm": (["tlat", "storm", "-d", "30ms"], "--json", 2),
    "cyclictest": (["cyclictest", "-q", "-i", "200", "-l", "20", "-h", "20"], "--json", 1),
    "histfile": (["cyclictest", "-q", "-i", "200", "-l", "20", "-h", "20"], "--histfile", 1),
    "tlat-json": (["cyclictest", "-q", "-i", "200", "-l", "20"], "--tlat-json", 1),
}
PROGRAMS = ("run", "compare", "storm", "cyclictest")
STRACE = shutil.which("strace")
STRACED = ["strace", "-E", "ASAN_OPTIONS=detect_leaks=0", "-o", "/dev/null"]  # which needs ptrace
FINE = {"compare": 77}  # one run a side has no verdict


def words(name: str, *more: str) -> list[str]:
    return leftover.command([*COMMANDS[name][0], *more])


def put_old(path: str) -> str:
    with open(path, "w", encoding="ascii") as file:
        file.write(OLD)
    return path


def is_old(path: str) -> bool:
    with open(path, encoding="utf-8") as file:
        return file.read() == OLD


def has_results(path: str, name: str) -> bool:
    """A whole new file."""
    if name == "histfile":
        with open(path, encoding="ascii") as file:
            text = file.read()
        return text.startswith("# Histogram\n") and "# Thread 0:" in text
    return leftover.read_report(path) != {"before": 1}


def says_lost(name: str, ended: Ended, *reasons: str) -> None:
    assert ended.code == COMMANDS[name][2], f"exit {ended.code}: {ended.err[-300:]}"
    lines = [line for line in ended.lines() if any(reason in line for reason in reasons)]
    assert len(lines) == 1, f"{len(lines)} lines say so: {ended.err[-300:]}"


@contextlib.contextmanager
def tiny_disk(place: Place) -> Iterator[str | None]:
    """A file system with room for one page; None: not for this user."""
    folder = place.path("disk")
    os.mkdir(folder)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "none", folder],
                             check=False, capture_output=True).returncode == 0
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", folder], check=False)
        os.rmdir(folder)


def fill(folder: str) -> None:
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)


# == Standard output ==

def stdout_is_full(place: Place, name: str) -> None:
    out = put_old(place.path("out"))
    with open("/dev/full", "w", encoding="ascii") as full:
        ended = place.run(words(name, COMMANDS[name][1], out), stdout=full)
    says_lost(name, ended, "standard output: No space left")
    assert has_results(out, name), "the file suffers from standard output"


def stdout_is_closed(place: Place, name: str) -> None:
    out = put_old(place.path("out"))
    ended = place.run(["sh", "-c", 'exec "$@" >&-', "sh", *words(name, COMMANDS[name][1], out)])
    says_lost(name, ended, "standard output: Bad file descriptor")
    assert has_results(out, name), "the file has something else, or nothing"


def all_streams_are_closed(place: Place, name: str) -> None:
    """What is opened then must not be taken for one of them."""
    out = put_old(place.path("out"))
    ended = place.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh",
                       *words(name, COMMANDS[name][1], out)])
    assert ended.code == COMMANDS[name][2], f"exit {ended.code}"
    assert has_results(out, name)


def reader_leaves_at_once(place: Place, name: str) -> None:
    """It has seen enough: no loss, and the file is written."""
    out = put_old(place.path("out"))
    read, write = os.pipe()
    os.close(read)
    ended = place.run(words(name, COMMANDS[name][1], out), stdout=write)
    os.close(write)
    assert ended.code == FINE.get(name, 0), f"exit {ended.code}: {ended.err[-300:]}"
    assert not [line for line in ended.lines() if "standard output" in line], ended.err
    assert has_results(out, name)


def stdout_is_a_full_disk(place: Place, name: str) -> None:
    with tiny_disk(place) as disk:
        if not disk:
            return
        fill(disk)
        with open(os.path.join(disk, "out"), "w", encoding="ascii") as full:
            says_lost(name, place.run(words(name), stdout=full), "standard output: No space left")
            json = words(name, COMMANDS[name][1], "-")
            says_lost(name, place.run(json, stdout=full), "No space left")


def stdout_is_limited(place: Place, name: str) -> None:
    with open(place.path("out"), "w", encoding="ascii") as file:
        file.write("x" * LIMIT)
        file.flush()
        ended = place.run(["prlimit", f"--fsize={LIMIT}", *words(name)], stdout=file)
    says_lost(name, ended, "standard output: File too large")


# == Files ==

def file_is_limited(place: Place, name: str) -> None:
    """As by ulimit -f, which is a signal to those who do not expect it."""
    out = put_old(place.path("out"))
    limited = ["prlimit", f"--fsize={LIMIT}"]
    says_lost(name, place.run([*limited, *words(name, COMMANDS[name][1], out)]), "File too large")
    assert is_old(out), "the file of before is harmed"
    if name == "run":
        ended = place.run([*limited, *words(name, "--append", COMMANDS[name][1], out)])
        says_lost(name, ended, "File too large")
        assert is_old(out), "something is left of the line that was to be added"


def file_is_on_a_full_disk(place: Place, name: str) -> None:
    with tiny_disk(place) as disk:
        if not disk:
            return
        out = put_old(os.path.join(disk, "out"))
        fill(disk)
        says_lost(name, place.run(words(name, COMMANDS[name][1], out)), "No space left")
        assert is_old(out), "the file of before is harmed"
        assert set(os.listdir(disk)) == {"out", "filler"}, os.listdir(disk)


def file_is_full(place: Place, name: str) -> None:
    says_lost(name, place.run(words(name, COMMANDS[name][1], "/dev/full")), "No space left")


def file_cannot_be_made(place: Place, name: str) -> None:
    for path, reason in (("gone/out", "No such file"), ("tmp", "Is a directory"), ("", "''"),
                         ("a.json/out", "Not a directory")):
        ended = place.run(words(name, COMMANDS[name][1], path))
        assert ended.code == COMMANDS[name][2], f"{path}: exit {ended.code}"
        assert len(ended.lines()) == 1 or name in ("cyclictest", "histfile"), ended.err
        assert reason in ended.err or not path, f"{path}: {ended.err}"
        assert not ended.out or name == "compare", "it was measured for nothing"


def file_is_a_link(place: Place, name: str) -> None:
    os.mkdir(place.path("far"))
    target, out = put_old(place.path("far/target")), place.path("out")
    os.symlink(target, out)
    os.chmod(target, 0o640)
    ended = place.run(words(name, COMMANDS[name][1], out))
    assert ended.code == FINE.get(name, 0), f"exit {ended.code}: {ended.err[-300:]}"
    assert os.path.islink(out) and has_results(target, name), "the link was replaced"
    assert os.stat(target).st_mode & 0o777 == 0o640, "other permissions than before"
    shutil.rmtree(place.path("far"))


def link_leads_to_no_file_yet(place: Place, name: str) -> None:
    os.mkdir(place.path("far"))
    os.symlink("far/target", place.path("out"))
    ended = place.run(words(name, COMMANDS[name][1], place.path("out")))
    assert ended.code == FINE.get(name, 0), f"exit {ended.code}: {ended.err[-300:]}"
    assert os.path.islink(place.path("out")), "the link was replaced"
    assert has_results(place.path("far/target"), name)
    shutil.rmtree(place.path("far"))
    os.unlink(place.path("out"))


def mounted(place: Place, name: str, source: str, out: str) -> Ended | None:
    """A command for which source is mounted at out; None: not for this user."""
    mount = 'mount --bind "$0" "$1" 2>/dev/null || exit 99; shift; exec "$@"'
    ended = place.run(["unshare", "-m", "sh", "-c", mount, source, out,
                       *words(name, COMMANDS[name][1], out)])
    return None if ended.code == 99 or ended.err.startswith("unshare:") else ended


def file_is_a_mount(place: Place, name: str) -> None:
    """As one file given to a container is: no other can take its place."""
    out, source = put_old(place.path("out")), put_old(place.path("source"))
    ended = mounted(place, name, source, out)
    if ended:
        assert ended.code == FINE.get(name, 0), f"exit {ended.code}: {ended.err[-300:]}"
        assert has_results(source, name) and is_old(out)
    os.unlink(source)


def mount_is_of_a_full_disk(place: Place, name: str) -> None:
    out = put_old(place.path("out"))
    with tiny_disk(place) as disk:
        if not disk:
            return
        source = put_old(os.path.join(disk, "source"))
        fill(disk)
        ended = mounted(place, name, source, out)
        if ended:
            says_lost(name, ended, "No space left")
            assert is_old(source), "the file of before is harmed"


def file_is_of_another_user(place: Place, name: str) -> None:
    """It stays theirs, whatever rights a measurement gives up before it writes."""
    out = put_old(place.path("out"))
    os.chmod(out, 0o600)
    if os.geteuid() == 0:
        os.chown(out, 65534, 65533)
    before = os.stat(out)
    ended = place.run(words(name, COMMANDS[name][1], out))
    assert ended.code == FINE.get(name, 0), f"exit {ended.code}: {ended.err[-300:]}"
    after = os.stat(out)
    assert has_results(out, name)
    assert (after.st_uid, after.st_gid, after.st_mode) == (
        before.st_uid, before.st_gid, before.st_mode), f"{after.st_uid}, {after.st_mode:o}"


def file_is_open_already(place: Place, name: str) -> None:
    """A log that a shell appends to keeps what is in it, and gets text and results in their order."""
    out = place.path("out")
    for path, how in (("/dev/stdout", ">>"), ("/dev/stderr", "2>>"), ("/dev/fd/3", "3>>"),
                      (out, ">>"), (out, "2>>")):
        put_old(out)
        ended = place.run(["sh", "-c", f'out=$1; shift; exec "$@" {how}"$out"', "sh", out,
                           *words(name, COMMANDS[name][1], path)])
        assert ended.code == FINE.get(name, 0), f"{path}: exit {ended.code}: {ended.err[-300:]}"
        with open(out, encoding="utf-8") as file:
            text = file.read()
        assert text.startswith(OLD), f"{path}: what the file had is lost: {text[:100]}"
        assert "# Thread 0:" in text if name == "histfile" else "\n{" in text, f"{path}: {text}"
        if name == "run" and how == ">>":
            assert f"\nrepeat: tlat {name}" in text.rpartition("\n{")[0], f"{path}: {text}"


def descriptor_is_closed(place: Place, name: str) -> None:
    ended = place.run(words(name, COMMANDS[name][1], "/dev/fd/9"))
    says_lost(name, ended, "/dev/fd/9")
    assert not ended.out or name == "compare", "it was measured for nothing"


def file_system_lacks(place: Place, name: str) -> None:
    """What is not needed to keep a result does not cost it."""
    out = place.path("out")
    for call, error, more in (("fchmod", "EPERM", ()), ("fsync", "EINVAL", ()),
                              ("fsync", "ENOSYS", ("--append",)),
                              ("flock", "ENOLCK", ("--append",))):
        put_old(out)
        os.chmod(out, 0o606)
        ended = place.run(words(name, *more, COMMANDS[name][1], out), before=[
            *STRACED, "-f", "-e", f"inject={call}:error={error}"])
        assert ended.code == 0, f"{call} {error}: exit {ended.code}: {ended.err[-300:]}"
        with open(out, encoding="utf-8") as file:
            assert "timerlat-report/" in file.read(), f"{call} {error}: no report"
        assert os.stat(out).st_mode & 0o070 == 0, "more may read it than before"


def ab_without_locks(place: Place, _: str) -> None:
    """Its folder of reports; a lock of a folder on NFS is EBADF."""
    for error in ("ENOSYS", "EBADF"):
        ended = place.run(leftover.command(
            ["tlat", "ab", "--a", leftover.side_of("a.json"), "--b",
             leftover.side_of("b.json"), "--pairs", "2", "-q"]),
            before=[*STRACED, "-e", f"inject=flock:error={error}"])
        assert ended.code == 77, f"{error}: exit {ended.code}: {ended.err[-300:]}"


CASES: Cases = (
    (stdout_is_full, PROGRAMS),
    (stdout_is_closed, tuple(COMMANDS)),
    (all_streams_are_closed, PROGRAMS),
    (reader_leaves_at_once, PROGRAMS),
    (stdout_is_a_full_disk, PROGRAMS),
    (stdout_is_limited, PROGRAMS),
    (file_is_limited, tuple(COMMANDS)),
    (file_is_on_a_full_disk, tuple(COMMANDS)),
    (file_is_full, tuple(COMMANDS)),
    (file_cannot_be_made, tuple(COMMANDS)),
    (file_is_a_link, tuple(COMMANDS)),
    (link_leads_to_no_file_yet, tuple(COMMANDS)),
    (file_is_a_mount, tuple(COMMANDS)),
    (mount_is_of_a_full_disk, ("run", "storm")),  # more than a page
    (file_is_of_another_user, tuple(COMMANDS)),
    (file_is_open_already, tuple(COMMANDS)),
    (descriptor_is_closed, tuple(COMMANDS)),
    *(((file_system_lacks, ("run",)), (ab_without_locks, ("ab",))) if STRACE else ()),
)


def try_all(cases: Cases, what: str) -> None:
    tally = Tally()
    kept = {"a.json", "b.json", "out"}
    with Place() as place:
        for name in ("a.json", "b.json"):
            place.run(words("run", "--json", place.path(name)))
        for case, names in cases:
            for name in names:
                with tally.case(f"{case.__name__}, {name}"):
                    case(place, name)
                    place.check_clean(kept)
                place.clear(kept - {"out"})
    tally.end(what)


if __name__ == "__main__":
    try_all(CASES, "ways of losing output")
