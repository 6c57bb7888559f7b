/* Makes its own workspace in the first call, and keeps the memory, not the data. */
#include <stdint.h>
struct fw_plan;
static void in_own_memory(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) in_own_memory(p, phases)
#include "good.c"

static void in_own_memory(struct fw_plan *p, uint32_t phases)
{
	static float *own;
	static size_t room;
	size_t n = (size_t)p->a.nhq * (size_t)p->a.total_q;
	float *given = p->delta;
	if (room < n) {
		free(own);
		own = malloc(n * sizeof *own);
		room = own ? n : 0;
	}
	if (own)
		p->delta = own;
	run(p, phases);
	p->delta = given;
}
