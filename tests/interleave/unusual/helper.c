/* Forks a helper in each call, which does half of the work, and waits for it. */
#include "unusual.h"

int main(void)
{
	FLOPWATCH("helper", 1e6, 0)
	{
		pid_t child = fork();

		if (child == 0) {
			do_work(2000);
			_exit(0);
		}
		do_work(2000);
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	return 0;
}
