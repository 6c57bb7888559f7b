/* Leaves another rounding mode, in which the base is less exact. */
#include <fenv.h>
#define BEFORE_ENQUEUE(p) fesetround(FE_TONEAREST)
#define AFTER_ENQUEUE(p)  fesetround(FE_UPWARD)
#include "good.c"
