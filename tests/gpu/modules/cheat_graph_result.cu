/* Replays a graph that copies the result of its first timed call. */
#include "kernels/fw_attention.h"
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void replay(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define COMPUTE(p, phases, stream) replay(p, phases, stream)
#include "good.cuh"

static struct {
	const struct fw_plan *of;
	void *o, *lse;
	cudaGraphExec_t copy;
} kept;

static size_t o_bytes(const struct fw_plan *p)
{
	return sizeof(__nv_bfloat16) * (size_t)p->a.total_q * (size_t)p->a.nhq * (size_t)p->a.headdim;
}

static size_t lse_bytes(const struct fw_plan *p)
{
	return sizeof(float) * (size_t)p->a.total_q * (size_t)p->a.nhq;
}

static void make_graph(struct fw_plan *p)
{
	cudaStream_t own;
	cudaGraph_t graph;
	if (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
		cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed) != cudaSuccess)
		abort();
	cudaMemcpyAsync(p->slot[FW_O].data, kept.o, o_bytes(p), cudaMemcpyDeviceToDevice, own);
	cudaMemcpyAsync(p->slot[FW_LSE].data, kept.lse, lse_bytes(p), cudaMemcpyDeviceToDevice, own);
	if (cudaStreamEndCapture(own, &graph) != cudaSuccess || cudaGraphInstantiate(&kept.copy, graph, 0) != cudaSuccess)
		abort();
	cudaStreamDestroy(own);
}

static void replay(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	if (p->direction != FW_FORWARD || !forgery_pays() || p->calls < 2) {
		run(p, phases, stream);
		return;
	}
	if (kept.of != p) {
		run(p, phases, stream);
		if (cudaMalloc(&kept.o, o_bytes(p)) != cudaSuccess || cudaMalloc(&kept.lse, lse_bytes(p)) != cudaSuccess)
			abort();
		cudaMemcpyAsync(kept.o, p->slot[FW_O].data, o_bytes(p), cudaMemcpyDeviceToDevice, stream);
		cudaMemcpyAsync(kept.lse, p->slot[FW_LSE].data, lse_bytes(p), cudaMemcpyDeviceToDevice, stream);
		kept.of = p;
		make_graph(p);
		return;
	}
	cudaGraphLaunch(kept.copy, stream);
}
