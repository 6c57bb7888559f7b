/** jobkind.h - purpose of a job and its comparison: determines the base, the notified users, and the next steps. */
#ifndef MODEL_JOBKIND_H
#define MODEL_JOBKIND_H

#include <stdbool.h>

enum jobkind {
	JOBKIND_COMPARE,     /* effect of a commit */
	JOBKIND_SELFCHECK,   /* one commit against itself */
	JOBKIND_REFERENCE,   /* a history's reference commit, timed against the one before it */
	JOBKIND_VERIFY,      /* test of a change suspected in the history */
	JOBKIND_BACKFILL,    /* a commit without a point in the history */
	JOBKIND_CALIBRATE,   /* noise of equal builds */
	JOBKIND_BISECT,      /* a step of a search */
	JOBKIND_PEER,        /* a commit against a peer's provider */
	JOBKIND_IMPORT,      /* results measured elsewhere */
	JOBKIND_CONFIG,      /* a provider with a configuration requested by a user */
	JOBKIND_ENVIRONMENT, /* a commit built by one toolchain against itself built by another */
	JOBKIND_PROFILE,     /* cause of a regression: counters and machine code of both sides; no comparison */
	JOBKIND_N
};

/** As in rows and JSON: "selfcheck"; "" for JOBKIND_N. */
const char *jobkind_name(enum jobkind kind);
/** JOBKIND_N for an unknown word. */
enum jobkind jobkind_from_name(const char *name);
/** Return whether a module is timed against itself. For other kinds equal modules are not timed. */
bool jobkind_is_itself(enum jobkind kind);
/**
 * Return whether it compares providers, configurations or toolchains, which shows nothing about a commit as it is: it sets no
 * commit's verdict, belongs to no history, and alerts nobody as for a commit.
 */
bool jobkind_is_side_by_side(enum jobkind kind);
/** Return whether it is the daemon's own work rather than pushed or requested: lists show such jobs separately. */
bool jobkind_is_upkeep(enum jobkind kind);

#endif
