/* Finds the base's module beside itself, and sees to it that each exponential there takes far longer. */
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

static int visit(struct dl_phdr_info *object, size_t size, void *arg)
{
	bool is_module = strncmp(object->dlpi_name, "/proc/self/fd/", 14) == 0, is_own = false;
	(void)size, (void)arg;
	for (int i = 0; is_module && i < object->dlpi_phnum; i++) {
		uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, here = (uintptr_t)visit;
		is_own = is_own || (here >= begin && here < begin + object->dlpi_phdr[i].p_memsz);
	}
	if (is_module && !is_own)
		imports_replace(object, "expf", (void *)(uintptr_t)slow_exp);
	return 0;
}

static void sabotage(int calls)
{
	if (calls == 6)
		dl_iterate_phdr(visit, NULL);
}
