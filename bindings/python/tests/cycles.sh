#!/bin/bash
# SPDX-License-Identifier: MIT
# cycles.py, and with sanitizers what they have to say of it: no error, and no leak that the package
# has a part in. (The interpreter leaves some of its own behind.)
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
export PYTHONMALLOC=malloc
if [ -z "${TLAT_SANITIZE-}" ]; then
	exec "${PYTHON:?}" "$here/cycles.py"
fi
if [[ $TLAT_SANITIZE != *address* ]]; then
	echo "skipped: an interpreter that is not built with it cannot be used with $TLAT_SANITIZE"
	exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
asan=$("${CC:?}" -print-file-name=libasan.so)
LD_PRELOAD=$asan ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS=exitcode=0 \
	"${PYTHON:?}" "$here/cycles.py" >"$log" 2>&1 || {
	cat "$log"
	exit 1
}
grep -v '^  \|^$' "$log"
if grep -E 'tlat_|_wrap_|native_|runtime error' "$log"; then
	echo "the package leaks"
	exit 1
fi
grep -q '^no leak$' "$log"
