#!/bin/bash
# Memory traffic of programs under ncu, without a GPU: a stand-in (tests/support/fake_ncu.py) runs the program and prints made-up counters of
# the launches that the program names.
. "$(dirname "$0")/../support/tap.sh"
mkdir -p "$tmp/repo" "$tmp/fake" "$tmp/empty"
cp "$root/tests/support/fake_ncu.py" "$tmp/fake/ncu"
cat >"$tmp/repo/attention.py" <<'PY'
import os
import flopwatch

launches = open(os.environ["FAKE_NCU_KERNELS"], "w")
launches.write("init\n")
for call in flopwatch.cell("attention"):
    with call:
        launches.write("attn\nelementwise\nelementwise\n")
PY
cat >"$tmp/repo/plain.sh" <<'SH'
for i in 1 2 3; do echo plain; done >"$FAKE_NCU_KERNELS"
SH
cat >"$tmp/repo/fails.py" <<'PY'
raise SystemExit("no memory left")
PY
cat >"$tmp/repo/.flopwatch.yaml" <<'YAML'
flopwatch: 1
benchmarks:
  attention-fake: {command: [python3, attention.py], reader: flopwatch}
  plain: {command: [sh, plain.sh], reader: hyperfine, outputs: [x.json]}
  fails: {command: [python3, fails.py], reader: flopwatch}
YAML
git -C "$tmp/repo" init -q -b main
git -C "$tmp/repo" add -A
git -C "$tmp/repo" -c user.name=a -c user.email=a@example.org commit -q -m first
profile() {
	(cd "$tmp/repo" && PATH=$tmp/fake:$PATH PYTHONPATH=$root/daemon/kit FAKE_NCU_WARM=5 FAKE_NCU_KERNELS=$tmp/kernels "$bin/flopwatch" profile --artefacts "$tmp/out" "$@")
}

profile --suite 'attention-*' >"$tmp/said" 2>"$tmp/notes"
is "a program is profiled" $? 0
is "with the calls that it was asked for" "$(sort "$tmp/kernels" | uniq -c | awk '{ print $1, $2 }' | paste -sd,)" "15 attn,30 elementwise,1 init"
like "its traffic is that of one call, without warm-up" "$(cat "$tmp/said")" '^ *attention-fake +all kernels +0\.002 +4 +8 +16 +80 +25$'
like "with a row for each kernel" "$(cat "$tmp/said")" '^ +attn +0\.002 +4 +8 +16 +80 +25$'
like "kernels with other counts are named" "$(cat "$tmp/notes")" '^attention-fake: 2 kernels with other counts than 15 are left out: .*init 1'
like "and how many launches count" "$(cat "$tmp/said")" '^Medians of 10 launches of each kernel, after 5 of warm-up'
is "ncu's own output is written" "$(grep -c '"attn"' "$tmp/out/profile_attention-fake.csv")" 15
is "and the figures" "$(tr -d '\r' <"$tmp/out/traffic.csv" | paste -sd';')" \
	"program,kernel,ms,dram_mb,l2_mb,l1_mb,l2_hit_pct,l1_hit_pct;attention-fake,,0.002,4,8,16,80,25;attention-fake,attn,0.002,4,8,16,80,25"
is "also as JSON" "$(profile --suite attention-fake --json 2>/dev/null | jq -c '[.launches, .warmup, [.rows[] | [.program, .kernel, .dram_mb]]]')" '[15,5,[["attention-fake",null,4],["attention-fake","attn",4]]]'
is "with another number of calls" "$(profile --suite attention-fake --launches 8 --warmup 5 2>/dev/null >/dev/null && grep -c attn "$tmp/kernels")" 8
is "that file can be compared" "$(cd "$tmp" && "$bin/flopwatch" compare out/profile_attention-fake.csv out/profile_attention-fake.csv --launches 8 --warmup 5 2>&1 | grep -c 'attn.* 3/3')" 7

fails "the kit makes no more than 400" 1 profile --suite attention-fake --launches 500
like "and prints that" "$out" '--launches 500: the kit makes at most 400 calls of a cell'

# ---- without the kit ----
fails "its number of calls is unknown" 1 profile --suite plain
like "and prints that" "$out" 'plain does not use the kit, so its number of calls is unknown; give --launches N, and --warmup W if the first W are cold'
ok "unless it is given" profile --suite plain --launches 3 --warmup 1
fails "no kernel has as many launches" 1 profile --suite plain --launches 4 --warmup 1
like "and prints that as well" "$out" 'plain, kernels with 4 launches: .*no measured row'
fails "nothing is left" 1 profile --suite plain --launches 3 --warmup 3

# ---- failures ----
fails "a program that fails" 1 profile --suite fails
like "the end of its output" "$out" 'fails under ncu: exit 1: no memory left'
tools=$(dirname "$(command -v git)")
out=$(cd "$tmp/repo" && PATH=$tmp/empty:$tools "$bin/flopwatch" profile --suite attention-fake 2>&1)
status=$?
if [ -x "$tools/ncu" ] || [ -x /usr/local/cuda/bin/ncu ]; then
	skip "without ncu" "it is installed"
else
	is "without ncu there is one sentence" "$status $(wc -l <<<"$out")" "1 1"
	like "about it" "$out" 'ncu is not installed on this machine, and nothing else counts the traffic of programs; install Nsight Compute'
fi
fails "a name that is no benchmark is a suite of the daemon" 2 profile --suite other --launches 3
