/* What the others are compared with. */
#include "good.cuh"
