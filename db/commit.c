/** commit.c - each query reads the jobs of one commit, or the last ones of one branch. */
#include "db/db.h"

#include <stdio.h>

enum { PUSHES_MAX = 64 };

#define JOINS                                                                                                                    \
	"LEFT JOIN comparison c ON c.job = j.id LEFT JOIN cell b ON c.verdict = 'improvement' AND b.id = (SELECT k.id "          \
	"FROM cell k WHERE k.comparison = c.id AND k.verdict = 'improvement' ORDER BY k.decided_pct DESC, k.n LIMIT "            \
	"1) "
#define COLUMNS                                                                                                                  \
	"j.id, j.plan, j.suite, j.device_kind, j.state, j.state_why, c.id, c.verdict, c.n_cells, c.n_regressions, "              \
	"c.worst_pct, c.worst_key, c.finished_at, b.decided_pct, coalesce(b.key, ''), "                                          \
	"coalesce(c.kind = 'selfcheck', 0) "

static enum commit_end end_of(enum jobstate state, bool is_judged)
{
	if (is_judged)
		return COMMIT_JUDGED;
	if (!jobstate_is_final(state))
		return COMMIT_OPEN;
	return state == JOBSTATE_FAILED ? COMMIT_FAILED : COMMIT_UNMEASURED;
}

static void read_job(struct stmt *s, struct commit_job *job)
{
	*job = (struct commit_job){ 0 };
	row_read(s, job->id, job->plan, job->suite, job->device_kind, COLUMN_NAMED(job->state, jobstate_from_name), job->why,
		job->comparison, COLUMN_NAMED(job->verdict, verdict_from_name), job->cells, job->regressions, job->worst_pct,
		job->worst_key, job->finished_at, job->best_pct, job->best_key, job->is_alone);
	job->end = end_of(job->state, job->comparison != 0);
}

/* Read what users accepted of a regression. */
static int read_accepted(struct db *db, struct commit_job *job, struct fw_err *err)
{
	struct store_accepted a;
	job->measured = job->verdict;
	if (job->end != COMMIT_JUDGED || job->verdict != VERDICT_REGRESSION)
		return 0;
	if (store_accepted_of(db, job->comparison, &a, err) != 0)
		return -1;
	job->verdict = a.verdict;
	job->accepted = a.covered;
	job->accepted_alert = a.alert;
	snprintf(job->accepted_by, sizeof job->accepted_by, "%s", a.who);
	snprintf(job->accepted_why, sizeof job->accepted_why, "%s", a.why);
	return 0;
}

/** Add every row of `s` and judge; `out` is empty after an error. */
static int judge(struct db *db, struct stmt *s, struct commit_verdict *out, struct fw_err *err)
{
	int result;
	while ((result = stmt_step(s, err)) == 1) {
		struct commit_job job;
		read_job(s, &job);
		if (read_accepted(db, &job, err) != 0) {
			stmt_reset(s);
			result = -1;
			break;
		}
		commit_verdict_add(out, &job);
	}
	if (result == 0)
		commit_verdict_end(out);
	else
		commit_verdict_fini(out);
	return result;
}

int store_commit_verdict(
	struct db *db, int64_t repo, const char *sha, const char *branch, struct commit_verdict *out, struct fw_err *err)
{
	commit_verdict_init(out);
	struct stmt *s = db_query(db, err,
		"WITH counting(id, rank) AS MATERIALIZED (SELECT id, CASE branch WHEN '' THEN 2 WHEN :branch THEN 0 ELSE 1 END "
		"FROM job WHERE repo = :repo AND target_sha = :sha AND " STORE_JOB_COUNTS ") SELECT " COLUMNS
		"FROM counting n CROSS JOIN job j ON j.id = n.id " JOINS "WHERE n.rank = (SELECT min(rank) FROM counting)",
		"repo=%ld sha=%s branch=%s", repo, sha, branch ? branch : "");
	return judge(db, s, out, err);
}

int store_commit_plan(struct db *db, int64_t job, struct commit_verdict *out, struct fw_err *err)
{
	commit_verdict_init(out);
	struct stmt *s = db_query(db, err,
		"SELECT " COLUMNS "FROM job j " JOINS "WHERE j.id = :job OR (j.plan = :job AND j.plan > 0)", "job=%ld", job);
	return judge(db, s, out, err);
}

