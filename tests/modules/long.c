/* Correct, and some 50 ms a call on device `sim` for block-sparse cells of 256 tokens: as long as calls of large cells. */
#define WORK_FACTOR 300
#include "good.c"
