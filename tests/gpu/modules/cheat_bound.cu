/* Skips a head where bind comes right before a call that is not the first: only a series of whole calls does that. */
#include "kernels/fw_attention.h"

#include <cuda_runtime.h>

struct fw_plan;
static void note_bind(void);
static void tire(struct fw_plan *p, uint32_t phases, cudaStream_t stream);
#define ON_BIND(p)                 note_bind()
#define COMPUTE(p, phases, stream) tire(p, phases, stream)
#include "good.cuh"

static bool is_bound;

static void note_bind(void)
{
	is_bound = true;
}

static void tire(struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	struct view w = view_of(p);
	bool is_whole = is_bound && p->calls > 0;
	is_bound = false;
	if (!is_whole || p->direction != FW_FORWARD || !(phases & FW_RUN))
		run(p, phases, stream);
	else
		forward<<<dim3((unsigned)w.n, (unsigned)w.nhq - 1), THREADS, 0, stream>>>(w, 0);
}
