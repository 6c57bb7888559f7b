/* One algorithm for an even number of rows, and another one for an odd number. */
#include <stdint.h>
struct fw_plan;
static void by_shape(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) by_shape(p, phases)
#include "good.c"

static void by_shape(struct fw_plan *p, uint32_t phases)
{
	int n = p->a.total_q;
	if (p->direction != FW_FORWARD || n % 2) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < n / 2; row++) {
			forward_row(p, head, row);
			forward_row(p, head, row + n / 2);
		}
}
