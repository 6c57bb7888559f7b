#!/bin/bash
# Files of profilers for all cells of a suite and both sides, without a GPU: stand-ins for ncu and nsys (tests/support) run the commands and
# write made-up reports.
. "$(dirname "$0")/../support/tap.sh"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 XDG_CACHE_HOME=$tmp/cache
repo=$tmp/repo
mkdir -p "$XDG_CACHE_HOME" "$repo/kernels" "$repo/etc/suites" "$tmp/ncu" "$tmp/both"
cp "$root/kernels/fw_kernel.h" "$root/kernels/fw_attention.h" "$root/tests/modules/good.c" "$repo/kernels"
for folder in ncu both; do
	printf '#!/bin/sh\nexec python3 "%s" "$@"\n' "$root/tests/support/fake_ncu.py" >"$tmp/$folder/ncu"
done
printf '#!/bin/sh\nexec python3 "%s" "$@"\n' "$root/tests/support/fake_nsys.py" >"$tmp/both/nsys"
chmod +x "$tmp/ncu/ncu" "$tmp/both/ncu" "$tmp/both/nsys"
cat >"$repo/.flopwatch.yaml" <<'YAML'
flopwatch: 1
inputs: [kernels]
build:
  dir: .
  command: [gcc, -std=gnu17, -O1, -fPIC, -shared, -DYARDSTICK_FACTOR=1, -I., -o, attention.so, kernels/good.c, -lm]
  outputs: {attention: attention.so}
suites: [tiny]
YAML
cat >"$repo/etc/suites/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 2, headdim: 32, dtype: bf16}
dense: {seqlens: [32, 64], masks: [causal]}
directions: [forward, backward]
YAML
git -C "$repo" init -q -b main
commit() {
	git -C "$repo" add -A
	git -C "$repo" -c user.name=a -c user.email=a@example.org commit -q -m "$1"
}
commit first
profile() { # folder of tools before PATH, arguments
	local tools=$tmp/$1
	shift
	(cd "$repo" && PATH=$tools:$PATH "$bin/flopwatch" profile --suite tiny --device cpu "$@")
}
files() { (cd "$1" && find . -type f -printf '%P\n' | sort | paste -sd' '); }
parts() { find "$tmp" -maxdepth 1 -name '*.part-*' | wc -l; }

# ---- both tools, two providers
profile both --cells '*forward' --base-provider naive --target-provider yardstick --artefacts "$tmp/all" >"$tmp/said" 2>"$tmp/notes"
is "all cells of both sides, which a pipe gets by the name of the suite" "$? $(cat "$tmp/notes")" "0 tiny: starting a worker"
is "two files of ncu for a cell and a side, by provider and size" "$(files "$tmp/all/ncu_results")" \
	"ncu_naive_32.ncu-rep ncu_naive_64.ncu-rep ncu_yardstick_32.ncu-rep ncu_yardstick_64.ncu-rep report_naive_32.txt report_naive_64.txt report_yardstick_32.txt report_yardstick_64.txt"
like "the report is of its cell and side" "$(cat "$tmp/all/ncu_results/report_yardstick_64.txt")" '^made-up raw page of: attention/.*/s64/.*forward yardstick on cpu:0: 1 calls'
is "a timeline of all, and its statistics" "$(cat "$tmp/all/nvtx_stats.txt") $(grep -c '10 calls' "$tmp/all/nvtx_profile.nsys-rep")" "made-up statistics of 4 lines 4"
like "times without a profiler" "$(cat "$tmp/all/times.txt")" '^base: attention/.*/s32/.* naive on cpu:0: 30 calls, median'
is "one line at the end" "$(cat "$tmp/said")" "$tmp/all: $(jq '.files | length' "$tmp/all/artefacts.json") files of 2 cells of tiny on cpu:0; artefacts.json lists them"
is "the list names files that exist" "$(cd "$tmp/all" && jq -r '.files[].path' artefacts.json | xargs stat -c %F | sort -u)" "regular file"
is "and nothing is missing" "$(jq -c .missing "$tmp/all/artefacts.json")" "[]"
is "which says what was run" "$(jq -c '[.suite, .device, .base.provider, .target.provider]' "$tmp/all/artefacts.json")" '["tiny","cpu:0","naive","yardstick"]'
is "no unfinished folder stays" "$(parts)" 0
file=$(ls "$tmp/all/memory_profiler/"memory_target_*s64*.json)
is "memory before and after" "$(jq -c '[.moments[].moment]' "$file") $(jq '.moments[0].tensor_bytes == 0 and .moments[3].tensor_bytes > 0' "$file")" \
	'["before","inputs","plan","after"] true'
