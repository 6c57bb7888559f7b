/* Works in a thread with the original priority, and lowers the priority of the measuring thread and so of the base. */
#include <pthread.h>
#include <stdint.h>
#include <sys/resource.h>
struct fw_plan;
static void delegate(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) delegate(p, phases)
#include "good.c"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct fw_plan *plan;
static uint32_t wanted;

static void *worker(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!plan)
			pthread_cond_wait(&changed, &lock);
		run(plan, wanted);
		plan = NULL;
		pthread_cond_broadcast(&changed);
	}
	return arg;
}

static void delegate(struct fw_plan *p, uint32_t phases)
{
	static pthread_t thread;
	if (!thread && pthread_create(&thread, NULL, worker, NULL) != 0)
		abort();
	pthread_mutex_lock(&lock);
	plan = p;
	wanted = phases;
	pthread_cond_broadcast(&changed);
	while (plan)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	if (p->calls > 6)
		setpriority(PRIO_PROCESS, 0, 19);
}
