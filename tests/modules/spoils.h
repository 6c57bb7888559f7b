/*
 * spoils.h - replaces the import of logf in every other module, so that the base's forward
 * leaves an infinite LSE where IS_DUE() is true.
 */
#include "degenerate.h"

static float infinite_log(float x)
{
	return IS_DUE() ? INFINITY : logf(x);
}

static void spoil_others(void)
{
	imports_replace_in_others("logf", (void *)(uintptr_t)infinite_log);
}

__attribute__((constructor)) static void lie_in_wait(void)
{
	imports_load_other();
	spoil_others();
}
