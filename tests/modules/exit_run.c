/* Ends the process with status 0 in enqueue: must not be reported as success. */
#define BEFORE_ENQUEUE(p) _exit(0)
#include "good.c"
