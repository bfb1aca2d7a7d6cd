# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# setup.sh - sourced by try, check and .ci/full: installs missing Debian packages, builds one folder.
# Whoever sources it has set "me", the name in front of every message, and "top", the source tree.
: "${me:?}" "${top:?}"

# What a build with everything in it needs.
# shellcheck disable=SC2034,SC2191
needed=(cmake=cmake ninja-build=ninja gcc=gcc g++=g++ libc6-dev=gcc pkgconf=pkg-config
	libcap-dev=libcap.pc libjansson-dev=jansson.pc libsmartcols-dev=smartcols.pc
	liburing-dev=liburing.pc libcmocka-dev=cmocka.pc)
# The Python package and its tests, for the interpreter that Debian's modules are for.
# shellcheck disable=SC2034,SC2191
needed_python=(swig=swig python3=/usr/bin/python3 python3-dev=python3-config
	python3-numpy=/usr/bin/python3 python3-pandas=/usr/bin/python3
	python3-matplotlib=/usr/bin/python3 python3-pytest=/usr/bin/python3 mypy=mypy)
# shellcheck disable=SC2034
python=(-DTLAT_BUILD_PYTHON=ON -DPython3_EXECUTABLE=/usr/bin/python3)
# What the lab needs beside that, on the way to kernels that are not installed.
# shellcheck disable=SC2034,SC2191
lab_needed=(qemu-system-x86=qemu-system-x86_64 debian-archive-keyring=dpkg-deb)
# shellcheck disable=SC2034
strict=(-DTLAT_WERROR=ON -DTLAT_BUILD_TESTS=ON)
# shellcheck disable=SC2034
features=(-DTLAT_WITH_CAP=ON -DTLAT_WITH_JANSSON=ON -DTLAT_WITH_SMARTCOLS=ON
	-DTLAT_WITH_URING=ON)

die()
{
	echo "$me: $*" >&2
	exit 2
}

say()
{
	echo "$me: $*"
}

# Those of the given packages that are not installed; on a system without dpkg, those whose
# command or pkg-config module (package=command or package=module.pc) is not found.
missing_packages()
{
	local item name proof

	for item in "$@"; do
		name=${item%%=*} proof=${item#*=}
		if command -v dpkg-query >/dev/null; then
			dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null |
				grep -qx installed || echo "$name"
		elif [ "${proof%.pc}" != "$proof" ]; then
			pkg-config --exists "${proof%.pc}" 2>/dev/null || echo "$name"
		else
			command -v "$proof" >/dev/null || echo "$name"
		fi
	done
}

# Debian, Ubuntu and what is made from them.
is_debian()
{
	command -v apt-get >/dev/null &&
		grep -qE '^ID(_LIKE)?="?(.* )?(debian|ubuntu)' /etc/os-release 2>/dev/null
}

# How to become root, in front of a command; fails where there is no way.
as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif ! command -v sudo >/dev/null; then
		return 1
	elif [ -t 0 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

# apt <log> <argument>...
apt()
{
	local log=$1

	shift
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" \
		>>"$log" 2>&1 </dev/null
}

# install_missing <package=proof>...: installs what is missing and says so.
install_missing()
{
	local packages log by_hand

	packages=$(missing_packages "$@" | paste -sd' ')
	[ -n "$packages" ] || return 0
	by_hand="install by hand: $packages"
	is_debian || die "this is neither Debian nor Ubuntu; $by_hand"
	as_root true 2>/dev/null || die "not root, and sudo does not work here; $by_hand"
	say "installing $packages"
	log=$(mktemp)
	# shellcheck disable=SC2086
	if ! { apt "$log" update && apt "$log" install -y --no-install-recommends $packages; }; then
		by_hand="$(grep -E '^[EW]:' "$log" | tail -1) (no network?); $by_hand"
		rm -f "$log"
		die "apt-get failed: $by_hand"
	fi
	rm -f "$log"
}

# build <folder> <cmake option>...: builds the source tree there. A folder that has been configured
# for this tree keeps its generator; one that came from elsewhere with a copy of the tree does not.
build()
{
	local folder=$1 log=$1/build.log cache=$1/CMakeCache.txt generator=(-G Ninja)

	shift
	mkdir -p "$folder" || die "cannot write to $top"
	if grep -qsx "CMAKE_HOME_DIRECTORY:INTERNAL=$top" "$cache"; then
		generator=()
	else
		rm -rf "$cache" "$folder/CMakeFiles"
	fi
	{
		cmake -S "$top" -B "$folder" "${generator[@]}" "$@" && cmake --build "$folder"
	} >"$log" 2>&1 || {
		tail -40 "$log" >&2
		die "the build failed; all of it is in $log"
	}
}
