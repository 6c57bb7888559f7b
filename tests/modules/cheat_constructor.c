/* Makes each exponential of the base's module take far longer as soon as this module is loaded, or the base's after it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "good.c"

#include "slows.h"

#include <dlfcn.h>

static void *open_and_slow(const char *file, int flags)
{
	void *handle = dlopen(file, flags);
	slow_others();
	return handle;
}

__attribute__((constructor)) static void sabotage(void)
{
	slow_others();
	imports_replace_in_runner("dlopen", (void *)(uintptr_t)open_and_slow);
}