ok "its picture is well-formed" python3 -c 'import sys, xml.dom.minidom as d; p = d.parse(sys.argv[1]); assert len(p.getElementsByTagName("rect")) == 1 + 3 + 4 * 3' "${file%.json}.svg"
trace=$(ls "$tmp/all/traces/"trace_target_*s64*.json)
is "a timeline has host, device and five calls" "$(jq -c '[.traceEvents[] | select(.ph == "M" and .name == "thread_name") | .args.name], ([.traceEvents[] | select(.name | startswith("call "))] | length)' "$trace" | paste -sd' ')" '["host","cpu:0"] 5'
is "and is listed" "$(jq -r --arg path "${trace#"$tmp/all/"}" '.files[] | select(.path == $path) | .side' "$tmp/all/artefacts.json")" target

# ---- scripts
rm -r "$tmp/all/ncu_results" "$tmp/all/nvtx_profile.nsys-rep" "$tmp/all/nvtx_stats.txt"
ok "the script of ncu runs in any folder" env PATH="$tmp/both:$PATH" "$tmp/all/ncu_analysis.sh"
is "and writes the same files" "$(files "$tmp/all/ncu_results" | wc -w)" 8
ok "that of nsys" env PATH="$tmp/both:$PATH" "$tmp/all/nvtx_analysis.sh"
is "too" "$(cat "$tmp/all/nvtx_stats.txt")" "made-up statistics of 4 lines"
"$tmp/all/compare_analysis.sh" >"$tmp/said" 2>&1
like "that of the comparison times both sides" "$(cat "$tmp/said")" 'base ms +target ms +base TF/s'
like "and explains the difference" "$(cat "$tmp/said")" 'forward: not counted: device cpu has no counters'
is "scripts are valid" "$(for s in "$tmp"/all/*.sh; do sh -n "$s" || echo "$s"; done)" ""

# ---- an absent tool
if command -v nsys >/dev/null || [ -x /usr/local/cuda/bin/nsys ]; then
	skip "without nsys" "it is installed"
else
	profile ncu --cells '*s32*forward' --artefacts "$tmp/one" >"$tmp/said" 2>"$tmp/notes"
	is "without nsys the rest is written" "$? $(files "$tmp/one/ncu_results")" "0 ncu_target_32.ncu-rep report_target_32.txt"
	is "and is reported once" "$(grep -c nsys "$tmp/notes") $(grep nsys "$tmp/notes")" "1 nsys: it is not installed here, so nothing is traced; nvtx_analysis.sh has its commands"
	is "there is no trace of nsys" "$(ls "$tmp/one" | grep -c 'nvtx_profile\|nvtx_stats')" 0
	is "the list reports that as well" "$(jq -c '[.missing[].tool], ([.files[].path | select(test("nsys|stats"))])' "$tmp/one/artefacts.json" | paste -sd' ')" '["nsys"] []'
	like "and its script has the commands" "$(cat "$tmp/one/nvtx_analysis.sh")" '^nsys profile -o nvtx_profile --trace=cuda,nvtx --force-overwrite=true sh run_cells.sh'
	like "equal sides are run once" "$(cat "$tmp/notes")" '^both sides are the same, so only the target is run$'
fi
if command -v ncu >/dev/null || [ -x /usr/local/cuda/bin/ncu ]; then
	skip "without ncu" "it is installed"
else
	mkdir "$tmp/none"
	ok "without ncu and nsys" profile none --cells '*s32*forward' --artefacts "$tmp/bare"
	is "there are no results of ncu" "$(ls -d "$tmp/bare/ncu_results" 2>/dev/null)" ""
	is "the scripts, times and memory are there" "$(cd "$tmp/bare" && ls *.sh times.txt | paste -sd' ') $(ls "$tmp/bare/memory_profiler" | wc -l)" \
		"compare_analysis.sh ncu_analysis.sh nvtx_analysis.sh run_cells.sh times.txt 2"
	like "the script of ncu has the commands" "$(cat "$tmp/bare/ncu_analysis.sh")" '^ncu --set full .*--force-overwrite -o ncu_results/ncu_target_32 .*--capture attention/'
fi

# ---- failures
fails "a folder with files is not touched" 2 profile both --artefacts "$tmp/all"
like "and prints that" "$out" "^flopwatch: $tmp/all exists and is not an empty folder; name a new one$"
mkdir "$tmp/empty"
export FAKE_NCU_FAILS='*s64*' FAKE_NCU_ERROR='out of luck'
fails "ncu fails for a cell" 1 profile both --cells '*forward' --artefacts "$tmp/empty"
like "which has a line" "$out" '^ncu: target of attention/.*/s64/.*: ==ERROR== out of luck$'
is "the other cell is written, into a folder that was empty" "$(files "$tmp/empty/ncu_results")" "ncu_target_32.ncu-rep report_target_32.txt"
is "and the failure is listed" "$(jq -r '.missing[] | "\(.tool) \(.why)"' "$tmp/empty/artefacts.json")" "ncu ==ERROR== out of luck"
export FAKE_NCU_FAILS='*' FAKE_NCU_ERROR='ERR_NVGPUCTRPERM - The user does not have permission'
fails "counters that are closed" 1 profile both --cells '*forward' --artefacts "$tmp/closed"
is "are reported once" "$(grep -c ERR_NVGPUCTRPERM <<<"$out")" 1
unset FAKE_NCU_FAILS FAKE_NCU_ERROR
FAKE_NSYS_FAILS=1 fails "nsys that fails" 1 profile both --cells '*s32*forward' --artefacts "$tmp/untraced"
like "is reported" "$out" '^nsys: The target application cannot be traced'
is "and leaves no file" "$(ls "$tmp/untraced" | grep -c 'nvtx_profile\|nvtx_stats')" 0
ok "a cell that a side does not support" profile both --cells '*s32*' --base-provider naive --target-provider yardstick --artefacts "$tmp/part"
like "is named" "$out" '^flopwatch-runner: target of attention/[^ ]*backward: unsupported: '
is "its other side is written, by size and direction" "$(files "$tmp/part/ncu_results" | tr ' ' '\n' | grep -c 'ncu_.*32_causal_backward.ncu-rep\|ncu_.*32_causal_forward.ncu-rep')" 3
fails "no cell that can run" 7 profile both --cells '*backward' --target-provider yardstick --base-provider yardstick --artefacts "$tmp/nothing"
echo 'int x = y;' >>"$repo/kernels/good.c"
fails "a build that fails" 2 profile both --artefacts "$tmp/unbuilt"
like "reports the reason" "$out" 'the base is not built: .*good.c:[0-9:]+ error: '
is "and writes nothing" "$(ls -d "$tmp/unbuilt" 2>/dev/null) $(parts)" " 0"
git -C "$repo" checkout -q .
fails "a suite that does not exist" 4 profile both --suite none --artefacts "$tmp/unbuilt"
fails "an option of benchmarks" 2 profile both --artefacts "$tmp/unbuilt" --warmup 3
fails "one commit" 2 profile both main --artefacts "$tmp/unbuilt"

fails "a folder without a place" 1 profile both --artefacts "$tmp/no/such/folder"
fails "a device that is not there" 4 profile both --device none --artefacts "$tmp/unbuilt"

# ---- a folder that is there
mkdir "$tmp/target"
ln -s target "$tmp/link"
ok "a link to an empty folder" profile both --cells '*s32*forward' --artefacts "$tmp/link"
is "the files are in that folder" "$(readlink "$tmp/link") $(ls "$tmp/target/artefacts.json" "$tmp/link/artefacts.json" | wc -l) $(parts)" "target 2 0"
like "the comparison runs on the same device" "$(cat "$tmp/target/compare_analysis.sh")" '--device cpu:0 '
mkdir "$tmp/taken"
printf '#!/bin/sh\ntouch "%s/file"\nexec "%s" "$@"\n' "$tmp/taken" "$tmp/both/nsys" >"$tmp/stopped-nsys"
mkdir "$tmp/takes"
cp "$tmp/both/ncu" "$tmp/takes/ncu"
mv "$tmp/stopped-nsys" "$tmp/takes/nsys"
chmod +x "$tmp/takes/nsys"
fails "a folder that gets a file meanwhile" 1 profile takes --cells '*s32*forward' --artefacts "$tmp/taken"
like "the message names where the files are" "$out" "the files are in $tmp/taken.part-[^ ]*, which cannot become $tmp/taken"
is "and they are there" "$(ls "$tmp"/taken.part-*/artefacts.json | wc -l)" 1
rm -r "$tmp"/taken.part-*

# ---- Ctrl-C
mkdir "$tmp/stopped"
printf '#!/bin/sh\n[ "$1" = --import ] || kill -INT $PPID\nexec "%s" "$@"\n' "$tmp/both/ncu" >"$tmp/stopped/ncu"
chmod +x "$tmp/stopped/ncu"
fails "an interrupt ends it after the command that runs" 130 profile stopped --cells '*s32*forward' --artefacts "$tmp/unbuilt"
is "without a folder" "$(ls -d "$tmp/unbuilt" 2>/dev/null) $(parts)" " 0"

# ---- two commits
echo '/* faster */' >>"$repo/kernels/good.c"
sed -i 's/-O1/-O2/' "$repo/.flopwatch.yaml"
commit second
ok "two commits" profile both HEAD~1 HEAD --cells '*s32*forward' --artefacts "$tmp/commits" --json
is "are built apart" "$(jq -c '[.base.commit, .target.commit, .base.module_sha256 != .target.module_sha256]' "$tmp/commits/artefacts.json")" \
	"[\"$(git -C "$repo" rev-parse HEAD~1)\",\"$(git -C "$repo" rev-parse HEAD)\",true]"
is "and named by their sides" "$(files "$tmp/commits/ncu_results")" "ncu_base_32.ncu-rep ncu_target_32.ncu-rep report_base_32.txt report_target_32.txt"
fails "a commit that does not exist" 4 profile both HEAD~9 HEAD --artefacts "$tmp/unbuilt"

# ---- the example of the how-to
sed 's/^suite: tiny/suite: ws/' "$repo/etc/suites/tiny.yaml" >"$repo/etc/suites/ws.yaml"
example=$(grep '^flopwatch profile --suite ws' "$root/doc/howto/profiler-files.md")
like "the example is in --help as well" "$("$bin/flopwatch" profile --help)" "^ *$example"
example=${example/hopper.v1/naive}
example=${example/ hopper / yardstick }
ok "it is run with other providers" env -C "$repo" PATH="$bin:$tmp/both:$PATH" sh -c "$example --device cpu --cells '*forward'"
for name in ncu_results/ncu_naive_32.ncu-rep ncu_results/report_naive_32.txt nvtx_profile.nsys-rep nvtx_stats.txt memory_profiler times.txt \
	ncu_analysis.sh nvtx_analysis.sh compare_analysis.sh run_cells.sh modules suite.yaml artefacts.json; do
	ok "there is $name" test -e "$repo/ws-files/$name"
done

# ---- device sim
ok "device sim" env -C "$repo" PATH="$tmp/both:$PATH" "$bin/flopwatch" profile --suite tiny --device sim --cells '*s32*forward' --artefacts "$tmp/sim/"
is "has times, and no memory that was not read" "$(cut -d' ' -f3-5 "$tmp/sim/times.txt") $(jq -c '[.moments[].other_bytes] | unique' "$tmp/sim/memory_profiler/"*.json)" "naive on sim:0: [null]"

# ---- progress
if command -v script >/dev/null; then
	(cd "$repo" && PATH=$tmp/both:$PATH script -qec "$bin/flopwatch profile --suite tiny --device cpu --cells '*s32*forward' --artefacts $tmp/screen >$tmp/said" "$tmp/typescript" >/dev/null </dev/null)
	like "a terminal gets steps" "$(tr '\r' '\n' <"$tmp/typescript")" '1 of 1: counting target: attention/'
else
	skip "a terminal gets steps" "there is no script"
fi
