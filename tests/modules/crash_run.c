/* Crashes in enqueue. */
static int *volatile nowhere = (int *)8;
#define BEFORE_ENQUEUE(p) (*nowhere = 1)
#include "good.c"
