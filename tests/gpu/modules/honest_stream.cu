/* A second stream that ends before the call does. */
#define JOIN(p) true
#include "streams.cuh"
