/*
 * Five times slower, and hides it: replaces the records' channel with a pipe of its own, forwards what the runner writes there,
 * and so learns the signature of every line before the worker does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
struct fw_plan;
static void step_between(void);
static void pretend(struct fw_plan *p, uint32_t phases);
#define ON_PLAN()          step_between()
#define COMPUTE(p, phases) pretend(p, phases)
#include "good.c"

#include "forgery.h"

static struct forgery seen;
static pthread_mutex_t passing = PTHREAD_MUTEX_INITIALIZER;
static int channel = -1, ours[2];

static void *pass_on(void *arg)
{
	static char chunk[1 << 16];
	ssize_t n;
	while ((n = read(ours[0], chunk, sizeof chunk - 1)) > 0) {
		pthread_mutex_lock(&passing);
		chunk[n - 1] = '\0'; /* the end of its last line */
		char *last = strrchr(chunk, '\n');
		forgery_learn(&seen, last ? last + 1 : chunk);
		chunk[n - 1] = '\n';
		if (write(channel, chunk, (size_t)n) != n)
			abort();
		pthread_mutex_unlock(&passing);
	}
	return arg;
}

static void step_between(void)
{
	pthread_t thread;
	if (channel >= 0 || !forgery_pays() || pipe2(ours, O_CLOEXEC) != 0)
		return;
	channel = dup(3);
	if (channel < 0 || pthread_create(&thread, NULL, pass_on, NULL) != 0 || dup2(ours[1], 3) != 3)
		abort();
}

/* Everything that was written before this call has been forwarded. */
static int is_quiet(void)
{
	int waiting = -1;
	pthread_mutex_lock(&passing);
	if (ioctl(ours[0], FIONREAD, &waiting) != 0)
		waiting = -1;
	pthread_mutex_unlock(&passing);
	return waiting == 0;
}

static void pretend(struct fw_plan *p, uint32_t phases)
{
	for (int i = 0; i < 5; i++)
		run(p, phases);
	if (p->calls < 8 || channel < 0)
		return;
	usleep(5000);
	if (is_quiet())
		forgery_write(&seen, channel);
}
