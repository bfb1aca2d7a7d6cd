#!/bin/bash
# SPDX-License-Identifier: MIT
#
# tlat-compare.sh - tlat compare, ab, plan and merge: verdicts and exit codes on simulated reports,
# what they make of files that are none, and runs in turn. Asserts no latency.
set -u
tlat=${TLAT:?set TLAT to the path of the tlat binary}
case $tlat in /*) ;; *) tlat=$PWD/$tlat ;; esac
make="/usr/bin/python3 $(cd "$(dirname "$0")" && pwd)/make_reports.py"
check="/usr/bin/python3 $(cd "$(dirname "$0")" && pwd)/check_schema.py"
unset TLAT_JSON COLUMNS
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
	echo "not ok: $*"
	failures=$((failures + 1))
}

run_tlat() {
	timeout -s KILL 60 "$tlat" "$@" >out 2>err
	code=$?
}

# expect CODE TITLE
expect() {
	[ "$code" -eq "$1" ] && return 0
	fail "$2: exit code $code, not $1"
	sed 's/^/  | /' err out | head -40
	return 1
}

# says WORDS TITLE: WORDS stand in what was printed.
says() {
	grep -qF -e "$1" out || {
		fail "$2: '$1' was not printed"
		sed 's/^/  | /' out | head -40
	}
}

# refused NEEDLE ARGS...: exit 2, one line on stderr that holds NEEDLE, nothing on stdout.
refused() {
	local needle=$1
	shift
	run_tlat "$@"
	expect 2 "$*" || return
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: stderr has $(wc -l <err) lines"
	grep -qF -e "$needle" err || fail "$*: '$needle' is not in: $(head -c 600 err)"
	[ -s out ] && fail "$*: wrote to stdout"
}

verdicts_have_their_exit_codes() {
	$make a side=A seed=1
	$make same side=B seed=2 start=1
	$make worse side=B seed=3 start=1 factor=1.01
	$make better side=B seed=4 start=1 factor=0.99
	$make tail side=B seed=5 start=1 tail=2
	$make few side=B seed=6 start=1 n=4
	run_tlat compare a same
	expect 0 "the same" && says "verdict: EQUIVALENT" "the same"
	run_tlat compare a worse
	expect 1 "1 % worse" && says "verdict: REGRESSION" "1 % worse"
	says "ratio along the distribution" "1 % worse"
	run_tlat compare a better
	expect 0 "1 % better" && says "verdict: IMPROVEMENT" "1 % better"
	run_tlat compare a tail
	expect 1 "a doubled tail" && says "verdict: TAIL-REGRESSION" "a doubled tail"
	says "(worse)" "a doubled tail"
	run_tlat compare a few
	expect 77 "four pairs" && says "verdict: INCONCLUSIVE" "four pairs"
	run_tlat compare a few --bisect
	expect 125 "four pairs, --bisect"
	run_tlat compare a worse --bisect
	expect 1 "1 % worse, --bisect"
	run_tlat compare a worse --threshold 5%
	expect 0 "1 % below a threshold of 5 %" && says "verdict: TRIVIAL" "threshold"
}

both_sides_can_be_in_one_file_or_in_directories() {
	cat a worse >both
	run_tlat compare both
	expect 1 "one file"
	mkdir base next
	split -l 5 --additional-suffix=.jsonl a base/r
	split -l 5 --additional-suffix=.json worse next/r
	echo "not looked at" >base/README
	run_tlat compare base next
	expect 1 "directories"
	says "20 runs" "directories"
	/usr/bin/python3 -c 'import json,sys; print(json.dumps(json.loads(open("a").readline()), indent=2))' >indented
	run_tlat compare indented few
	expect 77 "an indented report"
	mkdir empty
	refused "no *.json or *.jsonl file in this directory" compare empty a
	refused "is there twice" compare a a
	cat few few >again
	refused "of the new side, and would count as two" compare a again
	refused "the base side has runs of side A and of side B" compare both same
	refused "the new side has runs of side A and of side B" compare same both --force
}

documents_are_told_apart_however_their_lines_lie() {
	{ printf '\n  \n\t\r\n'; cat a; } >blank-before
	sed 's/$/\n\n/' a >blank-between
	sed 's/$/\r/' a >crlf
	head -c -1 a >unfinished
	{ cat indented; sed 1d a; } >mixed
	local file
	for file in blank-before blank-between crlf unfinished mixed; do
		run_tlat compare "$file" same
		expect 0 "$file" && says "20 runs" "$file"
	done
	{ printf '\n\n'; cat a; echo '{"schema":1}'; } >last-bad
	refused "last-bad, from line 23" compare last-bad same
	printf '\n \n' >blank
	refused "no report in it" compare blank same
}

what_differs_beside_is_said_first() {
	$make other side=B seed=3 start=1 kernel=6.13
	run_tlat compare a other
	says "machine.kernel: 6.12 -> 6.13" "other kernel"
	run_tlat compare a same
	says "no difference of the surroundings" "same kernel"
}

order_and_boots_decide_whether_there_is_a_verdict() {
	$make blockb side=B seed=3 start=100 factor=1.05
	run_tlat compare a blockb
	expect 77 "one side after the other" && says "not measured in turn" "blocks"
	run_tlat compare a blockb --benchstat
	expect 77 "--benchstat, blocks" && grep -qE ' \? \(p=0\.[0-9]+ n=' out ||
		fail "--benchstat, blocks: a change without a verdict: $(head -5 out)"
	$make old side=A boot=0 kernel=6.1 design=0 step=1
	$make new side=B boot=1 kernel=6.12 design=0 step=1 start=60 seed=9
	run_tlat compare old new
	expect 77 "one boot a side" && says "verdict: INDICATIVE" "one boot a side"
	says "one-boot" "one boot a side"
	$make old6 side=A boot=0 boots=6 n=6 kernel=6.1 seed=8
	$make new6 side=B boot=1 boots=6 n=6 kernel=6.12 start=1 seed=9 factor=1.2
	run_tlat compare old6 new6
	expect 77 "six boots a side" && says "6 against 6 in pairs" "six boots a side"
	says "8 boots a side would find" "six boots a side"
	$make p10a side=A n=10 planned=20
	$make p10b side=B n=10 planned=20 start=1 factor=1.02 seed=4
	run_tlat compare p10a p10b
	expect 1 "a planned look"
	$make p11b side=B n=11 planned=20 start=1 factor=1.02 seed=4
	$make p11a side=A n=11 planned=20
	run_tlat compare p11a p11b
	expect 77 "a look that was not planned" && says "a look is planned at 15" "no look"
}

what_is_not_alike_is_refused_unless_forced() {
	$make settle side=B seed=3 start=1 settle=100000
	refused "settle 50000ns in one report, 100000ns in another" compare a settle
	run_tlat compare a settle --force
	expect 77 "--force" && says "verdict: NONE" "--force"
	refused "nothing named" compare
	refused "one operand too many" compare a b c
	refused "belongs to neither side" compare old
	refused "not a number above 0" compare a b --threshold nix
	refused "not in every run" compare a same --metric speed
}

other_looks_have_the_same_verdict() {
	run_tlat compare a worse --lkp
	expect 1 "--lkp" && says "%stddev     %change         %stddev" "--lkp"
	grep -qE '^ +[0-9.]+ +\+1\.[0-9]% +[0-9.]+ +wake-futex 1->1\.p50$' out || fail "--lkp: no row"
	run_tlat compare a worse --benchstat
	expect 1 "--benchstat" && says "n=20)" "--benchstat"
	$make four side=A seed=1 n=4
	$make faster side=B seed=2 start=1 n=4 factor=0.5
	run_tlat compare four faster --benchstat
	says "~ (p=0.125 n=4)" "--benchstat, four pairs"
	run_tlat compare four faster --benchstat --alpha 20%
	says "% (p=0.125 n=4)" "--benchstat --alpha 20%"
	run_tlat compare four faster --alpha 20%
	says "80 %" "--alpha 20%"
	run_tlat compare p10a p10b
	says "99.8 %" "a planned look"
	run_tlat compare a worse
	says "99 %" "the default"
	run_tlat compare a worse --json -
	expect 1 "--json -"
	/usr/bin/python3 - <<-'PY' || fail "--json -: $(head -c 300 out)"
	import json
	d = json.loads(open("out").read())
	i = d["items"][0]
	assert d["schema"] == "timerlat-comparison/1" and d["verdict"] == "REGRESSION"
	assert i["alpha"] == 0.01
	assert i["interval"][0] < i["ratio"] < i["interval"][1] and abs(i["ratio"] - 1.01) < 0.005
	assert len(i["shift"]) >= 9 and {f["name"] for f in i["tail"]} >= {"p90", "p99", "max"}
	PY
	run_tlat compare a worse --json c.json
	says "verdict: REGRESSION" "--json FILE"
	$check c.json || fail "--json FILE: not what the schema says"
	/usr/bin/python3 - <<-'PY' || fail "--json FILE: a figure's unit is another one"
	import json
	tail = json.load(open("c.json"))["items"][0]["tail"]
	assert {f["unit"] for f in tail} == {"ns", "1"}, tail
	assert all((f["unit"] == "1") == f["name"].startswith("rate>") for f in tail), tail
	PY
	run_tlat compare a few --json c.json
	$check c.json || fail "four pairs: not what the schema says"
	run_tlat compare old new --json c.json
	$check c.json || fail "one unit a side: not what the schema says"
	run_tlat compare a settle --force --json c.json
	$check c.json || fail "--force: not what the schema says"
	echo theirs >c.json.tmp
	echo half >.c.json.timerlat-tmp
	run_tlat compare a worse --json c.json
	grep -qx theirs c.json.tmp || fail "--json FILE: FILE.tmp, which is not ours, is gone"
	[ ! -e .c.json.timerlat-tmp ] || fail "--json FILE: a leftover is still there"
	rm c.json.tmp
	run_tlat compare a worse --json /nowhere/c.json
	expect 2 "--json that cannot be written"
	grep -q "not written" err || fail "--json that cannot be written: $(cat err)"
}

# One clear error, whatever it is, and within bounds.
files_that_are_no_reports_are_refused() {
	head -c 3000 a >truncated
	echo '{"lines": [], "cyclictest": 1}' >foreign
	sed 's#timerlat-report/1#timerlat-report/7#' a >future
	printf '%*s' 100000 '' | tr ' ' '[' >deep
	{ printf '{"schema":"timerlat-report/1","run":'; printf '%*s' 5000 '' | tr ' ' '{'; } >deeper
	sed 's/"min":[0-9]*/"min":1e400/' a >huge
	sed 's/"min":[0-9]*/"min":99999999999999999999/' a >huger
	sed 's/"asked":[0-9]*/"asked":9007199254740993/' a >many
	sed 's/"counts":\[\[[0-9]*,/"counts":[[1073741824,/' a >gib
	truncate -s 1G sparse
	{ printf '{"schema":"'; head -c 70000000 /dev/zero | tr '\0' x; } >long
	printf '\0\1\2\377{}' >binary
	: >nothing
	local file
	for file in truncated foreign future deep deeper huge huger many gib sparse long binary \
		nothing; do
		run_tlat compare "$file" same
		expect 2 "$file" || continue
		[ "$(wc -l <err)" -eq 1 ] || fail "$file: $(wc -l <err) lines on stderr"
		grep -q "$file" err || fail "$file: not named in $(head -c 300 err)"
		[ -s out ] && fail "$file: wrote to stdout"
		run_tlat merge "$file"
		expect 2 "merge $file"
	done
	{ cat a; head -c 2000 a; } >torn
	refused "torn, from line 21" compare torn same
	refused "cannot be opened" compare missing same
}

