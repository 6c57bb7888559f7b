#!/bin/bash
# flopwatch-worker: whole sessions with real builds, modules that misbehave, and compare without a daemon.
. "$(dirname "$0")/../support/tap.sh"
mkdir "$tmp/bin" # so that its runners are recognisable on this machine
cp "$bin/flopwatch-worker" "$bin/flopwatch-runner" "$tmp/bin"
worker=$tmp/bin/flopwatch-worker
modules=$root/build/tests/modules
cache=$tmp/cache
said=$tmp/said
export FLOPWATCH_CPU_THREADS=2
sandbox=$("$worker" probe 2>/dev/null | jq -r .isolation)

# ---- usage ----
ok "--help" "$worker" --help
like "it lists the verbs" "$out" 'serve .*--cache'
ok "--version" "$worker" --version
fails "no verb" 2 "$worker"
fails "unknown verb" 2 "$worker" dance
fails "unknown option" 2 "$worker" serve --force
fails "a sandbox that is none" 2 "$worker" serve --sandbox maybe
fails "compare without modules" 2 "$worker" compare --suite x.yaml
like "it says which are missing" "$out" 'needs --suite, --base and --target'
fails "compare with a provider's name of 48 bytes" 2 "$worker" compare --suite x.yaml --target-provider an_attention_for_the_lab_with_a_name_of_48_bytes
like "which is refused" "$out" "a provider's name has at most 47 bytes, unlike an_attention_for"
fails "a capture with such a name" 2 "$tmp/bin/flopwatch-runner" --provider an_attention_for_the_lab_with_a_name_of_48_bytes
ok "probe" "$worker" probe --device cpu
hello=$(grep '^{' <<<"$out") # a warning may be printed too, if bubblewrap does not work
is "it prints a hello line" "$(jq -r '.t,.protocol,.devices[0].kind' <<<"$hello" | tr '\n' ' ')" "hello 1 cpu "
like "with the compiler" "$(jq -r '.devices[0].toolkit' <<<"$hello")" '^gcc [0-9.]+$'
fails "probe of a device that is not there" 1 "$worker" probe --device cuda:99
like "and reports that" "$out" 'no device "cuda:99"'
fails "required isolation without bubblewrap" 1 env PATH="$tmp/empty" "$worker" probe --sandbox required
like "one line says what is missing" "$out" 'sandbox is required and not available: bubblewrap is not installed'

# ---- projects ----
# A kernels/ folder with the module tests/modules/NAME.c; further arguments are lines of its recipe, before the compiler.
project() { # folder, module, recipe lines...
	local dir=$tmp/$1 module=$2 recipe
	shift 2
	mkdir -p "$dir"
	cp "$root/kernels/fw_kernel.h" "$root/kernels/fw_attention.h" "$root/tests/modules/good.c" "$dir"
	[ "$module" = good ] || cp "$root/tests/modules/$module.c" "$root/tests/modules/tuner.h" "$dir"
	{
		printf 'all:\n'
		for recipe; do printf '\t%s\n' "$recipe"; done
		printf '\tmkdir -p build/$(DEVICE)\n\tgcc -std=gnu17 -O1 -g -fPIC -shared -fvisibility=hidden -I.. -o build/$(DEVICE)/libattention.so %s.c -lm\n' "$module"
	} >"$dir/Makefile"
}
session() { python3 "$root/tests/support/worker_session.py" "$@"; }
serve() { # options of the session..., base, target: with the usual worker
	session "${@:1:$#-2}" "$said" "$tmp/${*: -2:1}" "$tmp/${*: -1}" -- "$worker" serve --cache "$cache" --device sim
}
builds() { jq -rs '[.[] | select(.t == "build") | .role + ":" + .state] | join(" ")' "$said"; }
detail() { jq -rs --arg role "$1" '[.[] | select(.t == "build" and .role == $role)] | last | .detail' "$said"; }
done_() { jq -rs '[.[] | select(.t == "done")] | length' "$said"; }
checks() { jq -rs --arg role "$1" '[.[] | select(.t == "check" and .role == $role) | (if .ok then "ok" else .class end)] | join(" ")' "$said"; }
faults() { jq -rs '[.[] | select(.t == "fault") | .role + ":" + .class] | unique | join(" ")' "$said"; }
timed() { jq -rs '[.[] | select(.t == "cell" and .series == "device")] | length' "$said"; }
all_ended() { ! pgrep -f "$tmp/bin/[f]lopwatch-runner" >/dev/null; }
none_is_left() {
	await all_ended && return
	pgrep -af "$tmp/bin/[f]lopwatch-runner"
	return 1
}
clean() { # nothing remains: no work folder, no process in it
	is "$1: the work folder is removed" "$(ls -A "$cache" | grep -cE '^(job|trees)$')" 0
}

