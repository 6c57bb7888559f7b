/**
 * pairing.h - the nodes of a call on both sides, paired in launch order: by equal names, then by machine code, then by names
 * with other template arguments, then by position.
 */
#ifndef PROFILE_PAIRING_H
#define PROFILE_PAIRING_H

#include "profile/cause.h"

enum { PAIRING_MAX = 2 * CAUSE_KERNELS_MAX };

/** A node; on one side only if the other's are NULL. */
struct kernel_pair {
	const struct cause_kernel *at[2][CAUSE_REPEATS]; /* base, target; NULL: that process has none */
	bool is_timed;                                   /* on every side that has it */
	double base_ms,
		change_ms;     /* in the verdict's milliseconds; base_ms is the target's for a node that only the target has */
	double slack_ms;       /* uncertainty of change_ms: three times the difference of equal processes */
	double cycles, run_ms; /* of the base, under the profiler */
};

struct pairing {
	size_t n;
	struct kernel_pair pair[PAIRING_MAX];
};

void pairing_make(const struct cause_evidence *e, struct pairing *out);
/** Return a side's kernel from any process; NULL none. `side` 0 base, 1 target. */
const struct cause_kernel *pair_kernel(const struct kernel_pair *p, int side);
bool pair_is_whole(const struct kernel_pair *p);
const char *pair_name(const struct kernel_pair *p);
/** Return the comparison of its machine code; NULL none. */
const struct cause_code *pair_code(const struct cause_evidence *e, const struct kernel_pair *p);

#endif
