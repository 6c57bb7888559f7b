/* Makes the process appear to have been terminated by a user of the machine. */
#define END kill(getpid(), SIGTERM)
#include "ends_base.h"