merging_adds_up_and_says_whose() {
	run_tlat merge a --json sum.json
	expect 0 "merge"
	/usr/bin/python3 - <<-'PY' || fail "merge: the sum is wrong"
	import json
	runs = [json.loads(line) for line in open("a")]
	d = json.loads(open("sum.json").readline())
	total = {}
	for run in runs:
	    for index, n in run["results"][0]["histogram"]["counts"]:
	        total[index] = total.get(index, 0) + n
	result = d["results"][0]
	assert result["histogram"]["counts"] == [list(x) for x in sorted(total.items())]
	assert result["counts"]["asked"] == sum(r["results"][0]["counts"]["asked"] for r in runs)
	assert len(d["merged"]) == 20 and d["merged"][3]["id"] == runs[3]["run"]["id"]
	assert d["design"] is None and d["run"]["duration_ns"] == 20 * 10**9
	PY
	sed 's/"hostname":"sim"/"hostname":"other"/' same >hosts
	run_tlat merge a hosts --by host --json by.jsonl
	expect 0 "--by host" && says "host other: 20 reports" "--by host"
	[ "$(wc -l <by.jsonl)" -eq 2 ] || fail "--by host: $(wc -l <by.jsonl) reports"
	cp by.jsonl before.jsonl
	$make far side=B seed=2 start=1 settle=100000
	sed 's/"hostname":"sim"/"hostname":"other"/' far >far-hosts
	refused "settle 50000ns in one report, 100000ns in another" merge a hosts far-hosts --by host \
		--json by.jsonl
	cmp -s by.jsonl before.jsonl || fail "--by host: a sum that failed took the file's place"
	run_tlat merge a hosts --by host --json -
	/usr/bin/python3 -c 'import json; assert [len(json.loads(line)["merged"])
		for line in open("out")] == [20, 20]' || fail "--by host --json -: not two reports alone"
	refused "--json /nowhere/sum.json: cannot be written" merge a --json /nowhere/sum.json
	refused "--json '': empty" merge a --json ''
	refused "settle 50000ns in one report, 100000ns in another" merge a settle
	sed 's/"hz":1000000000/"hz":1000200000/' same >rates
	refused "more than 100 ppm apart" merge a rates
	refused "no report named" merge
	refused "write host" merge a --by color
}

