/* Leaves all signals blocked, so that nobody can interrupt the process. */
#include <signal.h>
struct fw_plan;
static void block_all(int calls);
#define AFTER_ENQUEUE(p) block_all((p)->calls)
#include "good.c"

static void block_all(int calls)
{
	sigset_t all;
	sigfillset(&all);
	if (calls > 4)
		pthread_sigmask(SIG_BLOCK, &all, NULL);
}
