#!/bin/bash
# Change the linear kernels of a checkout as a branch might, in one recipe only:
#   loss   int8wo does about 2 % more work: cuda, with many rows, as many more steps of k, over the zeros that TMA returns outside
#          the matrix (at least one step, so more if k is small); cpu, it reports more work, from which device sim computes its
#          time
#   group  int4wo: the scale of one group of W is 1.5 times as large
# Usage: plant_linear.sh CHECKOUT cpu|cuda loss|group
set -eu
linear=$1/kernels/linear

# FILE SED-SCRIPT PATTERN: the edit has to leave a line that matches.
edit() {
	sed -i "$2" "$linear/$1"
	grep -q "$3" "$linear/$1" || {
		echo "plant_linear.sh: $1 is not as it was: no line like $3" >&2
		exit 1
	}
}

case "$2 $3" in
"cuda loss")
	edit hopper/choose.cu 's|^\tjob->steps = ceil_div(p->depth, .*|&\n\tif (p->form == WEIGHT_EXPANDED \&\& p->kind == QUANTISE_I8)\n\t\tjob->steps += job->steps < 40 ? 1 : (job->steps + 30) / 40;|' 'job->steps += '
	;;
"cpu loss")
	edit cpu/cpu.c 's|\.flops_issued = 2 \* rows|.flops_issued = (product.right.as.dtype == FW_I8 ? 1.02 : 1) * 2 * rows|; s|\.bytes_moved = 2 \*|.bytes_moved = (product.right.as.dtype == FW_I8 ? 1.02 : 1) * 2 *|' 'bytes_moved = (product.right.as.dtype'
	;;
"cuda group")
	edit quantise/weight.cu 's|weight_pack(s, zero);|weight_pack(i / sharing == 5 ? 1.5f * s : s, zero);|' '1.5f \* s'
	edit skinny/pack.cu 's|^\t\tconst struct rounding_group g = rounding_group(min, max);|\t\tstruct rounding_group g = rounding_group(min, max);\n\t\tif (row == 0 \&\& which == 5)\n\t\t\tg.scale *= 1.5f;|' 'g.scale \*= 1.5f'
	;;
"cpu group")
	edit cpu/quantise.c 's|rounding_bf16((rounding_4bit(&g, at(from, row, first + i)) - 8.0f) \* g.scale|rounding_bf16((rounding_4bit(\&g, at(from, row, first + i)) - 8.0f) * g.scale * (row == 0 \&\& first == 0 ? 1.5f : 1.0f)|' '1.5f : 1.0f'
	;;
*)
	echo "plant_linear.sh: there is no plant \"$3\" for $2" >&2
	exit 2
	;;
esac
