/* Leaves a process running, and makes the kernel report that there is none. */
#include <errno.h>
#include <sys/syscall.h>
struct fw_plan;
static void leave_one(int calls);
#define AFTER_ENQUEUE(p) leave_one((p)->calls)
#include "good.c"

#include "filters.h"

static void leave_one(int calls)
{
	if (calls != 6)
		return;
	if (fork() == 0)
		for (;;)
			pause();
	if (filters_refuse(SYS_waitid, ECHILD) != 0)
		abort();
}
