/* Makes the base appear to end the process. */
#define END _exit(0)
#include "ends_base.h"
