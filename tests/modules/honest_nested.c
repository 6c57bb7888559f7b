/* A thread that starts threads, all of which have ended when the call is done. */
#include <pthread.h>
#include <stdint.h>
struct fw_plan;
static void divide(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) divide(p, phases)
#include "good.c"

struct part {
	struct fw_plan *p;
	int first, end;
};

static void *compute(void *arg)
{
	const struct part *part = arg;
	int middle = (part->first + part->end) / 2;
	struct part right = { part->p, middle, part->end };
	pthread_t thread;
	if (part->end - part->first > 40 && pthread_create(&thread, NULL, compute, &right) == 0) {
		struct part left = { part->p, part->first, middle };
		compute(&left);
		pthread_join(thread, NULL);
		return NULL;
	}
	for (int head = 0; head < part->p->a.nhq; head++)
		for (int row = part->first; row < part->end; row++)
			forward_row(part->p, head, row);
	return NULL;
}

static void divide(struct fw_plan *p, uint32_t phases)
{
	struct part all = { p, 0, p->a.total_q };
	if (p->direction == FW_FORWARD)
		compute(&all);
	else
		run(p, phases);
}
