#!/bin/bash
# Benchmark programs: pushed, built, run alternately, judged and shown like kernels.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" "$@"; }
comparison_of() { # by commit
	api "comparisons/$(job_field "$(job_of "$1")" comparison)"
}
run_to_end() { # a commit that was pushed: its comparison in $body
	await job_ended "$1"
	body=$(comparison_of "$1")
}
holds() { # filter on $body
	[ -n "$body" ] && jq -e "$1" >/dev/null <<<"$body"
}

# ---- a C program that writes a file --------------------------------------------------------------------------------------
git init -q --bare -b main "$tmp/sums.git"
git init -q -b main "$tmp/sums"
git -C "$tmp/sums" remote add origin "$tmp/sums.git"
cp "$root/tests/foreign/bench.c" "$tmp/sums"
echo '#define WORK 60' >"$tmp/sums/work.h"
cat >"$tmp/sums/.flopwatch.yaml" <<'YAML'
flopwatch: 1
build: {dir: ., command: [gcc, -O1, -o, bench, bench.c]}
benchmarks:
  sums:
    command: [./bench, out/result.json]
    reader: google-benchmark
    outputs: [out/result.json]
    threshold_pct: 10
    timeout_s: 60
    budget_s: 60
YAML
mkdir "$tmp/sums/out"
touch "$tmp/sums/out/.keep"
commit sums "first"
push sums main

# ---- a Python program that prints lines ------------------------------------------------------------------------------------
git init -q --bare -b main "$tmp/lines.git"
git init -q -b main "$tmp/lines"
git -C "$tmp/lines" remote add origin "$tmp/lines.git"
cat >"$tmp/lines/bench.py" <<'PY'
import json, time
def work(n):
    began = time.process_time()
    sum(i * i for i in range(n))
    return 1e3 * (time.process_time() - began)
print(json.dumps({"cell": "squares", "ms": [work(20000) for _ in range(5)]}))
PY
cat >"$tmp/lines/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks: {squares: {command: [python3, bench.py], reader: flopwatch, threshold_pct: 20, budget_s: 30}}
YAML
commit lines "first"
push lines main

# ---- a program whose format has two times ----------------------------------------------------------------------------------
git init -q --bare -b main "$tmp/times.git"
git init -q -b main "$tmp/times"
git -C "$tmp/times" remote add origin "$tmp/times.git"
cat >"$tmp/times/bench.sh" <<'SH'
echo '{"context":{},"benchmarks":[{"name":"wait","run_type":"iteration","real_time":2.0,"cpu_time":1.0,"time_unit":"ms"}]}'
SH
printf 'flopwatch: 1\nbenchmarks: {times: {command: [sh, bench.sh], reader: google-benchmark, time: cpu, budget_s: 30}}\n' >"$tmp/times/.flopwatch.yaml"
commit times "first"
push times main

write_config 'workers: [{name: cpu, command: [flopwatch-worker, serve], device: cpu}]' \
	"repos: [{name: sums, url: $tmp/sums.git}, {name: lines, url: $tmp/lines.git}, {name: times, url: $tmp/times.git}]"
start_daemon || exit 1

run_to_end "$(head_of sums)"
ok "the first push is measured against itself" holds '.kind == "selfcheck" and .suite == "sums"'
is "its rows are the cells" "$(jq -r '[.cells[].cell] | join(" ")' <<<"$body")" "sum/4096 sum/16384"
ok "which have times and no TFLOP/s" holds 'all(.cells[]; .base.median_ms > 0 and .target.median_ms > 0 and .base.tflops == null and .flops_useful == null)'
ok "two pairs a run" holds 'all(.cells[]; .samples == 2 * .runs and .runs >= 2) and .rule.pairs_max == 2'
run_to_end "$(head_of lines)"
ok "standard output is read too, without any build" holds '.suite == "squares" and .cells[0].cell == "squares" and .cells[0].base.median_ms > 0'

run_to_end "$(head_of times)"
is "of two times the one that is asked for" "$(jq -c '[.cells[0].cell, .cells[0].base.median_ms]' <<<"$body")" '["wait",1]'
sed -i 's/time: cpu/time: real/' "$tmp/times/.flopwatch.yaml"
commit times "the other time"
push times main
run_to_end "$(head_of times)"
is "and both sides by the base's" "$(jq -c '[.cells[0].base.median_ms, .cells[0].target.median_ms]' <<<"$body")" '[1,1]'

