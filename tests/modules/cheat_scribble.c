/* After the warm-up, corrupts an input after it used it, so that the next user of the input is wrong. */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		if ((p)->calls > 6)                                                                                              \
			memset((p)->slot[FW_V].data, 0, 64);                                                                     \
	} while (0)
#include "good.c"
