/* Correct, and claims 5 % more work: a regression on device `sim`. */
#define WORK_FACTOR 1.05
#include "good.c"
