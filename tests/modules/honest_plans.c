/* Caches an order of rows, which depends on sizes only, from its first call on: plans may be cached, results may not. */
#include <stdint.h>
struct fw_plan;
static void follow(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) follow(p, phases)
#include "good.c"

static void follow(struct fw_plan *p, uint32_t phases)
{
	static struct {
		int rows, *order;
	} kept;
	int n = p->a.total_q;
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	if (kept.rows != n) {
		kept.order = realloc(kept.order, sizeof *kept.order * (size_t)n);
		for (int i = 0; i < n; i++)
			kept.order[i] = i % 2 ? n - 1 - i / 2 : i / 2; /* long rows of a causal mask next to short ones */
		kept.rows = n;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int i = 0; i < n; i++)
			forward_row(p, head, kept.order[i]);
}
