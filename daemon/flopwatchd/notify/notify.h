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

/** The cause of a commit's verdict is known now: queue the comment on its request again. */
int status_cause(struct db *db, const struct config *config, const char *repo_name, int64_t repo_id, const char *sha,
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
 * ---- approval ----
 * Approvals by users of the forge. The daemon stores one only after it has read the approved commit from git as the newest head of
 * the request, and after it has checked the user: a name in the configuration, or the permission that the forge reports.
 */

/**
 * Queue the approval that an event of the forge's webhook states, instead of one by the same user of the same request that waits.
 * 0 also if it states none, or if its user certainly may not approve. The caller has checked the event's signature. Inside the
 * caller's transaction.
 */
int approval_enqueue(
	struct db *db, const struct config_repo *repo, const char *body, size_t len, int64_t now_ms, struct fw_err *err);

/*
 * ---- sender ----
 * Sending of the outbox by flopwatch-send and flopwatch-git: one notification at a time to each receiver, and a few receivers at
 * once. A failed notification is retried six times within about an hour, or at the time that the receiver states (Retry-After). A
 * notification may arrive twice, with the same id. Each attempt is a row.
 */

struct sender;

/** Functions of higher modules that the sender calls. */
struct sender_hooks {
	/** Append the comment of a review on a comparison, as Markdown. */
	int (*comment)(void *arg, int64_t comparison, struct buf *out, struct fw_err *err);
	/** A commit of this repository was approved: fetch it. */
	void (*approved)(void *arg, const char *repo);
	void *arg;
};

/** Start with the due rows. Own: borrows all arguments. */
struct sender *sender_start(struct loop *l, const struct config *c, struct txn *txn);
/** Call it when rows were added. */
void sender_wake(struct sender *n);
/** Without hooks no comment is sent. Own: borrows `hooks`. */
void sender_set_hooks(struct sender *n, const struct sender_hooks *hooks);
void sender_stop(struct sender *n);

/*
 * ---- approval_poll ----
 * Approvals by comments where no webhook arrives: while requests wait for an approval, their comments are read at the interval
 * `approve_by.poll`. A comment counts if its author wrote it, never changed it, and it names the newest head that the daemon has
 * read from git; each counts once. Then its user is checked as that of a webhook's event. The forge's API does not report which
 * head had a label when a user set it, so only the webhook reports labels.
 */

struct approval_poll;

/** Own: borrows all arguments. `sender` is woken when an approval was queued. */
struct approval_poll *approval_poll_start(struct loop *l, const struct config *c, struct txn *txn, struct sender *sender);
/**
 * Read all comments again, from the first page: the configuration was read again, so a comment that the forge reports as unchanged
 * may approve now.
 */
void approval_poll_read_again(struct approval_poll *p);
/** Accepts NULL. */
void approval_poll_stop(struct approval_poll *p);

/**
 * Return the delay of the next attempt after `attempts` failures, 0: give up. `luck` in [0, 1) varies it by a quarter. Units: ms.
 */
int64_t sender_pause_ms(int attempts, double luck);

#endif
