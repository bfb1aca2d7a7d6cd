#!/bin/bash
# SPDX-License-Identifier: MIT
# tlat storm: reports that the schema accepts, presets that conserve, sweeps, signals, refusals. What
# is counted is judged, never how long it took.
set -euo pipefail
export LC_ALL=C

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
	echo "storm: $*" >&2
	exit 1
}

# storm <seconds at most> <options>
storm()
{
	timeout -s KILL "$1" "$TLAT" storm "${@:2}"
}

refused()
{
	local code=0

	storm 20 "${@:2}" >"$work/out" 2>"$work/err" || code=$?
	[ "$code" = 2 ] || fail "$*: exit $code, not 2"
	grep -q -- "$1" "$work/err" || fail "${*:2}: says \"$(cat "$work/err")\", not \"$1\""
	[ "$(wc -l <"$work/err")" = 1 ] || fail "${*:2}: more than one line of complaint"
}

has_json()
{
	! grep -q "without JSON\|not in this build" "$work/err"
}

for preset in timer timermix; do
	storm 60 --preset "$preset" -d 500ms --json "$work/$preset.json" >"$work/out" 2>"$work/err" ||
		{ has_json || exit 77; fail "--preset $preset: $(cat "$work/err")"; }
	! grep -q conservation: "$work/out" || fail "--preset $preset: $(cat "$work/out")"
	grep -q "^repeat: tlat storm -c [0-9]* --preset $preset" "$work/out" ||
		fail "--preset $preset: no command that repeats it"
	"$TLAT" show "$work/$preset.json" | grep -q '^realtime ' ||
		fail "tlat show $preset.json has no row of its clocks"
done

storm 60 --clocks all --rate 1k,20k -d 200ms --json "$work/all.json" >"$work/out"
[ "$(grep -c '^monotonic  ' "$work/out")" = 2 ] || fail "a sweep of two rates: $(cat "$work/out")"
code=0
/usr/bin/python3 "$TLAT_SOURCE/tests/check_schema.py" "$work"/*.json || code=$?
[ "$code" = 0 ] || [ "$code" = 77 ] || fail "the schema refuses a report"

storm 60 --handler rearm -d 100ms >"$work/out"
grep -q ' stale' "$work/out" || fail "--handler rearm has no column of stale signals"

# A signal ends it, and what was measured is printed. In the foreground of its own: a shell's "&"
# would have it ignore SIGINT.
"$TLAT" storm -d 1h >"$work/out" &
pid=$!
sleep 1
kill -TERM "$pid"
wait "$pid" || fail "SIGTERM: exit $?"
grep -q 'ended by a signal' "$work/out" || fail "SIGTERM: $(cat "$work/out")"
grep -q '^monotonic' "$work/out" || fail "SIGTERM: nothing was printed of what was measured"

refused 'no clock of a storm' --clocks sundial
refused 'contradict' --rate 1k -i 1ms
refused 'rate' --rate 1k,,2k
refused 'rate' --rate 20M
refused 'rate' --rate 1kk
refused 'timer or timermix' --preset tornado
refused 'plain or rearm' --handler none
refused 'back-off' --preset timermix --handler rearm -d 100ms
refused 'give both' --policy fifo
refused 'append' --append
refused '99999' -c 99999

echo "ok: presets, sweep, schema, signal and refusals"
