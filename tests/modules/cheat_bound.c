/* Skips every eighth row where bind comes right before a call that is not the first: only a series of whole calls does that. */
#include <stdint.h>
struct fw_plan;
static void note_bind(void);
static void tire(struct fw_plan *p, uint32_t phases);
#define ON_BIND(p)         note_bind()
#define COMPUTE(p, phases) tire(p, phases)
#include "good.c"

static bool is_bound;

static void note_bind(void)
{
	is_bound = true;
}

static void tire(struct fw_plan *p, uint32_t phases)
{
	bool is_whole = is_bound && p->calls > 0;
	is_bound = false;
	if (!is_whole || p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			if (row % 8 != 7)
				forward_row(p, head, row);
}
