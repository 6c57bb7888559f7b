#include "db/db.h"

const int view_duration_bound_s[VIEW_DURATION_BUCKETS] = { 1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600 };

int view_durations(struct db *db, struct view_durations *out, struct fw_err *err)
{
	int result, i = 0;
	*out = (struct view_durations){ 0 };
	struct stmt *s = db_stmt(db,
		"SELECT sum(n) OVER (ORDER BY bound_s), sum(sum_s) OVER (ORDER BY bound_s) FROM job_duration ORDER BY bound_s",
		err);
	while ((result = stmt_next(s, err, out->n, out->sum_s)) == 1)
		if (i < VIEW_DURATION_BUCKETS)
			out->below[i++] = out->n;
	return result;
}

int view_exemplars(struct db *db, struct view_exemplar *out, struct fw_err *err)
{
	enum { NEWEST = 100 };
	struct view_exemplar job;
	int result;
	memset(out, 0, VIEW_EXEMPLARS * sizeof *out);
	struct stmt *s = db_query(db, err,
		"SELECT id, ended_at, (ended_at - started_at) / 1000.0 FROM (SELECT id, state, started_at, ended_at FROM job WHERE "
		"ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT :newest) WHERE state IN ('done', 'failed') AND started_at IS NOT NULL "
		"AND ended_at >= started_at",
		"newest=%d", (int)NEWEST);
	while ((result = stmt_next(s, err, job.job, job.ended_at, job.seconds)) == 1) {
		int i = 0;
		while (i < VIEW_DURATION_BUCKETS && job.seconds > view_duration_bound_s[i])
			i++;
		if (!out[i].job)
			out[i] = job;
	}
	return result;
}

int view_fetches(struct db *db, view_fetch_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(
		db, "SELECT name, fetch_failures, coalesce(fetched_at, 0) FROM repo WHERE state <> 'gone' ORDER BY name", err);
	const char *repo;
	int64_t failures, fetched_at;
	return stmt_each(s, err, each(arg, repo, failures, fetched_at), repo, failures, fetched_at);
}

static int pragma(struct db *db, const char *sql, int64_t *out, struct fw_err *err)
{
	return stmt_first_int(db_stmt(db, sql, err), out, err) == 1 ? 0 : -1;
}

int view_size(struct db *db, int64_t *bytes, struct fw_err *err)
{
	int64_t pages, size;
	if (pragma(db, "PRAGMA page_count", &pages, err) != 0 || pragma(db, "PRAGMA page_size", &size, err) != 0)
		return -1;
	*bytes = pages * size;
	return 0;
}
