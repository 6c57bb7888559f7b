#!/bin/bash
# Masks of tokens from end to end on the CPU: drawn, a corner, and from a file, in every direction. The kernel is accepted; one that
# ignores the mask and one that writes NaN for a query without a key are rejected. Times are those of device sim.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
copy_kernels "$tmp/kernels"
module=build/cpu/libattention.so
build() { # name, [folder of the sources]
	make -s -C "${2:-$tmp/kernels}" DEVICE=cpu EXTRA="${EXTRA:-}" "$module" && mv "${2:-$tmp/kernels}/$module" "$tmp/$1.so"
}
look() { # suite, target, options
	local suite=$1 target=$2
	shift 2
	"$worker" compare --suite "$tmp/suites/$suite.yaml" --device sim --base "$tmp/base.so" --target "$tmp/$target.so" --quick "$@" >"$tmp/out" 2>"$tmp/err"
}
verdicts() { jq -r '[.cells[] | .verdict | if IN("undecided", "unchanged") then "accepted" else . end] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out"; }
details() { jq -r '.cells[] | select(.verdict == "failed") | .detail' "$tmp/out"; }

mkdir "$tmp/suites" && chmod 755 "$tmp/suites" # the runner, which may be nobody, reads masks in it
ok "the module for CPUs builds" build base
cp "$tmp/base.so" "$tmp/same.so" && printf x >>"$tmp/same.so" # the same code in another file
cat >"$tmp/suites/corner.yaml" <<'YAML'
suite: corner
family: attention
common: {nhq: 1, nhk: 1, headdim: 64, dtype: f16}
token_masks: [{kind: corner, rows: 16, keys: 16, seqlens: [128], dense_reference: true}]
directions: [forward, backward, total]
YAML
look corner same --json
is "a corner is accepted in three directions" "$(verdicts)" "6 accepted"
is "its useful work counts active pairs" "$(jq -c '[.cells[3:6][].over_baseline.ideal]' "$tmp/out")" "[64,64,64]"
is "of one forward, 2.5 and 3.5" "$(jq -c '[.cells[3:6][].target | .tflops * .median_ms * 1e9 | round]' "$tmp/out")" "[65536,163840,229376]"
is "its counts are in JSON" "$(jq -c '.cells[3].work.target.mask | [.pairs, .pairs_kept, .rows, .rows_empty, .tiles, .tiles_masked, .common_tiles]' "$tmp/out")" "[16384,256,128,112,4,3,0]"
look corner same
like "and as a sentence" "$(cat "$tmp/out")" '16x16/s128/n1/hq1/hk1/d64/f16/forward +target kept 256/16384 \(1\.56 %\), rows without a key 112/128, tiles of 64x64 fully masked 3/4 \(75 %\), tiles skipped 3/4, partial 25 %; skipping on; .* times as fast as dense, 1/density 64\.00, expected 2 to 4: '

python3 - "$tmp/suites/m" <<'PY' || bad "masks are written"
import random, struct, sys
random.seed(1)
mask = [1 if i // 100 != 7 and random.random() < 0.4 else 0 for i in range(100 * 100)]  # query 7 has no key
open(sys.argv[1] + ".bits", "wb").write(bytes(sum(bit << j for j, bit in enumerate(mask[i : i + 8])) for i in range(0, len(mask), 8)))
open(sys.argv[1] + ".u8", "wb").write(bytes(mask))
open(sys.argv[1] + ".f32", "wb").write(struct.pack("<%df" % len(mask), *mask))
PY
cat >"$tmp/suites/all.yaml" <<'YAML'
suite: all
family: attention
common: {nhq: 4, nhk: 2, headdim: 64, dtype: bf16}
token_masks:
  - {kind: random, density: 0.3, seqlens: [130], batch: 2}
  - {kind: random, density: 0.01, seqlens: [130]}
  - {kind: corner, rows: 70, keys: 3, seqlens: [100], batch: 2}
  - {file: m.bits, seqlens: [100], batch: 2}
directions: [forward, backward, total]
YAML
look all same --json
is "masks of every source are accepted" "$(verdicts)" "12 accepted"
is "a drawn mask is counted for each sequence and head" "$(jq -c '.cells[0].work.target.mask | [.pairs, .rows, .tiles, .common_tiles]' "$tmp/out")" "[135200,1040,72,9]"
is "a file's query without a key is counted in each" "$(jq -c '.cells[9].work.target.mask.rows_empty' "$tmp/out")" 8
cp "$tmp/out" "$tmp/bits"
for kind in u8 f32; do
	sed "s/m\.bits/m.$kind/" "$tmp/suites/all.yaml" >"$tmp/suites/$kind.yaml"
	look $kind same --json --cells '*/file/*'
	is "the same mask in $kind keeps the same pairs" "$(jq -c '[.cells[].work.target.mask]' "$tmp/out")" "$(jq -c '[.cells[9:12][].work.target.mask]' "$tmp/bits")"
done
truncate -s 1249 "$tmp/suites/m.bits"
fails "a file of another size is refused" 2 "$worker" compare --suite "$tmp/suites/all.yaml" --base /bin/true --target /bin/true
like "at its place, with the sizes that fit" "$out" "all.yaml:8:12: .*m.bits has 1249 bytes; bits of a mask .* have 1250"
truncate -s 1250 "$tmp/suites/m.bits"

# ---- wrong modules ----
change() { # file, sed expression
	change_kernels "$tmp/kernels" "$tmp/changed" "attention/cpu/$1" "$2"
}
EXTRA=-O1
ok "a forward that ignores the mask within a tile is written" change forward.c 's/a->mask == FW_TOKENS \&\& state == TILE_PARTIAL/false/'
ok "and builds" build ignores_forward "$tmp/changed"
look all ignores_forward --json
is "it is rejected in every direction that has a forward" "$(verdicts)" "12 failed"
like "with its element" "$(details | head -1)" '(O|LSE)\[query [0-9]+, head [0-9]+'
ok "a backward that ignores it is written" change backward.c 's/t->a.mask == FW_TOKENS \&\& tile_at/false \&\& tile_at/'
ok "and builds" build ignores_backward "$tmp/changed"
look all ignores_backward --json
is "it is rejected, its forward is not" "$(verdicts)" "4 accepted, 8 failed"
like "with its element" "$(details | head -1)" 'd[QKV]\['
ok "a module that divides by an empty sum is written" change forward.c 's/sum > 0 ? 1.0f \/ sum : 0,/1.0f \/ sum,/'
ok "and builds" build divides "$tmp/changed"
look corner divides --json
is "NaN in a query without a key is rejected" "$(jq -r '[.cells[3:6][].verdict] | join(" ")' "$tmp/out")" "failed failed failed"
like "with its element" "$(details | head -1)" 'O\[query [0-9]+, head 0, [0-9]+\] is -?nan, should be 0'
is "a mask without such queries is accepted" "$(jq -r '[.cells[0:3][] | .verdict == "failed"] | any' "$tmp/out")" false