branch sums slower main
echo '#define WORK 90' >"$tmp/sums/work.h"
commit sums "half as much work again"
push sums slower
run_to_end "$(head_of sums)"
ok "a program that got slower is a regression" holds '.verdict == "regression" and .regressions == 2'
ok "by about what was added" holds 'all(.cells[]; .change_pct < -25 and .change_pct > -42)'
ok "decided at an interim analysis from the third run on, as overwhelming" holds 'all(.cells[]; .runs >= 3 and (.flags | index("overwhelming")) != null)'
id=$(job_field "$(job_of "$(head_of sums)")" comparison)
is "judged again from its stored samples it is the same" "$(post "comparisons/$id/judge" | jq -c .changed) $(api "comparisons/$id" | jq -r .verdict)" "false regression"
like "the page shows its rows" "$(http GET "/comparisons/$id")" 'sum/16384'
like "so does the CSV" "$(api "comparisons/$id.csv")" '^sum/4096,regression,[0-9.]+,[0-9.]+,,,-[0-9.]+'
fails "it has nothing for MagiAttention's files" 1 fw export "$id" "$tmp/ffa"
is "there is an alert" "$(api alerts | jq -r '.items | length')" 1
is "its samples are stored as what they are" "$(sql "SELECT DISTINCT k.series FROM sample s JOIN sample_kind k ON k.id = s.kind")" process
fails "the command line ends as for kernels" 3 fw wait slower --json
like "in a table of its own" "$(fw wait slower --long)" '^sums *$'
shown=$(fw wait slower --long)
like "of times and changes" "$shown" 'sum/4096 +[0-9.]+ +[0-9.]+ +-[0-9.]+ %'
like "a loss is time" "$shown" 'WARNING sum/4096 takes [0-9.]+ % more time \(speed -[0-9.]+ %, threshold 10.00 %\)'
# a program has no counted FLOPs, no kernels and no phases: no output mentions them
for page in "comparisons/$id" "history?repo=sums&branch=slower&cell=sum%2F4096" "history?repo=sums&cell=sum%2F4096&metric=held" \
	"?repo=sums" "alerts/1" "commits/$(head_of sums)" "api/v1/comparisons/$id.md" "alerts.atom" "comparisons.atom"; do
	curl -sf "http://127.0.0.1:$(port)/$page" >"$tmp/page" || echo "no page $page" >>"$tmp/spoken"
	grep -oiE '.{40}(TFLOP|throughput|kernels|phase|ncu|issued|workspace|sustained runs|[^=]module).{40}' "$tmp/page" | sed "s,^,$page: ," >>"$tmp/spoken"
done
is "no page of a program speaks of FLOPs or of modules" "$(cat "$tmp/spoken")" ""
unlike "nor the command line" "$shown$(fw history sum/4096 --repo sums --branch slower)$(fw alerts)$(fw compare "$root/tests/data/readers/hyperfine.json" "$root/tests/data/readers/hyperfine.json")" 'TFLOP'
like "the page speaks of time" "$(http GET "/comparisons/$id")" '<h3>Time</h3>'
like "so does the history" "$(http GET "/history?repo=sums&branch=slower&cell=sum%2F4096")" 'sum/4096: 1 point'
like "and Markdown" "$(api "comparisons/$id.md")" '\| cell \| base ms \| target ms \| change'

branch sums words main
echo 'nothing that is measured' >"$tmp/sums/README"
sed -i 's/inputs:.*//; 1a inputs: [bench.c, work.h, out]' "$tmp/sums/.flopwatch.yaml"
commit sums "words, and a list of inputs"
push sums words
run_to_end "$(head_of sums)"
ok "a change next to the program blames no side" holds '.regressions == 0 and (.verdict == "unchanged" or .verdict == "undecided" or .verdict == "improvement")'

# ---- a push that changes nothing that runs ------------------------------------------------------------------------------------
branch sums undeclared main
sed -i '1i // a comment' "$tmp/sums/bench.c"
commit sums "a comment, without artifacts"
push sums undeclared
run_to_end "$(head_of sums)"
is "a comment of C is identical if the builds made the same files" "$(jq -c '[.verdict, .identical_by, .cells[0].reason, .runs]' <<<"$body")" \
	'["identical","comment","C and C++ files differ only in comments or layout: bench.c",0]'
like "its page names the file" "$(curl -s "http://127.0.0.1:$(port)/comparisons/$(jq .id <<<"$body")")" \
	'C and C\+\+ files differ only in comments or layout: bench.c, so nothing was timed'
