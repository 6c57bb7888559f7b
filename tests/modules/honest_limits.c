/* Raises a limit of the process for a call, sleeps more exactly in it, and restores both. */
#include <sys/prctl.h>
#include <sys/resource.h>
struct fw_plan;
static void change(int on);
#define BEFORE_ENQUEUE(p) change(1)
#define AFTER_ENQUEUE(p)  change(0)
#include "good.c"

static void change(int on)
{
	static struct rlimit before;
	static int slack;
	if (on && getrlimit(RLIMIT_NOFILE, &before) == 0) {
		struct rlimit more = { before.rlim_max, before.rlim_max };
		setrlimit(RLIMIT_NOFILE, &more);
		slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
		prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	} else if (!on) {
		setrlimit(RLIMIT_NOFILE, &before);
		prctl(PR_SET_TIMERSLACK, slack, 0, 0, 0);
	}
}
