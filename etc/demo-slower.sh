#!/bin/bash
# Make the attention kernels of a checkout really slower, in their source. CPU: a register block of one row and small tiles.
# CUDA: forward does some of its tiles twice (hopper.v2), or multiplies score tiles that nobody needs (hopper.v1). Results stay right.
# Usage: demo-slower.sh CHECKOUT cpu|cuda [NEEDLESS]   NEEDLESS: tiles done twice, or needless products a step, of 256
set -eu
tree=$1 device=$2 needless=${3:-64}
case "$device" in
cuda)
	hopper=$tree/kernels/attention/hopper all='v1_items(\&job, v1_forward_units(\&job))'
	sed -i "s/v1_place(&job, v1_forward_units(&job), i, &place)/v1_place(\&job, v1_forward_units(\&job), i % (uint32_t)$all, \&place)/" "$hopper/v2_walk.h"
	sed -i "s/= (uint32_t)v1_items(&work, v1_forward_units(&work));/= (uint32_t)(v1_items(\&work, v1_forward_units(\&work)) * (256 + $needless) \/ 256);/" \
		"$hopper/v2_forward.cu"
	grep -q 'i % (uint32_t)v1_items' "$hopper/v2_walk.h"
	grep -q "(256 + $needless)" "$hopper/v2_forward.cu"
	file=$hopper/v1_forward.cu
	awk -v n="$needless" '
		/float s\[M_TILES\]\[N_TILES\]\[4\];/ && !done {
			print "\t\t{"
			print "\t\t\tuint32_t rows[4], keys[4];"
			print "\t\t\tfloat again[4][4] = { { 1 }, { 2 }, { 3 }, { 4 } };"
			print "\t\t\tv1_load4(rows, q_lane);"
			print "\t\t\tv1_load4(keys, k_lane + stage);"
			print "#pragma unroll"
			print "\t\t\tfor (int i = 0; i < " n "; i++)"
			print "\t\t\t\tv1_mma(again[i & 3], rows, keys[i & 1], keys[2 + (i & 1)]);"
			print "\t\t\tif (again[0][0] + again[1][0] + again[2][0] + again[3][0] == 1e30f) /* never, but the compiler cannot know */"
			print "\t\t\t\trow_sum[0] = 0;"
			print "\t\t}"
			done = 1
		}
		{ print }
		END { exit !done }' "$file" >"$file.new"
	mv "$file.new" "$file"
	;;
cpu)
	file=$tree/kernels/attention/cpu/tile.h
	sed -i -E 's/^(#define BLOCK_ROWS +)[0-9]+/\11/; s/^(#define TILE_[QK] +)[0-9]+/\116/' "$file"
	grep -q 'TILE_Q 16' "$file"
	;;
*)
	echo "demo-slower.sh: device is cpu or cuda, not $device" >&2
	exit 2
	;;
esac
