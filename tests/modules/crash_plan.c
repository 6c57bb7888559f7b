/* Crashes in plan. */
static int *volatile nowhere = (int *)8;
#define ON_PLAN() (*nowhere = 1)
#include "good.c"
