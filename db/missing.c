#include "db/db.h"

#include <stdlib.h>

#define ABSENT "UPDATE device SET state = 'absent', state_why = :why, state_at = :now WHERE state = 'ok' AND worker <> '' AND "

/** Run an UPDATE that returns devices. How many, -1. */
static int gather(struct stmt *s, const char *why, int64_t now_ms, struct find_missing **out, struct fw_err *err)
{
	int n = 0, room = 0, result;
	*out = NULL;
	stmt_text(s, ":why", why);
	stmt_int(s, ":now", now_ms);
	while ((result = stmt_step(s, err)) == 1) {
		if (n == room) {
			room = room ? 2 * room : 8;
			*out = mem_grow(*out, (size_t)room, sizeof **out);
		}
		(*out)[n].class = row_int(s, 1);
		row_copy(s, 0, (*out)[n++].uuid, sizeof(*out)->uuid);
	}
	if (result < 0) {
		free(*out);
		*out = NULL;
	}
	return result < 0 ? -1 : n;
}

int find_missing_of(struct db *db, const struct find_inventory *has, const char *why, int64_t now_ms, struct find_missing **out,
	struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		ABSENT "worker = :worker AND host = :host AND (NOT on_call OR seen_at < :since) AND uuid NOT IN (SELECT value "
		       "FROM json_each(:named)) RETURNING uuid, class",
		err);
	stmt_text(s, ":worker", has->worker);
	stmt_text(s, ":host", has->host);
	stmt_text(s, ":named", has->named);
	stmt_int(s, ":since", has->unseen_since);
	return gather(s, why, now_ms, out, err);
}

int find_missing_without(
	struct db *db, const char *workers, const char *why, int64_t now_ms, struct find_missing **out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, ABSENT "worker NOT IN (SELECT value FROM json_each(:workers)) RETURNING uuid, class", err);
	stmt_text(s, ":workers", workers);
	return gather(s, why, now_ms, out, err);
}

int find_missing_job(struct db *db, const char *uuid, int64_t after, int64_t *job, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id FROM job WHERE state = 'queued' AND origin = 'idle' AND device_uuid = :uuid AND id > :after ORDER BY "
		"id LIMIT 1",
		"uuid=%s after=%ld", uuid, after);
	return stmt_first_int(s, job, err);
}
