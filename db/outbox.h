/**
 * outbox.h - notifications to send, written in the transaction of the change that they report, and delivery attempts. Loop only; writes
 * inside the caller's transaction.
 */
#ifndef DB_OUTBOX_H
#define DB_OUTBOX_H

#include "db/db.h"

enum { STORE_OUTBOX_BUSY_MAX = 4, STORE_OUTBOX_STUCK = 5 /* failed attempts */, STORE_OUTBOX_PAUSE_MAX_MS = 3600000 };

/** One notification: `kind` webhook, status or note; `target` the receiver's or repository's name in the configuration. */
struct store_outbox {
	int64_t id;
	char message_id[40]; /* the same in every attempt */
	char kind[16], target[128];
	int attempts; /* failed ones */
};

/** How an attempt ended. */
struct store_attempt {
	int64_t at, duration_ms;
	int status;        /* HTTP status; 0: no response */
	const char *error; /* NULL: delivered */
};

/** Enqueue a notification, due at once. */
int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err);
/**
 * Enqueue a notification of which only the newest about `subject` counts: supersedes waiting ones, and writes nothing where the newest has
 * the same payload.
 */
int store_outbox_replace(struct db *db, const char *kind, const char *target, const char *subject, const char *payload,
	int64_t now_ms, struct fw_err *err);
/**
 * The next due row whose kind and target is none of `busy` ("webhook chat"). 1, 0, -1. Appends to `payload`.
 * A row without an attempt is always due, and so is one due later than the longest pause from now: the clock was set back.
 */
int store_outbox_due(struct db *db, int64_t now_ms, const char (*busy)[160], int n_busy, struct store_outbox *out,
	struct buf *payload, struct fw_err *err);
/** Earliest due time of waiting rows after `after`; 0: none. */
int store_outbox_next_at(struct db *db, int64_t after, int64_t *at, struct fw_err *err);
/** Store an attempt, and mark the row sent, or due again at `next_at` (0: failed for good). */
int store_outbox_result(struct db *db, int64_t id, const struct store_attempt *attempt, int64_t next_at, struct fw_err *err);
/** Make a row due at once, with a reset count of attempts and the same message_id. Err: ERR_NOT_FOUND. */
int store_outbox_again(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** Delete ended rows created before `before` among the oldest `limit`; *n counts them. */
int store_outbox_prune(struct db *db, int64_t before, int limit, int *n, struct fw_err *err);

/* ---- views ------------------------------------------------------------------------------------------------------------ */

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
/** Count the waiting rows with at least STORE_OUTBOX_STUCK attempts. */
int view_outbox_stuck(struct db *db, int64_t *n, struct fw_err *err);
typedef void view_attempt_fn(void *arg, const struct store_attempt *row);
/** Attempts of a notification, oldest first; error "" where it was delivered. */
int view_attempts(struct db *db, int64_t notification, view_attempt_fn *each, void *arg, struct fw_err *err);

#endif
