#!/bin/bash
# SPDX-License-Identifier: MIT
#
# test-tlat.sh - how the tlat command behaves: usage errors, output, JSON, signals, exit codes.
# TLAT=path of the binary. Asserts no latency. Exit: 0 passed, 1 failed,
# 77 skipped.

set -u
tlat=${TLAT:?set TLAT to the path of the tlat binary}
case $tlat in /*) ;; *) tlat=$PWD/$tlat ;; esac
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3
unset TLAT_JSON
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
unset COLUMNS
# The shortest run that still has samples of every kind of probe.
quick="-d 60ms --warmup 10"
failures=0

fail() {
	echo "not ok: $*"
	failures=$((failures + 1))
}

# run_tlat ARGS...: output in out and err, exit code in code; never hangs.
run_tlat() {
	timeout -s KILL 60 "$tlat" "$@" >out 2>err
	code=$?
}

# expect CODE TITLE
expect() {
	[ "$code" -eq "$1" ] && return 0
	fail "$2: exit code $code, not $1"
	sed 's/^/  | /' err
	return 1
}

# usage NEEDLE ARGS...: exit 2, one line on stderr that holds NEEDLE, nothing on stdout.
usage() {
	local needle=$1
	shift
	run_tlat "$@"
	expect 2 "$*" || return
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: stderr has $(wc -l <err) lines"
	grep -qF -e "$needle" err || fail "$*: '$needle' is not in: $(cat err)"
	[ -s out ] && fail "$*: wrote to stdout"
}

# json FILE EXPRESSION: a Python expression over the document d is true; keys are plain.
json() {
	"$python" - "$1" "$2" <<'PY' || fail "JSON: $2"
import json, re, sys

def no_constant(text):
    raise ValueError(text)

def keys(node):
    if isinstance(node, dict):
        for key, value in node.items():
            yield key
            # Interrupts and idle states are called what the kernel calls them.
            yield from () if key == "watch" else keys(value)
    elif isinstance(node, list):
        for value in node:
            yield from keys(value)

d = json.loads(open(sys.argv[1]).readline(), parse_constant=no_constant)
bad = [k for k in keys(d) if not re.fullmatch(r"[a-z0-9_]+", k)]
if bad:
    sys.exit("odd keys: %s" % bad[:5])
sys.exit(0 if eval(sys.argv[2]) else "got %s" % json.dumps(d)[:600])
PY
}

help_and_version_need_nothing() {
	local sub
	run_tlat --version
	expect 0 --version
	grep -qE '^tlat [0-9]+\.[0-9]+\.[0-9]+$' out || fail "--version: $(cat out)"
	run_tlat --help
	expect 0 --help
	for sub in run list check show; do
		grep -q "^  $sub " out || fail "--help does not name $sub"
	done
	for sub in run list check show; do
		run_tlat $sub --help
		expect 0 "$sub --help"
		[ "$(wc -l <out)" -le 40 ] || fail "$sub --help is longer than a screen"
		[ "$(wc -L <out)" -le 80 ] || fail "$sub --help is wider than a screen"
		[ -s err ] && fail "$sub --help wrote to stderr"
	done
	run_tlat help
	"$tlat" --help | cmp -s - out || fail "help: not what --help prints"
	for sub in run list ab; do
		run_tlat help $sub
		expect 0 "help $sub"
		"$tlat" $sub --help | cmp -s - out || fail "help $sub: not what $sub --help prints"
	done
	run_tlat help help
	expect 0 "help help"
	usage "no command 'nosuch'" help nosuch
	usage "'list': one operand too many" help run list
	"$tlat" --help >/dev/full 2>err
	code=$?
	expect 2 "--help to a full disk"
}

# Every option that --help prints is one that the parser takes.
help_and_parser_agree() {
	local option sub
	for sub in run list check show; do
		run_tlat $sub --help
		grep -oE -e '--[a-z-]+ ' out | sort -u | while read -r option; do
			[ "$option" = --help ] && continue
			"$tlat" $sub "$option=" >/dev/null 2>err2
			grep -q "no option" err2 && echo "$sub $option"
		done >unknown
		[ -s unknown ] && fail "in --help but not parsed: $(cat unknown)"
	done
}

usage_errors_are_one_line() {
	usage "no command"
	usage "'foo'" foo
	usage "no probe named" run
	usage "'nosuch'" run nosuch
	usage "'nosuch-*'" run 'nosuch-*'
	usage "--nosuch" run wake-futex --nosuch
	usage "-Z" run wake-futex -Z
	usage "takes no value" run wake-futex --quiet=3
	usage "--settle needs a value" run wake-futex --settle
	usage "write 5us, 5ms or 5s" run wake-futex -d 5
	usage "'1x': 'x' is no unit" run wake-futex -d 1x
	usage "'m' is no unit" run wake-futex -d 5m
	usage "'-3s'" run wake-futex -d -3s
	usage "'0'" run wake-futex -d 0
	usage "too long" run wake-futex -d 99999999999999999999s
	usage "finer than 1 ns" run wake-futex -i 0.5ns
	usage "write 10us" run wake-futex -i 10
	usage "write 1us" run wake-futex --slack 1
	usage "'0'" run wake-futex --slack 0
	usage "'1e30'" run wake-futex -n 1e30
	usage "'0'" run wake-futex -n 0
	usage "'10x'" run wake-futex -n 10x
	usage "1 to 99" run wake-futex -p 100
	usage "1 to 99" run wake-futex -p 0 --policy fifo
	usage "--policy fifo or rr" run wake-futex -p 10 --policy other
	usage "'foo'" run wake-futex --policy foo
	usage "needs --runtime" run timer-nanosleep --policy deadline
	usage "needs --policy deadline" run timer-nanosleep --period 1ms
	usage "ordered by priority" run wake-futex --policy deadline --runtime 1ms
	usage "runtime <= deadline" run timer-nanosleep --policy deadline --runtime 2ms
	usage "--trace-mark needs --break" run null --trace-mark
	usage "'min': there is only max" run null --sort min
	usage "'0'" run null --break 0
	usage "'foo'" run wake-futex --clock foo
	usage "contradict" run wake-futex -c 0 --pair 0:1
	usage "write --pair 1:1" run wake-futex -c 1:1
	usage "--cpus is given twice" run wake-futex -c 0 -c 1
	usage "--sweep is given twice" run wake-futex --sweep settle=0 --sweep cpu-latency=0
	usage "'wake-futex' is named twice" run wake-futex null wake-futex
	usage "timer-nanosleep" run timer-nanosleep --settle 1us
	usage "timer-nanosleep" run timer-nanosleep --pair 0:1
	usage "timer-nanosleep" run timer-nanosleep --verify
	usage "timer-nanosleep" run timer-nanosleep -i 0
	usage "timer-nanosleep" run wake-futex timer-nanosleep -i 0
	usage "--load '': empty" run wake-futex --load ' '
	usage "'0'" run wake-futex --pair 0
	usage "'0:'" run wake-futex --pair 0:
	usage "'node:0:1'" run wake-futex --pair node:0:1
	usage "contradict" run wake-futex --two-way --round-trip
	usage "timer-nanosleep" run timer-nanosleep --two-way
	usage "timer-nanosleep" run wake-futex timer-nanosleep --round-trip
	usage "'settl=1us'" run wake-futex --sweep settl=1us
	usage "write 1us" run wake-futex --sweep settle=0,1
	usage "contradict" run wake-futex --settle 1us --sweep settle=0,1us
	usage "--json FILE" run wake-futex --append
	usage "--json FILE" run wake-futex --append --json -
	usage "foo" run wake-futex --budget 'foo<1us'
	usage "--budget: budget term 'p50<50'" run wake-futex --budget 'p50<50'
	usage "nosuch" show nosuch
	usage "no report named" show
	usage "'b'" show a b
	usage "write 100us" show a --bins 100
	usage "'extra'" list extra
	usage "'0'" check --self-test --trials 0
	usage "--index" show a --index 0
}

list_names_every_probe() {
	run_tlat list
	expect 0 list
	grep -q '^wake-futex .*yes' out || fail "list: no wake-futex that runs"
	local width probes
	probes=$(grep -cE '^(null|wake|signal|timer)[a-z0-9-]* ' out)
	for width in 60 80 100 200; do
		COLUMNS=$width run_tlat list
		[ "$(wc -L <out)" -le "$width" ] || fail "list: $(wc -L <out) columns, not $width"
		[ "$(grep -cE '^[a-z0-9-]+ +(one|pair) +(yes|no)( |$)' out)" -eq "$probes" ] ||
			fail "list on $width columns: not a row for each of $probes probes"
		[ "$(tr -s ' \n' ' ' <out | grep -c 'before futex(FUTEX_WAKE)')" -eq 1 ] ||
			fail "list on $width columns: does not say where an interval begins"
	done
	COLUMNS=200 run_tlat list
	grep -q '^wake-futex .* before futex(FUTEX_WAKE) -> after ' out ||
		fail "list on 200 columns: not one line for a probe"
	run_tlat list
	[ "$(wc -L <out)" -le 100 ] || fail "list to a file: $(wc -L <out) columns"
	run_tlat list --json
	expect 0 "list --json"
	json out 'd["schema"] == "timerlat-list/1" and len(d["probes"]) >= 6'
	json out 'all(p["from"] and p["to"] and p["supported"] == (p["why_not"] is None)
	              for p in d["probes"])'
	"$python" "$here/check_schema.py" out || [ $? -eq 77 ] ||
		fail "list --json: not what its schema says"
}

a_run_prints_a_table_and_how_to_repeat_it() {
	run_tlat run wake-futex timer-nanosleep $quick
	expect 0 run || return
	grep -qE '^probe .*samples .*min .*p50 .*p99 .*p99\.9 .*max .*call .*floor' out ||
		fail "run: no table head"
	grep -qE '^wake-futex +[0-9]+->[0-9]+ +(fifo:40|other\*)' out || fail "run: no row"
	grep -qE '^timer-nanosleep +[0-9]+ ' out || fail "run: no solo row"
	grep -qE '^wake-futex: .+ -> .+' out || fail "run: does not say from and to"
	grep -q '[1-9][0-9]* asked' out || fail "run: does not say how many were asked"
	grep -q "$(printf '\033')" out && fail "run: control codes in a file"
	grep -v 'repeat: ' out >prose
	[ "$(LC_ALL=C.UTF-8 wc -L <prose)" -le 100 ] || fail "run: a line of $(wc -L <prose) columns"
	[ "$(grep -c '^repeat: tlat run ' out)" -eq 1 ] || fail "run: not one repeat command"
	[ "$(grep -cE '^ +repeat: tlat run (wake-futex|timer-nanosleep) ' out)" -eq 2 ] ||
		fail "run: not one repeat command per result"
}

a_table_of_timers_has_what_timers_have() {
	run_tlat run timer-nanosleep timer-poll $quick --policy other --slack 50us
	expect 0 "run of timers" || return
	grep -qE '^probe .*p50 .*p99 .*max missed slack( |$)' out || fail "timers: no missed, slack"
	grep -q '^probe .* call' out && fail "timers: a call"
	grep -qE '^timer-poll .* [0-9]+ +50us( |$)' out || fail "timers: no row with its slack"
	grep -q 'missed: expiries that passed' out || fail "timers: missed is not explained"
	COLUMNS=80 run_tlat run timer-posix-sigwait-realtime $quick
	grep -qE '^probe .*max( |$)' out || fail "timers on 80 columns: $(grep '^probe' out)"
	tr -s ' \n' ' ' <out | grep -q 'too narrow for ' ||
		fail "timers on 80 columns: what is left out is not said"
}

narrow_terminals_keep_what_matters() {
	COLUMNS=80 run_tlat run wake-futex timer-nanosleep $quick --findings
	expect 0 "run on 80 columns" || return
	grep -v 'repeat: ' out >prose
	[ "$(LC_ALL=C.UTF-8 wc -L <prose)" -le 80 ] || fail "80 columns: $(wc -L <prose)"
	grep -qE '^probe .*min .*p50 .*p99 .*max' out || fail "80 columns: no table head"
	grep -q '^cpus a->b: waker -> waiter' out || fail "no legend"
	COLUMNS=50 run_tlat run wake-futex $quick
	grep -qE '^probe .*min .*p50 .*p50 .*p99 .*max$' out || fail "50 columns: no table head"
}

the_repeat_command_names_everything() {
	local wanted
	run_tlat run 'wake-f*' -n 20 --warmup 3 --raw 2 --verify -i 1ms --policy other -c all \
		--budget 'n>=1' --findings
	[ "$(getconf _NPROCESSORS_ONLN)" -gt 2 ] && { echo "skipped: -c all is not a pair"; return; }
	for wanted in 'tlat run wake-futex ' ' --warmup 3' ' --raw 2' ' --verify' ' -i 1ms' \
		' -c [0-9]' ' --policy other' " --budget 'n>=1'"; do
		grep -qE -e "^repeat: .*$wanted" -e "^repeat: $wanted" out ||
			fail "repeat: no '$wanted': $(grep '^repeat' out)"
	done
}

# Severities in this order, and many notes in one line that names them.
findings_are_ordered() {
	run_tlat run wake-futex -n 20 --warmup 0 --json f.json
	"$python" - <<'PY'
import json
d = json.load(open("f.json"))
d["findings"] = [{"id": "n%d" % i, "severity": "info", "text": "note %d" % i, "remedy": None}
                 for i in range(5)]
d["findings"] += [{"id": "w", "severity": "warn", "text": "bad", "remedy": "do " * 60},
                  {"id": "e", "severity": "error", "text": "worse", "remedy": None}]
d["results"][0]["findings"] = []
json.dump(d, open("f.json", "w"))
PY
	run_tlat show f.json
	grep -oE '^(error|warn|info) ' out | uniq | paste -sd '' >order
	[ "$(cat order)" = "error warn info " ] || fail "findings: order is '$(cat order)'"
	[ "$(grep -c '^info ' out)" -eq 1 ] || fail "findings: not one line of notes"
	grep -q '^info  5 notes: n0, n1, n2, n3, n4;' out || fail "findings: $(grep '^info' out)"
	grep -q '^      remedy: do do ' out || fail "findings: no remedy"
	run_tlat show f.json --findings
	[ "$(grep -c '^info ' out)" -eq 5 ] || fail "--findings: not five notes"
}

# A file from elsewhere must not write to the terminal what the terminal obeys.
control_characters_stay_in_the_file() {
	run_tlat run wake-futex -n 20 --warmup 0 --json f.json
	"$python" - <<'PY'
import json
evil = "a\x1b]0;x\x07\u009b2J\x7f\r\n\tverdict: PASS"
d = json.load(open("f.json"))
for key in d["machine"]:
    if isinstance(d["machine"][key], str):
        d["machine"][key] = evil
d["clock"]["reason"] = evil
d["run"]["repeat"] = evil
d["findings"] = [{"id": evil, "severity": s, "text": evil, "remedy": evil}
                 for s in ("info", "warn", "error")]
r = d["results"][0]
r.update(probe=evil, repeat=evil + " --slack \x1b", findings=d["findings"])
r["from"] = r["to"] = evil
r["watch"]["idle"] = {str(r["wait"]["cpu"]): {evil: {"usage": 1, "time_ns": 1}}}
json.dump(d, open("f.json", "w"))
PY
	run_tlat show f.json --findings
	expect 0 "show of control characters" || return
	"$python" - <<'PY' || fail "show: control characters reach the terminal"
import sys, unicodedata
text = open("out", encoding="utf-8").read()
bad = sorted({c for c in text if unicodedata.category(c) == "Cc" and c != "\n"})
lines = [l for l in text.splitlines() if l.lstrip().startswith("verdict: PASS")]
sys.exit("%r %r" % (bad, lines) if bad or lines else 0)
PY
	grep -q 'a?\]0;x' out || fail "show: the text itself is lost"
	printf '{"schema": "\\u001b]0;x\\u0007"}\n' >f.json
	usage "f.json" show f.json
	grep -q "$(printf '\033')" err && fail "show: control characters in a complaint"
}

the_repeat_command_repeats_itself() {
	local first second
	run_tlat run wake-futex -n 50 --warmup 0 --load 'exec sleep 60' --two-way \
		--budget 'n>=1, min<3600s' --sweep 'settle=0,20us'
	first=$(sed -n 's/^repeat: tlat //p' out)
	[ -n "$first" ] || { fail "no repeat command"; return; }
	eval "run_tlat $first"
	second=$(sed -n 's/^repeat: tlat //p' out)
	[ "$first" = "$second" ] || fail "repeat: '$first' became '$second'"
}

json_is_alone_on_stdout() {
	run_tlat run wake-futex $quick --json -
	expect 0 "--json -" || return
	[ "$(wc -l <out)" -eq 1 ] || fail "--json -: $(wc -l <out) lines"
	json out 'd["schema"] == "timerlat-report/1" and d["results"][0]["probe"] == "wake-futex"'
	json out 'd["tool"]["version"] in "'"$("$tlat" --version)"'"'
	json out 'd["tool"]["argv"][1:3] == ["run", "wake-futex"]'
	json out 'd["run"]["repeat"].startswith("tlat run wake-futex ")'
}

json_goes_to_files() {
	run_tlat run wake-futex 'timer-timerfd*' $quick --json r.json
	expect 0 "--json FILE"
	json r.json 'len({r["probe"] for r in d["results"]}) >= 2'
	run_tlat run wake-futex -n 20 --json lines --append
	run_tlat run wake-futex -n 20 --json lines --append
	[ "$(wc -l <lines)" -eq 2 ] || fail "--append: $(wc -l <lines) lines"
	TLAT_JSON=env.json run_tlat run wake-futex -n 20
	[ -s env.json ] || fail "TLAT_JSON was not honoured"
	TLAT_JSON=env2.json run_tlat run wake-futex -n 20 --json opt.json
	[ -e env2.json ] && fail "TLAT_JSON beats --json"
	run_tlat run wake-futex -d 30s --json "$work"
	expect 2 "--json into a directory"
	[ -s out ] && fail "--json into a directory: measured first"
	usage "--json ''" run wake-futex --json ''
	"$tlat" run wake-futex -d 30s --json - >&- 2>err
	code=$?
	expect 2 "--json - to a closed stdout"
	run_tlat run wake-futex -d 30s --json "$work/no/such/dir.json"
	expect 2 "--json into nowhere"
	grep -q "dir.json" err || fail "--json into nowhere: $(cat err)"
	mkdir gone
	(cd gone && rmdir "$work/gone" &&
		timeout -s KILL 60 "$tlat" run wake-futex -d 30s --json r.json >"$work/out" 2>"$work/err")
	code=$?
	expect 2 "--json into a directory that is gone"
	grep -q "r.json" err || fail "--json into a directory that is gone: $(cat err)"
	[ -s out ] && fail "--json into a directory that is gone: measured first"
}

show_prints_a_report_again() {
	run_tlat run wake-futex $quick --json r.json
	run_tlat show r.json
	expect 0 show || return
	grep -q '^wake-futex ' out || fail "show: no row"
	grep -q '#' out || fail "show: no chart"
	[ "$(grep -c '^ *repeat: tlat run wake-futex' out)" -eq 1 ] ||
		fail "show: not one repeat command"
	run_tlat show r.json --bins 100ns
	grep -qE '^ *[0-9]*00-[0-9]+99 ns +[1-9][0-9]*$' out || fail "show --bins: no bin"
	grep -qE '^ *below [0-9]+ ns +[0-9]+$' out || fail "show --bins: no line below"
	grep -qE '^ *above [0-9]+ ns +[0-9]+$' out || fail "show --bins: no line above"
	# Every value that has a histogram is in one line of the table.
	awk '/ ns +[0-9]+$/ { n += $NF } END { print n }' out >total
	json r.json '(lambda c: c["recorded"] + c["early"] + c["overflow"])(d["results"][0]["counts"]) \
== '"$(cat total)"
	run_tlat show - <r.json
	expect 0 "show -"
	run_tlat show r.json --json -
	json out 'd["results"][0]["probe"] == "wake-futex"'
	run_tlat run wake-futex -n 20 --json lines.json --append
	run_tlat run null -n 20 --json lines.json --append
	run_tlat show lines.json
	grep -q '^first of 2 reports' out || fail "show: does not say that there are two"
	grep -q '^wake-futex ' out || fail "show: not the first report"
	run_tlat show lines.json --index 2
	grep -q '^null ' out || fail "show --index: not the second report"
	run_tlat show - --index 2 <lines.json
	grep -q '^null ' out || fail "show - --index: not the second report"
	run_tlat show <(cat lines.json)
	grep -q '^wake-futex ' out || fail "show of a pipe: $(cat err)"
	run_tlat show lines.json --json -
	[ "$(wc -l <out)" -eq 1 ] || fail "show --json -: not one line"
	grep -q '^first of 2 reports' err || fail "show --json -: does not say that there are two"
	usage "there are 2" show lines.json --index 3
	printf '{"schema": "timerlat-report/1", ' >half.json
	usage "half.json" show half.json
}

# Beside the observed figures, and no smaller; as many as could be put back, which is not what was
# missed when several values are too long for the histogram.
hidden_expiries_are_corrected_for() {
	run_tlat run timer-timerfd -n 20 --warmup 0 -i 1ms --json c.json
	"$python" - <<'PY'
import json
d = json.load(open("c.json"))
r = d["results"][0]
h, counts = r["histogram"], r["counts"]
h["counts"], h["early"], h["min"], h["max"], h["overflow"] = [[9, 10]], [], 9, 180 * 10**9, 1
counts.update(asked=180011, recorded=10, early=0, overflow=1, missed=180000, unfinished=0,
              rejected={})
r.update(blocks=[], outliers=[], raw_ns=[])
json.dump(d, open("one.json", "w"))
h["overflow"] = counts["overflow"] = 2
counts.update(asked=360012, missed=360000)
json.dump(d, open("two.json", "w"))
PY
	run_tlat show one.json
	expect 0 "show of hidden expiries" || return
	grep -qE '^ +corrected for 180000 hidden expiries: .*p50 90\.[0-9]+s, .*max 180\.0s$' out ||
		fail "corrected: $(grep corrected out)"
	run_tlat show two.json
	grep -q '^ *corrected for 317438 of 360000 hidden expiries: ' out ||
		fail "corrected: $(grep corrected out)"
	run_tlat run wake-futex -n 20 --warmup 0
	grep -q 'corrected for' out && fail "corrected: a pair has nothing to correct"
}

a_budget_gives_a_verdict() {
	run_tlat run wake-futex $quick --budget 'max<1ns'
	expect 1 "a budget that fails"
	grep -q '^verdict: FAIL wake-futex' out || fail "budget: no verdict of the probe"
	[ "$(grep '^verdict: ' out | tail -1)" = "verdict: FAIL" ] || fail "budget: no verdict"
	run_tlat run wake-futex $quick --budget 'max<1ns' --json b.json
	json b.json '"max<1ns" in json.dumps(d["results"][0]["budget"])'
	run_tlat run wake-futex $quick --budget 'n>=1, min<3600s' --json -
	case $code in
	0) json out 'd["verdict"] == "PASS"' ;;
	77) json out 'd["verdict"] == "INCONCLUSIVE"' ;;
	*) fail "budget that holds: exit code $code" ;;
	esac
	run_tlat run wake-futex -n 10 --budget 'p99.999<3600s'
	expect 77 "a budget that 10 samples cannot carry"
	# Its load ends early: a finding of severity warn, wherever this runs.
	run_tlat run timer-nanosleep $quick --load 'exit 3' --strict --budget 'max<1ns'
	expect 1 "a broken budget with --strict"
	[ "$(grep '^verdict: ' out | tail -1)" = "verdict: FAIL" ] || fail "--strict: no verdict FAIL"
	run_tlat run timer-nanosleep $quick --load 'exit 3' --strict --budget 'max<3600s'
	expect 2 "a budget that holds with --strict"
}

an_unknown_uncertainty_is_a_question_mark() {
	run_tlat run wake-futex -n 200 --warmup 0 --json r.json
	grep -qE '^wake-futex +([0-9]+)->' out || fail "run: no pair"
	grep -qE '^wake-futex +([0-9]+)->\1 ' out && { echo "skipped: one CPU only"; return; }
	"$python" -c 'import json
d = json.load(open("r.json"))
d["results"][0]["offset"] = None
json.dump(d, open("lost.json", "w"))'
	run_tlat show lost.json
	expect 0 "show without an offset"
	grep -qE '^wake-futex .* \? ' out || fail "show: no ? without an offset"
}

a_break_is_a_bad_answer() {
	run_tlat run timer-nanosleep null -d 20s --break 1ns --strict --json d.json \
		--budget 'p50<10s,max<10s'
	expect 1 "--break"
	grep -q '^break: timer-nanosleep on CPU [0-9]*: .* is above 0.001 us' out ||
		fail "--break: no line says what was above"
	grep -q '^verdict: INCONCLUSIVE$' out || fail "--break: no verdict INCONCLUSIVE"
	grep -q '^repeat: .* --break 1ns' out || fail "--break: not in the repeat command"
	json d.json '(d["run"]["end"] == "break" and len(d["results"]) == 1 and
		d["results"][0]["end"] == "break" and d["results"][0]["break_ns"] == 1 and
		d["results"][0]["outliers"][0]["value_ns"] > 1 and
		d["results"][0]["counts"]["asked"] <= 2 and
		any(f["id"] == "not-started" and "--break" in f["text"] for f in d["findings"]))'
	run_tlat run timer-nanosleep $quick --break 1000s
	expect 0 "--break that nothing is above"
	grep -q '^break:' out && fail "--break: says one that was none"
}

# Where it is granted; where not, the cause is in the finding.
a_deadline_is_read_back() {
	run_tlat run timer-nanosleep $quick --policy deadline --runtime 100us --json d.json
	expect 0 "--policy deadline"
	json d.json 'd["results"][0]["wait"]["policy_asked"] == "deadline" and (
		any(f["id"] == "policy-refused" for f in d["results"][0]["findings"]) or
		(d["results"][0]["wait"]["policy"] == "deadline" and
		 d["results"][0]["wait"]["runtime_ns"] == 100000 and
		 d["results"][0]["wait"]["deadline_ns"] == 1000000 and
		 d["results"][0]["wait"]["period_ns"] == 1000000))'
}

a_sweep_is_one_table() {
	run_tlat run wake-futex -n 50 --warmup 0 --sweep settle=0,10us,100us --json r.json
	expect 0 --sweep || return
	grep -qE '^probe .* settle ' out || fail "sweep: no column"
	[ "$(grep -cE '^wake-futex +[0-9]' out)" -eq 3 ] || fail "sweep: not three rows"
	json r.json '[r["settle_ns"] for r in d["results"]] == [0, 10000, 100000]'
	run_tlat run timer-nanosleep timer-poll -n 20 --warmup 0 --json r.json
	"$python" - <<'PY'
import json
d = json.load(open("r.json"))
for r in d["results"]:
    r["cpu_latency_ns"] = 0 if r["probe"] == "timer-poll" else None
json.dump(d, open("r.json", "w"))
PY
	run_tlat show r.json
	expect 0 "show of a sweep of timers" || return
	grep -qE '^probe .* cpu-lat ' out || fail "sweep of timers: no column"
	grep -qE '^timer-nanosleep .* default ' out || fail "sweep of timers: $(cat out)"
	grep -qE '^timer-poll .* 0 ' out || fail "sweep of timers: $(cat out)"
}

# wait_for PID: its exit code, within 20 s or by force.
wait_for() {
	local i
	for i in $(seq 200); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	[ "$i" -lt 200 ] || kill -s KILL "$1"
	wait "$1"
}

# interrupted SIGNAL: a long run ends at once, with what it had.
interrupted() {
	local pid
	"$tlat" run wake-futex timer-nanosleep -d 1h --json sig.json >out 2>err &
	pid=$!
	sleep 1
	kill -s "$1" $pid
	wait_for $pid
	code=$?
	expect 0 "SIG$1" || return
	grep -q '^wake-futex ' out || fail "SIG$1: no table"
	json sig.json 'd["run"]["end"] == "signal" and len(d["results"]) == 1'
	json sig.json '[f for f in d["findings"] if f["id"] == "not-started"
		and "timer-nanosleep" in f["text"]]'
}

signals_end_the_measurement() {
	local pid
	# timeout sends its signal twice, to the process and to its group
	timeout --preserve-status -s INT 1 "$tlat" run timer-nanosleep -d 1h >out 2>err
	code=$?
	expect 0 "SIGINT from timeout"
	grep -q '^timer-nanosleep ' out || fail "SIGINT from timeout: no table"
	interrupted INT
	interrupted TERM
	rm -f sig.json
	"$tlat" run timer-nanosleep -i 1s -d 1h --json sig.json >out 2>err &
	pid=$!
	sleep 0.05
	kill -s TERM $pid
	wait_for $pid
	code=$?
	# Before the handlers exist the signal simply ends the program, and nothing is written.
	[ $code -eq 143 ] && [ ! -e sig.json ] && return
	expect 0 "SIGTERM at once"
	json sig.json 'd["run"]["end"] == "signal"'
}

# As with setsid and nohup; only tlat ab has its runs end with it.
a_run_outlives_the_shell_that_started_it() {
	local waits=0
	TLAT_JSON=alone.json setsid sh -c '"$0" run timer-nanosleep -d 1s -q & echo $! >started; sleep 0.5' \
		"$tlat" >out 2>err
	while [ -d "/proc/$(cat started)" ] && [ $((waits += 1)) -lt 100 ]; do
		sleep 0.1
	done
	json alone.json 'd["run"]["end"] == "time"'
}

a_reader_that_leaves_loses_nothing() {
	{ timeout -s KILL 60 "$tlat" run wake-futex $quick --json pipe.json 2>err; echo $? >rc; } |
		true
	[ "$(cat rc)" -eq 0 ] || fail "closed pipe: exit code $(cat rc)"
	[ -s err ] && fail "closed pipe: $(cat err)"
	json pipe.json 'd["results"][0]["counts"]["asked"] > 0'
	timeout -s KILL 60 "$tlat" run wake-futex $quick >/dev/full 2>err
	code=$?
	expect 2 "full disk"
	grep -q 'No space left' err || fail "full disk: $(cat err)"
}

# The load is a sleep of a length that nothing else on the machine sleeps.
load_runs() {
	grep -lsz -e "$1" /proc/[0-9]*/cmdline 2>/dev/null | grep -qv "/$$/"
}

