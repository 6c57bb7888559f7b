/* A thread that lives as long as the process, computes half of the rows, and sleeps between the calls. */
#include <pthread.h>
#include <stdint.h>
struct fw_plan;
static void share(struct fw_plan *p, uint32_t phases);
static void fetch_helper(void);
#define COMPUTE(p, phases) share(p, phases)
#define ON_PLAN()          fetch_helper()
#include "good.c"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t helper;
static struct fw_plan *given;
static int leaving;

static void half(struct fw_plan *p, int first)
{
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = first; row < p->a.total_q; row += 2)
			forward_row(p, head, row);
}

static void *help(void *arg)
{
	pthread_mutex_lock(&lock);
	while (!leaving) {
		while (!given && !leaving)
			pthread_cond_wait(&changed, &lock);
		if (!given)
			break;
		pthread_mutex_unlock(&lock);
		half(given, 1);
		pthread_mutex_lock(&lock);
		given = NULL;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

static void fetch_helper(void)
{
	if (!helper && pthread_create(&helper, NULL, help, NULL) != 0)
		abort();
}

__attribute__((destructor)) static void send_helper_home(void)
{
	pthread_mutex_lock(&lock);
	leaving = 1;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	if (helper)
		pthread_join(helper, NULL);
}

static void share(struct fw_plan *p, uint32_t phases)
{
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	pthread_mutex_lock(&lock);
	given = p;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	half(p, 0);
	pthread_mutex_lock(&lock);
	while (given)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
