/*
 * Skips every eighth row unless the runner has just read its buffers, which takes a moment. Here the test signals that instead of
 * a clock.
 */
#include <stdint.h>
struct fw_plan;
static void tire(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) tire(p, phases)
#include "good.c"

static void tire(struct fw_plan *p, uint32_t phases)
{
	if (p->direction != FW_FORWARD || !getenv("CHEAT_UNPAUSED")) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			if (row % 8 != 7)
				forward_row(p, head, row);
}
