/* Threads keep all cores busy while the base is timed. They begin some milliseconds after its own call, which ends them. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
struct fw_plan;
static void burners(int calls, int on);
#define BEFORE_ENQUEUE(p) burners((p)->calls, 0)
#define AFTER_ENQUEUE(p)  burners((p)->calls, 1)
#include "good.c"

enum { BURNERS = 6, LATER_US = 3000 };

static atomic_int burning;

static void *burn(void *arg)
{
	for (;;) {
		while (!burning)
			usleep(200);
		usleep(LATER_US);
		while (burning)
			continue;
	}
	return arg;
}

static void burners(int calls, int on)
{
	static pthread_t thread[BURNERS];
	if (calls < 4)
		return;
	for (int i = 0; i < BURNERS; i++)
		if (!thread[i] && pthread_create(&thread[i], NULL, burn, NULL) != 0)
			abort();
	burning = on;
}