the_load_ends_with_the_measurement() {
	local pid
	run_tlat run wake-futex $quick --load 'sleep 4711.25 & exec sleep 4711.5' --json r.json \
		--findings
	expect 0 --load
	grep -q 'load.*ran throughout' out || fail "--load: not recorded"
	json r.json 'any(f["id"] == "load" for f in d["findings"])'
	load_runs '^4711\.' && fail "--load: outlives the measurement"
	"$tlat" run wake-futex -d 1h --load 'sleep 4712.25 & exec sleep 4712.5' >out 2>err &
	pid=$!
	sleep 1
	load_runs '^4712\.' || fail "--load: does not run"
	kill -s KILL $pid
	wait $pid 2>/dev/null
	sleep 0.5
	load_runs '^4712\.' && fail "--load: outlives a killed tlat"
	run_tlat run wake-futex $quick --load 'exit 3'
	grep -q 'load-ended.*status 3' out || fail "--load: an early end is not told"
	run_tlat run wake-futex -d 30s --load no-such-command
	expect 2 "--load that is not found"
	grep -q "^tlat run: --load 'no-such-command': .*127" err || fail "--load: $(cat err)"
	[ -s out ] && fail "--load that is not found: measured"
	timeout -s KILL 60 bash -c 'trap "" CHLD; exec "$@"' bash "$tlat" run null -n 10 \
		--load no-such-command >out 2>err
	code=$?
	expect 2 "--load that is not found, SIGCHLD ignored"
	run_tlat run timer-nanosleep $quick --load 'sleep 60' -c all --json r.json
	json r.json '"left as it was" in [f["text"] for f in d["findings"] if f["id"] == "load"][0]'
}

