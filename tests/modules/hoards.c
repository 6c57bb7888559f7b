/* Right, but keeps 64 MB of its own from its first plan on, which nobody gave it. */
#include <stdlib.h>
#include <string.h>

static void hoard(void)
{
	static unsigned char *kept;
	if (!kept && (kept = malloc(64u << 20)))
		memset(kept, 1, 64u << 20);
}

#define ON_PLAN() hoard()
#include "good.c"
