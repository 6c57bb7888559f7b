/* Correct, but every call after the first differs in the last bit of one element: O[query 0, head 0, 1], backward dQ[query 0,
 * head 0, 1]. */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		uint16_t *x = at(&(p)->slot[(p)->direction == FW_FORWARD ? FW_O : FW_DQ], 0, 0) + 1;                             \
		*x ^= (uint16_t)((p)->calls > 0);                                                                                \
	} while (0)
#include "good.c"
