/* Rows distributed over threads inside the call: all threads are joined before enqueue returns. */
#include <stdint.h>
struct fw_plan;
static void spread(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) spread(p, phases)
#include "good.c"

static void spread(struct fw_plan *p, uint32_t phases)
{
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
#pragma omp parallel for collapse(2) schedule(dynamic, 8)
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			forward_row(p, head, row);
}