project good good
project slow slow
project same good "@echo another recipe, the same module"
project renamed good "sed -i 's/attention on the CPU/attention ON the CPU/' good.c"

ok "good against slow" serve good slow
is "both were built" "$(builds)" "base:start base:ok target:start target:ok"
is "isolation is reported" "$(jq -rs '.[0].isolation' "$said")" "$sandbox"
is "every cell was accepted" "$(checks base) / $(checks target)" "ok ok / ok ok"
like "work is reported, and again after the first call" "$(jq -rs '[.[] | select(.t == "work")] | [length, (map(select(.first_ms > 0)) | length)] | join(" ")' "$said")" '^8 4$'
is "runs are announced" "$(jq -rs '[.[] | select(.t == "run") | .run] | .[0]' "$said")" 1
is "a confirming set was run" "$(jq -rs '[.[] | select(.t == "run") | .set] | unique | join(" ")' "$said")" "1 2"
is "each run timed both cells" "$(timed)" "$(jq -rs '[.[] | select(.t == "run") | .cells | length] | add' "$said")"
is "the last word is done" "$(jq -rs 'last | .t + " " + (.cancelled | tostring)' "$said")" "done false"
like "the device was held" "$(jq -rs 'last.gpu_s' "$said")" '^[0-9.]+$'
is "modules carry no names" "$(nm "$cache"/modules/*.so 2>&1 | grep -vc 'no symbols\|^$\|\.so:$')" 0
clean "after a job"

ok "the same again" serve good slow
is "builds come from the cache" "$(builds)" "base:cached target:cached"
is "no tree was asked for" "$(jq -rs '[.[] | select(.t == "need")] | length' "$said")" 0
is "outcomes of checks come from the cache" "$(checks base) / $(checks target)" "ok ok / ok ok"
is "no process checked" "$(jq -rs '[.[] | select(.t == "at" and .run == 0)] | length' "$said")" 0

project tuner honest_tuner
choices() { jq -rs '[.[] | select(.t == "work" and .first_ms) | [.role, .cell, .config, .tunes] | map(tostring) | join(" ")] | sort | join(",")' "$said"; }
ok "a module that searches" serve --kind selfcheck --quick tuner tuner
chosen=$(choices)
like "reports that" "$chosen" '^base 0 TILE=[0-7] true,base 1 '
ok "again" serve --kind selfcheck --quick tuner tuner
is "keeps its choices from job to job" "$(choices)" "$chosen"
ok "two sources of one module" serve good same
is "two builds" "$(builds)" "base:cached target:start target:ok"
is "have the same hash" "$(jq -rs '[.[] | select(.t == "build") | .modules.attention // empty] | unique | length' "$said")" 1
is "nothing is checked or timed" "$(checks base)$(timed)" 0
ok "a selfcheck times equal modules" serve --kind selfcheck --quick good good
is "in one run when quick" "$(timed)" 2

# ---- builds that fail ----
project broken good "@echo no luck today; exit 3"
ok "a failing build" serve good broken
is "is a result" "$(builds)" "base:cached target:start target:failed"
like "with its reason" "$(detail target)" 'make DEVICE=cpu: exit 2'
like "and its log" "$(jq -rs '[.[] | select(.state == "failed")][0].log_b64' "$said" | base64 -d)" 'no luck today'
is "nothing was timed" "$(timed) $(done_)" "0 1"
clean "after a failed build"
project hanging good "setsid sleep 1234.$$ & sleep 1234.$$"
ok "a hanging build" serve --timeout 1 good hanging
like "is ended" "$(detail target)" 'ran past 1 s'
is "with all that it started" "$(pgrep -fc "[s]leep 1234.$$")" 0
project flood good "@yes no use | head -c 1000000000"
ok "a build that prints 1 GB" serve good flood
like "is ended" "$(detail target)" 'build printed more than 64 MiB'
like "its log is short" "$(jq -rs '[.[] | select(.state == "failed")][0].log_b64 | length' "$said")" '^[0-9]{5}$'
project bomb good "@for i in \$\$(seq 4000); do sleep 60 & done; wait"
ok "a fork bomb" serve good bomb
# counted in time, or stopped by the limit of processes: both report the reason
like "is ended" "$(detail target) $(jq -rs '[.[] | select(.state == "failed")][0].log_b64' "$said" | base64 -d)" \
	'ran more than [0-9]+ processes|[Cc]annot fork|Resource temporarily unavailable'
