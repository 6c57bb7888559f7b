/* After the warm-up, ends the measuring thread, while another thread keeps the process alive. */
#include <pthread.h>
struct fw_plan;
static void leave(struct fw_plan *p);
#define BEFORE_ENQUEUE(p) leave(p)
#include "good.c"

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void leave(struct fw_plan *p)
{
	pthread_t thread;
	if (p->calls > 6 && pthread_create(&thread, NULL, idle, NULL) == 0)
		pthread_exit(NULL);
}
