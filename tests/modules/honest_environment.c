/* Reads environment variables in every call, and sets one of its own. */
#include <stdlib.h>
struct fw_plan;
static void read_environment(void);
#define BEFORE_ENQUEUE(p) read_environment()
#include "good.c"

static void read_environment(void)
{
	const char *threads = getenv("OMP_NUM_THREADS"), *tile = getenv("HONEST_TILE");
	if (!tile)
		setenv("HONEST_TILE", threads ? threads : "64", 1);
}
