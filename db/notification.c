#include "db/internal.h"

int find_notification_ended(struct db *db, int64_t ended_at, const char *repo_name, struct find_notification_job *out, int max,
	int *n, struct fw_err *err)
{
	int result;
	*n = 0;
	struct stmt *s = db_query(db, err,
		"SELECT o.id, o.repo, r.name, o.target_sha, o.suite, o.state, o.state_why FROM job o JOIN repo r ON r.id = "
		"o.repo WHERE o.ended_at = :now AND +o.state IN ('superseded', 'failed', 'target_missing') AND :repo IN ('', "
		"r.name) AND o.branch <> '' AND o.id IN (SELECT id FROM job WHERE ended_at = :now AND " STORE_JOB_COUNTS
		") ORDER BY o.id DESC LIMIT :max",
		"now=%ld repo=%s max=%d", ended_at, repo_name, max);
	while ((result = stmt_step(s, err)) == 1) {
		struct find_notification_job *job = &out[(*n)++];
		job->id = row_int(s, 0);
		job->repo = row_int(s, 1);
		row_copy(s, 2, job->repo_name, sizeof job->repo_name);
		row_copy(s, 3, job->sha, sizeof job->sha);
		row_copy(s, 4, job->suite, sizeof job->suite);
		job->state = jobstate_from_name(row_text(s, 5));
		row_copy(s, 6, job->why, sizeof job->why);
	}
	return result;
}

int find_notification_cells(
	struct db *db, int64_t comparison, enum verdict verdict, struct find_notification_cells *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT (SELECT count(*) FROM cell WHERE comparison = :id), count(*) OVER (), decided_pct, key, reason FROM cell "
		"WHERE comparison = :id AND verdict = :verdict ORDER BY iif(verdict = 'improvement', -decided_pct, decided_pct), "
		"n LIMIT 1",
		"id=%ld verdict=%s", comparison, verdict_name(verdict));
	int result = stmt_step(s, err);
	if (result != 1)
		return result;
	*out = (struct find_notification_cells){ .all = row_int(s, 0), .n = row_int(s, 1), .decided_pct = row_double(s, 2) };
	row_copy(s, 3, out->key, sizeof out->key);
	row_copy(s, 4, out->reason, sizeof out->reason);
	stmt_reset(s);
	return 1;
}

int find_notification_suites(
	struct db *db, int64_t repo, const char *sha, struct find_notification_suite *out, int max, int *n, struct fw_err *err)
{
	int result;
	*n = 0;
	struct stmt *s = db_query(db, err,
		"SELECT max(c.id), t.name, c.verdict, c.base_sha, c.kind FROM comparison c JOIN suite t ON t.id = c.suite JOIN "
		"job j ON j.id = c.job WHERE c.repo = :repo AND c.target_sha = :sha AND c.kind IN ('compare', 'selfcheck') AND "
		"NOT j.quick AND NOT j.some_cells GROUP BY t.name ORDER BY t.name LIMIT :max",
		"repo=%ld sha=%s max=%d", repo, sha, max);
	while ((result = stmt_step(s, err)) == 1) {
		struct find_notification_suite *suite = &out[(*n)++];
		suite->comparison = row_int(s, 0);
		row_copy(s, 1, suite->suite, sizeof suite->suite);
		suite->verdict = verdict_from_name(row_text(s, 2));
		row_copy(s, 3, suite->base_sha, sizeof suite->base_sha);
		suite->kind = jobkind_from_name(row_text(s, 4));
	}
	return result;
}

int find_notification_each(struct db *db, int64_t comparison, int max, view_cell_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CELL_SELECT
		"WHERE comparison = :id AND verdict NOT IN ('unchanged', 'identical', 'unsupported') ORDER BY n LIMIT :max",
		"id=%ld max=%d", comparison, max);
	return cell_each(s, each, arg, err);
}
