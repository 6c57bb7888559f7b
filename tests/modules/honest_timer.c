/* Measures something with a timer when it plans, and deletes the timer. Leaves its heap fragmented. */
#include <signal.h>
#include <time.h>
static void tune(void);
#define ON_PLAN() tune()
#include "good.c"

static void tune(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_NONE };
	struct itimerspec at = { .it_value = { 100, 0 } }, left;
	timer_t timer;
	void *block[64];
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		return;
	timer_settime(timer, 0, &at, NULL);
	for (int i = 0; i < 64; i++)
		block[i] = malloc((size_t)(i + 1) * 100);
	for (int i = 0; i < 64; i += 2)
		free(block[i]);
	timer_gettime(timer, &left);
	timer_delete(timer);
	for (int i = 1; i < 64; i += 2)
		free(block[i]);
}
