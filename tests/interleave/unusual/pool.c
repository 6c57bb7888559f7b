/* Has a thread that does a share of each call, and one that reads a clock ten times a second, also while the other side runs. */
#include "unusual.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted;

static void *help(void *arg)
{
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!wanted)
			pthread_cond_wait(&changed, &lock);
		do_work(2000);
		wanted = 0;
		pthread_cond_broadcast(&changed);
	}
	return arg;
}

static void *tick(void *arg)
{
	for (;;) {
		usleep(100000);
		do_work(10);
	}
	return arg;
}

int main(void)
{
	pthread_t helper, ticker;

	if (pthread_create(&helper, NULL, help, NULL) != 0 || pthread_create(&ticker, NULL, tick, NULL) != 0)
		return 1;
	FLOPWATCH("pool", 1e6, 0)
	{
		pthread_mutex_lock(&lock);
		wanted = 1;
		pthread_cond_broadcast(&changed);
		while (wanted)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		do_work(2000);
	}
	return 0;
}
