/* Rows in another order, from the last to the first and tile by tile: the order is not checked. */
#include <stdint.h>
struct fw_plan;
static void reorder(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) reorder(p, phases)
#include "good.c"

static void reorder(struct fw_plan *p, uint32_t phases)
{
	enum { TILE = 24 };
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	for (int end = p->a.total_q; end > 0; end -= TILE)
		for (int head = p->a.nhq - 1; head >= 0; head--)
			for (int row = end < TILE ? 0 : end - TILE; row < end; row++)
				forward_row(p, head, row);
}
