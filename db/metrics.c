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

int view_fetches(struct db *db, view_fetch_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_stmt(
		db, "SELECT name, fetch_failures, coalesce(fetched_at, 0) FROM repo WHERE state <> 'gone' ORDER BY name", err);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, row_text(s, 0), row_int(s, 1), row_int(s, 2));
	return result;
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
