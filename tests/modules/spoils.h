/*
 * spoils.h - replaces the import of logf in every other module, also in one that is loaded later, so that the base's forward
 * leaves an infinite LSE where IS_DUE() is true.
 */
#include "degenerate.h"

#include <dlfcn.h>

static float infinite_log(float x)
{
	return IS_DUE() ? INFINITY : logf(x);
}

static void spoil_others(void)
{
	imports_replace_in_others("logf", (void *)(uintptr_t)infinite_log);
}

static void *open_and_spoil(const char *file, int flags)
{
	void *handle = dlopen(file, flags);
	spoil_others();
	return handle;
}

__attribute__((constructor)) static void lie_in_wait(void)
{
	spoil_others();
	imports_replace_in_runner("dlopen", (void *)(uintptr_t)open_and_spoil);
}
