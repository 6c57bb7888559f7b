#!/bin/bash
# flopwatch try: the working tree in its present state, through the worker's build, check and run, without a daemon or a commit.
. "$(dirname "$0")/../support/tap.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 XDG_CACHE_HOME=$tmp/cache
mkdir "$XDG_CACHE_HOME"
new() { # an empty checkout, as the current folder
	mkdir -p "$tmp/$1"
	cd "$tmp/$1" || exit 1
	git init -q -b main .
}
attempt() { # options: the answer in $body, errors without progress in $errors, the status in $status
	body=$("$bin/flopwatch" try --json "$@" 2>"$tmp/errors")
	status=$?
	errors=$(grep -v ': starting a worker$' "$tmp/errors")
}
of() { # filter on the first result
	jq -r ".[0] | $1" <<<"$body"
}
hints() { of '.hints | join(" | ")'; }

# ---- an interleaved program, written and built by init
new program
cp "$root/tests/interleave/sums.c" .
ok "init writes a manifest" "$bin/flopwatch" init
attempt --device cpu
is "try runs what it says, and nothing is committed" "$status $(git log --oneline 2>/dev/null | wc -l)" "0 0"
is "its cells have times" "$(of '[.cells[] | .cell, (.ms > 0)] | map(tostring) | join(" ")')" "sum/20000 true dot/20000 true"
is "it says what a comparison costs" "$(of '(.comparison_s > 0) and (.comparison_max_s >= .comparison_s)')" true
is "on what it ran" "$(of .device.kind)" cpu
attempt --device cpu
is "an unchanged program is not built again" "$status $(of .build.state)" "0 cached"
echo "/* changed */" >>sums.c
attempt --device cpu
is "a changed one is" "$status $(of .build.state)" "0 ok"
body=$("$bin/flopwatch" try --device cpu 2>"$tmp/errors")
like "for users as a table" "$body" 'sum/20000 +[0-9.]+ ms.*'
like "with the cost of a push at its end" "$(tail -n 2 <<<"$body" | head -n 1)" '^2 cells: a push holds the device for about [0-9]+ s if its runs agree; after 60 s \(budget_s\) no further run begins$'
is "which is printed once" "$(grep -cE 'about [0-9]+ s|no further run begins' <<<"$body")" 1
is "and the next command" "$(tail -n 1 <<<"$body")" "next: commit and push, then: flopwatch wait BRANCH"
is "the budget limits the device time, however short one run is" "$("$bin/flopwatch" try --device cpu --json 2>/dev/null | jq -r '.[0].comparison_max_s')" 60
is "a pipe gets the name of the benchmark when it begins, and no line a step" "$(cat "$tmp/errors")" "sums: starting a worker"
"$bin/flopwatch" try --device cpu --quiet >"$tmp/out" 2>"$tmp/errors"
is "with --quiet nothing" "$(cat "$tmp/errors")" ""
"$bin/flopwatch" try --device cpu --progress >"$tmp/out" 2>"$tmp/errors"
is "with --progress a line for each step, from the start" "$(head -n 2 "$tmp/errors" | tr '\n' ' ') $(grep -cE '^sums: (preparing|building|built; starting|running)' "$tmp/errors" | sed 's/^[3-9].*/several/')" \
	"reading the files of the checkout sums: starting a worker  several"