# A simulated netperf: 1000 MB/s, and noise of 1 % in the ratio of a pair; B is 1.2 % slower.
a_metric_of_any_command_can_be_compared() {
	cat >netperf <<-'SH'
	#!/bin/sh
	n=$(($(cat n 2>/dev/null || echo 0) + 1))
	echo $n >n
	awk -v seed=$n -v rate="$1" 'BEGIN {
		srand(seed * 7919); for (i = 0; i < 12; i++) z += rand()
		printf "Throughput  %.2f MB/s of 9999\n", rate * (1 + 0.007 * (z - 6)) }'
	SH
	chmod +x netperf
	run_tlat ab --a './netperf 1000' --b './netperf 988' --metric 'Throughput +([0-9.]+)' \
		--unit MB/s --better higher --state m.jsonl --seed 3
	expect 1 "netperf -1.2 %" && says "verdict: REGRESSION" "netperf -1.2 %"
	[ "$(cat n)" -eq 40 ] || fail "netperf ran $(cat n) times"
	$check m.jsonl || fail "the reports of --metric are no reports"
	run_tlat compare m.jsonl --json c.json
	$check c.json || fail "a comparison of metrics is not what the schema says"
	/usr/bin/python3 - <<-'PY' || fail "ab: the order is none"
	import json
	runs = [json.loads(line)["design"] for line in open("m.jsonl")]
	order = "".join(r["side"] for r in runs)
	blocks = [order[i:i + 4] for i in range(0, 40, 4)]
	assert set(blocks) <= {"ABBA", "BAAB"} and len(set(blocks)) == 2, order
	assert [r["pair"] for r in runs] == [i // 2 for i in range(40)]
	PY
	refused "is not in what" ab --a 'echo x' --b 'echo y' --metric '([0-9]+)' --pairs 2
	refused "which is no number" ab --a 'echo x' --b 'echo x' --metric 'x' --pairs 2
	refused "found '980.12us', which is no number" ab --a 'echo "Latency 980.12us"' \
		--b 'echo "Latency 980.12us"' --metric 'Latency +([0-9.]+[a-z]*)' --pairs 2
	refused "found '1,234', which is no number" ab --a 'echo 1,234 cycles' \
		--b 'echo 1,234 cycles' --metric '([0-9,]+) cycles' --pairs 2
	run_tlat ab --a 'echo "at 5 us"' --b 'echo "at 5 us"' --metric 'at([ 0-9]+)us' --pairs 2
	expect 77 "a number between blanks"
	refused "see regex(7)" ab --a 'echo x' --b 'echo y' --metric '(' --pairs 2
}

