# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC2154
# probes.sh - every probe once, as root and as nobody.
uname -r >"$out"/release.out
record list tlat list
measure root '*' -n 20 --warmup 10
chmod 755 /lab /lab/bin
record nobody su nobody -c "tlat run '*' -n 20 --warmup 10 --json -"
