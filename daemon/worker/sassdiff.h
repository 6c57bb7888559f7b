/** sassdiff.h - comparison of the compiled functions of two modules. */
#ifndef WORKER_SASSDIFF_H
#define WORKER_SASSDIFF_H

#include "lib/err.h"
#include "profile/sassdelta.h"
#include "worker/modulecode.h"

enum sassdiff_verdict {
	SASSDIFF_SAME,        /* the code has the same hash */
	SASSDIFF_RENAMED,     /* the same instructions in the same order: registers, labels, scheduling or data differ */
	SASSDIFF_RESCHEDULED, /* the same instructions in another order */
	SASSDIFF_CHANGED,
	SASSDIFF_DIFFERS, /* the hash differs; instructions could not be compared */
	SASSDIFF_ADDED,
	SASSDIFF_REMOVED
};

struct sassdiff_pair {
	enum sassdiff_verdict verdict;
	const struct modulecode_function *base, *target; /* NULL none */
	/* if instructions were compared: */
	struct sassdelta delta;
	const struct sass *sass[2];
	const struct sass_function *code[2];
};

struct sassdiff {
	struct modulecode *base, *target;
	size_t n;
	struct sassdiff_pair *pair;
	char note[1100]; /* why instructions were not compared, "" if they were or need not be */
};

/** Compare the modules or cubins in two files. Own: sassdiff_fini, also after -1. Err: unreadable file or content. */
int sassdiff_make(struct sassdiff *d, const char *base, const char *target, struct fw_err *err);
/** Free it. Accepts a zeroed one. */
void sassdiff_fini(struct sassdiff *d);

/** Return "same code", "rescheduled", ... */
const char *sassdiff_word(enum sassdiff_verdict v);
/** Return whether both sides have all functions with the same code. */
bool sassdiff_is_same(const struct sassdiff *d);

#endif
