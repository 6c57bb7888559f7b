/* Makes the C library map and unmap memory for every allocation of the base. */
#include <malloc.h>
struct fw_plan;
static void make_slow(int calls);
#define AFTER_ENQUEUE(p) make_slow((p)->calls)
#include "good.c"

static void make_slow(int calls)
{
	if (calls == 4) {
		mallopt(M_MMAP_THRESHOLD, 1024);
		mallopt(M_TRIM_THRESHOLD, 0);
	}
}
