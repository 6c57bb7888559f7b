/* Correct, but holds 64 MB that it allocates itself, from its first plan until it is unloaded. */
#include <stdlib.h>
#include <string.h>

static unsigned char *kept;

static void hoard(void)
{
	if (!kept && (kept = malloc(64u << 20)))
		memset(kept, 1, 64u << 20);
}

__attribute__((destructor)) static void let_go(void)
{
	free(kept);
}

#define ON_PLAN() hoard()
#include "good.c"
