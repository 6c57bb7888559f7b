/* Lets the base seem to crash. */
#define END raise(SIGSEGV)
#include "ends_base.h"
