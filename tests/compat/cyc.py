# SPDX-License-Identifier: MIT
"""What the compatibility tests share: running tlat-cyclictest, and its outputs in every condition
that a script meets."""
import json
import os
import signal
import subprocess
import tempfile
import time

PROGRAM = os.environ["TLAT_CYCLICTEST"]
HUNG_S = 60


class Output:
    """One run: standard output, standard error, exit code, files it wrote."""

    def __init__(self, args, out, err, code, files):
        self.args, self.out, self.err, self.code, self.files = args, out, err, code, files

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def json(self):
        def refuse(word):
            raise AssertionError(f"{word} is no JSON")

        return json.loads(self.files["json"], parse_constant=refuse)

    @property
    def threads(self):
        """Threads by number, as the JSON file has them."""
        found = self.json["thread"]
        assert list(found) == [str(i) for i in range(self.json["num_threads"])], list(found)
        return [found[str(i)] for i in range(len(found))]


def run(args, stop=None, program=PROGRAM, env=None):
    """Run with args; stop is (seconds, signal) or None. Words that name files in a directory of the
    run's own begin with @; env None: this process's environment."""
    with tempfile.TemporaryDirectory() as work:
        words = [program] + [a.replace("@", work + "/") for a in args]
        with open(work + "/out", "w+b") as out, open(work + "/err", "w+b") as err:
            child = subprocess.Popen(words, stdout=out, stderr=err, env=env, cwd=work)
            try:
                if stop:
                    time.sleep(stop[0])
                    child.send_signal(stop[1])
                code = child.wait(timeout=HUNG_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                raise AssertionError(f"{words} hangs") from None
            shared = f"/dev/shm/cyclictest{child.pid}"
            left = os.path.exists(shared)
            if left:
                os.unlink(shared)  # theirs leaves it behind when it is refused late
            assert not left or program != PROGRAM or code < 0, f"{words} leaves {shared}"
        files = {}
        for name in os.listdir(work):
            with open(f"{work}/{name}", encoding="utf-8") as file:
                files[name] = file.read()
    return Output(words, files.pop("out"), files.pop("err"), code, files)


# Condition -> arguments, signal. Every condition has three forms of output.
CONDITIONS = {
    "normal": (["-t2", "-l", "40"], None),
    "interrupted": (["-t2"], (0.8, signal.SIGINT)),
    "zero-cycle": (["-t2", "-i", "20000000"], (0.7, signal.SIGTERM)),
    "64-thread": (["-t64", "-i", "20000", "-d", "0", "-l", "5"], None),
    "overflow": (["-t2", "-l", "40"], None),
    "nanoseconds": (["-t2", "-l", "40", "-N"], None),
}
FORMS = {
    "summary": [],
    "histogram": ["-h"],
    "sums": ["-H"],
}
ROWS = {"overflow": "3", "nanoseconds": "1000"}


def outputs():
    """{condition: {form: Output}}, each run ended with 0 and strict JSON."""
    found = {}
    for condition, (args, stop) in CONDITIONS.items():
        found[condition] = {}
        for form, extra in FORMS.items():
            rows = [ROWS.get(condition, "400")] if extra else []
            out = run(["-q", *args, *extra, *rows, "--json=@json"], stop)
            assert out.code == 0, (condition, form, out.code, out.err)
            assert out.json["num_threads"] == len(out.threads)
            found[condition][form] = out
    return found
