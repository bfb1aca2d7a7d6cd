#!/bin/bash
# SPDX-License-Identifier: MIT
# What the library exports is what libtimerlat.map and the TLAT_API lines of timerlat.h say, and
# the header stands alone in C and in C++.
set -euo pipefail
export LC_ALL=C

source=${TLAT_SOURCE:?} build=${TLAT_BUILD:?} forms=${TLAT_LIBRARIES:?}
header=$source/libtimerlat/include/timerlat.h
map=$source/libtimerlat/libtimerlat.map
if [ -n "${TLAT_SANITIZE-}" ]; then
	echo "skipped: sanitizers add symbols of their own"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	echo "symbols: $*" >&2
	exit 1
}

same()
{
	diff -u "$work/$1" "$work/$2" || fail "$1 and $2 differ"
	echo "ok: $1 and $2 name the same $(wc -l <"$work/$1") symbols"
}

sed -nE 's/^TLAT_API [^(]*\b(tlat_[a-z0-9_]+)\(.*/\1/p' "$header" >"$work/header.unsorted"
[ "$(grep -c '^TLAT_API' "$header")" = "$(wc -l <"$work/header.unsorted")" ] ||
	fail "a TLAT_API line of timerlat.h does not name its function"
sort "$work/header.unsorted" >"$work/header"
sed -nE 's/^\t\t(tlat_[a-z0-9_]+);$/\1/p' "$map" >"$work/map"
sort -c "$work/map" || fail "libtimerlat.map is not sorted"
same header map

if [[ $forms = *shared* ]]; then
	nm -D --defined-only "$build/libtimerlat/libtimerlat.so" >"$work/nm"
	awk '$2 != "A" { print $3 }' "$work/nm" | sed 's/@@TLAT_0\.1$//' | sort >"$work/shared"
	same map shared
else
	echo "left out: what libtimerlat.so exports, it was not built"
fi

if [[ $forms = *static* ]]; then
	nm -g --defined-only "$build/libtimerlat/libtimerlat.a" >"$work/nm"
	awk 'NF == 3 { print $3 }' "$work/nm" >"$work/static"
	[ -s "$work/static" ] || fail "libtimerlat.a defines nothing"
	leaks=$(awk '!/^tlat_/' "$work/static" | paste -sd' ')
	[ -z "$leaks" ] || fail "libtimerlat.a leaks: $leaks"
	echo "ok: libtimerlat.a defines nothing but tlat_*"
else
	echo "left out: what libtimerlat.a defines, it was not built"
fi

warnings="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -include $header"
# shellcheck disable=SC2086
"${CC:-cc}" -std=c11 $warnings -x c /dev/null || fail "timerlat.h alone is not C11"
for compiler in "${CXX:-g++}" clang++; do
	command -v "$compiler" >/dev/null || { echo "left out: $compiler is not installed"; continue; }
	for standard in c++11 c++17 c++20; do
		# Twice: the second time it has to add nothing.
		printf '#include "%s"\n' "$header" "$header" >"$work/header.cpp"
		# shellcheck disable=SC2086
		"$compiler" -std=$standard -Wold-style-cast $warnings -x c++ "$work/header.cpp" ||
			fail "timerlat.h alone is not $standard for $compiler"
	done
done
echo "ok: timerlat.h stands alone in C11, and in C++11 to C++20"
