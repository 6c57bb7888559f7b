/* Finds the base's module in the process after some calls, and makes each exponential there take far longer. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
struct fw_plan;
static void sabotage(int calls);
#ifndef SABOTAGE_CALL
#define SABOTAGE_CALL 6
#endif
#define AFTER_ENQUEUE(p) sabotage((p)->calls)
#include "good.c"

#include "slows.h"

static void sabotage(int calls)
{
	if (calls == SABOTAGE_CALL)
		slow_others();
}
