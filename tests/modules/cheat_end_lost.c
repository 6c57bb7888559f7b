/* Makes the base appear to have lost the device. */
#define END _exit(3)
#include "ends_base.h"
