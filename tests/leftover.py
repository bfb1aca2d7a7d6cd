#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Commands, each run in a place of its own, and what they leave behind there and on the machine:
files, processes, settings, and what the process itself still held when it ended. For tests."""
from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Iterable, Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import check_schema  # noqa: E402

PROGRAMS = {"tlat": os.environ["TLAT"], "cyclictest": os.environ["TLAT_CYCLICTEST"]}
LIMIT_S = 120
TRACING = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
IDLE = "/dev/cpu_dma_latency"
SETTINGS = [f"/proc/sys/kernel/{name}" for name in (
    "sched_rt_runtime_us", "sched_rt_period_us", "timer_migration", "numa_balancing")]


class Ended:
    """What a command said, and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def lines(self) -> list[str]:
        """Its complaints: what begins with its own name."""
        return [line for line in self.err.splitlines() if line.startswith("tlat")]


def side_of(report: str) -> str:
    """A side of tlat ab that takes no time: the report as a run of its own."""
    number = r"""'$(printf %012d $$)'"""
    return rf"""sed 's/\("id": *"[0-9a-f-]*-\)[0-9a-f]\{{12\}}"/\1{number}"/' {report} >$TLAT_JSON"""


def command(words: Iterable[str]) -> list[str]:
    """The first word is tlat or cyclictest."""
    first, *rest = words
    return [PROGRAMS[first], *rest]


def build_preload(name: str, folder: str) -> str:
    """A library of tests/faults, to be preloaded."""
    path = os.path.join(folder, f"{name}.so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-o", path,
                    os.path.join(HERE, "faults", f"{name}.c")], check=True)
    return path


def read_report(path: str) -> Any:
    """A document of a file; anything but one whole valid report is an error."""
    with open(path, "rb") as file:
        document = check_schema.parse(file.read())
    check_report(document)
    return document


def check_report(document: Any) -> None:
    if "schema" in document:
        faults = check_schema.check_document(document)
        assert not faults, f"no valid report: {faults[:3]}"


def read_lines(path: str) -> list[Any]:
    """The reports of a JSON Lines file, of which every line has to be whole."""
    with open(path, "rb") as file:
        documents = [check_schema.parse(line) for line in file]
    for document in documents:
        check_report(document)
    return documents


def read_text(path: str) -> str | None:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return None


def is_alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


def descriptors(pid: int) -> list[str]:
    found = []
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return found


def processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def holders_of_idle() -> set[int]:
    """Who keeps the CPUs out of idle states."""
    return {pid for pid in processes() if IDLE in descriptors(pid)}


def machine_settings() -> dict[str, Any]:
    """What a measurement could change for everybody, and has to leave as it was."""
    state: dict[str, Any] = {path: read_text(path) for path in SETTINGS}
    for place in TRACING:
        state[place] = read_text(f"{place}/tracing_on")
    state["affinity"] = sorted(os.sched_getaffinity(0))
    state["policy"] = os.sched_getscheduler(0), os.sched_getparam(0).sched_priority
    return state


def named_objects(queues: str | None) -> set[str]:
    """Message queues, semaphores, shared memory, cgroups and instances of the kernel's trace that
    are named after a process which is no more."""
    found = set()
    places = ["/dev/shm/*", "/sys/fs/cgroup/**/", *(f"{place}/instances/*" for place in TRACING)]
    for place in places + ([f"{queues}/*"] if queues else []):
        for path in glob.iglob(place, recursive=True):
            match = re.search(r"(?:cyclictest|tlat\D*)(\d+)", os.path.basename(path.rstrip("/")))
            if match and not is_alive(int(match[1])):
                found.add(path)
    return found


@contextlib.contextmanager
def message_queues() -> Iterator[str | None]:
    """The file system that shows the names of message queues; None: not for this user."""
    folder = tempfile.mkdtemp()
    mounted = subprocess.run(["mount", "-t", "mqueue", "none", folder], check=False,
                             capture_output=True).returncode == 0
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=False)
        os.rmdir(folder)


