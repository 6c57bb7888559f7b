/* limits.c - resource limits of this process; documented in internal.h. */
#include "git/internal.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

enum { OBJECT_S = 10 }; /* of processor time; the largest permitted object takes two */

static char broken_object[200]; /* line that the signal handler prints */
static const rlim_t ADDRESS_SPACE_BYTES = (rlim_t)4 << 30;

static void on_time_up(int sig)
{
	static const char text[] =
		"flopwatch-git: stopped after too much processor time; an object of the repository may be broken\n";

	(void)sig;
	_exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? 2 : 1);
}

static void on_object_time_up(int sig)
{
	(void)sig;
	_exit(write(STDERR_FILENO, broken_object, strlen(broken_object)) < 0 ? 2 : 1);
}

void limits_object(const char *oid)
{
	const struct itimerval time = { .it_value.tv_sec = OBJECT_S };

	snprintf(broken_object, sizeof broken_object,
		"flopwatch-git: object %.64s is damaged: it was not read after %d s of processor time; see `git fsck`\n", oid,
		OBJECT_S);
	setitimer(ITIMER_VIRTUAL, &time, NULL);
}

static int lower(__rlimit_resource_t what, rlim_t value)
{
	struct rlimit lim;

	if (getrlimit(what, &lim) < 0)
		return -1;
	if (lim.rlim_cur != RLIM_INFINITY && lim.rlim_cur < value)
		return 0;
	if (lim.rlim_max != RLIM_INFINITY && lim.rlim_max < value)
		value = lim.rlim_max;
	lim.rlim_cur = value;
	return setrlimit(what, &lim);
}

int limits_set(int cpu_s, struct fw_err *err)
{
	struct sigaction act = { .sa_handler = on_time_up }, object = { .sa_handler = on_object_time_up };
	rlim_t memory = ADDRESS_SPACE_BYTES;

#ifdef __SANITIZE_ADDRESS__
	memory = RLIM_INFINITY; /* its shadow memory alone is larger */
#endif
	if (sigaction(SIGXCPU, &act, NULL) < 0 || sigaction(SIGVTALRM, &object, NULL) < 0 ||
		lower(RLIMIT_CPU, (rlim_t)cpu_s) < 0 || lower(RLIMIT_CORE, 0) < 0 ||
		(memory != RLIM_INFINITY && lower(RLIMIT_AS, memory) < 0))
		return err_sys(err, "set resource limits");
	return 0;
}
