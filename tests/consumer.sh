#!/bin/bash
# SPDX-License-Identifier: MIT
# Installs this build below a fresh prefix and uses it from outside projects: C11 and C++17,
# shared and static, through find_package and through pkg-config.
set -eu

source=${TLAT_SOURCE:?} build=${TLAT_BUILD:?} forms=${TLAT_LIBRARIES:?}
outside=$source/tests/consumer
if [ -n "${TLAT_SANITIZE-}" ]; then
	echo "skipped: an outside program would have to be sanitized as well"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail()
{
	echo "consumer: $*" >&2
	exit 1
}

for form in shared static; do
	[[ $forms = *$form* ]] || echo "left out: the $form library was not built"
done

# The program runs, and is linked with libtimerlat.so if and only if it is called shared.
try_program()
{
	local kind=$1 program=$2 linked=static

	LD_LIBRARY_PATH=$libdir "$program" || fail "$program exits with $?"
	if readelf -d "$program" | grep -q 'NEEDED.*libtimerlat\.so\.0'; then
		linked=shared
	fi
	[ "$linked" = "$kind" ] || fail "$program is linked $linked, wanted $kind"
	echo "ok: ${program#"$work"/} ($kind)"
}

cmake --install "$build" --prefix "$prefix" >"$work/install.log"
libdir=$(dirname "$(dirname "$(find "$prefix" -name libtimerlat.pc)")")
export PKG_CONFIG_PATH=$libdir/pkgconfig
for schema in report comparison list; do
	[ -n "$(find "$prefix" -path "*/timerlat/$schema.schema.json")" ] ||
		fail "the schema of a $schema is not installed"
done

cached()
{
	sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"
}

# Below the usual prefix the package lies where its interpreter looks, if that looks there at all.
try_package()
{
	local package

	DESTDIR=$work/staged cmake --install "$build" --prefix /usr/local >"$work/stage.log"
	package=$(dirname "$(find "$work/staged" -name __init__.py -path '*/timerlat/*')")
	[ -n "$(find "$package" -name '_native*.so')" ] || fail "$package has no extension"
	"$(cached _Python3_EXECUTABLE)" -Ic 'import sys
searched = [path for path in sys.path if path.startswith("/usr/local/lib")]
sys.exit(bool(searched) and sys.argv[1] not in searched)' \
		"$(dirname "${package#"$work/staged"}")" ||
		fail "${package#"$work/staged"} is not where the interpreter looks"
	echo "ok: the Python package goes to ${package#"$work/staged"}"
}

if [ "$(cached TLAT_BUILD_PYTHON)$(cached CMAKE_INSTALL_PREFIX)" = ON/usr/local ]; then
	try_package
else
	echo "left out: where the Python package goes, it was not built, or for another prefix"
fi

cmake -S "$outside" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
	>"$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail "find_package"; }
cmake --build "$work/cmake" >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "build"; }
for language in c cpp; do # timerlat::timerlat is the shared library where it was built
	try_program "${forms%% *}" "$work/cmake/$language-timerlat"
	[[ $forms != *static* ]] || try_program static "$work/cmake/$language-timerlat_static"
done

[ "tlat $(pkg-config --modversion libtimerlat)" = "$("$TLAT" --version)" ] ||
	fail "pkg-config and tlat disagree on the version"

warnings="-Wall -Wextra -Wpedantic -Werror"
compile()
{
	local output=$1 compiler=$2 file=$3

	shift 3
	# The words of warnings and of pkg-config are words of the command line.
	# shellcheck disable=SC2046,SC2086
	"$compiler" $warnings $(pkg-config --cflags libtimerlat) "$file" \
		-o "$work/$output" "$@" || fail "$output does not build"
}

# The words for the compiler; the archive by name, since -ltimerlat prefers the shared library.
libs()
{
	if [ "$1" = shared ]; then
		pkg-config --libs libtimerlat
	else
		pkg-config --static --libs libtimerlat | sed "s|-ltimerlat|$libdir/libtimerlat.a|"
	fi
}

for kind in $forms; do
	# shellcheck disable=SC2046
	set -- $(libs "$kind")
	compile "pc-c-$kind" "${CC:-cc}" "$outside/consumer.c" -std=c11 "$@"
	compile "pc-cpp-$kind" "${CXX:-g++}" "$outside/consumer.cpp" -std=c++17 -Wold-style-cast "$@"
	try_program "$kind" "$work/pc-c-$kind"
	try_program "$kind" "$work/pc-cpp-$kind"
done

# The first program that a reader of README.md tries.
sed -n '/^```c$/,/^```$/p' "$source/README.md" | grep -v '^```' >"$work/readme.c"
# shellcheck disable=SC2046
compile pc-readme "${CC:-cc}" "$work/readme.c" -std=c11 $(libs "${forms%% *}")
try_program "${forms%% *}" "$work/pc-readme"

if [[ $forms = *static* ]]; then
	# shellcheck disable=SC2046
	compile pc-c-whole "${CC:-cc}" "$outside/consumer.c" -std=c11 -static \
		$(pkg-config --static --libs libtimerlat)
	try_program static "$work/pc-c-whole"
	# Linked whole it needs nothing: no library, no /proc, no /sys.
	mkdir "$work/empty"
	cp "$work/pc-c-whole" "$work/empty/program"
	if [ "$(id -u)" -eq 0 ]; then
		chroot "$work/empty" /program || fail "exits with $? in an empty root directory"
		echo "ok: pc-c-whole in an empty root directory"
	fi
fi
