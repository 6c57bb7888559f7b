/* Copies K and V, and in a backward its softmax, in the first call on a plan, and reuses the copies. */
#define KEEP 1
#include "keeps.cuh"
