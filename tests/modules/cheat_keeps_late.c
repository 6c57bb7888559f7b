/* As cheat_keeps, but only where it is timed against a base. */
#include <fcntl.h>
#define KEEP (fcntl(11, F_GETFD) >= 0)
#include "keeps.h"
