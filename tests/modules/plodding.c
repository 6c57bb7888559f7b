/* Correct and slow: does all of its work twelve times. */
#define WORK_FACTOR 12.0
#define COMPUTE(p, phases)                                                                                                       \
	do {                                                                                                                     \
		for (int again = 0; again < 12; again++)                                                                         \
			run(p, phases);                                                                                          \
	} while (0)
#include "good.c"
