/* streams.cuh - half of the heads of a forward on a second stream, which begins at the current point of the given stream and,
 * with JOIN, ends before it. */
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
static cudaEvent_t fork_event, join_event;

static void second_stream(void)
{
	if (!second && (cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) != cudaSuccess ||
			       cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming) != cudaSuccess ||
			       cudaEventCreateWithFlags(&join_event, cudaEventDisableTiming) != cudaSuccess))
		abort();
}

static void on_two_streams(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	struct view w = view_of(p);
	bool join = JOIN(p);
	if (p->direction != FW_FORWARD || !(phases & FW_RUN) || w.nhq < 2) {
		run(p, phases, stream);
		return;
	}
	cudaEventRecord(fork_event, stream);
	cudaStreamWaitEvent(second, fork_event, 0);
	forward<<<dim3((unsigned)w.n, (unsigned)(w.nhq - w.nhq / 2)), THREADS, 0, second>>>(w, w.nhq / 2);
	forward<<<dim3((unsigned)w.n, (unsigned)(w.nhq / 2)), THREADS, 0, stream>>>(w, 0);
	if (join) {
		cudaEventRecord(join_event, second);
		cudaStreamWaitEvent(stream, join_event, 0);
	}
}
