/* Uses a signal and an alarm timer of its own during a call, and restores everything before it returns. */
#include <signal.h>
#include <sys/time.h>
struct fw_plan;
static void request(void);
#define BEFORE_ENQUEUE(p) request()
#include "good.c"

static volatile sig_atomic_t answered;

static void answer(int number)
{
	(void)number;
	answered = 1;
}

static void request(void)
{
	struct sigaction mine = { .sa_handler = answer }, alarm_before, user_before;
	struct itimerval soon = { .it_value = { 0, 50 } }, none = { 0 };
	sigset_t blocked, before;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigaction(SIGALRM, &mine, &alarm_before);
	sigaction(SIGUSR2, &mine, &user_before);
	pthread_sigmask(SIG_BLOCK, &blocked, &before);
	raise(SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	answered = 0;
	setitimer(ITIMER_REAL, &soon, NULL);
	while (!answered)
		usleep(10);
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &alarm_before, NULL);
	sigaction(SIGUSR2, &user_before, NULL);
}