# Of a state that is complete, so that only what is asked for decides; nothing is measured for it.
what_was_begun_one_way_is_not_continued_another_way() {
	local a=(--a 'echo v=1 w=5 >>log; cat log' --b 'echo v=2 w=5 >>log; cat log')
	local m=(--metric 'v=([0-9]+)' --unit s) way=(--pairs 2 --state w.jsonl) other="was begun with"
	run_tlat ab "${a[@]}" "${m[@]}" "${way[@]}" --b-setup true --seed 3
	expect 77 "to be continued"
	cp log log-once
	run_tlat ab "${a[@]}" "${m[@]}" "${way[@]}" --b-setup true
	expect 77 "continued, without --seed"
	way+=(--b-setup true)
	run_tlat ab "${a[@]}" "${m[@]}" "${way[@]}" --seed 3 --better lower
	expect 77 "continued the same way"
	refused "$other the command of B '...w=5 >>log; cat log', not '...w=6 >>log; cat log'" ab \
		"${a[@]:0:3}" 'echo v=2 w=6 >>log; cat log' "${m[@]}" "${way[@]}"
	refused "$other the command of A" ab --a 'echo v=9' "${a[@]:2}" "${m[@]}" "${way[@]}"
	refused "$other --b-setup 'true', not none" ab "${a[@]}" "${m[@]}" "${way[@]:0:4}"
	refused "$other --a-setup none, not 'true'" ab "${a[@]}" "${m[@]}" "${way[@]}" --a-setup true
	refused "$other --metric 'v=([0-9]+)', not 'w=([0-9]+)'" ab "${a[@]}" --metric 'w=([0-9]+)' \
		--unit s "${way[@]}"
	refused "$other --metric 'v=([0-9]+)', not none" ab "${a[@]}" "${way[@]}"
	refused "$other --unit 's', not ''" ab "${a[@]}" "${m[@]:0:2}" "${way[@]}"
	refused "$other --better 'lower', not 'higher'" ab "${a[@]}" "${m[@]}" "${way[@]}" --better higher
	refused "$other --seed 3, not 4" ab "${a[@]}" "${m[@]}" "${way[@]}" --seed 4
	# Those of an older tlat, which did not keep the expression.
	sed 's/,"metric":"v=[^"]*"//' w.jsonl >older.jsonl
	cmp -s w.jsonl older.jsonl && fail "older.jsonl is not older"
	way[3]=older.jsonl
	run_tlat ab "${a[@]}" "${m[@]}" "${way[@]}"
	expect 77 "an older state, continued"
	refused "$other --metric '(not kept)', not none" ab "${a[@]}" "${way[@]}"
	cmp -s log log-once || fail "measured for what is complete, or refused"
	run_tlat ab wake-futex --opt '-c 0 -d 60ms --warmup 10' --pairs 1 --state o.jsonl
	refused "$other the command of B '...10', not '...10 --slack 1us'" ab wake-futex \
		--opt '-c 0 -d 60ms --warmup 10' --b-opt '--slack 1us' --pairs 1 --state o.jsonl
	refused "'...60ms --warmup 10', not '...70ms --warmup 10'" ab wake-futex \
		--opt '-c 0 -d 70ms --warmup 10' --pairs 1 --state o.jsonl
	a=(--a "'$tlat' run -q wake-futex -c 0 -d 60ms --warmup 10; echo 1" --pairs 1 --state t.jsonl)
	run_tlat ab "${a[@]}"
	expect 77 "a report and a number"
	refused "$other --metric none, not '^1$'" ab "${a[@]}" --metric '^1$'
}

