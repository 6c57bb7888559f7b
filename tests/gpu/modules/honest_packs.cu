/* Copies K and V, and works out backward's softmax, in every call. */
#define KEEP 0
#include "keeps.cuh"
