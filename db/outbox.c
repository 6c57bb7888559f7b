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
	static const char *const names[STORE_OUTBOX_BUSY_MAX] = { ":b0", ":b1", ":b2", ":b3" };
	struct stmt *s = db_stmt(db,
		"SELECT id, message_id, kind, target, payload, attempts FROM outbox WHERE state = 'waiting' AND (next_at <= :now "
		"OR attempts = 0 OR next_at > :now + :longest) AND kind || ' ' || target NOT IN (:b0, :b1, :b2, :b3) ORDER BY "
		"next_at, id LIMIT 1",
		err);
	stmt_int(s, ":now", now_ms);
	stmt_int(s, ":longest", STORE_OUTBOX_PAUSE_MAX_MS); /* the clock was set back */
	for (int i = 0; i < STORE_OUTBOX_BUSY_MAX; i++)
		stmt_text(s, names[i], i < n_busy ? busy[i] : "");
	int result = stmt_step(s, err);
	if (result != 1)
		return result;
	out->id = row_int(s, 0);
	row_copy(s, 1, out->message_id, sizeof out->message_id);
	row_copy(s, 2, out->kind, sizeof out->kind);
	row_copy(s, 3, out->target, sizeof out->target);
	buf_puts(payload, row_text(s, 4));
	out->attempts = (int)row_int(s, 5);
	stmt_reset(s);
	return 1;
}

int store_outbox_next_at(struct db *db, int64_t after, int64_t *at, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT coalesce(min(next_at), 0) FROM outbox WHERE state = 'waiting' AND next_at > :after", "after=%ld", after);
	return stmt_first_int(s, at, err) == 1 ? 0 : -1;
}

static int note_attempt(struct db *db, int64_t id, const struct store_attempt *a, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO outbox_attempt (outbox, at, duration_ms, status, error) VALUES (:id, :at, :duration, :status, "
		":error)",
		"id=%ld at=%ld duration=%ld status=%d error=%s", id, a->at, a->duration_ms, a->status, a->error ? a->error : "");
}

int store_outbox_result(struct db *db, int64_t id, const struct store_attempt *attempt, int64_t next_at, struct fw_err *err)
{
	if (db_exec(db, err,
		    "UPDATE outbox SET attempts = attempts + 1, last_error = :error, next_at = :next, state = CASE WHEN :sent THEN "
		    "'sent' WHEN state = 'superseded' THEN state WHEN :next = 0 THEN 'failed' ELSE 'waiting' END WHERE id = :id",
		    "id=%ld sent=%d error=%s next=%ld", id, !attempt->error, attempt->error ? attempt->error : "",
		    attempt->error ? next_at : 0))
		return -1;
	return note_attempt(db, id, attempt, err);
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
	struct stmt *s = db_query(db, err,
		"DELETE FROM outbox WHERE id IN (SELECT id FROM (SELECT id, state, created_at FROM outbox ORDER BY id LIMIT "
		":limit) WHERE state <> 'waiting' AND created_at < :before)",
		"before=%ld limit=%d", before, limit);
	return stmt_run_count(s, n, err);
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
	stmt_text(s, ":state", state);
	return s;
}

int view_notifications(
	struct db *db, const char *state, int64_t before, int limit, view_notification_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = store_page_given(state) ? notifications_in(db, state, err)
						 : db_stmt(db, NOTIFICATIONS "WHERE id < :before ORDER BY id DESC LIMIT :n", err);
	stmt_int(s, ":before", store_page_before(before));
	stmt_int(s, ":n", store_page_size(limit, VIEW_ROWS_MAX));
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_notification){ .id = row_int(s, 0),
				  .message_id = row_text(s, 1),
				  .kind = row_text(s, 2),
				  .target = row_text(s, 3),
				  .payload = row_text(s, 4),
				  .state = row_text(s, 5),
				  .last_error = row_text(s, 6),
				  .attempts = (int)row_int(s, 7),
				  .next_at = row_int(s, 8),
				  .created_at = row_int(s, 9) });
	return result;
}

int view_attempts(struct db *db, int64_t notification, view_attempt_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT at, duration_ms, status, error FROM outbox_attempt WHERE outbox = :id ORDER BY id",
			"id=%ld", notification);
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct store_attempt){ .at = row_int(s, 0),
				  .duration_ms = row_int(s, 1),
				  .status = (int)row_int(s, 2),
				  .error = row_text(s, 3) });
	return result;
}

int view_outbox_stuck(struct db *db, int64_t *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT count(*) FROM outbox WHERE state = 'waiting' AND attempts >= :stuck",
		"stuck=%d", STORE_OUTBOX_STUCK);
	return stmt_first_int(s, n, err) == 1 ? 0 : -1;
}
