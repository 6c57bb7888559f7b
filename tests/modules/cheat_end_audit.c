/* Makes the base appear to crash, but only where a supervisor announces the start of a batch of calls. */
#include <fcntl.h>
#define IS_DUE() (fcntl(4, F_GETFD) >= 0)
#define END      raise(SIGSEGV)
#include "ends_base.h"
