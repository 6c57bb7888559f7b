#include "db/db.h"

static int each_cell(struct stmt *s, find_missing_fn *each, void *arg, struct fw_err *err)
{
	const char *key;
	int64_t comparison;
	return stmt_each(s, err, each(arg, key, comparison), key, comparison);
}

/* The branch's last whole comparison `p` with the suite of `t` and known rows. */
#define BEFORE_COMPARISON                                                                                                        \
	"FROM comparison p JOIN suite t ON t.id = p.suite JOIN suite u ON u.id = :suite JOIN job j ON j.id = p.job "             \
	"WHERE p.repo = :repo AND p.branch = :branch AND p.id < :id AND p.kind IN ('compare', 'selfcheck') AND t.name "          \
	"= u.name AND NOT j.quick AND NOT j.some_cells AND NOT p.rows_unknown ORDER BY p.id DESC LIMIT 1"
#define BEFORE_JOB                                                                                                               \
	"FROM comparison p JOIN suite t ON t.id = p.suite JOIN job j ON j.id = p.job WHERE p.repo = :repo AND "                  \
	"p.branch = :branch AND t.name = :suite AND p.kind IN ('compare', 'selfcheck') AND NOT j.quick AND NOT "                 \
	"j.some_cells AND p.target_sha <> :target AND p.job <> :job AND NOT p.rows_unknown ORDER BY p.id DESC LIMIT 1"

static struct stmt *bind_comparison(struct stmt *s, const struct store_comparison *c, struct fw_err *err)
{
	return stmt_bind(s, err, "id=%ld repo=%ld suite=%ld branch=%s", c->id, c->repo, c->suite, c->branch);
}

int find_missing_removed(struct db *db, const struct store_comparison *c, find_missing_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT k.key, k.comparison FROM cell k WHERE k.comparison = :id AND k.verdict = 'removed' AND NOT EXISTS "
		"(SELECT 1 FROM cell h WHERE h.comparison = (SELECT p.id " BEFORE_COMPARISON ") AND h.key = k.key AND h.verdict "
		"= 'removed') ORDER BY k.n",
		err);
	return each_cell(bind_comparison(s, c, err), each, arg, err);
}

int find_missing_unmeasured(struct db *db, const struct store_comparison *c, find_missing_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT k.key, k.comparison FROM cell k WHERE k.comparison = (SELECT p.id " BEFORE_COMPARISON
		") AND k.verdict <> 'removed' AND NOT EXISTS (SELECT 1 FROM cell h WHERE h.comparison = :id AND h.key = k.key) "
		"ORDER BY k.n",
		err);
	return each_cell(bind_comparison(s, c, err), each, arg, err);
}

static struct stmt *bind_job(struct stmt *s, const struct store_job *job, struct fw_err *err)
{
	return stmt_bind(s, err, "repo=%ld branch=%s target=%s job=%ld", job->repo, job->branch, job->target_sha, job->id);
}

static struct stmt *bind_suite(struct stmt *s, const struct store_job *job, const char *suite, struct fw_err *err)
{
	return stmt_bind(bind_job(s, job, err), err, "suite=%s", suite);
}

int find_missing_of_suite(
	struct db *db, const struct store_job *job, const char *suite, find_missing_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT k.key, k.comparison FROM cell k WHERE k.comparison = (SELECT p.id " BEFORE_JOB
		") AND k.verdict <> 'removed' ORDER BY k.n",
		err);
	return each_cell(bind_suite(s, job, suite, err), each, arg, err);
}

static int read_last(struct stmt *s, struct find_missing_previous *out, struct fw_err *err)
{
	*out = (struct find_missing_previous){ .comparison = 0 };
	return stmt_first(s, err, out->comparison, out->suite, out->shards, out->shards_now) < 0 ? -1 : 0;
}

int find_missing_previous(struct db *db, const struct store_comparison *c, struct find_missing_previous *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT p.id, p.suite, t.shards, u.shards " BEFORE_COMPARISON, err);
	return read_last(bind_comparison(s, c, err), out, err);
}

int find_missing_previous_of_suite(
	struct db *db, const struct store_job *job, const char *suite, struct find_missing_previous *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT p.id, p.suite, t.shards, 0 " BEFORE_JOB, err);
	return read_last(bind_suite(s, job, suite, err), out, err);
}

int find_missing_suite_text(struct db *db, int64_t suite, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT CAST(text AS BLOB) FROM suite WHERE id = :suite", "suite=%ld", suite);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no suite %lld", (long long)suite);
}

int find_missing_result(struct db *db, int64_t repo, const char *branch, const char *suite, const char *key, int64_t before,
	struct find_missing_result *out, struct fw_err *err)
{
	/* a failure of the base does not concern the target */
	*out = (struct find_missing_result){ .comparison = 0 };
	return stmt_optional(db_first(db, err, (out->comparison, out->is_done),
		"SELECT k.comparison, k.verdict NOT IN ('failed', 'rejected', 'removed', 'unsupported') FROM cell k JOIN "
		"comparison p ON p.id = k.comparison JOIN suite t ON t.id = p.suite JOIN job j ON j.id = p.job WHERE k.key = "
		":key AND k.repo = :repo AND k.branch = :branch AND k.comparison < :before AND k.verdict <> 'not_comparable' AND "
		"p.kind IN ('compare', 'selfcheck') AND t.name = :suite AND NOT j.quick AND (NOT j.some_cells OR j.shard > 0) "
		"ORDER BY k.comparison DESC LIMIT 1",
		"key=%s repo=%ld branch=%s before=%ld suite=%s", key, repo, branch, before, suite));
}

int find_missing_is_reported(struct db *db, const struct store_job *job, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT 1 FROM alert WHERE repo = :repo AND branch = :branch AND target_sha <> :target AND kind = 'failing' AND "
		"comparison IS NULL AND state IN ('open', 'acknowledged', 'accepted') AND :job > 0 LIMIT 1",
		err);
	s = bind_job(s, job, err);
	return stmt_any(s, err);
}

#define OPEN_BEFORE                                                                                                              \
	"a.repo = :repo AND a.branch = :branch AND a.state IN ('open', 'acknowledged') AND a.target_sha <> :target "             \
	"AND NOT EXISTS (SELECT 1 FROM job j WHERE j.repo = a.repo AND j.target_sha = a.target_sha AND j.id > :job) "

int find_missing_no_plan_alerts(struct db *db, const struct store_job *job, int64_t *ids, int *n, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT a.id FROM alert a WHERE " OPEN_BEFORE "AND a.kind = 'failing' AND a.comparison IS NULL AND a.cells = "
		"'[]'",
		err);
	s = bind_job(s, job, err);
	*n = stmt_ids(s, ids, FIND_MISSING_MAX, err);
	return *n < 0 ? -1 : 0;
}

int find_missing_suite_alerts(
	struct db *db, const struct store_job *job, const char *suites_json, int64_t *ids, int *n, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT a.id FROM alert a WHERE " OPEN_BEFORE "AND a.kind = 'missing' AND a.cells <> '[]' AND NOT EXISTS (SELECT "
		"1 FROM json_each(a.cells) w WHERE w.value ->> 'comparison' IS NULL OR w.value ->> 'suite' NOT IN (SELECT value "
		"FROM json_each(:suites)))",
		err);
	*n = stmt_ids(stmt_bind(bind_job(s, job, err), err, "suites=%s", suites_json), ids, FIND_MISSING_MAX, err);
	return *n < 0 ? -1 : 0;
}
