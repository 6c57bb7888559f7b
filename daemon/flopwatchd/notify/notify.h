/** notify.h - commit statuses, git notes, webhooks and chat. */
#ifndef FLOPWATCHD_NOTIFY_NOTIFY_H
#define FLOPWATCHD_NOTIFY_NOTIFY_H

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "lib/lib.h"

/*
 * ---- commit_status ----
 * Commit statuses for a repository's forge: each change of a job's state queues a status of the suite and one
 * of the whole commit, inside the transaction of that change. Repositories without `status:` have none. Ctx: loop only.
 */

/** True if a job has statuses: it compares a whole commit of a branch. */
bool status_is_reported(const struct store_job *job);
/** Queue the status of a job in `state`, with a reason or "". `suite` NULL: the job's. */
int status_job(struct db *db, const struct config *config, const struct store_job *job, const char *suite, enum jobstate state,
	const char *why, int64_t now_ms, struct fw_err *err);
/** Queue statuses of jobs ended by this transaction's side effects at `now_ms`, of repository `only`; NULL: of all. */
int status_ended(struct db *db, const struct config *config, const struct config_repo *only, int64_t now_ms, struct fw_err *err);
/** Queue the status of a comparison with its verdict. */
int status_verdict(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

/*
 * ---- gitnote ----
 * Git notes on judged commits, for repositories with `notes:`: an outbox row in the verdict's transaction;
 * flopwatch-git writes it to refs/notes/flopwatch. Ctx: loop only.
 */

/** Queue the note of the comparison's target: the newest comparison of each suite, with all cells that are not unchanged. */
int gitnote_enqueue(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err);

/*
 * ---- sender ----
 * Sending of the outbox by flopwatch-send and flopwatch-git: one notification at a time to each receiver, and a few receivers at
 * once. A failed notification is retried six times within about an hour, or at the time that the receiver states (Retry-After). A
 * notification may arrive twice, with the same id. Each attempt is a row.
 */

struct sender;

/** Start with the due rows. Own: borrows all arguments. */
struct sender *sender_start(struct loop *l, const struct config *c, struct txn *g);
/** Call it when rows were added. */
void sender_wake(struct sender *n);
void sender_stop(struct sender *n);

/**
 * Return the delay of the next attempt after `attempts` failures, 0: give up. `luck` in [0, 1) varies it by a quarter. Units: ms.
 */
int64_t sender_pause_ms(int attempts, double luck);

#endif
