/* The base with which the others are compared. */
#include "good.cuh"