project many good "@for i in \$\$(seq 150); do sleep 1234.$$ & done; until [ -e go ]; do sleep 0.05; done"
serve good many >"$tmp/many.out" 2>&1 &
many=$!
yields() { [ "$(pgrep -f "[s]leep 1234.$$" | xargs -r ps -o ni= -p | grep -c '^ *19$')" -ge 150 ]; }
ok "a build of many processes gives way to all others" await yields
for folder in "$cache"/job/*/; do touch "$folder/go"; done
wait $many
like "and is built all the same" "$(builds)" 'target:start target:ok$'
ok "a missing output" serve --output build/nothing.so good slow
like "is named" "$(detail target)" 'output build/nothing.so is missing'
ok "a tree that leaves its folder" serve --bad-tar good good
like "is refused" "$(detail target)" 'leads out of the tree'
is "nothing escaped" "$(find "$tmp" -name escaped | wc -l)" 0
ok "a broken base" serve broken good
is "both sides are reported" "$(builds)" "base:start base:failed target:cached"
is "the base is at fault" "$(faults)" "base:build"

# ---- modules that misbehave ----
for case in no_entry:abi wrong_abi:abi crash_plan:crash crash_run:crash exit_run:crash wrong_result:wrong nan_result:wrong out_of_bounds:oob; do
	name=${case%:*} class=${case#*:}
	project "$name" "$name"
	ok "module $name" serve good "$name"
	like "$name: is the target's fault, class $class" "$(checks target) $(faults)" "(^| |:)$class"
	unlike "$name: its module is called what its manifest calls it" "$(jq -rs '[.[].detail // ""] | join(" ")' "$said")" '/proc/self/fd'
	unlike "$name: the base is not blamed" "$(faults)" 'base:'
	is "$name: nothing is timed" "$(timed) $(done_)" "0 1"
done

# ---- where a crash happened ----
crash_place() { jq -rs '[.[] | select(.class == "crash") | .detail] | first' "$said"; }
project nested good
cat >"$tmp/nested/inner.h" <<'INNER'
static __attribute__((noinline)) void write_rows(int *volatile *where)
{
	**where = 1; /* line 3 */
	__asm__ volatile("" ::: "memory");
}
static __attribute__((noinline)) void all_rows(int *volatile *where)
{
	write_rows(where); /* line 8 */
	__asm__ volatile("" ::: "memory");
}
INNER
sed -i '1i #include "inner.h"\nstatic int *volatile nowhere = (int *)8;\n#define BEFORE_ENQUEUE(p) all_rows(\&nowhere)' "$tmp/nested/good.c"
ok "a module that dies deep inside" serve good nested
like "is reported by function, file and line, from the build before it was stripped" "$(crash_place)" \
	'killed by SIGSEGV at write_rows \(inner\.h:3[:0-9]*\), called from all_rows \(inner\.h:8[:0-9]*\), called from [a-z_]+ \(good\.c:[:0-9]+\) in step check'
project bare good
cp "$tmp/nested/good.c" "$tmp/nested/inner.h" "$tmp/bare"
sed -i 's/-O1 -g/-O1 -s/' "$tmp/bare/Makefile"
ok "one that its own build stripped" serve good bare
like "is reported by its place in the file" "$(crash_place)" 'killed by SIGSEGV at offset 0x[0-9a-f]+ of the module in step check$'
project hang_run hang_run
ok "module hang_run" serve --limit check_s=2 good hang_run
is "hang_run: the target ran out of time" "$(checks target)" "timeout timeout"
ok "hang_run: nothing is left" none_is_left

