/* Correct in every element, and writes one element past the end of O (backward: of dQ). */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		const struct fw_tensor *t = &(p)->slot[(p)->direction == FW_FORWARD ? FW_O : FW_DQ];                             \
		((uint16_t *)t->data)[(int64_t)(p)->a.total_q * t->stride[0]] = 0x1234;                                          \
	} while (0)
#include "good.c"
