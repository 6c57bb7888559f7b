#!/bin/bash
# Make the attention kernels of a checkout slower by editing their source. CPU: a register block of one row and small tiles.
# CUDA: forward computes the scores of NEEDLESS of 1,000 steps twice (hopper.v2), or computes a similar number of unused products
# (hopper.v1). Results do not change.
# Usage: demo-slower.sh CHECKOUT cpu|cuda [NEEDLESS]     default: 500
set -eu
tree=$1 device=$2 needless=${3:-500}

# FILE SCRIPT: edit with awk; fails if SCRIPT fails.
edit() {
	awk -v n="$needless" "$2" "$1" >"$1.new"
	mv "$1.new" "$1"
}

case "$device" in
cuda)
	# The number is read at run time: the machine code is the same for every number, including 0.
	edit "$tree/kernels/attention/hopper/v2.h" '
		/^struct v2_job \{/ { inside = 1 }
		inside && /^};/ { print "\tuint32_t needless; /* of 1,000 steps, whose scores are multiplied twice */"; inside = 0; done = 1 }
		{ print }
		END { exit !done }'
	edit "$tree/kernels/attention/hopper/v2_forward.cu" '
		{
			places += gsub(/issue_scores<D>\(/, "needless_scores<D>(at, ")
			places += sub(/^\tuint32_t k, v;$/, "\tuint32_t k, v, needless, credit;")
			places += sub(/struct progress at = \{ 0, 0 \};/, "struct progress at = { 0, 0, job.needless, 0 };")
			places += sub(/v2_launch\(job,/, "v2_launch(\\&with,")
		}
		/^template <int D, bool MASKED>$/ && !defined++ {
			places++
			print "/* Scores of one step, and of some steps a second time. */"
			print "template <int D> SM90_DEVICE void needless_scores(struct progress &at, float (&s)[64], uint64_t rows, uint64_t keys)\n{"
			print "\tissue_scores<D>(s, rows, keys);"
			print "\tat.credit += at.needless;"
			print "\tif (at.credit >= 1000) {"
			print "\t\tat.credit -= 1000;"
			print "\t\tissue_scores<D>(s, rows, keys);"
			print "\t}\n}\n"
		}
		/^\treturn v2_launch\(/ { print "\tstruct v2_job with = *job;\n\twith.needless = " n ";" }
		{ print }
		END { exit places != 6 }'
	edit "$tree/kernels/attention/hopper/v1_forward.cu" '
		/float s\[M_TILES\]\[N_TILES\]\[4\];/ && !done {
			print "\t\t{"
			print "\t\t\tuint32_t rows[4], keys[4];"
			print "\t\t\tfloat again[4][4] = { { 1 }, { 2 }, { 3 }, { 4 } };"
			print "\t\t\tsm80_load4(rows, q_lane);"
			print "\t\t\tsm80_load4(keys, k_lane + stage);"
			print "#pragma unroll"
			print "\t\t\tfor (int i = 0; i < " int(n * 256 / 1000) "; i++)"
			print "\t\t\t\tsm80_mma(again[i & 3], rows, keys[i & 1], keys[2 + (i & 1)]);"
			print "\t\t\tif (again[0][0] + again[1][0] + again[2][0] + again[3][0] == 1e30f) /* never, but the compiler cannot know */"
			print "\t\t\t\trow_sum[0] = 0;"
			print "\t\t}"
			done = 1
		}
		{ print }
		END { exit !done }'
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