like "the command line, too" "$(fw wait undeclared --long)" 'verdict: identical, C and C\+\+ files differ only in comments or layout: bench.c'
writes() { # files that a build writes with its time: two commits that differ in a comment, compared in $body
	branch sums "writes-$1" main
	sed -i "s/command: .gcc.*/command: [sh, -c, \"gcc -O1 -o bench bench.c; date +%s%N >$1\"]}/" "$tmp/sums/.flopwatch.yaml"
	commit sums "a build that writes its time"
	sed -i '1i // a comment' "$tmp/sums/bench.c"
	commit sums "a comment"
	push sums "writes-$1"
	await job_of "$(head_of sums)"
	fw compare "$(git -C "$tmp/sums" rev-parse HEAD~)" "$(head_of sums)" --repo sums --timeout 300 --quiet --json >"$tmp/body"
	body=$(<"$tmp/body")
}
writes .ninja_log
is "a log of the build makes no difference" "$(jq -c '[.verdict, .identical_by]' <<<"$body")" '["identical","comment"]'
writes when
ok "another file does" holds '.identical_by == null and .runs > 0'
like "and a note names it" "$(jq -r '.notes[].text' <<<"$body")" 'not identical: the sources differ only in comments or layout, but the builds wrote different files, first when; if the program does not run from it, name .* as artifacts'
branch sums renamed main
sed -i 's/WORK/AMOUNT/g' "$tmp/sums/bench.c" "$tmp/sums/work.h"
commit sums "another name in the sources, without artifacts"
push sums renamed
run_to_end "$(head_of sums)"
ok "other changes of sources are measured, since it may read them" holds '.identical_by == null and (.cells | length) == 2 and .runs > 0'
like "and a note says how it need not be" "$(jq -r '.notes[].text' <<<"$body")" 'made the same files, and only sources differ, which sums may read: .* as its artifacts'
branch sums artifacts main
sed -i 's/    outputs:/    artifacts: [bench]\n&/; s/-O1/-O1, -g/' "$tmp/sums/.flopwatch.yaml"
commit sums "what the benchmark runs from"
git -C "$tmp/sums" push -q origin HEAD:main
run_to_end "$(head_of sums)"
ok "only what is declared is there when it runs, and that is enough" holds '.verdict != "failed" and (.cells | length) == 2'
unlike "no note about it" "$(jq -r '.notes' <<<"$body")" 'artifacts'
branch sums comment artifacts
sed -i '1i /* A comment\n * of two lines. */' "$tmp/sums/bench.c"
commit sums "a comment"
push sums comment
run_to_end "$(head_of sums)"
is "a comment is identical by what was built" "$(jq -c '[.verdict, .identical_by, .cells[0].cell]' <<<"$body")" '["identical","module","sums"]'
is "and nothing was timed" "$(jq '[.cells[].runs] | add' <<<"$body")" 0
page=$(curl -s "http://127.0.0.1:$(port)/comparisons/$(jq .id <<<"$body")")
like "its page reports that" "$page" 'Both sides run the same files in the same way, so nothing was timed'
unlike "and has no row without anything in it" "$page" '<table'
like "the command line, too" "$(fw wait comment --long)" 'verdict: identical, the same files, run in the same way'
branch sums reads artifacts
sed -i 's/static const int sizes/if (!fopen("work.h", "r")) return 9;\n\tstatic const int sizes/' "$tmp/sums/bench.c"
commit sums "reads what it does not declare"
push sums reads
run_to_end "$(head_of sums)"
like "what is not declared is not there" "$(jq -r '.cells[0].reason' <<<"$body")" 'the benchmark ended with exit 9'
branch sums gone artifacts
sed -i 's/artifacts: .bench./artifacts: [bench, table]/' "$tmp/sums/.flopwatch.yaml"
commit sums "declares too much"
push sums gone
run_to_end "$(head_of sums)"
is "what is declared and not made is the build's fault" "$(jq -c '.cells[0] | [.verdict, .failure, .reason]' <<<"$body")" \
	'["failed","build","artifact table is missing after the build (see doc/troubleshooting.md#artifact)"]'

