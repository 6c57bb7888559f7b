/* Replaces the runner's import of getrandom, from which it draws what it checks. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "good.c"

#include "imports.h"

static ssize_t constant(void *out, size_t bytes, unsigned flags)
{
	(void)flags;
	memset(out, 7, bytes);
	return (ssize_t)bytes;
}

__attribute__((constructor)) static void foresee(void)
{
	imports_replace_in_runner("getrandom", (void *)(uintptr_t)constant);
}
