/* Makes the process appear to have been killed for lack of memory. */
#define END kill(getpid(), SIGKILL)
#include "ends_base.h"