class Place:
    """A folder that commands run in, and the machine as it was before them."""

    def __init__(self, queues: str | None = None) -> None:
        self.queues = queues
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.temporary = self.path("tmp")
        os.mkdir(self.temporary)
        self.log = self.path("witness")
        self.preload: list[str] = []
        self.before = machine_settings(), named_objects(queues), holders_of_idle()

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in self.still_running():
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def environment(self, **more: str) -> dict[str, str]:
        own = {"TMPDIR": self.temporary, "XDG_CACHE_HOME": self.path("cache"), **more}
        if self.preload:
            own |= {"LD_PRELOAD": " ".join(self.preload), "WITNESS_LOG": self.log}
        return own

    def start(self, words: list[str], before: Iterable[str] = (), **more: Any) -> subprocess.Popen:
        """before: a program that starts it, such as strace; that one is not preloaded."""
        own = [f"{key}={value}" for key, value in
               self.environment(**more.pop("environment", {})).items()]
        return subprocess.Popen([*before, "env", *own, *words], cwd=self.folder,
                                start_new_session=True, stdin=subprocess.DEVNULL, **more)

    def run(self, words: list[str], **more: Any) -> Ended:
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
        child = self.start(words, text=True, errors="replace", **more)
        try:
            out, err = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise
        return Ended(child.returncode, out or "", err or "")

    def still_running(self) -> set[int]:
        """Processes of this place; a folder can be left, the first environment cannot."""
        mark = f"TMPDIR={self.temporary}".encode()
        found = set()
        for pid in processes():
            with contextlib.suppress(OSError):
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.add(pid)
        return found

    def leftovers(self, kept: Iterable[str]) -> list[str]:
        """All that is not as it was before; kept: files that may be there."""
        settings, named, holders = self.before
        names = set(os.listdir(self.folder)) - {"tmp", "witness", *kept}
        said = [f"file {name}" for name in sorted(names)]
        said += [f"file tmp/{name}" for name in sorted(os.listdir(self.temporary))]
        said += [f"process {pid}" for pid in sorted(self.still_running())]
        said += [f"object {name}" for name in sorted(named_objects(self.queues) - named)]
        said += [f"{IDLE} held by {pid}" for pid in sorted(holders_of_idle() - holders)
                 if pid in self.still_running()]
        now = machine_settings()
        said += [f"{key}: {now[key]}, was {settings[key]}" for key in settings
                 if now.get(key) != settings[key]]
        with contextlib.suppress(OSError):
            with open(self.log, encoding="ascii") as file:
                said += [f"at its end: {line.strip()}" for line in file]
        return said

    def forget(self, what: str) -> None:
        """Of what the witness saw."""
        with contextlib.suppress(OSError):
            with open(self.log, encoding="ascii") as file:
                rest = [line for line in file if what not in line]
            with open(self.log, "w", encoding="ascii") as file:
                file.writelines(rest)

    def check_clean(self, kept: Iterable[str] = (), within_s: float = 5) -> None:
        """What is on its way out gets that long."""
        deadline = time.monotonic() + within_s
        while (said := self.leftovers(kept)) and time.monotonic() < deadline:
            time.sleep(0.02)
        if said:
            self.clear(kept)
        assert not said, "left behind: " + "; ".join(said[:6])

    def clear(self, kept: Iterable[str]) -> None:
        """So that what one command left is not put down to the next."""
        for pid in self.still_running():
            os.kill(pid, signal.SIGKILL)
        for name in set(os.listdir(self.folder)) - {"tmp", *kept}:
            if os.path.isdir(self.path(name)):
                shutil.rmtree(self.path(name))
            else:
                os.unlink(self.path(name))
        shutil.rmtree(self.temporary)
        os.mkdir(self.temporary)
        for path in named_objects(self.queues) - self.before[1]:
            with contextlib.suppress(OSError):
                os.unlink(path)
        self.before = machine_settings(), named_objects(self.queues), holders_of_idle()


class Tally:
    """Cases that are tried, and those that failed."""

    def __init__(self) -> None:
        self.tried = self.failed = 0

    @contextlib.contextmanager
    def case(self, name: str) -> Iterator[None]:
        self.tried += 1
        try:
            yield
        except (AssertionError, ValueError, OSError, subprocess.TimeoutExpired,
                check_schema.jsonschema.ValidationError) as why:
            self.failed += 1
            print(f"{name}: {type(why).__name__}: {str(why)[:700]}", flush=True)

    def end(self, what: str) -> None:
        print(f"{self.tried} {what}, {self.failed} failed")
        sys.exit(self.failed > 0)