# ---- a profile ----
paths() { jq -rs '[.[] | select(.t == "profile") | .path] | join(" ")' "$said"; }
ok "a profile" serve --kind profile good slow
is "has its end for each cell, and nothing is checked or timed" "$(paths), $(checks base)$(checks target)$(timed)" "code code, 0"
is "builds come first, and done last" "$(jq -rs '[.[] | select(.t != "at" and .t != "need") | .t] | (.[0], .[1], .[-1])' "$said" | tr '\n' ' ')" "hello build done "
ok "of two equal builds, too" serve --kind profile good same
is "for both cells" "$(paths)" "code code"
ok "next to a module that hangs" serve --kind profile --limit run_s=2 good hang_run
like "it says who" "$(jq -rs '[.[] | select(.t == "profile") | .why] | join("; ")' "$said")" 'target: timeout: did not end within 2 s in step plan'
ok "hang_run in a profile: nothing is left" none_is_left
ok "a profile that is called off" serve --kind profile --cancel-at '"role":"target","step":"warm"' good hang_run
is "ends at once, without a word of what it found" "$(jq -rs 'last | .t + " " + (.cancelled | tostring)' "$said")$(paths)" "done true"
ok "and nothing is left of it" none_is_left

# ---- ends ----
ok "cancel in a build" serve --cancel-at '"state":"start"' good hanging
is "is answered" "$(jq -rs 'last | .t + " " + (.cancelled | tostring)' "$said")" "done true"
clean "after a cancel"
ok "cancel in a run for the sake of another job" serve --kind selfcheck --cells 4 --stay-at '"t":"run"' good good
is "the first is answered, the second done, by one worker" "$(jq -r 'select(.t == "hello" or .t == "done") | .t + " " + (.cancelled | tostring)' "$said" | paste -sd' ')" \
	"hello null done true hello null done false"
ok "cancel that crosses the end of a job" serve --quick --stay-at '"t":"done"' good good
is "is received all the same" "$(jq -r 'select(.t == "hello" or .t == "done") | .t + " " + (.cancelled | tostring)' "$said" | paste -sd' ')" \
	"hello null done false hello null done false"
clean "after another job"
ok "cancel in a run" serve --kind selfcheck --cells 4 --cancel-at '"t":"run"' good good
ok "nothing runs on" none_is_left
ok "end of input in a build" serve --close-at '"state":"start"' good hanging
is "ends what it started" "$(pgrep -fc "[s]leep 1234.$$")" 0
clean "after the end of input"
ok "end of input in a run" serve --kind selfcheck --cells 4 --close-at '"t":"run"' good good
ok "end of input before a job" serve --no-job good good
fails "a broken line" 1 serve --nonsense-at '"state":"start"' good hanging
like "is an error with a sentence" "$out" 'flopwatch-worker: .*JSON'
clean "after a broken line"
fails "a device that is not here" 1 serve --device cuda good slow
is "is reported" "$(faults)" "worker:interrupted"
mkdir -p "$cache/job/left" "$cache/trees" && touch "$cache/job/left/over" && chmod 0 "$cache/job/left"
ok "what a crash left behind" serve good slow
clean "after a crash"

if [ "$sandbox" = bwrap ]; then
	is_there() { pgrep -f "[s]leep 1234.$$" >/dev/null; }
	builds_target() { grep -q '"role":"target","state":"start"' "$said" 2>/dev/null && is_there; }
	serve good hanging >/dev/null 2>&1 &
	await builds_target
	kill -KILL "$(cat "$said.pid")"
	wait
	is_gone() { ! is_there; }
	ok "a killed worker takes its build with it" await is_gone
	ok "and the next one cleans up" serve good slow
	clean "after a killed worker"
fi

# ---- without isolation ----
ok "without a sandbox" session "$said" "$tmp/good" "$tmp/slow" -- "$worker" serve --cache "$tmp/open" --device sim --sandbox none
is "the result has that" "$(jq -rs '.[0].isolation' "$said")" none
is "it builds and times all the same" "$(builds) $(jq -rs '[.[] | select(.t == "cell")] | length > 0' "$said")" "base:start base:ok target:start target:ok true"
ok "a hanging build without a sandbox" session --timeout 1 "$said" "$tmp/good" "$tmp/hanging" -- "$worker" serve --cache "$tmp/open" --device sim --sandbox none
is "leaves nothing either" "$(pgrep -fc "[s]leep 1234.$$")" 0

