#include "db/db.h"

static int insert(struct db *db, const char *kind, const char *target, const char *subject, const char *payload, int64_t now_ms,
	struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO outbox (message_id, kind, target, subject, payload, next_at, created_at) VALUES ('msg_' || "
		"lower(hex(randomblob(16))), :kind, :target, :subject, :payload, :now, :now)",
		"kind=%s target=%s subject=%s payload=%s now=%ld", kind, target, subject, payload, now_ms);
}

int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err)
{
	return insert(db, kind, target, "", payload, now_ms, err);
}

/** Whether the newest notification about the subject has this payload. 1, 0, -1. */
static int is_newest_payload(
	struct db *db, const char *kind, const char *target, const char *subject, const char *payload, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT payload = :payload FROM outbox WHERE kind = :kind AND target = :target AND subject = :subject AND "
		"subject <> '' ORDER BY id DESC LIMIT 1",
		"kind=%s target=%s subject=%s payload=%s", kind, target, subject, payload);
	int64_t is_this = 0;
	return stmt_first_int(s, &is_this, err) < 0 ? -1 : is_this != 0;
}

int store_outbox_replace(struct db *db, const char *kind, const char *target, const char *subject, const char *payload,
	int64_t now_ms, struct fw_err *err)
{
	int found = is_newest_payload(db, kind, target, subject, payload, err);
	if (found)
		return found < 0 ? -1 : 0;
	if (db_exec(db, err,
		    "UPDATE outbox SET state = 'superseded' WHERE kind = :kind AND target = :target AND subject = :subject AND "
		    "subject <> '' AND state = 'waiting'",
		    "kind=%s target=%s subject=%s", kind, target, subject))
		return -1;
	return insert(db, kind, target, subject, payload, now_ms, err);
}

int store_outbox_due(struct db *db, int64_t now_ms, const char (*busy)[160], int n_busy, struct store_outbox *out,
	struct buf *payload, struct fw_err *err)
{
	_Static_assert(STORE_OUTBOX_BUSY_MAX == 4, "the statement has a parameter for each");
	struct stmt *s = db_query(db, err,
		"SELECT id, message_id, kind, target, payload, attempts FROM outbox WHERE state = 'waiting' AND (next_at <= :now "
		"OR attempts = 0 OR next_at > :now + :longest) AND kind || ' ' || target NOT IN (:b0, :b1, :b2, :b3) ORDER BY "
		"next_at, id LIMIT 1",
		/* a time beyond the longest pause: the clock was set back */
		"now=%ld longest=%d b0=%s b1=%s b2=%s b3=%s", now_ms, STORE_OUTBOX_PAUSE_MAX_MS, n_busy > 0 ? busy[0] : "",
		n_busy > 1 ? busy[1] : "", n_busy > 2 ? busy[2] : "", n_busy > 3 ? busy[3] : "");
	const char *text;
	int result = stmt_next(s, err, out->id, out->message_id, out->kind, out->target, text, out->attempts);
	if (result == 1)
		buf_puts(payload, text);
	stmt_reset(s);
	return result;
}

int store_outbox_next_at(struct db *db, int64_t after, int64_t *at, struct fw_err *err)
{
	return stmt_optional(db_first_int(db, at, err,
		"SELECT coalesce(min(next_at), 0) FROM outbox WHERE state = 'waiting' AND next_at > :after", "after=%ld", after));
}

int store_outbox_result(struct db *db, int64_t id, const struct store_attempt *attempt, int64_t next_at, struct fw_err *err)
{
	const char *error = attempt->error ? attempt->error : "";
	if (db_exec(db, err,
		    "UPDATE outbox SET attempts = attempts + 1, last_error = :error, next_at = :next, state = CASE WHEN :sent THEN "
		    "'sent' WHEN state = 'superseded' THEN state WHEN :next = 0 THEN 'failed' ELSE 'waiting' END WHERE id = :id",
		    "id=%ld sent=%d error=%s next=%ld", id, !attempt->error, error, attempt->error ? next_at : 0))
		return -1;
	return db_exec(db, err,
		"INSERT INTO outbox_attempt (outbox, at, duration_ms, status, error) VALUES (:id, :at, :duration, :status, "
		":error)",
		"id=%ld at=%ld duration=%ld status=%d error=%s", id, attempt->at, attempt->duration_ms, attempt->status, error);
}

