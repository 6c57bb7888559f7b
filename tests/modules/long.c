/* Right, and some 50 ms a call on device `sim`, beside block-sparse cells of 256 tokens: as long as those of large cells. */
#define WORK_FACTOR 300
#include "good.c"
