# SPDX-License-Identifier: MIT
"""Field report N3: an installed tool that was given capabilities. Wheels and imports are tested in
bindings/python/tests, linking by consumer.sh, symbols.sh and linking.py."""
import shutil
import subprocess
import sys

import run_tlat
from run_tlat import CYCLICTEST, LAST, NOBODY, TLAT, findings, run, strict


def n3():
    """With cap_sys_nice on its file, for a user that is not root and whatever LD_LIBRARY_PATH says:
    it starts, and gets the priority."""
    run_tlat.needs_root()
    run_tlat.needs("setcap", "setpriv")
    with run_tlat.open_folder() as folder:
        for program in (TLAT, CYCLICTEST):
            copy = shutil.copy(program, folder)
            if subprocess.run(["setcap", "cap_sys_nice+ep", copy], check=False).returncode:
                raise run_tlat.Skip("this file system keeps no capabilities")
        env = {"LD_LIBRARY_PATH": "/no/such/folder"}
        done = run(*NOBODY, f"{folder}/tlat", "run", "timer-nanosleep", "-c", LAST, "-p", 10, "-n",
                   50, "-q", "--json", "-", env=env)
        assert done.code == 0, done
        found = strict(done.out)
        wait = found["results"][0]["wait"]
        if wait["policy"] != "fifo" and "cgroup" in findings(found)["policy-refused"]["text"]:
            raise run_tlat.Skip("this group has no real-time budget")
        assert (wait["policy"], wait["priority"]) == ("fifo", 10), findings(found)
        done = run(*NOBODY, f"{folder}/tlat-cyclictest", "-q", "-l", 50, "-p", 10, "-a", LAST,
                   env=env)
        assert done.code == 0 and " P:10 " in done.out, done


if __name__ == "__main__":
    sys.exit(run_tlat.main({"N3": n3}))
