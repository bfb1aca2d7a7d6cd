#!/bin/bash
# SPDX-License-Identifier: MIT
# House style that a machine can judge: man pages, scripts, sizes, and that timerlat(7) knows every
# finding. Needs no build.
set -euo pipefail
export LC_ALL=C.UTF-8

cd "$(dirname "${BASH_SOURCE[0]}")/.."
failed=0

bad()
{
	echo "lint: $*"
	failed=1
}

# Without .git, for instance in a release, every file below the source folders counts.
files()
{
	find CMakeLists.txt try check .ci bindings libtimerlat pkgconfig tools tests -type f "$@" | sort
}

pages=(libtimerlat/man/*.[1-8] tools/man/*.[1-8])
mapfile -t scripts < <(files -name '*.sh' && printf "%s\n" try check .ci/run .ci/full \
	.ci/python-package tests/lab/{run,fetch,init,inside/session})
mapfile -t sources < <(files -name '*.[ch]')
mapfile -t program < <(printf '%s\n' "${sources[@]}" | grep -v '^tests/')

mandoc -Tlint -Wwarning "${pages[@]}" || bad "mandoc has complaints"
shellcheck -x -S warning "${scripts[@]}" || bad "shellcheck has complaints"

# Versions differ in what they make of the same rules; the tree is written with this one.
if command -v clang-format >/dev/null && [[ $(clang-format --version) = *"version 14."* ]]; then
	clang-format --dry-run -Werror "${sources[@]}" || bad "clang-format has complaints"
else
	echo "left out: .clang-format is enforced with clang-format 14 only"
fi

for file in "${sources[@]}" "${scripts[@]}"; do
	head -2 "$file" | grep -q 'SPDX-License-Identifier: MIT' || bad "$file: no SPDX line"
done
for file in "${sources[@]}"; do
	lines=$(wc -l <"$file")
	[[ $file != *.c || $file = tests/* || $lines -le 500 ]] ||
		bad "$file: $lines lines, 500 at most"
	# A string stays whole, so that it can be searched for.
	expand "$file" | awk -v file="$file" '
		length > 100 && !/"/ { print "lint: " file ":" NR ": " length " columns, 100 at most"; n++ }
		/[ \t]$/ { print "lint: " file ":" NR ": blanks at the end"; n++ }
		END { exit n > 0 }' || failed=1
done

# A function's body stands between lines that are { and } and nothing else.
mapfile -t bodies < <(awk '
	/^{$/ { start = FNR }
	/^}$/ && start { print FNR - start - 1, FILENAME ":" start - 1; start = 0 }
	' "${program[@]}" | sort -n)
for body in "${bodies[@]}"; do
	[ "${body%% *}" -le 60 ] || bad "${body#* }: a function of ${body%% *} lines, 60 at most"
done
median=${bodies[${#bodies[@]} / 2]%% *}
echo "${#bodies[@]} functions: median $median lines, 90 % within" \
	"${bodies[${#bodies[@]} * 9 / 10]%% *}, longest ${bodies[-1]}"
[ "$median" -le 10 ] || bad "the median function has $median lines, 10 at most"

# The library's numbers have a point in every locale: format.c writes those that have a fraction.
grep -lw vsnprintf libtimerlat/*.c libtimerlat/probes/*.c |
	sed '/format\.c$/d; s/^/lint: tlat_vformat() in place of vsnprintf() in /' |
	{ ! grep .; } || failed=1
cat libtimerlat/*.c libtimerlat/probes/*.c | tr -d '\n\t' |
	grep -oE '\b(sn|f|d)printf\(([^";]|"([^"\\]|\\.)*")*;' |
	sed 's/%%//g; /%[-+ #0-9.*]*[aefgAEFG]/!d; s/^/lint: tlat_format() in place of /' |
	{ ! grep .; } || failed=1

# An id is the first string of a call, or the member of an initialiser.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat libtimerlat/*.c libtimerlat/probes/*.c tools/*.c | tr -d '\n\t' |
	grep -oE 'tlat_findings_add\([^";{]*"[a-z-]+"|\.id = "[a-z-]+"' |
	grep -oE '"[^"]*"' | tr -d '"' | sort -u >"$work/code"
sed -n '/^\.Sh FINDINGS/,/^\.Sh /s/^\.It Li //p' libtimerlat/man/timerlat.7 |
	sort -u >"$work/page"
comm -3 "$work/code" "$work/page" |
	sed -e 's/^\t\(.*\)/lint: finding \1: in timerlat(7), not in the code/' \
	-e '/^lint/!s/.*/lint: finding &: in the code, not in timerlat(7)/' |
	{ ! grep .; } || failed=1

# Each row of the table of reports is filled, its report has one row, and the tests that it names as
# `FILE: NAME` exist: FILE is a test program, or the end of a script's path.
while IFS='|' read -r _ id said deed tests rest; do
	id=${id// /}
	[[ $said = *[^[:space:]]* && $deed = *[^[:space:]]* && $tests = *[^[:space:]]* && -z $rest ]] ||
		bad "field-reports.md:$id: not four filled columns"
	mapfile -t named < <(grep -oE '`[^`]*: [^`]*`' <<<"$tests" | tr -d '`')
	[[ ${#named[@]} -gt 0 || $tests = *"does not apply"* ]] ||
		bad "field-reports.md:$id: neither a test nor why it does not apply"
	for test in "${named[@]}"; do
		file=${test%%: *}
		[[ $file != test-* || $file = *.* ]] || file=$file.c
		found=$(find .ci tests bindings/python/tests \
			\( -path "*/$file" -o -path "$file" \) -print -quit)
		grep -qF -e "${test#*: }" "${found:-/dev/null}" 2>/dev/null ||
			bad "field-reports.md:$id: there is no $test"
	done
done < <(grep -E '^\| [A-P][0-9]+ \|' tests/field-reports.md)
grep -oE '^\| [A-P][0-9]+ \|' tests/field-reports.md | sort | uniq -d |
	sed 's/^/lint: field-reports.md: two rows of /' | { ! grep .; } || failed=1

exit "$failed"
