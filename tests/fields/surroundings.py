# SPDX-License-Identifier: MIT
"""What the field tests share: running the tools among calls that fail, files that say something
else, preloaded libraries, limits and control groups; and a line for each report tried."""
import atexit
import contextlib
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator, Mapping, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ["TLAT_SOURCE"]
HANG_S = 120
CPUS = sorted(os.sched_getaffinity(0))
LAST = str(CPUS[-1])

FOLDER = tempfile.mkdtemp(prefix="tlat-fields-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.chmod(FOLDER, 0o755)  # for other users
# Copies, as other users need not be able to reach the build.
TLAT = shutil.copy(os.environ["TLAT"], os.path.join(FOLDER, "tlat"))
CYCLICTEST = shutil.copy(os.environ["TLAT_CYCLICTEST"], os.path.join(FOLDER, "tlat-cyclictest"))

# A few cycles of the probe that needs least.
SHORT = ["run", "timer-nanosleep", "-n", "50", "--warmup", "5"]

Words = Sequence[str]


class Skip(Exception):
    """The report cannot be tried on this machine; the text says why."""


def need(condition: object, why: str) -> None:
    if not condition:
        raise Skip(why)


def need_root() -> None:
    need(os.geteuid() == 0, "needs root")


def need_two_cpus() -> None:
    need(CPUS == [0, 1], "needs CPUs 0 and 1, and no other")


def need_commands(*commands: str) -> None:
    for command in commands:
        need(shutil.which(command), f"{command} is not installed")


def strict(text: str) -> dict[str, Any]:
    """A document, without the constants that JSON has not."""
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")
    document: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return document


class Ended:
    """A command that came to its end within HANG_S."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    def __repr__(self) -> str:
        return f"exit {self.code}\n{self.out[-2000:]}{self.err[-2000:]}"

    @property
    def json(self) -> dict[str, Any]:
        return strict(self.out)

    def expect(self, code: int, *texts: str) -> "Ended":
        """The exit code, and texts that the output has, wherever its lines are broken."""
        said = " ".join((self.out + self.err).split())
        assert self.code == code, f"exit {self.code}, not {code}: {self!r}"
        for text in texts:
            assert text in said, f"{text!r} is not in: {self!r}"
        return self


def run(words: Words, under: Words = (), **variables: str) -> Ended:
    """The command behind the words that make its surroundings; it is killed when it hangs."""
    env = {name: value for name, value in os.environ.items() if name != "TLAT_JSON"}
    env.update(variables, XDG_CACHE_HOME=os.path.join(FOLDER, "cache"))
    child = subprocess.Popen([*under, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, env=env, cwd=FOLDER,
                             start_new_session=True)
    try:
        out, err = child.communicate(timeout=HANG_S)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.communicate()
        raise AssertionError(f"{[*under, *words]} hangs") from None
    return Ended(child.returncode, out, err)


def command(*words: Any, env: Mapping[str, str] = {}) -> Ended:
    """A command as it is typed, numbers and all."""
    return run([word if isinstance(word, bytes) else str(word) for word in words], **env)


def tlat(*words: str, under: Words = (), **variables: str) -> Ended:
    return run([TLAT, *words], under, **variables)


def cyclictest(*words: str, under: Words = (), **variables: str) -> Ended:
    return run([CYCLICTEST, "-q", *words], under, **variables)


def report(*words: str, under: Words = (), **variables: str) -> dict[str, Any]:
    """The report of a run that ends with 0."""
    return tlat(*words, "--json", "-", under=under, **variables).expect(0).json


def report_of(*words: Any, before: Words = (), env: Mapping[str, str] = {}) -> dict[str, Any]:
    """The report of `tlat run WORDS`, with WORDS passed unchanged."""
    return report("run", *map(str, words), "-q", under=before, **env)


def kept(counts: dict[str, int]) -> int:
    return counts["recorded"] + counts["early"] + counts["overflow"]


def assert_adds_up(result: dict[str, Any]) -> None:
    counts = result["counts"]
    assert counts["asked"] == kept(counts) + counts["missed"] + counts["unfinished"] + \
        sum(counts["rejected"].values()), counts


def findings(document: dict[str, Any]) -> dict[str, Any]:
    """All findings of a report by id; of several with one id, the texts one after the other."""
    found: dict[str, Any] = {}
    lists = [document["findings"]] + [result["findings"] for result in document["results"]]
    for finding in (finding for some in lists for finding in some):
        before = found.get(finding["id"], {"text": "", "remedy": ""})
        found[finding["id"]] = {
            "severity": finding["severity"],
            "text": before["text"] + finding["text"] + "\n",
            "remedy": before["remedy"] + (finding["remedy"] or "") + "\n",
        }
    return found


# == Surroundings: words before the command ==

NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def failing(*rules: str, path: str = "") -> list[Any]:
    """Under system calls that fail, such as "sched_setattr:error=ENOSYS"."""
    need_commands("strace")
    words = ["strace", "-f", "-qq", "-o", "/dev/null"]
    words += ["-P", path] if path else []
    for rule in rules:
        words += ["-e", f"inject={rule}"]
    return words


def traced(calls: str, log: str) -> list[Any]:
    need_commands("strace")
    return ["strace", "-f", "-qq", "-o", log, "-e", f"trace={calls}", "-e", "signal=none"]


def read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


MOUNT = 'set -e; n=$1; shift; while [ "$n" -gt 0 ]; do mount --bind "$1" "$2"; shift 2; ' \
    'n=$((n - 1)); done; exec "$@"'


def mounted(places: dict[str, Any]) -> list[Any]:
    """With files or folders mounted over others: {where: what}."""
    need_root()
    need(subprocess.run(["unshare", "-m", "true"], check=False).returncode == 0,
         "mount namespaces are not available")
    pairs = [word for where, what in places.items() for word in (what, where)]
    return ["unshare", "-m", "sh", "-c", MOUNT, "sh", str(len(places)), *pairs]


def with_texts(texts: dict[str, Any]) -> list[Any]:
    """With files that say something else: {path: text}."""
    places = {}
    for number, (path, text) in enumerate(texts.items()):
        need(os.path.exists(path), f"{path} does not exist")
        fake = os.path.join(FOLDER, f"fake-{number}")
        with open(fake, "w", encoding="utf-8") as file:
            file.write(text)
        places[path] = fake
    return mounted(places)


def open_folder() -> "tempfile.TemporaryDirectory[str]":
    """A folder that every user can enter."""
    folder = tempfile.TemporaryDirectory()
    os.chmod(folder.name, 0o755)
    return folder


def without_cgroups() -> list[Any]:
    nothing = os.path.join(FOLDER, "nothing")
    os.makedirs(nothing, exist_ok=True)
    return mounted({"/sys/fs/cgroup": nothing})


@functools.lru_cache(maxsize=None)
def shim(name: str) -> str:
    """A library of preload/, built."""
    need(not os.environ.get("TLAT_SANITIZE"), "sanitizers do not go with preloaded libraries")
    path = os.path.join(FOLDER, f"{name}.so")
    subprocess.run([os.environ.get("CC", "cc"), "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-o",
                    path, os.path.join(HERE, "preload", f"{name}.c"), "-ldl"], check=True)
    return path


def preloaded(name: str) -> dict[str, Any]:
    """Environment of a command before which a library of preload/ stands."""
    return {"LD_PRELOAD": shim(name)}


GROUP = f"tlat-fields-{os.getpid()}"


@contextlib.contextmanager
def group(controller: str, **knobs: str) -> Iterator[list[str]]:
    """Inside a fresh control group of version 1, its knobs set: rt_runtime_us="10000"."""
    need_root()
    folder = f"/sys/fs/cgroup/{controller}/{GROUP}"
    try:
        os.mkdir(folder)
    except OSError as error:
        raise Skip(f"no writable hierarchy of {controller}: {error.strerror}") from None
    try:
        for name, value in knobs.items():
            path = f"{folder}/{controller}.{name}"
            need(os.path.exists(path), f"this kernel has no {controller}.{name}")
            with open(path, "w", encoding="ascii") as file:
                file.write(value)
        yield ["sh", "-c", f'echo $$ >{folder}/cgroup.procs; exec "$@"', "sh"]
    finally:
        for _ in range(100):  # what ended just now may still be in it
            try:
                os.rmdir(folder)
                break
            except OSError:
                time.sleep(0.05)


# == A line for each report ==

def main(tests: Sequence[Callable[[], None]]) -> None:
    """Try each; the name of a test begins with the id of its report."""
    ends = {"ok": 0, "skipped": 0, "not ok": 0}
    for test in tests:
        how, why = "ok", ""
        try:
            test()
        except Skip as skip:
            how, why = "skipped", f": {skip}"
        except Exception as error:  # whatever it stumbles over
            how, why = "not ok", f": {type(error).__name__}: {error}"
        ends[how] += 1
        print(f"{test.__name__.split('_')[0].upper()} {how}{why}", flush=True)
    sys.exit(1 if ends["not ok"] else 0 if ends["ok"] else 77)
