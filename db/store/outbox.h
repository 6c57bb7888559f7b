/**
 * outbox.h - notifications that are owed, written in the transaction of what they tell, and each attempt at them.
 * Loop only; writes inside the caller's transaction.
 */
#ifndef DB_STORE_OUTBOX_H
#define DB_STORE_OUTBOX_H

#include "db/sqlite/db.h"

enum { STORE_OUTBOX_BUSY_MAX = 4, STORE_OUTBOX_STUCK = 5 /* failed attempts */, STORE_OUTBOX_PAUSE_MAX_MS = 3600000 };

/** One notification: `kind` webhook, status or note; `target` the receiver's or repository's name in the configuration. */
struct store_outbox {
	int64_t id;
	char message_id[40]; /* the same in every attempt */
	char kind[16], target[128];
	int attempts; /* that failed */
};

/** How an attempt ended. */
struct store_attempt {
	int64_t at, duration_ms;
	int status;        /* of HTTP; 0: no answer */
	const char *error; /* NULL: delivered */
};

/** Owe a notification, due at once. */
int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err);
/**
 * The same where only the newest word about `subject` counts: older ones that wait become superseded, and nothing is written
 * when the newest says just this already.
 */
int store_outbox_replace(struct db *db, const char *kind, const char *target, const char *subject, const char *payload,
	int64_t now_ms, struct fw_err *err);
/**
 * The next due row whose kind and target is none of `busy` ("webhook chat"). 1, 0, -1. `payload` is appended to.
 * One that was never tried is always due, and so is one that waits for longer than the longest pause: the clock was set back since.
 */
int store_outbox_due(struct db *db, int64_t now_ms, const char (*busy)[160], int n_busy, struct store_outbox *out,
	struct buf *payload, struct fw_err *err);
/** When the next waiting row after `after` is due; 0: none waits. */
int store_outbox_next_at(struct db *db, int64_t after, int64_t *at, struct fw_err *err);
/** Note an attempt, and mark the row sent, or failed with the time of the next try (0: give up). */
int store_outbox_result(struct db *db, int64_t id, const struct store_attempt *attempt, int64_t next_at, struct fw_err *err);
/** Due again at once, with all its tries, under the same id. Err: ERR_NOT_FOUND. */
int store_outbox_again(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** Delete ended rows from before `before`, of the oldest `limit`; *n counts them. */
int store_outbox_prune(struct db *db, int64_t before, int limit, int *n, struct fw_err *err);

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

struct view_notification {
	int64_t id;
	const char *message_id, *kind, *target, *payload, *state, *last_error;
	int attempts;
	int64_t next_at, created_at;
};
typedef void view_notification_fn(void *arg, const struct view_notification *row);
/** Newest first, before id `before` (0: all); `state` NULL: any. */
int view_notifications(
	struct db *db, const char *state, int64_t before, int limit, view_notification_fn *each, void *arg, struct fw_err *err);
/** How many still wait after STORE_OUTBOX_STUCK attempts. */
int view_outbox_stuck(struct db *db, int64_t *n, struct fw_err *err);
typedef void view_attempt_fn(void *arg, const struct store_attempt *row);
/** Attempts at a notification, oldest first; error "" where it arrived. */
int view_attempts(struct db *db, int64_t notification, view_attempt_fn *each, void *arg, struct fw_err *err);

#endif
