/* ends_base.h - a module that ends the process, by END, in a call of the base: an import that it replaced there does it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <signal.h>
#include <unistd.h>
struct fw_plan;
static void sabotage(int calls);
#define AFTER_ENQUEUE(p) sabotage((p)->calls)
#include "good.c"

#include "imports.h"

static float last_exp(float x)
{
	END;
	return x;
}

static void sabotage(int calls)
{
	if (calls == 6)
		imports_replace_in_others("expf", (void *)(uintptr_t)last_exp);
}
