#!/bin/bash
# Attention in float16 from end to end on the CPU: every mask in both directions is accepted, a kernel with the precision of bf16 is not,
# and every spelling of a type gives the same keys. Times are those of device sim.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
copy_kernels "$tmp/kernels"
module=build/cpu/libattention.so
suite() { # name, dtype
	sed "s/nhq: 8/nhq: 4/; s/dtype: bf16/dtype: $2/; s/\[1024\]/[512]/" "$root/etc/suites/ffa-smoke.yaml" >"$tmp/$1.yaml"
}
look() { # suite, base, target
	"$worker" compare --suite "$tmp/$1.yaml" --device sim --base "$tmp/$2.so" --target "$tmp/$3.so" --json --quick >"$tmp/out.json" 2>"$tmp/err"
}
keys() { jq -r '.cells[].cell' "$tmp/out.json"; }
verdicts() { jq -r '[.cells[] | .verdict | if IN("undecided", "unchanged") then "accepted" else . end] | group_by(.) | map("\(length) \(.[0])") | join(", ")' "$tmp/out.json"; }

ok "the module for CPUs builds" make -s -C "$tmp/kernels" DEVICE=cpu "$module"
mv "$tmp/kernels/$module" "$tmp/base.so"
cp "$tmp/base.so" "$tmp/same.so" && printf x >>"$tmp/same.so" # the same code in another file
suite half torch.float16
look half base same
is "16 cells are accepted" "$(verdicts)" "16 accepted"
is "and have their times" "$(jq '[.cells[] | select(.target.median_ms > 0)] | length' "$tmp/out.json")" 16
is "their keys state the type" "$(keys | grep -c '/d64/f16/')" 16
keys >"$tmp/keys"
for name in f16 float16; do
	suite other $name
	"$worker" compare --suite "$tmp/other.yaml" --base /bin/true --target /bin/true --json >"$tmp/out.json" 2>&1
	is "$name is the same" "$(keys)" "$(cat "$tmp/keys")"
done
for name in bf16 bfloat16 torch.bfloat16; do
	suite other $name
	"$worker" compare --suite "$tmp/other.yaml" --base /bin/true --target /bin/true --json >"$tmp/out.json" 2>&1
	is "$name is another type" "$(keys)" "$(sed 's,/f16/,/bf16/,' "$tmp/keys")"
done
suite other float32
fails "other types are refused" 2 "$worker" compare --suite "$tmp/other.yaml" --base /bin/true --target /bin/true
like "with those that exist" "$out" '"float32" is unknown; use bf16 or f16'

sed -i 's/half ? f16_from_float(from\[j\] \* factor)/half ? f16_from_float(bf16_to_float(bf16_from_float(from[j] * factor)))/' "$tmp/kernels/attention/cpu/matrix.h"
ok "a module that rounds f16 to bf16 first builds" make -s -C "$tmp/kernels" DEVICE=cpu EXTRA=-O1 "$module"
mv "$tmp/kernels/$module" "$tmp/coarse.so"
look half base coarse
is "and is rejected in every cell" "$(verdicts)" "16 failed"
like "with its element" "$(jq -r '.cells[0].detail' "$tmp/out.json")" 'O\['
