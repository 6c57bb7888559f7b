/* Turns huge pages off for what the base allocates later. */
#include <sys/prctl.h>
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		if ((p)->calls > 4)                                                                                              \
			prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);                                                                   \
	} while (0)
#include "good.c"
