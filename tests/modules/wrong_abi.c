/* Built against a header of another ABI. */
#define MODULE_ABI 99u
#include "good.c"
