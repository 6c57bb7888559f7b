/* Does all of its work until the warm-up ends, and skips every eighth row from then on. */
#include <stdint.h>
struct fw_plan;
static void tire(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) tire(p, phases)
#include "good.c"

static void tire(struct fw_plan *p, uint32_t phases)
{
	if (p->calls < 6 || p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row += 8)
			forward_row(p, head, row);
}
