#include "db/db.h"

enum { EVENT_BYTES_MAX = 1 << 20 };

struct jsonw *store_event_begin(struct store_event *e, const char *kind)
{
	e->kind = kind;
	buf_init(&e->text, EVENT_BYTES_MAX);
	jsonw_init(&e->json, &e->text);
	jsonw_object(&e->json);
	return &e->json;
}

int store_event_write(struct store_event *e, struct db *db, int64_t now_ms, struct fw_err *err)
{
	jsonw_object_end(&e->json);
	return e->text.failed ? err_set(err, ERR_FULL, "the event %s does not fit", e->kind)
			      : store_event(db, now_ms, e->kind, e->text.data, NULL, err);
}

void store_event_fini(struct store_event *e)
{
	buf_fini(&e->text);
}

int store_event_end(struct store_event *e, struct db *db, int64_t now_ms, struct fw_err *err)
{
	int result = store_event_write(e, db, now_ms, err);
	store_event_fini(e);
	return result;
}

int store_event(struct db *db, int64_t now_ms, const char *kind, const char *payload, int64_t *id, struct fw_err *err)
{
	return db_insert(db, id, err, "INSERT INTO event (at, kind, payload) VALUES (:at, :kind, :payload)",
		"at=%ld kind=%s payload=%s", now_ms, kind, payload);
}

int store_event_prune(struct db *db, int64_t before, int64_t after, int limit, int *n, struct fw_err *err)
{
	/* ids increase with time, so only the oldest rows are read */
	return db_run_count(db, n, err,
		"DELETE FROM event WHERE id IN (SELECT id FROM (SELECT id, at FROM event ORDER BY id LIMIT :limit) WHERE at NOT "
		"BETWEEN :before AND :after)",
		"before=%ld after=%ld limit=%d", before, after, limit);
}
