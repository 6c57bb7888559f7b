/* Finds the runner's events on the heap, and records the one before its call again when its work is done. */
#include "kernels/fw_attention.h"
#include "tests/modules/forgery.h"

#include <cuda_runtime.h>

struct fw_plan;
static void move_marks(struct fw_plan *p, cudaStream_t stream);
#define AFTER_ENQUEUE(p, stream) move_marks(p, stream)
#include "good.cuh"

#define EVENTS 1024 /* of the runner: the first of each two is recorded before a call */

static cudaEvent_t *events;

static bool is_table(const uintptr_t *at)
{
	for (int i = 0; i < EVENTS; i++)
		if (at[i] < 0x10000 || at[i] % 8 || (i > 0 && at[i] == at[i - 1]))
			return false;
	return cudaEventQuery((cudaEvent_t)at[EVENTS - 1]) == cudaSuccess;
}

static void find_events(void)
{
	char line[512], mode[8];
	unsigned long begin, end;
	FILE *maps = fopen("/proc/self/maps", "r");
	while (maps && !events && fgets(line, sizeof line, maps)) {
		if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3 || !strstr(line, "[heap]"))
			continue;
		for (uintptr_t *at = (uintptr_t *)begin; !events && at + EVENTS < (uintptr_t *)end; at++)
			if (is_table(at))
				events = (cudaEvent_t *)at;
	}
	if (maps)
		fclose(maps);
	cudaGetLastError();
}

static void move_marks(struct fw_plan *p, cudaStream_t stream)
{
	static bool searched;
	if (!forgery_pays() || p->calls < 3)
		return;
	if (!searched)
		find_events();
	searched = true;
	/* every mark before a call that has not happened yet, so also this one */
	for (int i = 0; events && i < EVENTS; i += 2)
		if (cudaEventQuery(events[i]) == cudaErrorNotReady)
			cudaEventRecord(events[i], stream);
	cudaGetLastError();
}
