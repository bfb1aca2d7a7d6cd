# SPDX-License-Identifier: MIT
"""What the tests of field reports share: running the tools, bounded in time; their reports; one
line for each report of the field."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TLAT = os.environ["TLAT"]
CYCLICTEST = os.environ["TLAT_CYCLICTEST"]
SOURCE = os.environ["TLAT_SOURCE"]
CPUS = sorted(os.sched_getaffinity(0))
LAST = str(CPUS[-1])
HUNG_S = 120
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


class Skip(Exception):
    """What this machine lacks for one report."""


class Output:
    """One run: exit code, standard output and error as text."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n{self.out}\n{self.err}"


def run(*words, env=None):
    """Any command; env is added to the environment."""
    done = subprocess.run([str(w) if isinstance(w, int) else w for w in words], capture_output=True,
                          timeout=HUNG_S, env={**os.environ, **(env or {})}, check=False)
    return Output(done.returncode, done.stdout.decode(errors="replace"),
                  done.stderr.decode(errors="replace"))


def refuse_constant(word):
    raise AssertionError(f"{word} is no JSON")


def strict(text):
    return json.loads(text, parse_constant=refuse_constant)


def report(*words, before=(), env=None):
    """The report of "tlat run WORDS --json -"; before: what stands in front of tlat."""
    done = run(*before, TLAT, "run", *words, "-q", "--json", "-", env=env)
    assert done.code == 0, (words, done)
    return strict(done.out)


def needs(*commands):
    for command in commands:
        if not shutil.which(command):
            raise Skip(f"{command} is not installed")


def needs_root():
    if os.geteuid():
        raise Skip("needs root")


def findings(document):
    """All findings of a report by id; of several with one id the last."""
    every = document["findings"] + [f for r in document["results"] for f in r["findings"]]
    return {finding["id"]: finding for finding in every}


def kept(counts):
    return counts["recorded"] + counts["early"] + counts["overflow"]


def assert_adds_up(result):
    counts = result["counts"]
    assert counts["asked"] == kept(counts) + counts["missed"] + counts["unfinished"] + \
        sum(counts["rejected"].values()), counts


def shim(folder, source):
    """A library to preload, of this C text."""
    path = os.path.join(folder, "shim.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC", "-w", "-x", "c", "-",
                    "-o", path], input=source.encode(), check=True)
    return path


def open_folder():
    """A folder that every user can enter."""
    folder = tempfile.TemporaryDirectory()
    os.chmod(folder.name, 0o755)
    return folder


def main(tests):
    """tests by the id of the report. Exit code 0 or 1; 77 where a build writes no reports."""
    if "build" in run(TLAT, "run", "null", "-n", 1, "--json", "-").err:
        print("skipped: this build writes no JSON")
        return 77
    failed = 0
    for name, test in tests.items():
        try:
            test()
            print(f"{name} ok", flush=True)
        except Skip as why:
            print(f"{name} skipped: {why}", flush=True)
        except Exception as error:  # whatever it stumbles over
            line = error.__traceback__
            while line.tb_next:
                line = line.tb_next
            print(f"{name} not ok: line {line.tb_lineno}: {error!r}"[:4000], flush=True)
            failed += 1
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit("not a test")
