/* Once it is warm, breaks an input after its own use of it, for whoever comes next. */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		if ((p)->calls > 6)                                                                                              \
			memset((p)->slot[FW_V].data, 0, 64);                                                                     \
	} while (0)
#include "good.c"
