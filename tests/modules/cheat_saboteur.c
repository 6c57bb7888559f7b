/* Finds the base's module in the process, and makes each exponential there take far longer. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
struct fw_plan;
static void sabotage(int calls);
#define AFTER_ENQUEUE(p) sabotage((p)->calls)
#include "good.c"

#include "imports.h"

static float slow_exp(float x)
{
	volatile float y = x;
	for (int i = 0; i < 120; i++)
		y = x + 0 * expf(y);
	return expf(y);
}

static void sabotage(int calls)
{
	if (calls == 6)
		imports_replace_in_others("expf", (void *)(uintptr_t)slow_exp);
}
