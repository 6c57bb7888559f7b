/* Leaves a limit under which the base can start no thread, so that it works alone. */
#include <sys/resource.h>
struct fw_plan;
static void set_limit(int calls);
#define AFTER_ENQUEUE(p) set_limit((p)->calls)
#include "good.c"

static void set_limit(int calls)
{
	struct rlimit now;
	if (calls < 4 || getrlimit(RLIMIT_AS, &now) != 0)
		return;
	now.rlim_cur = 1 << 20; /* nothing more can be mapped, no stack of a thread either */
	setrlimit(RLIMIT_AS, &now);
}
