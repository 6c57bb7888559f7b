/**
 * gitnote.h - git notes on judged commits, for repositories with `notes:`: an outbox row in the verdict's transaction;
 * flopwatch-git writes it to refs/notes/flopwatch. Ctx: loop only.
 */
#ifndef FLOPWATCHD_NOTIFICATION_GITNOTE_H
#define FLOPWATCHD_NOTIFICATION_GITNOTE_H

#include "flopwatchd/config/config.h"
#include "db/job.h"
#include "db/result.h"

/** Queue the note of the comparison's target: the newest comparison of each suite, with the cells that are not unchanged. */
int gitnote_enqueue(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

#endif
