/**
 * pairing.h - the nodes of a call on both sides, laid beside each other in launch order: equal names, then names that the machine code
 * pairs, then those that differ in their template arguments, then one that stands in another's place.
 */
#ifndef CORE_CAUSE_PAIRING_H
#define CORE_CAUSE_PAIRING_H

#include "core/cause/cause.h"

enum { PAIRING_MAX = 2 * CAUSE_KERNELS_MAX };

/** A node; on one side alone where the other's are NULL. */
struct pair {
	const struct cause_kernel *at[2][CAUSE_REPEATS]; /* base, target; NULL: that process has none */
	bool is_timed;                                   /* on every side that has it */
	double base_ms, change_ms; /* in the verdict's milliseconds; base_ms is the target's of a node that only the target has */
	double slack_ms;           /* change_ms may be off by that: three times what equal processes differ by */
	double cycles, run_ms;     /* of the base, as the profiler saw it */
};

struct pairing {
	size_t n;
	struct pair pair[PAIRING_MAX];
};

void pairing_make(const struct cause_evidence *e, struct pairing *out);
/** Whichever of a side's is there; NULL none. `side` 0 base, 1 target. */
const struct cause_kernel *pair_kernel(const struct pair *p, int side);
/** On both sides. */
bool pair_is_whole(const struct pair *p);
/** The target's name, or the base's. */
const char *pair_name(const struct pair *p);
/** The line about its machine code; NULL none. */
const struct cause_code *pair_code(const struct cause_evidence *e, const struct pair *p);

#endif