# ---- a push that changes only comments of Python ---------------------------------------------------------------------------
branch lines comment main
sed -i '1i """Squares."""\n# a comment' "$tmp/lines/bench.py"
commit lines "a docstring and a comment"
push lines comment
run_to_end "$(head_of lines)"
ok "a docstring is measured, since a program can read it" holds '.identical_by == null and .runs > 0'
branch lines more comment
sed -i 's/# a comment/# another comment\n/; s/    return/    return  /' "$tmp/lines/bench.py"
mkdir "$tmp/lines/pkg"
git -C "$tmp/lines" push -q origin HEAD~0:refs/heads/comment
commit lines "comments and layout"
git -C "$tmp/lines" push -q origin HEAD~1:refs/heads/main
push lines more
run_to_end "$(head_of lines)"
is "comments and layout are not" "$(jq -c '[.verdict, .identical_by, .cells[0].reason, .runs]' <<<"$body")" \
	'["identical","comment","Python files differ only in comments or layout: bench.py",0]'

# ---- programs that misbehave ------------------------------------------------------------------------------------------------
branch sums broken main
echo '#define WORK nonsense' >"$tmp/sums/work.h"
commit sums "does not compile"
push sums broken
run_to_end "$(head_of sums)"
ok "a build that fails is the target's" holds '.verdict == "failed" and .cells[0].failure == "build" and .cells[0].cell == "sums"'

branch sums crash main
sed -i 's/double began = cpu_ms();/if (n > 5000 \&\& work < 100) return *(volatile double *)0; double began = cpu_ms();/' "$tmp/sums/bench.c"
commit sums "crashes"
push sums crash
run_to_end "$(head_of sums)"
ok "so is a crash" holds '.verdict == "failed" and .cells[0].failure == "crash"'
like "reported as a sentence" "$(jq -r '.cells[0].reason' <<<"$body")" 'SIGSEGV'

branch sums mute main
sed -i 's/"name\\":\\"sum/"naem\\":\\"sum/' "$tmp/sums/bench.c"
commit sums "writes something else"
push sums mute
run_to_end "$(head_of sums)"
ok "and an output that cannot be read" holds '.verdict == "failed" and .cells[0].failure == "abi"'
like "with its place" "$(jq -r '.cells[0].reason' <<<"$body")" 'out/result.json: benchmarks\[0\].real_time: has no name'

branch sums reported main
cat >>"$tmp/sums/work.h" <<'C'
#define ITERATION "\"run_type\":\"iteration\""
#define EXTRA "{\"name\":\"copy\"," ITERATION ",\"error_occurred\":true,\"error_message\":\"no memory left\"}," \
	"{\"name\":\"empty\"," ITERATION ",\"real_time\":0},"
C
commit sums "a row that fails, and one without a time"
push sums reported
run_to_end "$(head_of sums)"
is "what the program itself reports as failed has failed" "$(jq -c '.cells[] | select(.cell == "copy") | [.verdict, .failure, .reason]' <<<"$body")" \
	'["failed","reported","the benchmark reports: no memory left"]'
is "and rows without a time are noted" "$(jq -c '[.notes[] | select(.text | test("left out")) | .role, .text]' <<<"$body")" \
	'["target","1 row was left out: empty (a real_time of 0 is not a time)"]'

branch sums fewer main
sed -i 's/{ 1 << 12, 1 << 14 }/{ 1 << 12, 1 << 12 }/' "$tmp/sums/bench.c"
commit sums "loses a row"
push sums fewer

run_to_end "$(head_of sums)"
is "a row that vanishes is no silence" "$(jq -r '[.cells[] | .cell + " " + .verdict] | sort | join(", ")' <<<"$body" | grep -o 'sum/16384 removed')" "sum/16384 removed"

branch sums stale main
sed -i 's/fopen(argv\[1\], "w")/fopen("elsewhere.json", "w")/' "$tmp/sums/bench.c"
commit sums "writes elsewhere"
push sums stale
run_to_end "$(head_of sums)"
like "an output of before is not taken for a new one" "$(jq -r '.cells[0].reason' <<<"$body")" 'its output out/result.json was not written'

cat >>"$tmp/sums/.flopwatch.yaml" <<'YAML'
    speed: high
YAML
commit sums "a mistake in the manifest"
push sums mistake
await job_ended "$(head_of sums)"
like "a mistake in the manifest has its place" "$(why_of "$(head_of sums)")" '\.flopwatch\.yaml:[0-9]+:[0-9]+: .*speed'
is "nothing is left behind in the cache" "$(find "$tmp/cache" -maxdepth 1 -name 'side-*' | wc -l)" 0
is "one comparison of all rejects" "$(api "comparisons?verdict=regression" | jq '.items | length')" 1
