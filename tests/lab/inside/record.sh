# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC3043
# record.sh - sourced by the scripts that run inside: what they do is recorded below /out, and goes
# to whoever booted the machine as one tar archive, to be judged there.
mkdir -p /out
cpus=/sys/devices/system/cpu
step_limit_s=60

# record <name> <command>...: keeps its output, its errors and its exit code.
record()
{
	local name=$1 code=0

	shift
	echo "lab: $name" >/dev/console
	timeout -s KILL "$step_limit_s" "$@" >"/out/$name.out" 2>"/out/$name.err" || code=$?
	echo "$code" >"/out/$name.code"
}

# measure <name> <tlat run's arguments>...: the report is the output.
measure()
{
	local name=$1

	shift
	record "$name" tlat run "$@" --json -
}

# beside <seconds> <function> <command>...: runs the command, and the function that long after its
# beginning.
beside()
{
	local wait_s=$1 what=$2

	shift 2
	(sleep "$wait_s" && "$what") &
	"$@"
	wait
}

deliver()
{
	tar -c -C /out .
}
