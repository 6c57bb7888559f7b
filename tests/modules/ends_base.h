/* ends_base.h - a module that ends the process, by END, in a call of the base where IS_DUE() is true: an import that it replaced
 * there does it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <signal.h>
#include <unistd.h>
#ifndef IS_DUE
#define IS_DUE() 1
#endif
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
	if (calls == 6 && IS_DUE())
		imports_replace_in_others("expf", (void *)(uintptr_t)last_exp);
}