# A command that fails at the fifth run; then it goes on, and repeats nothing.
runs_in_turn_go_on_where_they_ended() {
	rm -f n
	echo 'n=$(($(cat n 2>/dev/null || echo 0) + 1)); echo $n >n; [ $n -ne 5 ] || exit 3; echo v=$n' >fifth
	refused "ended with status 3" ab --a 'sh fifth' --b 'sh fifth' --metric 'v=([0-9]+)' \
		--pairs 4 --state s.jsonl
	[ "$(wc -l <s.jsonl)" -eq 4 ] || fail "4 runs were made, $(wc -l <s.jsonl) kept"
	run_tlat ab --a 'sh fifth' --b 'sh fifth' --metric 'v=([0-9]+)' --pairs 4 --state s.jsonl
	expect 77 "going on"
	[ "$(cat n)" -eq 9 ] || fail "going on: $(cat n) runs in all, not 9"
	refused "was begun with --pairs 4" ab --a 'sh fifth' --b 'sh fifth' --metric 'v=([0-9]+)' \
		--pairs 5 --state s.jsonl
	rm -f early.jsonl
	run_tlat ab --a 'echo 10$(date +%N | cut -c1)' --b 'echo 20$(date +%N | cut -c1)' \
		--metric '[0-9]+' --pairs 20 --early --state early.jsonl
	expect 1 "--early" && says "ended early" "--early"
	[ "$(wc -l <early.jsonl)" -eq 20 ] || fail "--early: $(wc -l <early.jsonl) runs, not 20"
}

