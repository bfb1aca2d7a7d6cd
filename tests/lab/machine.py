# SPDX-License-Identifier: MIT
"""Emulated machines, as tests/lab/run boots them."""
import os
import subprocess

LAB = os.path.dirname(os.path.abspath(__file__))
DIED = 125  # of run: no exit code; under emulation a kernel can die of its own patching


def boot(kernel, options, command):
    """Run a command on a kernel, once more where the machine died of itself. The process as it
    ended, and whether it was tried again."""
    words = [os.path.join(LAB, "run"), "--kernel", kernel, *options, "--", *command]
    for again in (False, True):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode != DIED:
            break
    return done, again
