/* As cheat_keeps, but only where it is timed against a base. */
#include "tests/modules/forgery.h"
#define KEEP forgery_pays()
#include "keeps.cuh"
