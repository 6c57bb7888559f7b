#!/bin/bash
# Make the attention kernels of a checkout really slower, in their source. CPU: a register block of one row and small tiles.
# CUDA: the forward kernel multiplies some score tiles that nobody needs. Results stay right.
# Usage: demo-slower.sh CHECKOUT cpu|cuda [NEEDLESS]   NEEDLESS: extra products a step, of 256 that are needed
set -eu
tree=$1 device=$2 needless=${3:-64}
case "$device" in
cuda)
	file=$tree/kernels/attention/hopper/v1_forward.cu
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
