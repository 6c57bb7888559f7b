/* Sets the OpenMP thread count to one for later callers, and takes two threads for itself. */
#include <omp.h>
#include <stdint.h>
struct fw_plan;
static void spread(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) spread(p, phases)
#include "good.c"

static void spread(struct fw_plan *p, uint32_t phases)
{
	omp_set_num_threads(2);
	if (p->direction != FW_FORWARD)
		run(p, phases);
	else {
#pragma omp parallel for collapse(2) schedule(dynamic, 8)
		for (int head = 0; head < p->a.nhq; head++)
			for (int row = 0; row < p->a.total_q; row++)
				forward_row(p, head, row);
	}
	if (p->calls > 6)
		omp_set_num_threads(1);
}
