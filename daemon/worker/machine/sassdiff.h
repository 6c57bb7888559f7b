/** sassdiff.h - the compiled functions of two modules, laid side by side. */
#ifndef WORKER_MACHINE_SASSDIFF_H
#define WORKER_MACHINE_SASSDIFF_H

#include "base/err.h"
#include "core/machine/sassdelta.h"
#include "worker/machine/modulecode.h"

enum sassdiff_verdict {
	SASSDIFF_SAME,    /* the hash of the code is the same */
	SASSDIFF_RENAMED, /* the same instructions in the same order: registers, labels, scheduling or data around them differ */
	SASSDIFF_RESCHEDULED, /* the same instructions in another order */
	SASSDIFF_CHANGED,
	SASSDIFF_DIFFERS, /* the hash does; instructions could not be compared */
	SASSDIFF_ADDED,
	SASSDIFF_REMOVED
};

struct sassdiff_pair {
	enum sassdiff_verdict verdict;
	const struct modulecode_function *base, *target; /* NULL where there is none */
	/* where instructions were compared: */
	struct sassdelta delta;
	const struct sass *sass[2];
	const struct sass_function *code[2];
};

struct sassdiff {
	struct modulecode *base, *target;
	size_t n;
	struct sassdiff_pair *pair;
	char note[1100]; /* why instructions were not compared, "" where they were or need not be */
};

/** Compare the modules or cubins in two files. Own: sassdiff_fini, also after -1. Err: a file, or what is in it. */
int sassdiff_make(struct sassdiff *d, const char *base, const char *target, struct fw_err *err);
/** A zeroed one is fine. */
void sassdiff_fini(struct sassdiff *d);

/** "same code", "rescheduled", ... */
const char *sassdiff_word(enum sassdiff_verdict v);
/** Whether all functions are there on both sides with the same code. */
bool sassdiff_is_same(const struct sassdiff *d);

#endif
