#!/bin/bash
# K and V change between calls on one plan, as Q and dO do: values that a module caches of them are wrong, in
# checks and while it is timed.
# Runs beside three others.
. "$(dirname "$0")/../support/tap.sh"
. "$root/tests/support/integrity.sh"
short_writes

caught cheat_keeps good 'failed wrong' '^with other K and V on the same plan: O'
backward good cheat_keeps
is "cheat_keeps: its backward starts from a forward that keeps them" "$(cell '.role, .verdict, .class')" "target failed wrong"
like "cheat_keeps: and the reason is named" "$(cell .detail)" '^its forward: with other inputs: O'
backward good cheat_keeps_softmax
is "cheat_keeps_softmax: a cached softmax is caught as well" "$(cell '.role, .verdict, .class')" "target failed wrong"
like "cheat_keeps_softmax: and the reason is named" "$(cell .detail)" '^with other K and V on the same plan: d[QKV]'
caught cheat_keeps_late good 'failed wrong' '^(between|after) the timed calls: '

# On the simulated device nothing is computed while it is timed, but checks compute.
compare good cheat_keeps --device sim --cells '*/forward' >"$tmp/json" 2>"$tmp/err"
is "device sim: checks are the same" "$(cell '.verdict, .class')" "failed wrong"

believed good honest_packs
backward good honest_packs
not_accused "honest_packs: its backward is not rejected"

# With masks, too: offsets, blocks, and both directions of each.
cat >"$tmp/suite.yaml" <<'YAML'
suite: masks
family: attention
common: {nhq: 2, nhk: 1, headdim: 32, dtype: bf16}
dense: {seqlens: [96], masks: [causal, varlen_full, varlen_causal]}
block_sparse: {seqlens: [96], sparsity_ratios: [0.5], block_sizes: [32]}
varlen:
  full: [60, 30, 5, 1]
  causal: [1, 50, 45]
directions: [forward, backward]
seed: 42
threshold_pct: 1.5
budget_s: 60
YAML
compare good honest_packs >"$tmp/json" 2>"$tmp/err"
is "under every mask no honest module is rejected" "$(jq '[.cells[] | select(.class == "")] | length' "$tmp/json")" 8
compare good cheat_keeps >"$tmp/json" 2>"$tmp/err"
is "under every mask a cached result is found" "$(jq '[.cells[] | select(.class == "wrong")] | length' "$tmp/json")" 8
