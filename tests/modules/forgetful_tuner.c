/* Claims to search, and searches again when it gets its result back: returns another tile than before. */
#include "tuner.h"
static const char *search_again(const char *config)
{
	return config ? tiles[config[5] == '7' ? 0 : config[5] - '0' + 1] : find_tile(config);
}
#define CHOOSE(config) search_again(config)
#include "good.c"