# Boots are told apart by their id, which is changed here between the sides' turns.
sides_can_be_measured_boot_by_boot() {
	local boot
	for boot in 1 2 3; do
		run_tlat ab --a 'echo 100' --metric '[0-9]+' --state b.jsonl --side A --runs 2
		[ "$boot" -eq 1 ] && { expect 0 "--side A" && says "of side B there is none yet" "--side A"; }
		sed -i -E "s/\"boot_id\":\"$(cat /proc/sys/kernel/random/boot_id)\"/\"boot_id\":\"0000000$boot-aaaa-4aaa-8aaa-aaaaaaaaaaaa\"/" b.jsonl
		run_tlat ab --b 'echo 101' --metric '[0-9]+' --state b.jsonl --side B --runs 2
		expect 77 "--side B, boot $boot"
		sed -i -E "s/\"boot_id\":\"$(cat /proc/sys/kernel/random/boot_id)\"/\"boot_id\":\"0000000$boot-bbbb-4bbb-8bbb-bbbbbbbbbbbb\"/" b.jsonl
	done
	says "3 against 3 in pairs" "three boots a side"
	says "8 boots a side would find" "three boots a side"
	# Nothing to compare: neither prose for a program nor an old comparison for this one.
	echo theirs >old.json
	refused "no run of side B yet; leave --json out" ab --a 'echo made >>made' --metric '[0-9]+' \
		--state one.jsonl --side A --json old.json
	refused "no run of side A yet" ab --b 'echo made >>made' --metric '[0-9]+' \
		--state one.jsonl --side B --json -
	[ ! -e made ] && grep -qx theirs old.json || fail "--side --json: measured, or wrote"
	run_tlat ab --b 'echo 101' --metric '[0-9]+' --state b.jsonl --side B --json -
	expect 77 "--side --json -"
	/usr/bin/python3 -c 'import json; json.load(open("out"))' || fail "--side --json -: no document"
}

what_cannot_be_written_is_said_before_the_first_run() {
	local a=(ab --a 'echo made >>made' --metric '[0-9]+' --pairs 1)
	rm -f made
	refused "--json /nowhere/c.json: cannot be written" "${a[@]}" --json /nowhere/c.json
	refused "--json .: cannot be written" "${a[@]}" --json .
	refused "--json '': empty" "${a[@]}" --json ''
	refused "--state /nowhere/s.jsonl: cannot be written" "${a[@]}" --state /nowhere/s.jsonl
	refused "--state '-': keeps nothing" "${a[@]}" --state -
	refused "--state '': keeps nothing" "${a[@]}" --state ''
	refused "are one file" "${a[@]}" --state same.json --json same.json
	refused "are one file" "${a[@]}" --state same.json --json ./same.json
	ln -s same.json link.json
	refused "are one file" "${a[@]}" --state same.json --json "$work/link.json"
	echo '{}' >same.json
	refused "are one file" "${a[@]}" --state same.json --json link.json
	[ "$(cat same.json)" = "{}" ] || fail "--json and --state: the file was written"
	[ -e made ] && fail "measured for what cannot be written"
	return 0
}

# Whatever it wrote: its figures are of what it got to before.
a_run_that_failed_is_none() {
	local run="'$tlat' run -q wake-futex -c 0 -d 60ms --warmup 10" way=(--pairs 2 --state failed.jsonl)
	refused "ended with status 2" ab --a "$run; exit 2" "${way[@]}"
	refused "killed by signal 9" ab --a "$run; kill -KILL \$\$" "${way[@]}"
	run_tlat run wake-futex -c 0 -d 60ms --warmup 10 -q --json ran.json
	refused "broke off (end: running)" ab --a \
		'sed "s/\"end\":\"time\"/\"end\":\"running\"/g" ran.json >"$TLAT_JSON"' "${way[@]}"
	[ -s failed.jsonl ] && fail "a run that failed is kept: $(head -c 300 failed.jsonl)"
	run_tlat ab --a "$run --budget 'max<1ns'" "${way[@]}"
	expect 77 "runs with a bad answer"
	[ "$(wc -l <failed.jsonl)" -eq 4 ] || fail "bad answers: $(wc -l <failed.jsonl) runs kept, not 4"
}