# In groups and sessions of its own, below a parent that is no more, and deaf to all but SIGKILL.
scattered() {
	echo "setsid sh -c 'sleep $1.1 & setsid sleep $1.2; true' &
		(trap '' TERM; setsid sh -c 'sleep $1.3; sleep $1.4' & sleep $1.5; sleep $1.6) &
		timeout 40 sleep $1.7"
}

all_of_the_load_ends() {
	local pid
	run_tlat run timer-nanosleep $quick --load "$(scattered 4713)"
	expect 0 "--load in groups of its own"
	load_runs '^4713\.' && fail "--load: its own groups outlive the measurement"
	run_tlat ab timer-nanosleep --opt "$quick --load 'timeout 40 sleep 4714.5'" --pairs 2 -q
	load_runs '^4714\.' && fail "--load: outlives its run of an ab"
	"$tlat" run wake-futex -d 1h --load "$(scattered 4715)" >out 2>err &
	pid=$!
	sleep 1
	[ "$(pgrep -cf '^sleep 4715[.]')" -eq 5 ] || fail "--load: does not run as a whole"
	kill -s KILL $pid
	wait $pid 2>/dev/null
	sleep 0.5
	load_runs '^4715\.' && fail "--load: its own groups outlive a killed tlat"
	run_tlat run timer-nanosleep $quick --load \
		"setsid sh -c 'trap \"echo >asked; exit\" TERM; while :; do sleep 0.01; done'"
	[ -e asked ] || fail "--load: its own session was not asked first"
}

