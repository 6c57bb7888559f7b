/*
 * keeps.cuh - attention on copies of K and V in its own device memory, and a backward whose softmax is there: correct when that
 * is done in every call (KEEP 0), stale when only the first call on a plan does it (KEEP 1).
 */
#include "kernels/fw_attention.h"

#include <cuda_runtime.h>

struct fw_plan;
static void own_memory(struct fw_plan *p);
static void from_own_memory(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define ON_BIND(p)                 own_memory(p)
#define COMPUTE(p, phases, stream) from_own_memory(p, phases, stream)
#include "good.cuh"

static struct {
	const struct fw_plan *of;
	bool made;
	void *k, *v;
	float *weight;
} own;

static size_t kv_bytes(const struct fw_plan *p)
{
	return sizeof(__nv_bfloat16) * (size_t)p->a.total_k * (size_t)p->a.nhk * (size_t)p->a.headdim;
}

static void own_memory(struct fw_plan *p)
{
	size_t pairs = (size_t)p->a.nhq * (size_t)p->a.total_q * (size_t)p->a.total_k;
	if (own.of == p)
		return;
	cudaFree(own.k);
	cudaFree(own.v);
	cudaFree(own.weight);
	if (cudaMalloc(&own.k, kv_bytes(p)) != cudaSuccess || cudaMalloc(&own.v, kv_bytes(p)) != cudaSuccess ||
		cudaMalloc((void **)&own.weight, sizeof(float) * pairs) != cudaSuccess)
		abort();
	own.of = p;
	own.made = false;
}

static void from_own_memory(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	struct view w = view_of(p);
	bool due = !(KEEP) || !own.made;
	if (phases & FW_RUN)
		own.made = true;
	if (p->direction == FW_FORWARD) {
		if (due && (phases & FW_RUN)) {
			cudaMemcpyAsync(own.k, w.k, kv_bytes(p), cudaMemcpyDeviceToDevice, stream);
			cudaMemcpyAsync(own.v, w.v, kv_bytes(p), cudaMemcpyDeviceToDevice, stream);
		}
		w.k = (const __nv_bfloat16 *)own.k;
		w.v = (const __nv_bfloat16 *)own.v;
	} else {
		if (due && (phases & FW_RUN))
			weights<<<dim3((unsigned)w.n, (unsigned)w.nhq), THREADS, 0, stream>>>(w, own.weight);
		w.weight = own.weight;
	}
	run_view(p, w, phases, stream);
}
