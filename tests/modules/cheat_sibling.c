/* Leaves processes running that are siblings of this one, not its children. */
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
struct fw_plan;
static void leave_one(int calls);
#define AFTER_ENQUEUE(p) leave_one((p)->calls)
#include "good.c"

static void leave_one(int calls)
{
	if (calls == 6 && syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) == 0)
		for (;;)
			pause();
}
