/* spill.c - spilled registers: loads and stores of a thread's local memory. */
#include <math.h>
#include <stdio.h>

#include "profile/internal.h"

static const unsigned waits = 1u << STALL_LONG_SCOREBOARD | 1u << STALL_LG_THROTTLE | 1u << STALL_SHORT_SCOREBOARD |
			      1u << STALL_MIO_THROTTLE | 1u << STALL_WAIT;

void spill_find(const struct analysis *l, struct findings *f)
{
	const struct quantity_change *loads = &l->quantity.of[QUANTITY_LOCAL_LOADS],
				     *stores = &l->quantity.of[QUANTITY_LOCAL_STORES];
	const struct cause_kernel *base = pair_kernel(l->pair, 0), *target = pair_kernel(l->pair, 1);
	const struct cause_diagnostic *diagnostic = diagnostic_of(l->e, l->pair, l->sign, false);
	char more[AMOUNT_SIZE], what[FINDING_SIZE];
	double ms = analysis_get_cost(l, QUANTITY_LOCAL_LOADS, waits),
	       stored_ms = analysis_get_cost(l, QUANTITY_LOCAL_STORES, waits);

	/* loads and stores may each account for all waits, so the larger one does */
	ms = ms * stored_ms < 0 ? ms + stored_ms
				: copysign(fmax(fabs(ms), fmax(fabs(stored_ms), fabs(loads->ms + stores->ms))), ms + stored_ms);
	amount_increase(
		loads->base + stores->base, loads->target + stores->target, "loads and stores of spilled registers", more);
	int used = snprintf(what, sizeof what, "executes %s", more);

	if (diagnostic)
		snprintf(what + used, sizeof what - (size_t)used, "; ptxas: %.100s", diagnostic->what);
	else if (base->registers > 0 && target->registers > 0 && base->registers != target->registers)
		snprintf(what + used, sizeof what - (size_t)used, ", with %d registers instead of %d", target->registers,
			base->registers);
	else if (base->local_bytes >= 0 && target->local_bytes > 0 && base->local_bytes != target->local_bytes)
		snprintf(what + used, sizeof what - (size_t)used, ", %d bytes a thread instead of %d", target->local_bytes,
			base->local_bytes);
	finding_add(f, CAUSE_SPILLS, l->pair, ms, WEIGHT_WORK, what);
}
