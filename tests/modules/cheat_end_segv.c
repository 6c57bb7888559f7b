/* Makes the base appear to crash. */
#define END raise(SIGSEGV)
#include "ends_base.h"
