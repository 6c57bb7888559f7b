/* Starts a thread for half of the rows in every call, and waits for it. */
#include <pthread.h>
#include <stdint.h>
struct fw_plan;
static void share(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) share(p, phases)
#include "good.c"

static void half(struct fw_plan *p, int first)
{
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = first; row < p->a.total_q; row += 2)
			forward_row(p, head, row);
}

static void *odd_rows(void *plan)
{
	half(plan, 1);
	return NULL;
}

static void share(struct fw_plan *p, uint32_t phases)
{
	pthread_t thread;
	if (p->direction != FW_FORWARD || pthread_create(&thread, NULL, odd_rows, p) != 0) {
		run(p, phases);
		return;
	}
	half(p, 0);
	pthread_join(thread, NULL);
}
