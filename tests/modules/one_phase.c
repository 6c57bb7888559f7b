/* Correct only when all phases are requested at once. */
#define BEFORE_ENQUEUE(p)                                                                                                        \
	do {                                                                                                                     \
		if ((p)->direction == FW_BACKWARD && ((p)->phases & (FW_PREPROCESS | FW_RUN)) == FW_RUN)                         \
			memset((p)->delta, 0, sizeof(float) * (size_t)(p)->a.nhq * (size_t)(p)->a.total_q);                      \
	} while (0)
#include "good.c"
