/* shared.c - passes over the banks of shared memory, and those added by conflicts; tensor instructions make them too. */
#include <stdio.h>

#include "profile/internal.h"

static const unsigned waits = 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_MIO_THROTTLE | 1u << STALL_GMMA;

void shared_find(const struct look *l, struct findings *f)
{
	const struct quantity_change *conflicts = &l->quantity.of[QUANTITY_CONFLICTS],
				     *passes = &l->quantity.of[QUANTITY_WAVEFRONTS];
	char more[AMOUNT_SIZE], what[FINDING_SIZE];

	amount_more(conflicts->base, conflicts->target, "bank conflicts in shared memory", more);
	snprintf(what, sizeof what, "has %s", more);
	finding_add(f, CAUSE_BANK_CONFLICTS, l->pair, look_cost(l, QUANTITY_CONFLICTS, waits), WEIGHT_WORK, what);
	amount_more(passes->base, passes->target, "passes over shared memory", more);
	snprintf(what, sizeof what, "makes %s", more);
	finding_add(f, CAUSE_SHARED_MEMORY, l->pair, look_cost(l, QUANTITY_WAVEFRONTS, waits), WEIGHT_TRAFFIC, what);
}
