# SPDX-License-Identifier: MIT
"""Field report N3: an installed tool that was given capabilities. Wheels and imports are tested in
bindings/python/tests, linking by consumer.sh, symbols.sh and linking.py."""
import shutil
import subprocess

from surroundings import (CYCLICTEST, LAST, NOBODY, Skip, TLAT, command, findings, main,
                          need_commands, need_root, open_folder, strict)


def n3():
    """With cap_sys_nice on its file, for a user that is not root and whatever LD_LIBRARY_PATH says:
    it starts, and gets the priority."""
    need_root()
    need_commands("setcap", "setpriv")
    with open_folder() as folder:
        for program in (TLAT, CYCLICTEST):
            copy = shutil.copy(program, folder)
            if subprocess.run(["setcap", "cap_sys_nice+ep", copy], check=False).returncode:
                raise Skip("this file system keeps no capabilities")
        env = {"LD_LIBRARY_PATH": "/no/such/folder"}
        done = command(*NOBODY, f"{folder}/tlat", "run", "timer-nanosleep", "-c", LAST, "-p", 10, "-n",
                   50, "-q", "--json", "-", env=env)
        assert done.code == 0, done
        found = strict(done.out)
        wait = found["results"][0]["wait"]
        if wait["policy"] != "fifo" and "cgroup" in findings(found)["policy-refused"]["text"]:
            raise Skip("this group has no real-time budget")
        assert (wait["policy"], wait["priority"]) == ("fifo", 10), findings(found)
        done = command(*NOBODY, f"{folder}/tlat-cyclictest", "-q", "-l", 50, "-p", 10, "-a", LAST,
                   env=env)
        assert done.code == 0 and " P:10 " in done.out, done


if __name__ == "__main__":
    main([n3])
