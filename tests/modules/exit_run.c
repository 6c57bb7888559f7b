/* Ends the process with status 0 in enqueue: must not look like success. */
#define BEFORE_ENQUEUE(p) _exit(0)
#include "good.c"