# CONFIG_PROC_CHILDREN is an option of the kernel.
all_of_the_load_ends_without_lists_of_children() {
	[ -z "${TLAT_SANITIZE:-}" ] || return
	"${CC:-cc}" -shared -fPIC -o none.so "$here/faults/no_children.c" -ldl || return
	LD_PRELOAD=$PWD/none.so run_tlat run timer-nanosleep $quick --load "$(scattered 4716)"
	expect 0 "--load without lists of children"
	load_runs '^4716\.' && fail "--load: outlives the measurement without lists of children"
}

# Of SIGPIPE and SIGXFSZ, which tlat itself ignores.
what_is_started_ignores_no_signal() {
	local say='echo $((0x$(sed -n "s/^SigIgn:.//p" /proc/self/status) & 0x1001000))'
	rm -f ignored
	run_tlat run timer-nanosleep $quick --load "$say >ignored; exec sleep 60"
	[ "$(cat ignored)" = 0 ] || fail "--load: ignores signals: $(cat ignored)"
	run_tlat ab --a "$say >ignored; echo 1" --metric 1 --pairs 1
	[ "$(cat ignored)" = 0 ] || fail "ab: its command ignores signals: $(cat ignored)"
}

without_privilege_it_runs_and_says_so() {
	local drop
	if [ "$(id -u)" -eq 0 ]; then
		drop="setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all \
			--inh-caps=-all"
		chmod 755 "$work"
		$drop "$tlat" --version >/dev/null 2>&1 || { echo "skipped: no unprivileged run"; return; }
	else
		drop=
	fi
	timeout -s KILL 60 $drop "$tlat" run wake-futex $quick --json - >out 2>err
	code=$?
	expect 0 "without privilege" || return
	# A user may have been granted real-time; then there is nothing to refuse.
	grep -q '"policy-refused"' out || { echo "skipped: real-time was granted"; return; }
	json out 'd["results"][0]["wait"]["policy"] == "other"'
	timeout -s KILL 60 $drop "$tlat" run wake-futex $quick >out 2>err
	grep -qE '^wake-futex .* other\*' out || fail "without privilege: the row is not marked"
	grep -q '^\* not the policy' out || fail "without privilege: the mark is not explained"
	timeout -s KILL 60 $drop "$tlat" run wake-futex $quick --strict >out 2>err
	code=$?
	expect 2 "--strict without privilege"
	timeout -s KILL 60 $drop "$tlat" check >out 2>err
	code=$?
	expect 0 "check without privilege"
}

