/**
 * sassdelta.h - comparison of two instruction streams: the same instructions, in the same order, or the differing positions and
 * opcodes. Instructions with equal plain forms (sass.h) are equal.
 */
#ifndef PROFILE_SASSDELTA_H
#define PROFILE_SASSDELTA_H

#include <stdbool.h>

#include "profile/sass.h"

enum sassdelta_kind {
	SASSDELTA_RENAMED,     /* the same instructions in the same order */
	SASSDELTA_RESCHEDULED, /* the same in another order */
	SASSDELTA_CHANGED
};

/** Instructions [target_from, ...) replace [base_from, base_from + base_n); both count from the function's start. */
struct sassdelta_hunk {
	size_t base_from, base_n, target_from, target_n;
};

struct sassdelta_opcode {
	const char *opcode; /* with its modifiers; borrowed from either side */
	size_t base, target;
};

struct sassdelta {
	enum sassdelta_kind kind;
	size_t removed, added; /* number of instructions; moved ones are in neither if the kind is RESCHEDULED */
	bool is_aligned;       /* false: too different for hunks */
	size_t n_hunks, n_opcodes;
	struct sassdelta_hunk *hunk;
	struct sassdelta_opcode *opcode; /* with different counts, largest difference first */
};

/** Compare. Own: sassdelta_fini; `a` and `b` must outlive it. Err: ERR_FULL out of memory. */
int sassdelta_make(struct sassdelta *d, const struct sass *a, const struct sass_function *of_a, const struct sass *b,
	const struct sass_function *of_b, struct fw_err *err);
void sassdelta_fini(struct sassdelta *d);

#endif
