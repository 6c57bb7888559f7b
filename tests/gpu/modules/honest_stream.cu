/* A second stream that is done before the call is. */
#define JOIN(p) true
#include "streams.cuh"
