/* After the warm-up, ends the process as if all work had been done. */
#define BEFORE_ENQUEUE(p)                                                                                                        \
	do {                                                                                                                     \
		if ((p)->calls > 6)                                                                                              \
			_exit(0);                                                                                                \
	} while (0)
#include "good.c"
