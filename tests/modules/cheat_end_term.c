/* Lets the process seem to be ended by somebody on the machine. */
#define END kill(getpid(), SIGTERM)
#include "ends_base.h"
