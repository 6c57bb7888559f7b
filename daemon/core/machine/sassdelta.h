/**
 * sassdelta.h - two streams of instructions side by side: whether they are the same instructions, in the same order, and else where and
 * in which opcodes they differ. Equal are instructions with equal plain forms (sass.h).
 */
#ifndef CORE_MACHINE_SASSDELTA_H
#define CORE_MACHINE_SASSDELTA_H

#include <stdbool.h>

#include "core/machine/sass.h"

enum sassdelta_kind {
	SASSDELTA_RENAMED,     /* the same instructions in the same order */
	SASSDELTA_RESCHEDULED, /* the same in another order */
	SASSDELTA_CHANGED
};

/** Instructions [base_from, base_from + base_n) stand where [target_from, ...) stood; both are counted from the function's first. */
struct sassdelta_hunk {
	size_t base_from, base_n, target_from, target_n;
};

struct sassdelta_opcode {
	const char *opcode; /* with its modifiers; borrowed from either side */
	size_t base, target;
};

struct sassdelta {
	enum sassdelta_kind kind;
	size_t removed,
		added;   /* instructions; those that only changed their place are in neither where the kind is RESCHEDULED */
	bool is_aligned; /* false: too different for hunks */
	size_t n_hunks, n_opcodes;
	struct sassdelta_hunk *hunk;
	struct sassdelta_opcode *opcode; /* whose number differs, most different first */
};

/** Own: sassdelta_fini; `a` and `b` have to outlive it. Err: ERR_FULL out of memory. */
int sassdelta_make(struct sassdelta *d, const struct sass *a, const struct sass_function *of_a, const struct sass *b,
	const struct sass_function *of_b, struct fw_err *err);
/** A zeroed one is fine. */
void sassdelta_fini(struct sassdelta *d);

#endif
