#!/bin/bash
# Change the CUDA kernels of a checkout as a branch might, so that what the verdict says can be held against what is known:
#   memset   O is set to zero before each forward kernel: more traffic, less power, so a higher clock
#   tail     every tenth forward call sets O to zero 16 times: the typical call is as before
#   evict    forward loads K and V as evicted first from L2: pairs see little of it in long calls, a GPU at its power limit settles at a
#            lower clock
# Usage: plant.sh CHECKOUT memset|tail|evict
set -eu
hopper=$1/kernels/attention/hopper

# FILE SED-SCRIPT PATTERN: the edit has to leave a line that matches.
edit() {
	sed -i "$2" "$1"
	grep -q "$3" "$1" || {
		echo "plant.sh: $1 is not as it was: no line like $3" >&2
		exit 1
	}
}

zero='cudaMemsetAsync(work->o.data, 0, (size_t)work->total_q * work->nhq * work->headdim * 2, stream)'
case "$2" in
memset)
	edit "$hopper/v2_forward.cu" "s|^\treturn v2_launch(.*|\tconst cudaError_t zeroed = $zero;\n\tif (zeroed != cudaSuccess)\n\t\treturn zeroed;\n&|" cudaMemsetAsync
	;;
tail)
	edit "$hopper/v2_forward.cu" "s|^\treturn v2_launch(.*|\tstatic unsigned calls;\n\tcudaError_t zeroed = cudaSuccess;\n\tif (++calls % 10 == 0)\n\t\tfor (int i = 0; i < 16 \&\& zeroed == cudaSuccess; i++)\n\t\t\tzeroed = $zero;\n\tif (zeroed != cudaSuccess)\n\t\treturn zeroed;\n&|" 'calls % 10'
	;;
evict)
	edit "$hopper/v2_forward.cu" 's|^#include "v2_load.h"|#include "sm90.h"\n#undef SM90_EVICT_LAST\n#define SM90_EVICT_LAST SM90_EVICT_FIRST\n&|' 'define SM90_EVICT_LAST SM90_EVICT_FIRST'
	;;
*)
	echo "plant.sh: memset, tail or evict, not $2" >&2
	exit 2
	;;
esac
