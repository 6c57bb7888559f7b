#include "db/db.h"

static const int64_t keep_ms = (int64_t)24 * 3600 * 1000;

int store_answer_find(struct db *db, const char *key, struct store_answer *out, struct buf *body, struct fw_err *err)
{
	struct stmt *s = db_query(
		db, err, "SELECT status, fingerprint, location, body FROM idempotency_key WHERE key = :key", "key=%s", key);
	const char *text;
	int result = stmt_next(s, err, out->status, out->fingerprint, out->location, text);
	if (result == 1)
		buf_puts(body, text);
	stmt_reset(s);
	return result;
}

int store_answer_put(struct db *db, const char *key, const struct store_answer *answer, const struct buf *body, int64_t now_ms,
	struct fw_err *err)
{
	if (db_exec(db, err, "DELETE FROM idempotency_key WHERE at < :before", "before=%ld", now_ms - keep_ms) != 0)
		return -1;
	return db_exec(db, err,
		"INSERT INTO idempotency_key (key, fingerprint, status, location, body, at) VALUES (:key, :fingerprint, :status, "
		":location, :body, :now)",
		"key=%s fingerprint=%s status=%d location=%s body=%s now=%ld", key, answer->fingerprint, answer->status,
		answer->location, body->data, now_ms);
}