# ---- the real clock ----
ok "device cpu" session --device cpu --quick "$said" "$tmp/good" "$tmp/slow" -- "$worker" serve --cache "$cache" --device cpu
is "device cpu: both cells are timed" "$(jq -rs '[.[] | select(.t == "cell" and .series == "device").cell] | unique | length' "$said")" 2

# ---- compare ----
cat >"$tmp/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [full, causal]}
block_sparse: {seqlens: [256], sparsity_ratios: [0.5], block_sizes: [64]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 300
YAML
compare() { "$worker" compare --suite "$tmp/tiny.yaml" --device sim "$@"; }
fails "compare: a slower target" 3 compare --base "$modules/good.so" --target "$modules/slow.so"
like "a table of dense cells" "$out" '^dense +base ms +target ms'
like "a table of sparse cells" "$out" '^block-sparse +base ms'
like "a row says how much, how sure and after how many runs" "$out" \
	'attention/dense/causal/s64/hq2/hk1/d64/bf16/forward +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +-4\.[0-9]+ % +-[45]\.[0-9]+ \.\. +-4\.[0-9]+ +2  regression'
is "a warning for every cell" "$(grep -c '^warning: .*less TFLOP/s' <<<"$out")" 6
cp "$modules/good.so" "$tmp/other.so" && printf 'trailing bytes' >>"$tmp/other.so"
ok "compare: the same code in another file" compare --base "$modules/good.so" --target "$tmp/other.so" --json
is "is unchanged" "$(jq -r '.verdict, (.cells | map(.verdict) | unique | join(" "))' <<<"$out" | tr '\n' ' ')" "unchanged unchanged "
is "its interval holds zero" "$(jq '[.cells[] | select(.ci_low_pct <= 0 and .ci_high_pct >= 0)] | length >= 5' <<<"$out")" true
is "two sides, two hashes" "$(jq -r '[.base.module_sha256, .target.module_sha256] | unique | length' <<<"$out")" 2
ok "compare: the same file" compare --base "$modules/good.so" --target "$modules/good.so"
like "is identical" "$out" '^identical: '
# the configuration that a provider found is passed back in every run, else each would time another tile
{ cat "$modules/honest_tuner.so"; echo; } >"$tmp/tuner.so"
"$worker" compare --suite "$tmp/tiny.yaml" --device sim --base "$modules/honest_tuner.so" --target "$tmp/tuner.so" --json >"$tmp/tuned" 2>"$tmp/log"
# a tile costs 2 % more than the one before it, so the change shows the timed ones; two runs are enough for distant tiles
as_its_tiles='def cost(side): 1 + 0.02 * (side.configuration[5:] | tonumber);
	(100 * (cost(.work.base) / cost(.work.target) - 1) - .change_pct | fabs < 0.5)'
is "compare: what providers searched for is timed in all runs" \
	"$(jq -c "[.cells[] | select((.runs >= 2 and .verdict != \"undecided\" and ($as_its_tiles) and (.runs < 8 or .ci_high_pct - .ci_low_pct < 1)) | not)]" "$tmp/tuned")" '[]'
is "compare: in all cells" "$(jq '.cells | length' "$tmp/tuned")" 6
fails "compare: one that forgets it" 1 compare --base "$modules/good.so" --target "$modules/forgetful_tuner.so"
like "is reported so" "$out" 'abi: naive: plan was given the configuration `TILE=[0-7]` and chose `TILE=[0-7]`'
# requested configurations: two of one module compared
tiles() { compare --base "$modules/honest_tuner.so" --target "$modules/honest_tuner.so" --cells '*full*/forward' "$@"; }
fails "compare: another configuration of the same module" 3 tiles --base-config TILE=0 --target-config TILE=4 --json
is "is another speed" "$(jq -r '.cells[] | .verdict, (.change_pct < -6)' <<<"$out" | tr '\n' ' ')" "regression true "
ok "compare: the same one on both sides" tiles --base-config TILE=3 --target-config TILE=3
fails "compare: one that its provider does not take" 1 tiles --base-config TILE=0 --target-config TILE=9
like "is reported in one line" "$out" 'target unsupported: naive: plan with the requested configuration is not supported: there is no TILE=9'
fails "compare: one that its provider does not follow" 1 compare --base "$modules/good.so" --target "$modules/good.so" --base-config TILE=1
like "is reported cell by cell" "$out" 'not_comparable: base abi: naive: plan was given the configuration `TILE=1` and chose `NAIVE=1`'
fails "compare: one of 160 bytes" 2 tiles --base-config "$(printf '%0160d' 0)"
"$worker" profile --suite "$tmp/tiny.yaml" --device sim --base "$modules/honest_tuner.so" --target "$modules/honest_tuner.so" --cells '*full*/forward' \
	--base-config TILE=0 --target-config TILE=4 --json >"$tmp/profiled" 2>"$tmp/log"
is "profile: hands them over, too" "$(jq -c 'select(.t == "profile") | [.base_config, .target_config]' "$tmp/profiled")" '["TILE=0","TILE=4"]'
# the effect of a configuration is reported for a target that runs it, and for no other
swapped() { # BASE TARGET
	"$worker" profile --suite "$tmp/tiny.yaml" --device sim --base "$modules/$1.so" --target "$modules/$2.so" --cells '*full*/forward' --json >"$tmp/swapped" 2>"$tmp/log" || return
	printf '%s %s' "$(jq -s '[.[] | select(.t == "counterfactual")] | length' "$tmp/swapped")" "$(grep -c 'with the base' "$tmp/log")"
}
is "profile: a target that reads its base's configuration is timed with it" "$(jq -c 'select(.t == "counterfactual") | [.config, .with_ms < .target_ms]' "$tmp/profiled")" '["TILE=0",true]'
is "profile: one that ignores it is not" "$(swapped honest_tuner good)" "0 1"
like "and it is reported" "$(cat "$tmp/log")" 'target: with the base.s configuration it cannot be timed: naive: plan was given the configuration `TILE=[0-7]` and chose `NAIVE=1`'
is "profile: one that refuses it is not" "$(swapped good honest_tuner)" "0 1"
like "which is reported" "$(cat "$tmp/log")" 'target: with the base.s configuration it cannot be timed: its provider does not accept it'
# in addition to times: memory, and the masked share
cat >"$tmp/sparse.yaml" <<'YAML'
suite: sparse
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
block_sparse: {seqlens: [128], sparsity_ratios: [0.5], block_sizes: [32], dense_reference: true}
directions: [forward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
beside() { "$worker" compare --suite "$tmp/sparse.yaml" --device sim --base "$modules/good.so" --target "$tmp/other.so" --quick "$@" 2>"$tmp/log"; }
beside >"$tmp/beside"
like "compare: memory is next to times" "$(cat "$tmp/beside")" '^memory: GB/s claimed, MB measured +base GB/s'
like "and what a mask leaves out" "$(cat "$tmp/beside")" '^attention/block_sparse/.*forward +target density 0\.5, tiles of 64x64 fully masked [0-9]+/[0-9]+ \(.*; [12]\.[0-9]+ times as fast as dense, 1/density 2\.00, expected 1\.2 to 2: (below|met|above)$'
is "as JSON, too" "$(beside --json | jq -c '[.cells[] | select(.work.target.sparsity) | [.work.target.allocated_mb > 0, .over_baseline.ideal, .work.target.contradiction, .work.target.mask.density, (.work.target.expected | .[:19])]]')" '[[true,2,null,0.5,"expected 1.2 to 2: "]]'
fails "compare: a wrong target" 1 compare --base "$modules/good.so" --target "$modules/wrong_result.so" --cells '*full*/forward'
like "says what is wrong" "$out" 'warning: .*full.*failed: target wrong: '
ok "compare: one cell, quick" compare --base "$modules/good.so" --target "$tmp/other.so" --cells '*causal*forward' --quick --json
is "has one run of one cell" "$(jq '[.runs, (.cells | length), .cells[0].runs] | join(" ")' -r <<<"$out")" "1 1 1"
fails "compare: no such module" 1 compare --base /nonexistent.so --target "$modules/good.so"
like "it names it" "$out" '/nonexistent.so'
fails "compare: no such cell" 2 compare --base "$modules/good.so" --target "$modules/slow.so" --cells '*nothing*'
printf 'suite: x\ncolour: red\n' >"$tmp/bad.yaml"
fails "compare: a suite with mistakes" 2 "$worker" compare --suite "$tmp/bad.yaml" --base "$modules/good.so" --target "$modules/slow.so"
like "with position" "$out" 'bad\.yaml:[0-9]+:[0-9]+: '
unlike "no progress without a terminal" "$out" 'run 1:'