is "and no control sequences" "$(tr -cd '\r\033' <"$tmp/errors" | wc -c)" 0
if command -v script >/dev/null; then
	COLUMNS=60 script -qec "$bin/flopwatch try --device cpu >$tmp/table" "$tmp/screen" >/dev/null </dev/null
	tr '\r' '\n' <"$tmp/screen" | sed -n 's/^.\[K//p' >"$tmp/steps"
	is "a terminal gets the first step at once" "$(head -n 1 "$tmp/steps")" "reading the files of the checkout"
	for step in 'sums: starting a worker' 'sums: running'; do
		ok "and $step" grep -q "^$step" "$tmp/steps"
	done
	is "no step is longer than a line" "$(awk 'length > 59' "$tmp/steps" | wc -l)" 0
	like "the table is the same" "$(tail -n 2 "$tmp/table" | head -n 1)" '^2 cells: a push holds the device for about '
	cp .flopwatch.yaml "$tmp/cached.yaml"
	for i in 1 2 3; do
		printf 'echo "{\\"cell\\":\\"row\\",\\"ms\\":[%s,%s]}"\n' "$i" "$i" >"b$i.sh"
		echo "  b$i: {command: [sh, b$i.sh], reader: flopwatch, gpu: false}"
	done | sed '1i flopwatch: 1\nbenchmarks:' >.flopwatch.yaml
	script -qec "$bin/flopwatch try --device cpu >$tmp/table" "$tmp/screen" >/dev/null </dev/null
	"$bin/flopwatch" try --device cpu >"$tmp/out" 2>"$tmp/errors"
	is "a pipe gets each name with its number" "$(tr '\n' '|' <"$tmp/errors")" \
		"1 of 3, b1: starting a worker|2 of 3, b2: starting a worker|3 of 3, b3: starting a worker|"
	like "of several benchmarks the number is shown" "$(tr '\r' '\n' <"$tmp/screen" | sed -n 's/^.\[K//p')" '2 of 3, b2: running'
	like "and the cost is that of all" "$(tail -n 2 "$tmp/table" | head -n 1)" '^3 cells: a push holds the device for about '
	is "each benchmark has its own" "$(grep -c '1 of 1 cells have a time; a comparison holds the device for about' "$tmp/table")" 3
	mv "$tmp/cached.yaml" .flopwatch.yaml
	rm b?.sh
else
	skip "a terminal gets steps" "there is no script"
fi
is "a name that the manifest does not have is a suite, which is not there" "$("$bin/flopwatch" try --suite none >"$tmp/out" 2>&1; echo $?) $(cat "$tmp/out")" \
	"4 flopwatch: there is no suite none: not at etc/suites/none.yaml of the checkout, and none is installed"
echo 'int x = y;' >>sums.c
attempt --device cpu
is "a build that fails" "$status $(of .build.state)" "1 failed"
like "with what the compiler said" "$(of .build.log)" 'sums.c:[0-9:]+ error: .*undeclared here'
is "is reported without a hint where there is none" "$(hints)" ""
git checkout -q . 2>/dev/null || cp "$root/tests/interleave/sums.c" .

# ---- hints
mkdir include
echo 'int three(void);' >include/three.h
sed -i '1i #include "three.h"' sums.c
sed -i 's/inputs: \[.\]/inputs: [sums.c]/; s/-I\. /-Iinclude /' .flopwatch.yaml
attempt --device cpu
is "a header outside the inputs" "$status $(hints)" \
	'1 include/three.h was not copied: it is outside `inputs`; name its folder, or the file, there'
cp sums.c cached_build.c
sed -i '1i #include "../four.h"' sums.c
echo 'int four(void);' >../four.h
attempt --device cpu
is "one outside the repository" "$status $(hints)" \
	'1 ../four.h was not copied: it is outside the repository; add it, and name it in `inputs`'
mv cached_build.c sums.c
sed -i 's/inputs: .*/inputs: [.]/' .flopwatch.yaml
echo '*.h' >.gitignore
attempt --device cpu
like "one that git ignores" "$(hints)" '^include/three.h was not copied: git ignores it'
rm .gitignore
attempt --device cpu
is "and with it" "$status" 0
mkdir deps
git update-index --add --cacheinfo "160000,$(printf '%040d' 1),deps"
attempt --device cpu
is "a submodule among the inputs is named, with what to do" "$status $errors" \
	'2 flopwatch: ./deps is a submodule, whose files no commit has and flopwatch does not fetch; leave it out of `inputs`, or commit the files themselves'
