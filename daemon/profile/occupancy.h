/** occupancy.h - number of blocks of a kernel that fit on a multiprocessor, from its resources. */
#ifndef PROFILE_OCCUPANCY_H
#define PROFILE_OCCUPANCY_H

#include "profile/resources.h"

struct occupancy {
	int ctas;          /* on one multiprocessor */
	int warps;         /* of these blocks */
	const char *limit; /* the limiting resource: "registers", "shared memory", "warps", "blocks", "barriers" */
};

/**
 * Compute it for blocks of `r->max_threads` without dynamic shared memory. Returns false if the architecture is unknown here,
 * or block size or registers are unknown.
 */
bool occupancy_of(int sm, const struct resources *r, struct occupancy *out);

#endif