/** Last pushes of a branch, newest first. Returns how many, -1. Shape: sha[PUSHES_MAX][65]. */
static int list_pushes(struct db *db, int64_t repo, const char *branch, const char *tip, char (*sha)[65], struct fw_err *err)
{
	/* the age of a push is that of its first job, so that a later measurement does not make it the newest */
	struct stmt *s = db_query(db, err,
		"SELECT pushes.target_sha FROM (SELECT DISTINCT target_sha FROM (SELECT target_sha FROM job WHERE repo = :repo "
		"AND branch = :branch AND " STORE_JOB_COUNTS "ORDER BY id DESC LIMIT :n)) pushes WHERE pushes.target_sha <> :tip "
		"ORDER BY (SELECT min(x.id) FROM job x WHERE x.repo = :repo AND x.target_sha = pushes.target_sha AND +x.branch = "
		":branch) DESC",
		"repo=%ld branch=%s tip=%s n=%d", repo, branch, tip, PUSHES_MAX);
	int result, n = 0;
	while ((result = stmt_step(s, err)) == 1)
		row_copy(s, 0, sha[n++], 65);
	return result < 0 ? -1 : n;
}

int store_commit_before(struct db *db, int64_t repo, const char *branch, const char *tip, char *sha, struct commit_verdict *out,
	struct fw_err *err)
{
	char pushes[PUSHES_MAX][65];
	int n = list_pushes(db, repo, branch, tip, pushes, err), known = -1;
	commit_verdict_init(out);
	sha[0] = 0;
	for (int i = 0; i < n; i++) {
		commit_verdict_fini(out);
		if (store_commit_verdict(db, repo, pushes[i], branch, out, err) != 0)
			return -1;
		bool is_known = out->verdict != VERDICT_NONE;
		if (is_known && ((!out->n_unmeasured && !out->n_open) || out->verdict <= VERDICT_REGRESSION)) {
			memcpy(sha, pushes[i], 65);
			return 0;
		}
		if (is_known && known < 0)
			known = i;
	}
	commit_verdict_fini(out);
	if (known < 0)
		return n < 0 ? -1 : 0;
	memcpy(sha, pushes[known], 65);
	return store_commit_verdict(db, repo, sha, branch, out, err);
}

int store_commit_find(struct db *db, const char *repo, const char *prefix, struct store_commit_found *out, struct fw_err *err)
{
	size_t len = strlen(prefix);
	char last[66]; /* 'g' comes after every hex digit */
	*out = (struct store_commit_found){ .n = 0 };
	if (!oid_is_prefix(prefix, 1))
		return 0;
	memcpy(last, prefix, len);
	last[len] = 'g';
	last[len + 1] = 0;
	struct stmt *s = db_query(db, err,
		"SELECT r.id, r.name, j.target_sha AS sha FROM repo r CROSS JOIN job j ON j.repo = r.id AND j.target_sha >= "
		":first AND j.target_sha < :last WHERE :repo = r.name OR (:repo = '' AND r.state <> 'gone') UNION SELECT r.id, "
		"r.name, b.commit_sha FROM repo r CROSS JOIN branch_tip b ON b.repo = r.id AND b.commit_sha >= :first AND "
		"b.commit_sha < :last AND b.gone = 0 WHERE :repo = r.name OR (:repo = '' AND r.state <> 'gone') ORDER BY 1, 3 "
		"LIMIT 2",
		"first=%s last=%s repo=%s", prefix, last, store_page_given(repo) ? repo : "");
	int result;
	while ((result = stmt_step(s, err)) == 1)
		if (out->n++ == 0)
			row_read(s, out->repo, out->repo_name, out->sha);
	return result;
}

int store_commit_abbreviated(struct db *db, int64_t repo, const char *prefix, char *sha, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT sha FROM git_commit WHERE repo = :repo AND sha >= :low AND sha < :low || 'g' UNION SELECT commit_sha "
		"FROM branch_tip WHERE repo = :repo AND commit_sha >= :low AND commit_sha < :low || 'g' LIMIT 2",
		"repo=%ld low=%s", repo, prefix);
	int got = stmt_step(s, err), more = 0;
	if (got == 1) {
		row_copy(s, 0, sha, 65);
		more = stmt_step(s, err);
	}
	stmt_reset(s);
	if (more == 1)
		return err_set(err, ERR_CONFLICT, "%s matches several commits; give more digits", prefix);
	return more < 0 ? -1 : got;
}
