/* Runs what it is handed back. */
#include "tuner.h"
#define CHOOSE(config) find_tile(config)
#include "good.c"
