/** store_outbox.c - deliveries that are owed: when, how often tried, how it ended. */
#include "db/store_outbox.h"

int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO outbox (kind, target, payload, next_at, created_at) VALUES (:kind, :target, :payload, :now, :now)",
		err);
	if (!s)
		return -1;
	stmt_text(s, ":kind", kind);
	stmt_text(s, ":target", target);
	stmt_text(s, ":payload", payload);
	stmt_int(s, ":now", now_ms);
	return stmt_run(s, err);
}

int store_outbox_due(struct db *db, int64_t now_ms, int64_t *id, char *kind, size_t kind_size, char *target, size_t target_size,
	struct buf *payload, int *attempts, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT id, kind, target, payload, attempts FROM outbox WHERE state = 'waiting' AND next_at <= :now "
		"ORDER BY next_at, id LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":now", now_ms);
	int r = stmt_step(s, err);
	if (r != 1)
		return r;
	*id = row_int(s, 0);
	row_copy(s, 1, kind, kind_size);
	row_copy(s, 2, target, target_size);
	buf_puts(payload, row_text(s, 3));
	*attempts = (int)row_int(s, 4);
	stmt_reset(s);
	return 1;
}

int store_outbox_next_at(struct db *db, int64_t *at, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT coalesce(min(next_at), 0) FROM outbox WHERE state = 'waiting'", err);
	if (!s || stmt_step(s, err) != 1)
		return -1;
	*at = row_int(s, 0);
	stmt_reset(s);
	return 0;
}

int store_outbox_result(struct db *db, int64_t id, bool sent, const char *error, int64_t next_at, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"UPDATE outbox SET attempts = attempts + 1, last_error = :error, next_at = :next, "
		"state = CASE WHEN :sent THEN 'sent' WHEN :next = 0 THEN 'failed' ELSE 'waiting' END WHERE id = :id",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":id", id);
	stmt_int(s, ":sent", sent);
	stmt_text(s, ":error", error && !sent ? error : "");
	stmt_int(s, ":next", next_at);
	return stmt_run(s, err);
}
