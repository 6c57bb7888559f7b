/* Correct and slow: does all of its work five times. */
#define WORK_FACTOR 5.0
#define COMPUTE(p, phases)                                                                                                       \
	do {                                                                                                                     \
		for (int again = 0; again < 5; again++)                                                                          \
			run(p, phases);                                                                                          \
	} while (0)
#include "good.c"
