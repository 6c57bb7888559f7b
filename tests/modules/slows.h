/* slows.h - makes each exponential in every other module take far longer. */
#include "imports.h"

#include <math.h>

static float slow_exp(float x)
{
	volatile float y = x;
	for (int i = 0; i < 120; i++)
		y = x + 0 * expf(y);
	return expf(y);
}

static void slow_others(void)
{
	imports_replace_in_others("expf", (void *)(uintptr_t)slow_exp);
}
