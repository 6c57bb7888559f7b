/* Replaces the records' channel with a pipe of its own and reports invented times. */
#include "tests/modules/forgery.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

struct fw_plan;
static void step_between(void);
static void pretend(int calls);
#define ON_PLAN()                step_between()
#define AFTER_ENQUEUE(p, stream) pretend((p)->calls)
#include "good.cuh"

static struct forgery seen;
static int channel = -1, ours[2];

static void *pass_on(void *arg)
{
	static char chunk[1 << 16];
	ssize_t n;
	while ((n = read(ours[0], chunk, sizeof(chunk) - 1)) > 0) {
		chunk[n - 1] = 0; /* the end of its last line */
		char *last = strrchr(chunk, '\n');
		forgery_learn(&seen, last ? last + 1 : chunk);
		chunk[n - 1] = '\n';
		if (write(channel, chunk, (size_t)n) != n)
			abort();
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

static void pretend(int calls)
{
	int waiting = -1;
	if (calls < 3 || channel < 0)
		return;
	usleep(20000);
	if (ioctl(ours[0], FIONREAD, &waiting) == 0 && waiting == 0)
		forgery_write(&seen, channel);
}
