/* Makes LSE infinite only where a supervisor announces the start of a batch of calls. */
#include <fcntl.h>
#define IS_DUE() (fcntl(4, F_GETFD) >= 0)
#include "spoils.h"
