/* interrupt.c - documented in internal.h. */
#include "cli/internal.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t times, reported;

static void on_interrupt(int number)
{
	(void)number;
	if (++times > 1) {
		(void)!write(STDERR_FILENO, "\n", 1);
		_exit(EXIT_INTERRUPTED);
	}
}

void interrupt_arm(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_handler = on_interrupt;
	sigaction(SIGINT, &action, NULL);
}

bool interrupt_came(void)
{
	bool fresh = times > reported;
	reported = times;
	return fresh;
}
