/** occupancy.h - how many blocks of a kernel fit on a multiprocessor together, from what they take of it. */
#ifndef CORE_MACHINE_OCCUPANCY_H
#define CORE_MACHINE_OCCUPANCY_H

#include "core/machine/resources.h"

struct occupancy {
	int ctas;          /* on one multiprocessor */
	int warps;         /* of these blocks */
	const char *limit; /* what allows no more of them: "registers", "shared memory", "warps", "blocks", "barriers" */
};

/**
 * For blocks of `r->max_threads` and no shared memory but the static. False: the architecture is unknown here, or the file does not say
 * how large blocks and how many registers are.
 */
bool occupancy_of(int sm, const struct resources *r, struct occupancy *out);

#endif
