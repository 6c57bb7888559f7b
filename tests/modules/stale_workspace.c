/* Prepares its workspace in the first call only; wrong as soon as the workspace is refilled between two calls. */
#define BEFORE_ENQUEUE(p)                                                                                                        \
	do {                                                                                                                     \
		if ((p)->calls == 0)                                                                                             \
			memset((p)->spare, 0x5a, SPARE_BYTES);                                                                   \
		if ((p)->spare[17] != 0x5a)                                                                                      \
			(p)->a.scale = 0;                                                                                        \
	} while (0)
#include "good.c"
