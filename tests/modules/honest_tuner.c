/* Uses the configuration that it gets back. */
#include "tuner.h"
#define CHOOSE(config) find_tile(config)
#include "good.c"
