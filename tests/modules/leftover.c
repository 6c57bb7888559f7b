/* Correct, but each plan leaves another rounding mode, denormals flushed to zero and 4 MiB of memory behind. */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
static void litter(void)
{
	static char *volatile kept;
	kept = malloc(4 << 20);
	if (kept)
		memset(kept, 1, 4 << 20);
	fesetround(FE_TOWARDZERO);
#ifdef __SSE2__
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040u);
#endif
}
#define ON_PLAN() litter()
#include "good.c"
