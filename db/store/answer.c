#include "db/store/answer.h"

static const int64_t keep_ms = (int64_t)24 * 3600 * 1000;

int store_answer_find(struct db *db, const char *key, struct store_answer *out, struct buf *body, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT status, fingerprint, location, body FROM idempotency_key WHERE key = :key", err);
	if (!s)
		return -1;
	stmt_text(s, ":key", key);
	int result = stmt_step(s, err);
	if (result != 1)
		return result;
	out->status = (int)row_int(s, 0);
	row_copy(s, 1, out->fingerprint, sizeof out->fingerprint);
	row_copy(s, 2, out->location, sizeof out->location);
	buf_puts(body, row_text(s, 3));
	stmt_reset(s);
	return 1;
}

int store_answer_keep(struct db *db, const char *key, const struct store_answer *answer, const struct buf *body, int64_t now_ms,
	struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "DELETE FROM idempotency_key WHERE at < :before", err);
	if (!s)
		return -1;
	stmt_int(s, ":before", now_ms - keep_ms);
	if (stmt_run(s, err) != 0)
		return -1;
	s = db_stmt(db,
		"INSERT INTO idempotency_key (key, fingerprint, status, location, body, at) VALUES (:key, :fingerprint, :status, "
		":location, "
		":body, :now)",
		err);
	if (!s)
		return -1;
	stmt_text(s, ":key", key);
	stmt_text(s, ":fingerprint", answer->fingerprint);
	stmt_int(s, ":status", answer->status);
	stmt_text(s, ":location", answer->location);
	stmt_text(s, ":body", body->data);
	stmt_int(s, ":now", now_ms);
	return stmt_run(s, err);
}
