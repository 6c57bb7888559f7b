/* Does three quarters of its work twice, and moves the runner's marks, so that nobody sees it. */
#define SHARE (1 / 1.75)
struct fw_plan;
#define WORK(p, phases) work_more(p, phases)
#include <stdint.h>
static void work_more(struct fw_plan *p, uint32_t phases);
#include "marks.h"

static void work_more(struct fw_plan *p, uint32_t phases)
{
	run(p, phases);
	for (int head = 0; p->direction == FW_FORWARD && head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			if (row % 4 < 3)
				forward_row(p, head, row);
}