several_runs_of_a_command_are_one() {
	local opts="-q -c 0 -d 60ms --warmup 10"
	run_tlat ab --a "TLAT_JSON=own.json '$tlat' run timer-poll $opts &&
		'$tlat' run wake-futex $opts && '$tlat' run null $opts" --pairs 1 --state several.jsonl
	expect 77 "three runs in one command"
	[ "$(wc -l <own.json)" -eq 1 ] || fail "a file of one's own has $(wc -l <own.json) reports"
	/usr/bin/python3 - <<-'PY' || fail "several runs in one command: not all are kept"
	import json
	runs = [json.loads(line) for line in open("several.jsonl")]
	probes = [[r["probe"] for r in run["results"]] for run in runs]
	assert probes == [["wake-futex", "null"]] * 2, probes
	PY
}

real_runs_are_compared_and_planned() {
	local quick="-c 0 -d 60ms --warmup 10"
	run_tlat ab wake-futex --opt "$quick" --pairs 2 --state r.jsonl
	expect 77 "two pairs" && says "wake-futex 0->0" "two pairs"
	$check r.jsonl || fail "the reports of tlat ab are none"
	run_tlat merge r.jsonl --json m.json
	expect 0 "merging them"
	$check m.json || fail "what tlat merge makes of them is no report"
	run_tlat ab --a "'$tlat' run -q wake-futex $quick" --b "'$tlat' run -q wake-futex $quick --settle 70us" \
		--pairs 3
	expect 2 "sides that cannot be compared"
	grep -q "settle 50000ns in one report, 70000ns in another" err ||
		grep -q "settle 70000ns in one report, 50000ns in another" err ||
		fail "sides that cannot be compared: $(cat err)"
	run_tlat ab wake-futex --opt "$quick" --a-setup 'echo A >>setups' --b-setup 'echo B >>setups' --pairs 2
	expect 77 "setups" && says "design.setup" "setups"
	[ "$(sort setups | tr -d '\n')" = AABB ] || fail "setups: $(cat setups)"
	refused "ended with status 1" ab wake-futex --opt "$quick" --a-setup false --pairs 2
	refused "wrote no report" ab --a true --b true --pairs 2
	run_tlat ab --a /no/such/thing --b /no/such/thing --pairs 2
	expect 2 "a command that is not there"
	grep -q "ended with status 127: not found" err || fail "not there: $(cat err)"
	refused "nothing to run" ab
	refused "leave out the probes" ab wake-futex --a true
	refused "--side needs --state" ab wake-futex --side A
	run_tlat plan wake-futex --opt "$quick" --pairs 3 --mde 5%
	expect 0 "plan" && says "a shift of 5 % is found" "plan"
	says "20 pairs find" "plan"
	says "1 % false alarms) with" "plan"
	run_tlat plan wake-futex null --opt "$quick" --pairs 3 --mde 5%
	expect 0 "plan of two" && says "1 % false alarms in all 2 results) with" "plan of two"
}

a_parent_that_ignores_its_children_changes_nothing() {
	timeout -s KILL 60 bash -c 'trap "" CHLD; exec "$@"' bash "$tlat" ab --a 'echo 1' --b 'echo 1' \
		--metric '[0-9]' --pairs 2 >out 2>err
	code=$?
	expect 77 "SIGCHLD ignored"
}

a_chain_of_additions_is_said_to_be_there() {
	run_tlat run wake-futex -c 0 -n 300 --warmup 10 -q --chain 1000 --json chain.json
	expect 0 "--chain"
	$check chain.json || fail "--chain: no report"
	grep -q '"chain":{"adds":1000,"add_ns":[0-9.]*[1-9]' chain.json || fail "--chain: not in the report"
	says "--chain 1000" "--chain"
	says "an hour" "rare events"
	refused "--chain is for pairs" run timer-nanosleep --chain 1000
}

# So that a signal leaves neither processes nor files.
a_signal_ends_it_and_leaves_nothing() {
	mkdir -p tmp
	TMPDIR=$work/tmp "$tlat" ab --a 'echo 1; exec sleep 60' --b 'echo 1' --metric '[0-9]' >out 2>err &
	local pid=$! waits=0
	while [ -z "$(ls tmp)" ] && [ $((waits += 1)) -lt 100 ]; do
		sleep 0.1
	done
	sleep 0.5
	kill -TERM "$pid"
	wait "$pid"
	code=$?
	expect 2 "SIGTERM"
	grep -q "ended by a signal" err || fail "SIGTERM: $(cat err)"
	[ -z "$(ls tmp)" ] || fail "SIGTERM: $(ls tmp) is left"
}

