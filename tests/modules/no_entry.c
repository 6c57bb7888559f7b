/* A shared object without fw_entry. */
#define NO_ENTRY 1
#include "good.c"
