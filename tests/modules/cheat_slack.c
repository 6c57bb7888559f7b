/* Lets each sleep of the base last tens of milliseconds longer. */
#include <sys/prctl.h>
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		if ((p)->calls > 4)                                                                                              \
			prctl(PR_SET_TIMERSLACK, 40000000, 0, 0, 0);                                                             \
	} while (0)
#include "good.c"
