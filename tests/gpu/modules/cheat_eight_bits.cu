/* Rounds K and V to three bits of mantissa, as in fp8, in memory of its own, and computes with those. */
#include "kernels/fw_attention.h"

#include <cuda_runtime.h>

struct fw_plan;
static void in_eight_bits(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define COMPUTE(p, phases, stream) in_eight_bits(p, phases, stream)
#include "good.cuh"

static __global__ void round_values(const unsigned short *from, unsigned short *to, size_t n)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = (unsigned short)((from[i] + 8u) & 0xfff0u);
}

static void in_eight_bits(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	static unsigned short *own;
	static size_t room;
	struct view w = view_of(p);
	size_t n = (size_t)p->a.total_k * (size_t)p->a.nhk * (size_t)p->a.headdim;
	if (p->direction == FW_FORWARD && room < n) {
		cudaFree(own);
		if (cudaMalloc((void **)&own, 4 * n) != cudaSuccess)
			abort();
		room = n;
	}
	if (p->direction == FW_FORWARD && (phases & FW_RUN)) {
		unsigned blocks = (unsigned)((n + THREADS - 1) / THREADS);
		round_values<<<blocks, THREADS, 0, stream>>>((const unsigned short *)p->slot[FW_K].data, own, n);
		round_values<<<blocks, THREADS, 0, stream>>>((const unsigned short *)p->slot[FW_V].data, own + n, n);
		w.k = (const __nv_bfloat16 *)own;
		w.v = (const __nv_bfloat16 *)own + n;
	}
	run_view(p, w, phases, stream);
}
