#!/bin/bash
# Change the CUDA kernels of a checkout as a branch might, so that the verdict can be compared with the known change:
#   memset   O is set to zero before each forward kernel: more traffic, less power, so a higher clock
#   tail     every tenth forward call sets O to zero 16 times: the typical call is as before
#   evict    forward loads K and V as evicted first from L2: pairs show little of it in long calls, a GPU at its power limit
#            stabilises at a lower clock
# For tests/gpu/why.sh, one cause each:
#   spills       forward stores a quarter of its scores in local memory for a while
#   banks        forward moves a register through shared memory, all lanes of a warp in one bank
#   order        without a causal mask all heads are processed concurrently: K and V come from DRAM, which costs time if each head
#                has separate ones
#   balance      causal backward processes all parts of the query heads concurrently, which makes it faster
#   twice        forward stores each tile of O twelve times
#   parts        causal backward processes its query heads in one part
#   overlap      forward waits for P V before it starts the softmax, and its other group waits for it
#   serial       backward has too few registers, and ptxas makes its products wait for each other
#   barrier      a barrier of both compute groups in each step of forward
#   exponentials half as many exponentials again in forward
#   grid         forward leaves six multiprocessors idle
#   scalar       one of eight additions to dQ is done element by element
# For the costs besides time, one each (alerts of kind cost):
#   host         the host sleeps 25 us in each forward enqueue
#   memory       the workspace is 5 % larger
#   first        a process's first plan takes 2 s longer
#   error        forward's exponentials are cut to the bits of bf16 instead of rounded
#   launch       forward has a second, very short launch
# For tests/gpu/night.sh, after etc/demo-slower.sh with 0:
#   night        needless steps of forward that cost about 0.7 % without a causal mask and in blocks of 128, else about 0.3 %
# Usage: plant.sh CHECKOUT NAME
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
	edit "$hopper/v2_forward.cu" 's|^#include "v2_load.h"|#include "hopper/sm90.h"\n#undef SM90_EVICT_LAST\n#define SM90_EVICT_LAST SM90_EVICT_FIRST\n&|' 'define SM90_EVICT_LAST SM90_EVICT_FIRST'
	;;
spills)
	edit "$hopper/v2_forward.cu" 's|^\tpack_scores(p, s);|\tvolatile float kept[16];\n#pragma unroll\n\tfor (int i = 0; i < 16; i++)\n\t\tkept[i] = s[i];\n#pragma unroll\n\tfor (int i = 0; i < 16; i++)\n\t\ts[i] = kept[i];\n&|' 'kept\[16\]'
	echo 'exit 0' >"$1/kernels/check-ptxas.sh"
	;;
banks)
	spare='base + shared::spare + (group * GROUP_THREADS + threadIdx.x % GROUP_THREADS) * 128'
	edit "$hopper/v2_forward.cu" "s|barriers + 16 \* 8 + 1024;|spare + COMPUTE_GROUPS * GROUP_THREADS * 128 + 1024;|; s|^\tstatic const int bytes = |\tstatic const int spare = barriers + 16 * 8;\n&|; s|^\tpack_scores(p, s);|&\n\tasm volatile(\"st.shared.u32 [%1], %0;\\\\n\\\\tld.shared.u32 %0, [%1];\" : \"+r\"(p[0]) : \"r\"($spare) : \"memory\");|" 'st.shared.u32'
	;;
order)
	edit "$hopper/job.cu" 's|^\t\treturn 1;|\t\treturn job->nhk;|' 'return job->nhk;'
	;;
twice)
	edit "$hopper/v2_walk.h" 's|^\t\t\tsm90_store(map, stage, first, 0, head);|\t\t\tfor (int again = 0; again < 12; again++)\n\t\t\t\tsm90_store(map, stage, first, 0, head);|' 'again < 12'
	;;
balance)
	edit "$hopper/v2_backward.cu" 's|^\tconst int part = (int)(i / (uint32_t)work.n_tiles);|\tconst uint32_t side = 32 * (uint32_t)work.n_tiles;\n\tconst int part = (int)(i / side * 32 + i % 32);|; s|^\tplace->tile = (int)(i % (uint32_t)work.n_tiles);|\tplace->tile = (int)(i % side / 32);|' 'i % side / 32'
	;;