# timeout(1) has a timer of its own, so the limit comes after it.
a_limit_ends_no_other_probe() {
	local low="ulimit -i 0; exec \"\$@\""
	timeout -s KILL 60 bash -c "$low" - "$tlat" run 'timer-p*' $quick --json - >out 2>err
	code=$?
	expect 0 "some probes cannot have their timers" || return
	grep -q '"unsupported"' out || { echo "skipped: timers have no limit here"; return; }
	json out 'all(any("RLIMIT_SIGPENDING" in f["text"] for f in r["findings"]
	              if f["id"] == "unsupported") and r["counts"]["asked"] == 0
	              for r in d["results"] if r["probe"].startswith("timer-posix-"))'
	json out 'all(r["counts"]["asked"] > 0 for r in d["results"]
	              if not r["probe"].startswith("timer-posix-"))'
	timeout -s KILL 60 bash -c "$low" - "$tlat" run timer-posix-sigwait $quick >out 2>err
	code=$?
	expect 2 "the only probe cannot have its timer"
	grep -q 'error unsupported.*raise RLIMIT_SIGPENDING' out ||
		fail "the limit is not named: $(cat out err)"
}

# Under fifo the kernel would kill the spinner after a fifth of a second.
a_short_limit_of_real_time_ends_no_run() {
	command -v prlimit >/dev/null || { echo "skipped: no prlimit"; return; }
	for interval in 300ms 50ms; do # and what lies between two rests
		timeout -s KILL 60 prlimit --rttime=200000:200000 "$tlat" run timer-spin \
			-i $interval -n 12 >out 2>err
		code=$?
		expect 0 "spinning for longer than RLIMIT_RTTIME"
		tr -s ' \n' ' ' <out | grep -q 'policy-refused.* RLIMIT_RTTIME' ||
			fail "the limit is not named: $(cat out err)"
	done
}

