#!/bin/bash
# The files of MagiAttention's scripts from branches: by name over REST and the page, at once, of one branch alone, of identical builds.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/daemon.sh"
fw() { "$bin/flopwatch" --server "http://127.0.0.1:$(port)" --quiet "$@"; }
new_repo kernels
cat >"$tmp/kernels/etc/suites/tiny.yaml" <<'YAML'
suite: tiny
family: attention
common: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}
dense: {seqlens: [64], masks: [causal]}
block_sparse: {seqlens: [128], sparsity_ratios: [0.5], block_sizes: [32]}
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
commit kernels "two kinds of cells"
push kernels main
branch kernels slower main
echo 1.05 >"$tmp/kernels/kernels/factor"
commit kernels slower
push kernels slower
branch kernels comment main
echo "# no code" >>"$tmp/kernels/README"
commit kernels "a file that no build reads"
push kernels comment
write_config
start_daemon || exit 1
url=http://127.0.0.1:$(port)
await job_ended "$(git -C "$tmp/kernels" rev-parse slower)"
await job_ended "$(git -C "$tmp/kernels" rev-parse comment)"

# ---- by name -----------------------------------------------------------------------------------------------------------------
status() { curl -s -o "$tmp/body" -w '%{http_code}' "$@"; }
is "a comparison is found by names of branches" "$(status "$url/api/v1/compare?repo=kernels&base=main&target=slower")" 200
id=$(jq .id "$tmp/body")
is "and by the first digits of commits" "$(status "$url/api/v1/compare?repo=kernels&base=main&target=$(git -C "$tmp/kernels" rev-parse --short=8 slower)") $(jq .id "$tmp/body")" "200 $id"
is "an unknown branch" "$(status "$url/api/v1/compare?repo=kernels&base=main&target=other") $(jq -r .detail "$tmp/body")" "404 no branch or commit of kernels matches other: push it first"
six="compare_main_slower_block_sparse.csv compare_main_slower_dense.csv profile_block_sparse_main.csv profile_block_sparse_slower.csv profile_dense_main.csv profile_dense_slower.csv"
is "the page links six files" "$(curl -s "$url/comparisons/$id" | grep -o "/api/v1/comparisons/$id/ffa/[^\"]*" | sed 's,.*/,,' | sort | paste -sd' ')" "$six"
for file in $six; do
	is "$file exists" "$(status "$url/api/v1/comparisons/$id/ffa/$file")" 200
done
is "other names" "$(status "$url/api/v1/comparisons/$id/ffa/profile_dense_x.csv") $(jq -r .detail "$tmp/body" | cut -d, -f1)" "404 unknown file; known: profile_dense_main"

# ---- at once -----------------------------------------------------------------------------------------------------------------
fails "two branches are compared and written" 3 fw compare main slower --export "$tmp/both"
is "as six files and the text" "$(ls "$tmp/both" | paste -sd' ')" "${six/profile_block/output.txt profile_block}"
names=$(printf '%s\n' $six | sed "s,^,$tmp/both/," | sort | jq -R . | jq -sc .)
fails "as JSON" 3 fw compare main slower --export "$tmp/both" --json
is "it is a comparison with its files" "$(jq -c '[.verdict, .target.name, (.files | sort)]' <<<"$out")" '["regression","slower",'"$names"']'
text=$(cat "$tmp/both/output.txt")
like "which has tables" "$text" 'attention/dense/causal/s64/hq2/hk1/d64/bf16/forward .*regression'
like "phases" "$text" 'phases of +phase +base ms +target ms +change'
like "with a row each" "$text" 'backward +preprocess +[0-9.]+ '
like "and losses" "$text" 'forward lost [0-9.]+ % TFLOP/s \(threshold 1\.50 %\)'
touch "$tmp/plain"
for dir in plain/no no/no; do # ENOTDIR and ENOENT
	fails "a regression is one whose files cannot be written" 3 fw compare main slower --export "$tmp/$dir"
	like "and that is reported after the finding" "$out" "cannot make the folder $tmp/$dir: No"
	fails "without a regression that is an error" 1 fw compare slower main --export "$tmp/$dir"
done
fails "the other direction" 0 fw compare slower main --long --export "$tmp/back"
like "has gains" "$out" '^attention/dense/causal/s64/hq2/hk1/d64/bf16/forward gained [0-9.]+ % TFLOP/s \(threshold 1\.50 %\)$'
ok "two profiles as files" "$bin/flopwatch" compare "$tmp/back/profile_dense_slower.csv" "$tmp/back/profile_dense_main.csv"
like "state their gain in TFLOP/s" "$out" '^ffa/dense/causal/s64/forward has [0-9.]+ % more TFLOP/s$'

# ---- one branch --------------------------------------------------------------------------------------------------------------
ok "one branch is measured alone" fw submit slower --export "$tmp/one"
is "and has two files" "$(ls "$tmp/one" | paste -sd' ')" "profile_block_sparse_slower.csv profile_dense_slower.csv"
like "with times" "$(sed -n 2p "$tmp/one/profile_dense_slower.csv")" '^64,causal,fwd,0\.'
ok "as JSON" fw submit slower --export "$tmp/one" --json
is "an object as export prints it" "$(jq -c '[keys, (.files | length)]' <<<"$out")" '[["files"],2]'
ok "one kind" fw submit main --cells 'attention/dense/*' -o "$tmp/any.csv"
is "is one file" "$(wc -l <"$tmp/any.csv")" 3
fails "two kinds are not" 1 fw submit main -o "$tmp/two.csv"
like "which names the remedy" "$out" 'two.csv takes one file, but there are cells of two kinds: choose some by --cells, or use --export DIR'
ok "and leave no file" test ! -e "$tmp/two.csv"
fails "an unknown branch has its status with --export" 4 fw submit nowhere --export "$tmp/none"
fails "so has an unreachable daemon" 5 "$bin/flopwatch" --server http://127.0.0.1:9 --quiet submit main --repo kernels -o "$tmp/none"
fails "a file that cannot be written is an error" 1 fw submit main --cells 'attention/dense/*' -o "$tmp/no/any.csv"
like "with its reason" "$out" 'no/any.csv.part: No such file'

# ---- identical builds --------------------------------------------------------------------------------------------------------
is "equal inputs are not timed" "$(result_of "$(git -C "$tmp/kernels" rev-parse comment)")" "done identical"
same=$(job_field "$(job_of "$(git -C "$tmp/kernels" rev-parse comment)")" comparison)
ok "their files are written" fw export "$same" "$tmp/same"
like "and state that" "$(sed -n 2p "$tmp/same/compare_main_comment_dense.csv")" '^causal,fwd,64,-1\.0000,-1\.0000,identical,'