int store_outbox_again(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err, "UPDATE outbox SET state = 'waiting', attempts = 0, next_at = :now WHERE id = :id", "id=%ld now=%ld",
		    id, now_ms))
		return -1;
	return store_page_one(db_changes(db), "notification", id, err);
}

int store_outbox_prune(struct db *db, int64_t before, int limit, int *n, struct fw_err *err)
{
	/* ids increase with time, so only the oldest rows are read */
	return db_run_count(db, n, err,
		"DELETE FROM outbox WHERE id IN (SELECT id FROM (SELECT id, state, created_at FROM outbox ORDER BY id LIMIT "
		":limit) WHERE state <> 'waiting' AND created_at < :before)",
		"before=%ld limit=%d", before, limit);
}

#define NOTIFICATIONS                                                                                                            \
	"SELECT id, message_id, kind, target, payload, state, last_error, attempts, next_at, created_at FROM outbox "

/* Sent rows are found near the end; of other states there may be none, and their index avoids reading all rows. */
static struct stmt *notifications_in(struct db *db, const char *state, struct fw_err *err)
{
	struct stmt *s =
		strcmp(state, "sent") == 0
			? db_stmt(db, NOTIFICATIONS "WHERE id < :before AND +state = :state ORDER BY id DESC LIMIT :n", err)
			: db_stmt(db,
				  NOTIFICATIONS
				  "WHERE id IN (SELECT id FROM outbox INDEXED BY outbox_due WHERE state = :state AND "
				  "id < :before ORDER BY id DESC LIMIT :n) ORDER BY id DESC",
				  err);
	return stmt_bind(s, err, "state=%s", state);
}

static int each_notification(struct stmt *s, view_notification_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct view_notification row = { 0 };
	while ((result = stmt_next(s, err, row.id, row.message_id, row.kind, row.target, row.payload, row.state, row.last_error,
			row.attempts, row.next_at, row.created_at)) == 1)
		each(arg, &row);
	return result;
}

int view_notifications(
	struct db *db, const char *state, int64_t before, int limit, view_notification_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = store_page_given(state) ? notifications_in(db, state, err)
						 : db_stmt(db, NOTIFICATIONS "WHERE id < :before ORDER BY id DESC LIMIT :n", err);
	s = stmt_bind(s, err, "before=%ld n=%d", store_page_before(before), store_page_size(limit, VIEW_ROWS_MAX));
	return each_notification(s, each, arg, err);
}

int view_notification_last(
	struct db *db, const char *kind, const char *target, view_notification_fn *each, void *arg, struct fw_err *err)
{
	enum { NEWEST = 5000 }; /* a receiver without notifications would cost a scan of all */
	struct stmt *s = db_query(db, err,
		NOTIFICATIONS
		"WHERE id > (SELECT max(id) FROM outbox) - :newest AND kind = :kind AND target = :target ORDER BY id DESC LIMIT 1",
		"newest=%d kind=%s target=%s", (int)NEWEST, kind, target);
	return each_notification(s, each, arg, err);
}

int view_attempts(struct db *db, int64_t notification, view_attempt_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT at, duration_ms, status, error FROM outbox_attempt WHERE outbox = :id ORDER BY id",
			"id=%ld", notification);
	int result;
	struct store_attempt row = { 0 };
	while ((result = stmt_next(s, err, row.at, row.duration_ms, row.status, row.error)) == 1)
		each(arg, &row);
	return result;
}

int view_outbox_stuck(struct db *db, int64_t *n, struct fw_err *err)
{
	return stmt_optional(db_first_int(db, n, err,
		"SELECT count(*) FROM outbox WHERE state = 'waiting' AND attempts >= :stuck", "stuck=%d", STORE_OUTBOX_STUCK));
}
