#!/bin/bash
# SPDX-License-Identifier: MIT
# The pages and --help of tlat and tlat-cyclictest name the same options; --help fits a screen.
set -euo pipefail
export LC_ALL=C

page=${TLAT_SOURCE:?}/tools/man/tlat.1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

bad()
{
	echo "manual: $*"
	failed=1
}

# Options of one subcommand by its part of the page, as --long and -x.
from_page()
{
	awk -v command="$1" '
		/^\.S[sh] / { inside = $0 == ".Ss tlat " command }
		inside && /^\.It Fl / {
			for (i = 2; i <= NF; i++)
				if ($i == "Fl")
					print "-" $(i + 1)
		}' "$page" | sort -u
}

from_help()
{
	"$TLAT" "$1" --help | sed -nE 's/^ +(-([a-zA-Z]), )?(--([a-z-]+)).*/\3\n-\2/p' |
		grep -vxE -- '-|-h|--help' | sort -u
}

mapfile -t commands < <("$TLAT" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -v '^tlat$')
[ ${#commands[@]} -gt 0 ] || bad "tlat --help names no command"
for command in "${commands[@]}"; do
	from_page "$command" >"$work/page"
	from_help "$command" >"$work/help"
	[ -s "$work/help" ] || bad "tlat $command --help names no option"
	diff -u --label "tlat(1), $command" --label "tlat $command --help" \
		"$work/page" "$work/help" || bad "$command: the two differ"
	"$TLAT" "$command" --help >"$work/text"
	lines=$(wc -l <"$work/text")
	[ "$lines" -le 40 ] || bad "tlat $command --help: $lines lines, 40 at most"
	awk 'length > 80 { print; n++ } END { exit n > 0 }' "$work/text" ||
		bad "tlat $command --help is wider than 80 columns"
done
grep '^\.Ss tlat ' "$page" | cut -d' ' -f3 | sort >"$work/page"
printf '%s\n' "${commands[@]}" | sort >"$work/help"
diff -u --label "tlat(1)" --label "tlat --help" "$work/page" "$work/help" ||
	bad "the commands differ"

# tlat-cyclictest has no subcommands, and several options in one line of --help.
page=${TLAT_SOURCE:?}/tools/man/tlat-cyclictest.1
awk '/^\.It Fl / { for (i = 2; i <= NF; i++) if ($i == "Fl") print "-" $(i + 1) }' "$page" |
	sort -u >"$work/page"
"$TLAT_CYCLICTEST" --help | sed '/^Usage/,/^$/d; /^$/,$d' | grep -oE -- ' (-[a-zA-Z],|--[a-z_-]+)' |
	tr -d ' ,' | sort -u >"$work/help"
diff -u --label "tlat-cyclictest(1)" --label "tlat-cyclictest --help" "$work/page" "$work/help" ||
	bad "tlat-cyclictest: the two differ"
[ "$("$TLAT_CYCLICTEST" --help | wc -l)" -le 40 ] || bad "tlat-cyclictest --help: 40 lines at most"

[ "$failed" -ne 0 ] || echo "ok: ${commands[*]}, tlat-cyclictest: page and --help agree"
exit "$failed"
