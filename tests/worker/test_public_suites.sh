#!/bin/bash
# The suites for public systems, with few and narrow heads and at their shortest length, so that the plain C kernel runs them:
# every cell is accepted and timed, and cells that a provider does not compute are unsupported, with its reason.
. "$(dirname "$0")/../support/tap.sh"
. "$(dirname "$0")/../support/kernels.sh"
worker=$bin/flopwatch-worker
module=$tmp/kernels/build/cpu/libattention.so
copy_kernels "$tmp/kernels"
make -s -C "$tmp/kernels" DEVICE=cpu || exit 1
cp "$module" "$tmp/other.so" && printf x >>"$tmp/other.so" # the same code in another file
reduced() { # suite, common, cells
	sed "s/^common: .*/common: {$2, dtype: bf16}/" "$root/etc/suites/$1.yaml" >"$tmp/$1.yaml"
	"$worker" compare --suite "$tmp/$1.yaml" --cells "$3" --device cpu --base "$module" --target "$tmp/other.so" --quick --json \
		>"$tmp/out.json" 2>"$tmp/err"
}
each() { jq -r "[.cells[] | $1] | unique | join(\" \")" "$tmp/out.json"; }
check() { # suite, cells, how many
	reduced "$1" 'nhq: 2, nhk: 1, headdim: 32' "$2"
	is "$1: all that it asks of a short case is there" "$(jq '.cells | length' "$tmp/out.json")" "$3"
	is "is accepted" "$(each 'select(.verdict | IN("failed", "rejected", "unsupported", "not_comparable")) | .cell + " " + (.detail // "")')" ""
	is "and timed on both sides" "$(each '(.base.median_ms > 0 and .target.median_ms > 0)')" true
}
check bubble '*/s512/r0.5/*forward */dense/full/s512/*forward' 5
check ws '*/s128/*' 4
check ws-2x16x64 '*/s256/*' 4
check traffic '*/s2048/*/b128/*forward' 1
reduced bubble 'nhq: 2, nhk: 1, headdim: 40' '*/s512/r0.5/*forward'
is "heads that a kernel does not do are unsupported" "$(each .verdict)" unsupported
like "with its reason" "$(each .detail)" 'head dimensions must be equal, a multiple of 32, at most 256'
