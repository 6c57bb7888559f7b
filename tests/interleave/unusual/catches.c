/* Catches SIGTERM and SIGALRM; raises SIGTERM itself, and its own timer raises SIGALRM during its calls. */
#include "unusual.h"

#include <sys/time.h>

static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
	(void)signal;
	caught = caught + 1;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	const struct itimerval soon = { .it_value = { 0, 200 } };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	FLOPWATCH("catches", 1e6, 0)
	{
		setitimer(ITIMER_REAL, &soon, NULL);
		raise(SIGTERM);
		do_work(4000);
	}
	return caught > 0 ? 0 : 1;
}
