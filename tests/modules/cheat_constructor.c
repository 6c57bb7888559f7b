/* Makes each exponential of the base's module take far longer as soon as this module is loaded, or the base's after it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include "good.c"

#include "slows.h"

__attribute__((constructor)) static void sabotage(void)
{
	imports_load_other();
	slow_others();
}
