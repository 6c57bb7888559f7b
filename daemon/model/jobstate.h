/**
 * jobstate.h - states of a job and their transitions as one table.
 *
 * queued -> assigned -> building -> checking -> measuring -> done | failed | cancelled | superseded | target_missing. A job
 * that lost its worker returns to queued; final states never change.
 */
#ifndef MODEL_JOBSTATE_H
#define MODEL_JOBSTATE_H

#include <stdbool.h>

enum jobstate {
	JOBSTATE_QUEUED,
	JOBSTATE_ASSIGNED,
	JOBSTATE_BUILDING,
	JOBSTATE_CHECKING,
	JOBSTATE_MEASURING,
	JOBSTATE_DONE,
	JOBSTATE_FAILED,
	JOBSTATE_CANCELLED,
	JOBSTATE_SUPERSEDED,
	JOBSTATE_TARGET_MISSING,
	JOBSTATE_N
};

enum jobstate_event {
	JOBSTATE_ON_ASSIGN,
	JOBSTATE_ON_BUILD,
	JOBSTATE_ON_CHECK,
	JOBSTATE_ON_RUN,
	JOBSTATE_ON_DONE,
	JOBSTATE_ON_FAIL,
	JOBSTATE_ON_CANCEL,
	JOBSTATE_ON_WORKER_LOST,    /* with attempts left */
	JOBSTATE_ON_SUPERSEDE,      /* a newer tip of the branch */
	JOBSTATE_ON_TARGET_MISSING, /* its commit no longer exists */
	JOBSTATE_EVENTS
};

/** Return the state after `on`; `from` itself if the event changes nothing. */
enum jobstate jobstate_next(enum jobstate from, enum jobstate_event on);
/** False for JOBSTATE_N, which is no state. */
bool jobstate_is_final(enum jobstate s);
/** As in the database: "measuring". */
const char *jobstate_name(enum jobstate s);
/** JOBSTATE_N for an unknown word. */
enum jobstate jobstate_from_name(const char *name);

enum { JOBSTATE_ATTEMPTS_MAX = 3 };

#endif
