/* Copies K and V, and keeps backward's softmax, in the first call on a plan. */
#define KEEP 1
#include "keeps.cuh"
