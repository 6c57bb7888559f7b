/* Never returns from enqueue. */
static void sleep_for_ever(void);
#define BEFORE_ENQUEUE(p) sleep_for_ever()
#include "good.c"

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}
