/* An alarm with a slow handler during the base's calls, and imports of the runner that hide timer and handler. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <signal.h>
#include <sys/time.h>
#include <time.h>
struct fw_plan;
static void set_alarm(int calls, int on);
#define BEFORE_ENQUEUE(p) set_alarm((p)->calls, 0)
#define AFTER_ENQUEUE(p)  set_alarm((p)->calls, 1)
#include "good.c"

#include "imports.h"

static int no_timer(__itimer_which_t which, struct itimerval *out)
{
	(void)which;
	memset(out, 0, sizeof *out);
	return 0;
}

static int no_change(int number, const struct sigaction *act, struct sigaction *old)
{
	(void)number, (void)act;
	if (old)
		memset(old, 0, sizeof *old);
	return 0;
}

static void take_time(int number)
{
	(void)number;
	for (volatile int i = 0; i < 200000; i++)
		continue;
}

static void set_alarm(int calls, int on)
{
	struct sigaction answer = { .sa_handler = take_time, .sa_flags = SA_RESTART };
	struct itimerval at = { .it_interval = { 0, 500 * on }, .it_value = { 0, 500 * on } };
	if (calls < 4)
		return;
	imports_replace_in_runner("getitimer", (void *)(uintptr_t)no_timer);
	imports_replace_in_runner("sigaction", (void *)(uintptr_t)no_change);
	sigaction(SIGALRM, &answer, NULL);
	setitimer(ITIMER_REAL, &at, NULL);
}