git update-index --force-remove deps
rmdir deps
printf '[submodule "deps"]\n\tpath = deps/tiles\n\turl = https://example.org/tiles.git\n' >.gitmodules
cp sums.c cached_build.c
sed -i '1i #include "tiles.h"' sums.c
attempt --device cpu
like "a header that only a submodule has" "$status $(hints)" '^1 tiles.h may be in a submodule \(deps/tiles\), whose files no commit has and flopwatch does not fetch: commit them'
mv cached_build.c sums.c
rm .gitmodules
sed -i 's,\./sums,./elsewhere/sums,; /artifacts:/d' .flopwatch.yaml
attempt --device cpu
like "a program that the build does not make" "$status $(hints)" '^1 elsewhere/sums is not in the tree, so the build has to make it'
sed -i 's,\./elsewhere/sums,./sums,' .flopwatch.yaml
sed -i 's/FLOPWATCH("dot/*(volatile int *)8 = 1; FLOPWATCH("dot/' sums.c
attempt --device cpu
like "one that crashes" "$status $(of '.faults[0].detail') $(hints)" '^1 .*SIGSEGV *$'
printf 'import nowhere_at_all\n' >bench.py
printf 'flopwatch: 1\nbenchmarks: {b: {command: [python3, bench.py], reader: flopwatch, gpu: false}}\n' >.flopwatch.yaml
attempt --device cpu
like "a package that the sandbox does not show" "$status $(hints)" '^1 Python finds no nowhere_at_all in the sandbox.*--read-only FOLDER'
mkdir "$tmp/packages"
printf 'import json\nprint(json.dumps({"cell": "c", "ms": [1, 1.5]}))\n' >"$tmp/packages/nowhere_at_all.py"
printf 'import sys\nsys.path.append("%s")\nimport nowhere_at_all\n' "$tmp/packages" >bench.py
attempt --device cpu --read-only "$tmp/packages"
is "and with --read-only" "$status $(of '.cells[0].cell')" "0 c"
printf 'print()\n' >bench.py
attempt --device cpu
is "a program that writes nothing" "$status" 1

# ---- more rows than the budget allows
new many
printf 'import json\nimport time\ntime.sleep(0.4)\nfor n in range(9): print(json.dumps({"cell": "rows/%%d" %% n, "ms": [1, 1.5]}))\n' >many.py
printf 'flopwatch: 1\nbenchmarks: {many: {command: [python3, many.py], reader: flopwatch, gpu: false, budget_s: 1}}\n' >.flopwatch.yaml
attempt --device cpu
like "too many rows are reported with a real one" "$status $(hints)" \
	'^0 9 rows need about [0-9]+ s, more than budget_s: 1: raise it in benchmarks.many, or add an argument to its command with which the program runs fewer rows, such as only rows/4$'
"$bin/flopwatch" try --device cpu >"$tmp/out" 2>/dev/null
like "and the budget is the only limit" "$(grep '^9 cells' "$tmp/out")" \
	'^9 cells: a push needs the device for about [0-9]+ s if its runs agree; after 1 s \(budget_s\) no further run begins, so cells remain undecided$'
printf 'import json\nimport time\ntime.sleep(0.4)\nprint(json.dumps({"benchmarks": [{"name": "rows/%%d" %% n, "run_type": "iteration", "iterations": 1, "real_time": 1.5, "cpu_time": 1.5, "time_unit": "ms"} for n in range(9)]}))\n' >many.py
sed -i 's/reader: flopwatch/reader: google-benchmark/' .flopwatch.yaml
attempt --device cpu
like "with the argument of its library, as the manifest has it" "$status $(hints)" \
	'select rows in benchmarks.many, such as command: \[python3, many.py, "--benchmark_filter=\^rows/4\$"\]$'
