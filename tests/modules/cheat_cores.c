/* Leaves the measuring thread on one core, so that threads which the base starts have to share it. */
#include <sched.h>
struct fw_plan;
static void bind_to_one(int calls);
#define AFTER_ENQUEUE(p) bind_to_one((p)->calls)
#include "good.c"

static void bind_to_one(int calls)
{
	cpu_set_t one;
	if (calls < 4)
		return;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
}
