/* Lets the process seem to be ended for want of memory. */
#define END kill(getpid(), SIGKILL)
#include "ends_base.h"