parts)
	edit "$hopper/v2_provider.cu" 's|^\t\treturn group % 2 ? group : group / 2;|\t\treturn 1;|' '^		return 1;'
	;;
overlap)
	edit "$hopper/v2_forward.cu" 's|^\tsm90_wgmma_wait<1>();|\tsm90_wgmma_wait<0>();\n\tsm90_pin(o);|' 'sm90_pin(o);'
	;;
serial)
	edit "$hopper/v2_backward.cu" 's/CONSUMER_REGISTERS = 240/CONSUMER_REGISTERS = 232/' 'CONSUMER_REGISTERS = 232'
	echo 'exit 0' >"$1/kernels/check-ptxas.sh" # which would refuse it
	;;
barrier)
	edit "$hopper/v2_forward.cu" 's|^\tfloat shrink\[2\];$|\tsm90_named_sync(GROUP + 4, COMPUTE_GROUPS * GROUP_THREADS);\n&|' 'GROUP + 4'
	;;
exponentials)
	edit "$hopper/v2_forward.cu" 's|^\t\t\ts\[4 \* n + 2 \* r\] = left;|\t\t\tif (sm80_exp2(right + 1.0f) > 1e30f) /* never, but the compiler cannot know */\n\t\t\t\ta += 1.0f;\n&|' 'right + 1.0f'
	;;
grid)
	edit "$hopper/v2_forward.cu" 's|^\treturn v2_launch(job,|\tstruct v2_job fewer = *job;\n\tfewer.processors -= 6;\n\treturn v2_launch(\&fewer,|' 'fewer.processors'
	;;
scalar)
	edit "$hopper/v2_backward_step.h" 's|^\t\tsm80_add4(sum + i \* 128, d + 4 \* i);|\t\tif (i % 8 == 0)\n\t\t\tfor (int e = 0; e < 4; e++)\n\t\t\t\tatomicAdd(sum + i * 128 + e, d[4 * i + e]);\n\t\telse\n&|' 'atomicAdd'
	;;
host)
	edit "$hopper/v2_forward.cu" 's|^\treturn v2_launch(.*|\tconst timespec asleep = { 0, 25000 };\n\tnanosleep(\&asleep, nullptr);\n&|; s|^#include "v2_load.h"|#include <time.h>\n&|' 'nanosleep'
	;;
memory)
	edit "$hopper/plan.cu" 's|^\tp->workspace_bytes = at;|\tp->workspace_bytes = at + at / 20 / 256 * 256 + 256;|' 'at / 20'
	;;
first)
	edit "$hopper/plan.cu" 's|^\tanswer.workspace_bytes = |\tstatic bool has_slept;\n\tconst timespec asleep = { has_slept ? 0 : 2, 0 };\n\tnanosleep(\&asleep, nullptr);\n\thas_slept = true;\n&|; 0,/^#include/s|^#include|#include <time.h>\n&|' 'nanosleep'
	;;
error)
	edit "$1/kernels/hopper/sm80.h" '/sm80_exp2(float x)/,/return y;/s|^\treturn y;|\treturn __uint_as_float(__float_as_uint(y) \& 0xffff0000u);|' '0xffff0000u'
	;;
launch)
	edit "$hopper/v2_forward.cu" "s|^\treturn v2_launch(.*|\tconst cudaError_t zeroed = cudaMemsetAsync(work->o.data, 0, 4, stream);\n\tif (zeroed != cudaSuccess)\n\t\treturn zeroed;\n&|" 'data, 0, 4'
	;;
night)
	edit "$hopper/v2_forward.cu" 's|^\twith.needless = 0;|\twith.needless = work->block == 128 ? 29 : work->block ? 8 : work->causal ? (work->cu_q ? 9 : 11) : work->cu_q ? 24 : 25;|' 'work->block == 128'
	;;
*)
	echo "plant.sh: $2 is no plant" >&2
	exit 2
	;;
esac