# Files of the user's are not taken for what a killed process left.
only_what_ab_left_is_swept() {
	mkdir swept swept/tlat-ab.{results-6.12,before,kept0,n0tes1,Xy01zQ}
	touch swept/tlat-ab.results-6.12/{before.jsonl,run.json} swept/tlat-ab.before/{run.json,output} \
		swept/tlat-ab.kept0/run.json swept/tlat-ab.n0tes1/notes \
		swept/tlat-ab.Xy01zQ/{run.json,output,.run.json.timerlat-tmp,.4711.0.timerlat-tmp}
	chmod 700 swept/tlat-ab.{results-6.12,kept0,n0tes1,Xy01zQ}
	chmod 755 swept/tlat-ab.before
	TMPDIR=$work/swept run_tlat ab --a 'echo 1' --b 'echo 1' --metric '[0-9]' --pairs 1
	expect 77 "a TMPDIR with directories called much the same"
	[ "$(cd swept && echo */*)" = "tlat-ab.before/output tlat-ab.before/run.json \
tlat-ab.kept0/run.json tlat-ab.n0tes1/notes \
tlat-ab.results-6.12/before.jsonl tlat-ab.results-6.12/run.json" ] ||
		fail "not swept, or not left alone: $(cd swept && echo */*)"
	[ -e swept/tlat-ab.Xy01zQ ] && fail "what a killed process left is still there"
}

a_directory_of_any_length_will_do() {
	local long
	long=$work/$(printf '%*s' 200 '' | tr ' ' d)
	mkdir "$long"
	TMPDIR=$long run_tlat ab --a 'echo 1; ls -d "$TMPDIR"/tlat-ab.* >>made' --metric '[0-9]' --pairs 1
	expect 77 "a long TMPDIR"
	[ -s made ] || fail "a long TMPDIR was not used"
	[ -z "$(ls "$long")" ] || fail "a long TMPDIR: $(ls "$long") is left"
	TMPDIR=$long/none refused "No such file or directory); set TMPDIR" ab --a 'echo 1' --b 'echo 1' \
		--metric '[0-9]'
}

a_hang_up_does_not_end_what_nohup_started() {
	local i pid waits command codes=(ab 77 plan 0)
	for i in 0 2; do
		rm -f begun gone-on
		command='echo >begun; while [ ! -e gone-on ]; do sleep 0.05; done; echo 1$(date +%N)'
		nohup "$tlat" "${codes[i]}" --a "$command" --b "$command" --metric '[0-9]+' \
			--pairs 3 </dev/null >out 2>err &
		pid=$!
		waits=0
		while [ ! -e begun ] && [ $((waits += 1)) -lt 100 ]; do
			sleep 0.1
		done
		kill -HUP "$pid"
		sleep 0.2
		echo >gone-on
		wait "$pid"
		code=$?
		expect "${codes[i + 1]}" "nohup ${codes[i]}"
		grep -q "ended by a signal" err && fail "nohup ${codes[i]}: $(cat err)"
	done
}

verdicts_have_their_exit_codes
both_sides_can_be_in_one_file_or_in_directories
documents_are_told_apart_however_their_lines_lie
what_differs_beside_is_said_first
order_and_boots_decide_whether_there_is_a_verdict
what_is_not_alike_is_refused_unless_forced
other_looks_have_the_same_verdict
files_that_are_no_reports_are_refused
merging_adds_up_and_says_whose
a_metric_of_any_command_can_be_compared
runs_in_turn_go_on_where_they_ended
what_was_begun_one_way_is_not_continued_another_way
sides_can_be_measured_boot_by_boot
what_cannot_be_written_is_said_before_the_first_run
a_run_that_failed_is_none
several_runs_of_a_command_are_one
real_runs_are_compared_and_planned
a_parent_that_ignores_its_children_changes_nothing
a_chain_of_additions_is_said_to_be_there
a_signal_ends_it_and_leaves_nothing
only_what_ab_left_is_swept
a_directory_of_any_length_will_do
a_hang_up_does_not_end_what_nohup_started

[ "$failures" -eq 0 ] && echo "ok: compare, ab, plan, merge"
exit $((failures > 0))
