#include "db/internal.h"

int find_notification_ended(struct db *db, int64_t ended_at, const char *repo_name, struct find_notification_job *out, int max,
	int *n, struct fw_err *err)
{
	*n = 0;
	struct stmt *s = db_query(db, err,
		"SELECT o.id, o.repo, r.name, o.target_sha, o.suite, o.state, o.state_why FROM job o JOIN repo r ON r.id = "
		"o.repo WHERE o.ended_at = :now AND +o.state IN ('superseded', 'failed', 'target_missing') AND :repo IN ('', "
		"r.name) AND o.branch <> '' AND o.id IN (SELECT id FROM job WHERE ended_at = :now AND " STORE_JOB_COUNTS
		") ORDER BY o.id DESC LIMIT :max",
		"now=%ld repo=%s max=%d", ended_at, repo_name, max);
	struct find_notification_job job;
	return stmt_each(s, err, out[(*n)++] = job, job.id, job.repo, job.repo_name, job.sha, job.suite,
		COLUMN_NAMED(job.state, jobstate_from_name), job.why);
}

int find_notification_cells(
	struct db *db, int64_t comparison, enum verdict verdict, struct find_notification_cells *out, struct fw_err *err)
{
	return db_first(db, err, (out->all, out->n, out->decided_pct, out->key, out->reason),
		"SELECT (SELECT count(*) FROM cell WHERE comparison = :id), count(*) OVER (), decided_pct, key, reason FROM cell "
		"WHERE comparison = :id AND verdict = :verdict ORDER BY iif(verdict = 'improvement', -decided_pct, decided_pct), "
		"n LIMIT 1",
		"id=%ld verdict=%s", comparison, verdict_name(verdict));
}

int find_notification_suites(
	struct db *db, int64_t repo, const char *sha, struct find_notification_suite *out, int max, int *n, struct fw_err *err)
{
	*n = 0;
	struct stmt *s = db_query(db, err,
		"SELECT max(c.id), t.name, c.verdict, c.base_sha, c.kind FROM comparison c JOIN suite t ON t.id = c.suite JOIN "
		"job j ON j.id = c.job WHERE c.repo = :repo AND c.target_sha = :sha AND c.kind IN ('compare', 'selfcheck') AND "
		"NOT j.quick AND NOT j.some_cells GROUP BY t.name ORDER BY t.name LIMIT :max",
		"repo=%ld sha=%s max=%d", repo, sha, max);
	struct find_notification_suite suite;
	return stmt_each(s, err, out[(*n)++] = suite, suite.comparison, suite.suite,
		COLUMN_NAMED(suite.verdict, verdict_from_name), suite.base_sha, COLUMN_NAMED(suite.kind, jobkind_from_name));
}

int find_notification_each(struct db *db, int64_t comparison, int max, view_cell_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CELL_SELECT
		"WHERE comparison = :id AND verdict NOT IN ('unchanged', 'identical', 'unsupported') ORDER BY n LIMIT :max",
		"id=%ld max=%d", comparison, max);
	return cell_each(s, each, arg, err);
}
