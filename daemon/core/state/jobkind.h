/** jobkind.h - what a job is for, and with it its comparison: which base it has, who hears of it, what follows from it. */
#ifndef CORE_STATE_JOBKIND_H
#define CORE_STATE_JOBKIND_H

#include <stdbool.h>

enum jobkind {
	JOBKIND_COMPARE,     /* what a commit changes */
	JOBKIND_SELFCHECK,   /* one commit against itself */
	JOBKIND_REFERENCE,   /* a history's reference commit, timed beside the one before it */
	JOBKIND_VERIFY,      /* whether a change that the history suspects is one */
	JOBKIND_BACKFILL,    /* a commit that a history has no point of */
	JOBKIND_CALIBRATE,   /* how much equal builds noise */
	JOBKIND_BISECT,      /* a step of a search */
	JOBKIND_PEER,        /* a commit beside a provider that is a yardstick */
	JOBKIND_IMPORT,      /* figures that somebody else measured */
	JOBKIND_CONFIG,      /* a provider in a configuration that a person wants, beside another side */
	JOBKIND_ENVIRONMENT, /* a commit built by one toolchain beside itself built by another */
	JOBKIND_PROFILE,     /* why a cell lost: counters and machine code of both sides; it is no comparison */
	JOBKIND_N
};

/** As in rows and JSON: "selfcheck"; "" for JOBKIND_N. */
const char *jobkind_name(enum jobkind kind);
/** JOBKIND_N for an unknown word. */
enum jobkind jobkind_from_name(const char *name);
/** Whether a module is timed beside itself. Of all others equal modules are not timed. */
bool jobkind_is_itself(enum jobkind kind);
/**
 * Whether it sets a provider, a configuration or a toolchain beside another, which says nothing of what a commit does as it is: it is no commit's verdict,
 * is in no history, and nobody is called by it as for a commit.
 */
bool jobkind_is_side_by_side(enum jobkind kind);
/** Whether it is part of the daemon's upkeep rather than what somebody pushed or asked to compare: lists keep such jobs apart. */
bool jobkind_is_upkeep(enum jobkind kind);

#endif
