/* Sleeps in its calls, and after a call in its own turn, where it checks the result. */
#include "unusual.h"

static const char *rest(void *argument)
{
	(void)argument;
	usleep(3000);
	return NULL;
}

int main(void)
{
	flopwatch_check(rest, NULL);
	FLOPWATCH("sleeps", 1e6, 0)
	{
		do_work(3000);
		usleep(500);
	}
	return 0;
}
