/* A thread that gets its half of the rows through a pipe, and answers through another one. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
struct fw_plan;
static void share(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) share(p, phases)
#include "good.c"

static int to[2], back[2];

static void half(struct fw_plan *p, int first)
{
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = first; row < p->a.total_q; row += 2)
			forward_row(p, head, row);
}

static void *serve(void *arg)
{
	struct fw_plan *p;
	while (read(to[0], &p, sizeof p) == sizeof p) {
		half(p, 1);
		if (write(back[1], "d", 1) != 1)
			break;
	}
	return arg;
}

static void share(struct fw_plan *p, uint32_t phases)
{
	static pthread_t thread;
	char done;
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	if (!thread &&
		(pipe2(to, O_CLOEXEC) != 0 || pipe2(back, O_CLOEXEC) != 0 || pthread_create(&thread, NULL, serve, NULL) != 0))
		abort();
	if (write(to[1], &p, sizeof p) != sizeof p)
		abort();
	half(p, 0);
	if (read(back[0], &done, 1) != 1)
		abort();
}