sed -i 's/budget_s: 1/budget_s: 600/' .flopwatch.yaml
attempt --device cpu
like "not if the budget is large enough, but whole processes are named" "$status $(hints)" \
	'^0 many is timed as whole processes, one after the other; with BENCHMARK_MAIN\(\) in its source instead of benchmark_main, [^|]*$'

# ---- cells of one name
new twins
printf 'import flopwatch\nfor n in 5000, 9000:\n    for call in flopwatch.cell("sum"):\n        with call:\n            sum(range(n))\n' >twins.py
ok "init, of a script with two cells of one name" "$bin/flopwatch" init
attempt --device cpu
is "try reports that once, with the remedy" "$status $(of '[.cells[].cell] | join(" ")') $(hints)" \
	"0 sum sum#2 1 name has several cells: sum and sum#2: their numbers follow the order in which they run, so a change of that order compares the wrong ones; give each its own name"
cd "$tmp/program" || exit 1

# ---- manifests
printf 'flopwatch: 1\nbnch: {}\n' >.flopwatch.yaml
attempt
is "a mistake of the manifest" "$status $errors" "2 flopwatch: .flopwatch.yaml:2:1: bnch: unknown key; remove it"
printf 'flopwatch: 1\ninputs: [nope]\nbenchmarks: {b: {command: [./b], reader: flopwatch}}\n' >.flopwatch.yaml
attempt
is "an input that is not there" "$status $errors" "2 flopwatch: .flopwatch.yaml: inputs name nope, which is not in the checkout"
rm .flopwatch.yaml
attempt
like "no manifest" "$status $errors" '^4 .*has neither .flopwatch.yaml nor kernels.*run flopwatch init$'
cd "$tmp" || exit 1
attempt
like "no checkout" "$status $errors" '^4 .*not inside a git checkout.*run git init'

# ---- a module
new module
mkdir -p kernels etc/suites
cp "$root/kernels/fw_kernel.h" "$root/kernels/fw_attention.h" kernels
sed 's,kernels/fw_attention.h,fw_attention.h,' "$root/tests/modules/good.c" >kernels/good.c
cat >etc/suites/tiny.yaml <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [full, causal]}
directions: [forward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
ok "init, of a module" "$bin/flopwatch" init
attempt --device cpu
is "checked and launched" "$status $(of '[.cells[] | .ms > 0 and .flops > 0] | all')" "0 true"
attempt --device cpu --cells '*/causal/*'
is "only some cells" "$status $(of '.cells | length')" "0 1"
sed -i 's/^#define CANNOT 0/#define CANNOT (a->mask == FW_CAUSAL)/' kernels/good.c
attempt --device cpu --cells '*/causal/*'
is "nothing that it supports" "$status $(of '.cells[0].failure')" "7 unsupported"
sed -i 's/sum > 0 ? o\[i\]/sum > 0 ? 2 * o[i]/' kernels/good.c
attempt --device cpu --cells '*/full/*'
is "a wrong result" "$status $(of '.cells[0].failure')" "1 wrong"
sed -i 's/^static float dot(/void missing(void);\nstatic float dot(/; s/^	ON_PLAN();/	missing();/' kernels/good.c
attempt --device cpu
like "a module that cannot be loaded is called what the manifest calls it" "$status $(of '.faults[0].detail')" \
	'^1 cannot load the module: kernels/good.so: undefined symbol: missing$'
attempt --device GPU-none
like "a device that is not here" "$status $errors" '^1 flopwatch: no device "GPU-none" on this machine$'

# ---- a call of less than a clock tick
mkdir "$tmp/short"
cd "$tmp/short" || exit 1
git init -q -b main .
printf '%s\n' 'flopwatch: 1' 'benchmarks:' '  short: {command: [sh, bench.sh], reader: flopwatch}' >.flopwatch.yaml
echo 'echo "{\"cell\":\"add\",\"ms\":[3.125e-07,3.125e-07]}"' >bench.sh
ok "is tried" "$bin/flopwatch" try --device cpu
like "and has digits" "$out" '^  add +0\.3125 ns$'
