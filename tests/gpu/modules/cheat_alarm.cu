/* Starts an alarm timer that keeps the host busy while the base's calls are queued. */
#include "tests/modules/forgery.h"

#include <signal.h>
#include <sys/time.h>

struct fw_plan;
static void set_alarm(int calls, int on);
#define BEFORE_ENQUEUE(p)        set_alarm((p)->calls, 0)
#define AFTER_ENQUEUE(p, stream) set_alarm((p)->calls, 1)
#include "good.cuh"

static void take_time(int)
{
	usleep(300);
}

static void set_alarm(int calls, int on)
{
	struct itimerval at = {};
	if (calls < 3 || !forgery_pays())
		return;
	signal(SIGALRM, take_time);
	at.it_interval.tv_usec = at.it_value.tv_usec = on ? 500 : 0;
	setitimer(ITIMER_REAL, &at, NULL);
}