the_check_audits() {
	run_tlat check --json audit.json
	expect 0 check || return
	grep -q '^machine$' out && grep -q '^  kernel  ' out || fail "check: no facts"
	grep -q '^privileges$' out && grep -qE '^  policy fifo:40 +(granted|refused: )' out ||
		fail "check: no privileges"
	grep -qE '^  pairs +cpu [0-9]+' out || fail "check: no choice of CPUs"
	grep -qE '^  [^ ]+ +-$' out && fail "check: rows without a value"
	[ "$(wc -L <out)" -le 300 ] || fail "check: a line of $(wc -L <out) columns"
	json audit.json 'd["machine"]["kernel"] and d["results"] == []'
}

# They are tried on a thread that has nothing else to do, and told as the report has them.
a_check_leaves_its_own_thread_as_it_is() {
	command -v strace >/dev/null || { echo "skipped: strace is not installed"; return; }
	timeout -s KILL 60 strace -E ASAN_OPTIONS=detect_leaks=0 -f -o calls \
		-e inject=sched_setscheduler,sched_setattr:error=EPERM "$tlat" check \
		--json audit.json >out 2>err
	code=$?
	expect 0 "check where no policy is granted" || return
	grep -q SCHED_FIFO calls || fail "check: SCHED_FIFO was not tried"
	grep -q "^$(head -1 calls | cut -d' ' -f1) .*SCHED_FIFO" calls &&
		fail "check: asks for SCHED_FIFO on its main thread"
	grep -qE '^  policy fifo:40 +refused: SCHED_FIFO 40' out ||
		fail "check: a refused policy: $(grep fifo:40 out)"
	json audit.json 'any(f["id"] == "policy-refused" for f in d["findings"])'
}

