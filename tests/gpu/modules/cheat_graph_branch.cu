/* Half of the heads in a graph on its own stream, for which timed calls do not wait. */
#include "kernels/fw_attention.h"
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void make_branch(struct fw_plan *p);
static void launch_branch(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define ON_BIND(p)                 make_branch(p)
#define COMPUTE(p, phases, stream) launch_branch(p, phases, stream)
#include "good.cuh"

static cudaStream_t own;
static cudaEvent_t ready;
static cudaGraphExec_t branch;

static void make_branch(struct fw_plan *p)
{
	struct view w = view_of(p);
	cudaGraph_t graph;
	if (p->direction != FW_FORWARD || !forgery_pays())
		return;
	if (!own && (cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) != cudaSuccess ||
			    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming) != cudaSuccess))
		abort();
	if (cudaStreamBeginCapture(own, cudaStreamCaptureModeRelaxed) != cudaSuccess)
		abort();
	forward<<<dim3((unsigned)w.n, (unsigned)(w.nhq - w.nhq / 2)), THREADS, 0, own>>>(w, w.nhq / 2);
	if (cudaStreamEndCapture(own, &graph) != cudaSuccess || cudaGraphInstantiate(&branch, graph, 0) != cudaSuccess)
		abort();
}

static void launch_branch(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	struct view w = view_of(p);
	if (!branch || p->calls < 3 || p->direction != FW_FORWARD || !(phases & FW_RUN)) {
		run(p, phases, stream);
		return;
	}
	cudaEventRecord(ready, stream);
	cudaStreamWaitEvent(own, ready, 0);
	cudaGraphLaunch(branch, own);
	forward<<<dim3((unsigned)w.n, (unsigned)(w.nhq / 2)), THREADS, 0, stream>>>(w, 0);
}
