/**
 * status_update.h - one word about a commit that its forge is owed: an outbox row. A newer word with the same commit and context takes the
 * place of one that was not sent yet; the same word again writes nothing.
 */
#ifndef FLOPWATCHD_NOTIFICATION_STATUS_UPDATE_H
#define FLOPWATCHD_NOTIFICATION_STATUS_UPDATE_H

#include <stdint.h>

#include "core/verdict/verdict.h"
#include "db/sqlite/db.h"

struct status_update {
	const char *sha, *suite;         /* suite "": of all together */
	const char *state, *description; /* state as forge.h names it */
	const char *page;                /* where people read on: "/jobs/7" */
};

/** Owe it to the forge of `repo`, inside the transaction of what it tells. */
int status_update_enqueue(struct db *db, const char *repo, const struct status_update *word, int64_t now_ms, struct fw_err *err);
/** The state that a verdict is. */
const char *status_update_of(enum verdict v);

#endif
