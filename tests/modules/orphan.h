/* orphan.h - leaves a process running whose parent has exited, so that the sandbox's first process adopts it. */
#include <sys/prctl.h>
#include <sys/wait.h>
struct fw_plan;
static void leave_one(int calls);
#define AFTER_ENQUEUE(p) leave_one((p)->calls)
#include "good.c"

static void leave_one(int calls)
{
	if (calls != 6 || prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) != 0)
		return;
	CLOSE_EARS();
	pid_t between = fork();
	if (between == 0) {
		if (fork() == 0)
			for (;;)
				pause();
		_exit(0);
	}
	waitpid(between, NULL, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}
