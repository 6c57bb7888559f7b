/* Counts its calls in memory that persists between them, which is allowed. */
#define PERSIST_BYTES 256
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		unsigned *count = (p)->persist;                                                                                  \
		if (count[0] != count[1] || count[0] != (unsigned)(p)->calls)                                                    \
			abort();                                                                                                 \
		count[0] = ++count[1];                                                                                           \
	} while (0)
#include "good.c"
