#include "db/db.h"

enum { ROWS_MAX = 150 }; /* less than the size of any cache, so that recorded builds are in it */

int store_job_positions(struct db *db, const struct store_cached_build_request *request, int most, struct store_job_position *out,
	int *n, struct fw_err *err)
{
	int result = 1;
	*n = 0;
	struct stmt *s = db_query(db, err,
		"SELECT j.id, j.priority, coalesce((SELECT d.host FROM device d WHERE d.uuid = j.device_uuid), '') FROM job j "
		"WHERE j.state = 'queued' AND j.id > :after AND " STORE_JOB_RESOLVED "AND (j.device_kind = '' OR j.device_kind = "
		":device_kind) AND (j.device_uuid = '' OR j.device_uuid IN (SELECT uuid FROM device WHERE worker = :worker AND "
		"(state = 'ok' OR (state = 'absent' AND on_call)))) AND (j.device_class IS NULL OR EXISTS (SELECT 1 FROM device "
		"mine WHERE mine.worker = :worker AND mine.state = 'ok' AND " STORE_CLASS_FITS(
			"mine.class") ")) AND j.repo NOT IN (SELECT value FROM json_each(:held)) AND j.id NOT IN (SELECT value FROM "
				      "json_each(:besides)) AND (:which = 0 OR (:which = 1) = " STORE_JOB_CACHED
				      ") " STORE_JOB_FIRST "LIMIT :most",
		"device_kind=%s worker=%s cache=%s which=%d held=%s besides=%s after=%ld most=%d",
		device_kind_name(request->kind), request->worker, request->worker, request->which, request->held,
		request->besides, request->after, most);
	while (*n < most && (result = stmt_next(s, err, out[*n].id, out[*n].priority, out[*n].host)) == 1)
		++*n;
	if (result == 1)
		stmt_reset(s);
	return result < 0 ? -1 : 0;
}

int store_job_newest(struct db *db, int64_t *id, struct fw_err *err)
{
	return stmt_first_int(db_stmt(db, "SELECT coalesce(max(id), 0) FROM job", err), id, err) < 0 ? -1 : 0;
}

int store_cached_build_plan(struct db *db, int64_t job, const char (*source)[STORE_SOURCE_SIZE], int n, struct fw_err *err)
{
	int result = db_exec(db, err, "DELETE FROM job_source WHERE job = :job", "job=%ld", job);
	for (int i = 0; i < n && result == 0; i++)
		result = db_exec(db, err, "INSERT OR IGNORE INTO job_source (job, source) VALUES (:job, :source)",
			"job=%ld source=%s", job, source[i]);
	return result;
}

int store_cached_build_send(struct db *db, int64_t job, const char *nonce, int64_t now_ms, struct fw_err *err)
{
	return store_job_assign(db, job, 0, nonce, now_ms, err);
}

int store_cached_build_put(
	struct db *db, const char *worker, const char *source, const char *made_by, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err,
		    "INSERT INTO cached_build (worker, source, made_by, used_at) VALUES (:worker, :source, :made_by, :now) ON "
		    "CONFLICT (worker, source) DO UPDATE SET made_by = excluded.made_by, used_at = excluded.used_at",
		    "worker=%s source=%s made_by=%s now=%ld", worker, source, made_by, now_ms) != 0)
		return -1;
	return db_exec(db, err,
		"DELETE FROM cached_build WHERE worker = :worker AND source IN (SELECT source FROM cached_build WHERE worker = "
		":worker ORDER BY used_at DESC, source LIMIT -1 OFFSET :rows)",
		"worker=%s rows=%d", worker, ROWS_MAX);
}

int store_cached_build_get(struct db *db, const char *worker, const char *source, char *made_by, struct fw_err *err)
{
	return db_first_text(db, made_by, STORE_MADE_BY_SIZE, err,
		"SELECT made_by FROM cached_build WHERE worker = :worker AND source = :source", "worker=%s source=%s", worker,
		source);
}

int store_cached_build_forget(struct db *db, const char *worker, const char *source, struct fw_err *err)
{
	return db_exec(db, err, "DELETE FROM cached_build WHERE worker = :worker AND :source IN (source, '')",
		"worker=%s source=%s", worker, source);
}

int store_cached_build_only(struct db *db, const char *worker, const char *made_by, struct fw_err *err)
{
	return db_exec(db, err, "DELETE FROM cached_build WHERE worker = :worker AND made_by <> :made_by", "worker=%s made_by=%s",
		worker, made_by);
}
