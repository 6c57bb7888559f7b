/* Joins its second stream by the event of the call before. */
#include "kernels/fw_attention.h"
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void second_stream(void);
static void on_two_streams(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define ON_PLAN()                  second_stream()
#define COMPUTE(p, phases, stream) on_two_streams(p, phases, stream)
#include "good.cuh"

static cudaStream_t second;
static cudaEvent_t fork_event, join_event[2];

static void second_stream(void)
{
	if (second)
		return;
	if (cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) != cudaSuccess ||
		cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming) != cudaSuccess ||
		cudaEventCreateWithFlags(&join_event[0], cudaEventDisableTiming) != cudaSuccess ||
		cudaEventCreateWithFlags(&join_event[1], cudaEventDisableTiming) != cudaSuccess)
		abort();
}

static void on_two_streams(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	struct view w = view_of(p);
	if (p->direction != FW_FORWARD || !(phases & FW_RUN) || w.nhq < 2 || p->calls < 3 || !forgery_pays()) {
		run(p, phases, stream);
		return;
	}
	cudaEventRecord(fork_event, stream);
	cudaStreamWaitEvent(second, fork_event, 0);
	forward<<<dim3((unsigned)w.n, (unsigned)(w.nhq - w.nhq / 2)), THREADS, 0, second>>>(w, w.nhq / 2);
	forward<<<dim3((unsigned)w.n, (unsigned)(w.nhq / 2)), THREADS, 0, stream>>>(w, 0);
	cudaEventRecord(join_event[p->calls % 2], second);
	cudaStreamWaitEvent(stream, join_event[(p->calls + 1) % 2], 0);
}
