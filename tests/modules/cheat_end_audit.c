/* Lets the base seem to crash, but only where a supervisor says when a batch of calls begins. */
#include <fcntl.h>
#define IS_DUE() (fcntl(4, F_GETFD) >= 0)
#define END      raise(SIGSEGV)
#include "ends_base.h"
