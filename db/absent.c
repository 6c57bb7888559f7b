#include "db/db.h"

#include <stdlib.h>

#define ABSENT "UPDATE device SET state = 'absent', state_why = :why, state_at = :now WHERE state = 'ok' AND worker <> '' AND "

/** Run an UPDATE that returns devices. How many, -1. */
static int gather(struct stmt *s, struct find_absent **out, struct fw_err *err)
{
	int n = 0, capacity = 0, result;
	*out = NULL;
	struct find_absent row;
	while ((result = stmt_next(s, err, row.uuid, row.class)) == 1) {
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 8;
			*out = mem_grow(*out, (size_t)capacity, sizeof **out);
		}
		(*out)[n++] = row;
	}
	if (result < 0) {
		free(*out);
		*out = NULL;
	}
	return result < 0 ? -1 : n;
}

int find_absent_mark(struct db *db, const struct find_inventory *has, const char *why, int64_t now_ms, struct find_absent **out,
	struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		ABSENT "worker = :worker AND host = :host AND (NOT on_call OR seen_at < :since) AND uuid NOT IN (SELECT value "
		       "FROM json_each(:named)) RETURNING uuid, class",
		"why=%s now=%ld worker=%s host=%s named=%s since=%ld", why, now_ms, has->worker, has->host, has->named,
		has->unseen_since);
	return gather(s, out, err);
}

int find_absent_mark_unconfigured(
	struct db *db, const char *workers, const char *why, int64_t now_ms, struct find_absent **out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, ABSENT "worker NOT IN (SELECT value FROM json_each(:workers)) RETURNING uuid, class",
		"why=%s now=%ld workers=%s", why, now_ms, workers);
	return gather(s, out, err);
}

int find_absent_job(struct db *db, const char *uuid, int64_t after, int64_t *job, struct fw_err *err)
{
	return db_first_int(db, job, err,
		"SELECT id FROM job WHERE state = 'queued' AND origin = 'idle' AND device_uuid = :uuid AND id > :after ORDER BY "
		"id LIMIT 1",
		"uuid=%s after=%ld", uuid, after);
}
