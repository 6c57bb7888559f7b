/* One element is off: O[query 0, head 0, 1], backward dQ[query 0, head 0, 1]. */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		uint16_t *x = at(&(p)->slot[(p)->direction == FW_FORWARD ? FW_O : FW_DQ], 0, 0) + 1;                             \
		*x = to_bf16(from_bf16(*x) + 1.0f);                                                                              \
	} while (0)
#include "good.c"
