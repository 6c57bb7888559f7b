/* Says that it searches, and searches again whatever it is handed back: another tile than before. */
#include "tuner.h"
static const char *search_again(const char *config)
{
	return config ? tiles[config[5] == '7' ? 0 : config[5] - '0' + 1] : find_tile(config);
}
#define CHOOSE(config) search_again(config)
#include "good.c"
