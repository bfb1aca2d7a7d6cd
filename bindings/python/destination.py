# SPDX-License-Identifier: MIT
"""Prints where below a prefix this interpreter looks for packages, as a path from there: Debian's
looks in dist-packages, under two names. Where it looks nowhere below it, what it calls such a
folder by default, which PYTHONPATH then has to name."""
import os
import site
import sys
import sysconfig


def destination(prefix: str) -> str:
    searched = [path for path in site.getsitepackages() if path.startswith(f"{prefix}/lib")]
    default = sysconfig.get_path(
        "platlib", "posix_prefix", vars={"base": prefix, "platbase": prefix}
    )
    return os.path.relpath([*searched, default][0], prefix)


if __name__ == "__main__":
    print(destination(os.path.abspath(sys.argv[1])))
