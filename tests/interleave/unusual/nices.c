/* Sets its priority and its core at the start, and again in each call. */
#include "unusual.h"

static void choose_core(void)
{
	cpu_set_t ours, one;

	if (sched_getaffinity(0, sizeof ours, &ours) != 0)
		return;
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &ours))
			CPU_SET(i, &one);
	(void)sched_setaffinity(0, sizeof one, &one);
}

int main(void)
{
	if (setpriority(PRIO_PROCESS, 0, 5) != 0)
		return 1;
	choose_core();
	FLOPWATCH("nices", 1e6, 0)
	{
		choose_core();
		do_work(4000);
	}
	return 0;
}
