/* clock_set.c - documented in db.h. min() prevents times of past events from moving into the future. */
#include "db/db.h"

#define OPEN "state IN ('queued', 'assigned', 'building', 'checking', 'measuring')"

/* :now is the upper bound of the result. */
static int move(struct db *db, const char *sql, int64_t by_ms, int64_t latest, struct fw_err *err)
{
	return db_exec(db, err, sql, "by=%ld now=%ld", by_ms, latest);
}

#define SESSIONS "UPDATE session SET expires_at = min(expires_at + :by, :now)"
#define PAUSES   "UPDATE outbox SET next_at = min(next_at + :by, :now) WHERE state = 'waiting' AND attempts > 0"

int store_clock_set(struct db *db, int64_t by_ms, int64_t session_ms, int64_t now_ms, struct fw_err *err)
{
	static const char *const moves[] = {
		"UPDATE job SET queued_at = min(queued_at + :by, :now), started_at = min(started_at + :by, :now) WHERE " OPEN,
		"UPDATE job SET queued_at = min(queued_at + :by, :now), started_at = min(started_at + :by, :now), "
		"ended_at = min(ended_at + :by, :now) WHERE ended_at > :now",
		"UPDATE job SET again_at = again_at + :by WHERE again_at IS NOT NULL AND :now > 0",
		"UPDATE device SET seen_at = min(seen_at + :by, :now)",
		"UPDATE device SET state_at = min(state_at + :by, :now) WHERE state_at > :now",
		"UPDATE alert SET opened_at = min(opened_at + :by, :now), changed_at = min(changed_at + :by, :now) WHERE changed_at > :now",
		"UPDATE environment_change SET seen_at = min(seen_at + :by, :now) WHERE seen_at > :now",
		"UPDATE webhook_seen SET at = min(at + :by, :now)",
		"UPDATE idempotency_key SET at = min(at + :by, :now)",
		"UPDATE account SET checked_at = min(checked_at + :by, :now), tried_at = min(tried_at + :by, :now)",
		"UPDATE token SET used_at = min(used_at + :by, :now) WHERE used_at > :now",
	};
	for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
		if (move(db, moves[i], by_ms, now_ms, err) != 0)
			return -1;
	return move(db, PAUSES, by_ms, now_ms + STORE_OUTBOX_PAUSE_MAX_MS, err) ||
			       move(db, SESSIONS, by_ms, now_ms + session_ms, err)
		       ? -1
		       : 0;
}

int store_clock_ahead(struct db *db, int64_t now_ms, int64_t *ahead_ms, struct fw_err *err)
{
	int64_t newest;
	struct stmt *s = db_stmt(db,
		"SELECT max(coalesce((SELECT max(ended_at) FROM job), 0), coalesce((SELECT max(max(queued_at, "
		"coalesce(started_at, 0))) FROM job WHERE " OPEN "), 0), coalesce((SELECT max(seen_at) FROM device), 0))",
		err);
	if (stmt_first_int(s, &newest, err) != 1)
		return -1;
	*ahead_ms = newest > now_ms ? newest - now_ms : 0;
	return 0;
}
