/* Starts an alarm timer that expires in the base's calls and has a slow handler; its own calls disable it. */
#include <signal.h>
#include <sys/time.h>
#include <time.h>
struct fw_plan;
static void set_alarm(int calls, int on);
#define BEFORE_ENQUEUE(p) set_alarm((p)->calls, 0)
#define AFTER_ENQUEUE(p)  set_alarm((p)->calls, 1)
#include "good.c"

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void take_time(int signal)
{
	double until = now_us() + 300;
	(void)signal;
	while (now_us() < until)
		continue;
}

#ifdef PER_PROCESS_TIMER
static void start_clock(int on)
{
	static timer_t timer;
	static int made;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3 };
	struct itimerspec at = { .it_interval = { 0, 500000 * on }, .it_value = { 0, 500000 * on } };
	made = made || timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
	timer_settime(timer, 0, &at, NULL);
}
#define RINGS (SIGRTMIN + 3)
#else
static void start_clock(int on)
{
	struct itimerval at = { .it_interval = { 0, 500 * on }, .it_value = { 0, 500 * on } };
	setitimer(ITIMER_REAL, &at, NULL);
}
#define RINGS SIGALRM
#endif

static void set_alarm(int calls, int on)
{
	struct sigaction answer = { .sa_handler = take_time, .sa_flags = SA_RESTART };
	if (calls < 6)
		return;
	sigaction(RINGS, &answer, NULL);
	start_clock(on);
}
