/**
 * status_update.h - one commit status in the outbox. A newer status with the same commit and context replaces one that was not
 * sent yet; an equal one writes nothing.
 */
#ifndef FLOPWATCHD_NOTIFICATION_STATUS_UPDATE_H
#define FLOPWATCHD_NOTIFICATION_STATUS_UPDATE_H

#include <stdint.h>

#include "verdict/verdict.h"
#include "db/db.h"

struct status_update {
	const char *sha, *suite;         /* suite "": all together */
	const char *state, *description; /* a state of forge.h */
	const char *page;                /* page to link: "/jobs/7" */
};

/** Queue the status for the forge of `repo`, inside the transaction that causes it. */
int status_update_enqueue(struct db *db, const char *repo, const struct status_update *word, int64_t now_ms, struct fw_err *err);
/** The state of a verdict. */
const char *status_update_of(enum verdict v);

#endif
