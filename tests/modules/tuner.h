/* A module that searches in plan: every search finds another of eight tiles, which differ in speed. Include before good.c. */
#ifndef TESTS_MODULES_TUNER_H
#define TESTS_MODULES_TUNER_H

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "kernels/fw_attention.h"

static const char *const tiles[8] = { "TILE=0", "TILE=1", "TILE=2", "TILE=3", "TILE=4", "TILE=5", "TILE=6", "TILE=7" };

/* `config` NULL: search. A text that is not one of the tiles is refused. */
static const char *find_tile(const char *config)
{
	unsigned char found;
	for (int i = 0; config && i < 8; i++)
		if (strcmp(config, tiles[i]) == 0)
			return tiles[i];
	return config || getrandom(&found, 1, 0) != 1 ? NULL : tiles[found % 8];
}

/* Times of a search: each tile takes longer than the one before, and the last one does not run. Nothing is searched for where a
 * tile is passed in. */
static const struct fw_candidate searched[9] = { { "TILE=7", 1.14 }, { "TILE=0", 1 }, { "TILE=1", 1.02 }, { "TILE=2", 1.04 },
	{ "TILE=3", 1.06 }, { "TILE=4", 1.08 }, { "TILE=5", 1.10 }, { "TILE=6", 1.12 }, { "TILE=8", 0 } };

static void tell_search(struct fw_info *info, const char *config)
{
	if (config || info->struct_size < sizeof *info)
		return;
	info->candidate = searched;
	info->n_candidates = 9;
}

static double tile_speed(const char *config)
{
	return config && config[5] ? 1 + 0.02 * (config[5] - '0') : 1;
}

#define FLAGS              FW_TUNES
#define WORK_FACTOR        tile_speed(config)
#define TELL(info, config) tell_search(info, config)

#endif
