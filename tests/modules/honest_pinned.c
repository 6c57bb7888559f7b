/* Starts a thread in every call, bound to a core of its own and with a small stack, and joins it. */
#include <pthread.h>
#include <sched.h>
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
	pthread_attr_t attr;
	cpu_set_t mine, one;
	if (p->direction != FW_FORWARD || pthread_attr_init(&attr) != 0) {
		run(p, phases);
		return;
	}
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof mine, &mine) == 0)
		for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
			if (CPU_ISSET(i, &mine) && i != sched_getcpu())
				CPU_SET(i, &one);
	if (CPU_COUNT(&one) > 0)
		pthread_attr_setaffinity_np(&attr, sizeof one, &one);
	pthread_attr_setstacksize(&attr, 1 << 18);
	bool started = pthread_create(&thread, &attr, odd_rows, p) == 0;
	half(p, 0);
	if (started)
		pthread_join(thread, NULL);
	else
		half(p, 1);
	pthread_attr_destroy(&attr);
}