the_self_test_is_kept_and_quoted() {
	local verdict
	run_tlat check --self-test --trials 1
	expect 0 "a short self-test"
	[ "$(grep -c '^self-test .*recovered [01] of 1' out)" -eq 4 ] ||
		fail "self-test: not four delays"
	grep -q '^self-test: no verdict' out || fail "self-test: a verdict from one trial"
	[ -e cache/timerlat ] && fail "self-test: one trial is kept"
	run_tlat check --self-test
	verdict=$(sed -n 's/^self-test: \(PASS\|FAIL\)$/\1/p' out)
	case $code$verdict in 0PASS | 1FAIL) ;; *) fail "self-test: '$verdict' and exit code $code" ;; esac
	ls cache/timerlat/selftest-*.json >/dev/null || fail "self-test: not kept"
	json cache/timerlat/selftest-*.json 'any(f["id"] == "self-test" for f in d["findings"])'
	"$python" "$here/check_schema.py" cache/timerlat/selftest-*.json || [ $? -eq 77 ] ||
		fail "self-test: its report is not what the schema says"
	run_tlat run wake-futex -n 20 --json q.json
	json q.json 'any(f["id"] == "self-test" and f["severity"] == "info" for f in d["findings"])'
}

run_tlat run null -n 1 --json -
grep -q 'build' err && { echo "skipped: this build writes no JSON: $(cat err)"; exit 77; }

help_and_version_need_nothing
help_and_parser_agree
usage_errors_are_one_line
list_names_every_probe
a_run_prints_a_table_and_how_to_repeat_it
the_repeat_command_names_everything
the_repeat_command_repeats_itself
a_table_of_timers_has_what_timers_have
narrow_terminals_keep_what_matters
findings_are_ordered
control_characters_stay_in_the_file
json_is_alone_on_stdout
json_goes_to_files
show_prints_a_report_again
hidden_expiries_are_corrected_for
a_budget_gives_a_verdict
an_unknown_uncertainty_is_a_question_mark
a_break_is_a_bad_answer
a_deadline_is_read_back
a_sweep_is_one_table
signals_end_the_measurement
a_run_outlives_the_shell_that_started_it
a_reader_that_leaves_loses_nothing
the_load_ends_with_the_measurement
all_of_the_load_ends
all_of_the_load_ends_without_lists_of_children
what_is_started_ignores_no_signal
without_privilege_it_runs_and_says_so
a_limit_ends_no_other_probe
a_short_limit_of_real_time_ends_no_run
the_check_audits
a_check_leaves_its_own_thread_as_it_is
the_self_test_is_kept_and_quoted

[ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
echo "all passed"
