/**
 * comparison.c - lists of repositories, commits and comparisons, and single rows.
 *
 * Each combination of filters has a separate statement, so that each reads exactly one index from its newest end.
 */
#include "db/internal.h"

double view_tflops(double flops, double ms)
{
	return ms > 0 && flops > 0 ? flops / ms * 1e-9 : NAN;
}

/* ---- repositories, branches, commits --------------------------------------------------------------------------------- */

int view_repos(struct db *db, view_repo_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT id, name, url, upstream, state, error, is_local, fetched_at, (SELECT count(*) FROM branch_tip b WHERE "
		"b.repo = r.id AND b.watched AND NOT b.gone), coalesce(open.n, 0) FROM repo r LEFT JOIN (SELECT repo, count(*) "
		"AS n FROM alert INDEXED BY alert_by_state WHERE state IN ('open', 'acknowledged') GROUP BY repo) open ON "
		"open.repo = r.id ORDER BY name",
		err);
	struct view_repo row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.id, row.name, row.url, row.upstream, row.state, row.error, row.is_local,
		row.fetched_at, row.branches, row.open_alerts);
}

int view_repo_id(struct db *db, const char *name, int64_t *id, struct fw_err *err)
{
	return stmt_require(store_repo_find(db, name, id, err), err, "there is no repository %s", name);
}

int view_commits(struct db *db, const char *prefix, int limit, view_commit_fn *each, void *arg, struct fw_err *err)
{
	size_t len = strlen(prefix);
	if (!oid_is_prefix(prefix, 1))
		return 0;
	char last[66]; /* 'g' comes after every hex digit */
	memcpy(last, prefix, len);
	last[len] = 'g';
	last[len + 1] = 0;
	struct stmt *s = db_query(db, err,
		"SELECT m.repo, r.name, m.sha, m.tree, m.first_parent, m.author, m.subject, m.committed_at FROM repo r CROSS "
		"JOIN git_commit m ON m.repo = r.id AND m.sha >= :first AND m.sha < :last ORDER BY r.id, m.sha LIMIT :limit",
		"first=%s last=%s limit=%d", prefix, last, store_page_size(limit, VIEW_ROWS_MAX));
	struct view_commit row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.repo_id, row.repo, row.sha, row.tree, row.first_parent, row.author,
		row.subject, row.committed_at);
}

/* ---- comparisons ----------------------------------------------------------------------------------------------------- */

/* CASE, so that SQLite searches the best cell only of improvements. */
#define COMPARISON_SELECT                                                                                                        \
	"SELECT c.id, c.job, r.name, c.branch, c.kind, s.name, c.verdict, c.base_sha, c.base_how, c.target_sha, "                \
	"coalesce(m.subject, ''), c.identical_by, coalesce(d.uuid, ''), c.etag, c.n_cells, c.n_regressions, "                    \
	"c.worst_pct, c.worst_key, c.gpu_s, c.wall_s, c.finished_at, (SELECT count(*) FROM run l WHERE l.comparison = "          \
	"c.id), k.decided_pct, coalesce(k.key, ''), coalesce(m.author, '') FROM comparison c JOIN repo r ON r.id = "             \
	"c.repo JOIN suite s ON s.id = c.suite LEFT JOIN git_commit m ON m.repo = c.repo AND m.sha = c.target_sha "              \
	"LEFT JOIN device d ON d.id = c.device LEFT JOIN cell k ON k.id = CASE c.verdict WHEN 'improvement' THEN " CELL_BEST     \
	"END "
#define NEWEST "c.id < :before ORDER BY c.id DESC LIMIT :limit"

static int each_comparison(struct stmt *s, view_comparison_fn *each, void *arg, struct fw_err *err)
{
	int result, n = 0;
	struct view_comparison row = { 0 };
	for (; (result = stmt_next(s, err, row.id, row.job, row.repo, row.branch, COLUMN_NAMED(row.kind, jobkind_from_name),
			row.suite, COLUMN_NAMED(row.verdict, verdict_from_name), row.base, row.base_how, row.target, row.subject,
			row.identical_by, row.device, row.etag, row.cells, row.regressions, row.worst_pct, row.worst_cell,
			row.gpu_s, row.wall_s, row.finished_at, row.runs, row.best_pct, row.best_cell, row.author)) == 1;
		n++)
		each(arg, &row);
	return result < 0 ? -1 : n;
}

/*
 * Comparisons with a regression have one of these verdicts, each of which has an index, so that rare ones are found without a
 * scan.
 */
#define REGRESSED_AS(of, verdict)                                                                                                \
	"SELECT * FROM (SELECT id FROM comparison WHERE " of "verdict = '" verdict "' AND n_regressions > 0 AND id < "           \
	":before ORDER BY id DESC LIMIT :limit)"
#define REGRESSED(of)                                                                                                            \
	COMPARISON_SELECT "WHERE c.id IN (" REGRESSED_AS(of, "failed") " UNION ALL " REGRESSED_AS(                               \
		of, "rejected") " UNION ALL " REGRESSED_AS(of, "regression") ") ORDER BY c.id DESC LIMIT :limit"

enum { BY_REPO = 1, BY_BRANCH = 2, BY_VERDICT = 4, BY_TARGET = 8, BY_REGRESSIONS = 16 };

static const struct {
	int filters;
	const char *sql;
} comparison_lists[] = {
	{ 0, COMPARISON_SELECT "WHERE " NEWEST },
	{ BY_REPO, COMPARISON_SELECT "WHERE c.repo = :repo AND " NEWEST },
	{ BY_REPO | BY_BRANCH, COMPARISON_SELECT "WHERE c.repo = :repo AND c.branch = :branch AND " NEWEST },
	{ BY_VERDICT, COMPARISON_SELECT "WHERE c.verdict = :verdict AND " NEWEST },
	{ BY_REPO | BY_VERDICT, COMPARISON_SELECT "WHERE c.repo = :repo AND c.verdict = :verdict AND " NEWEST },
	{ BY_REPO | BY_BRANCH | BY_VERDICT,
		COMPARISON_SELECT "WHERE c.repo = :repo AND c.branch = :branch AND c.verdict = :verdict AND " NEWEST },
	{ BY_REGRESSIONS, REGRESSED("") },
	{ BY_REPO | BY_REGRESSIONS, REGRESSED("repo = :repo AND ") },
	{ BY_REPO | BY_BRANCH | BY_REGRESSIONS, REGRESSED("repo = :repo AND branch = :branch AND ") },
	{ BY_REPO | BY_TARGET, COMPARISON_SELECT "WHERE c.repo = :repo AND c.target_sha = :target AND " NEWEST },
};

int view_comparisons(struct db *db, const struct view_filter *f, view_comparison_fn *each, void *arg, struct fw_err *err)
{
	int filters = (store_page_given(f->repo) ? BY_REPO : 0) | (store_page_given(f->branch) ? BY_BRANCH : 0) |
		      (store_page_given(f->verdict) ? BY_VERDICT : 0) | (store_page_given(f->target) ? BY_TARGET : 0) |
		      (f->has_regressions ? BY_REGRESSIONS : 0);
	const char *sql = NULL;
	for (size_t i = 0; i < sizeof comparison_lists / sizeof comparison_lists[0]; i++)
		if (comparison_lists[i].filters == filters)
			sql = comparison_lists[i].sql;
	if (!sql)
		return err_set(err, ERR_INVALID, filters & BY_REPO ? "target needs repo" : "branch and target need repo");
	int64_t repo = 0;
	if (filters & BY_REPO) {
		int found = store_repo_find(db, f->repo, &repo, err);
		if (found < 1)
			return found;
	}
	struct stmt *s = db_stmt(db, sql, err);
	if (filters & BY_REPO)
		s = stmt_bind(s, err, "repo=%ld", repo);
	if (filters & BY_BRANCH)
		s = stmt_bind(s, err, "branch=%s", f->branch);
	if (filters & BY_VERDICT)
		s = stmt_bind(s, err, "verdict=%s", f->verdict);
	if (filters & BY_TARGET)
		s = stmt_bind(s, err, "target=%s", f->target);
	s = stmt_bind(s, err, "before=%ld limit=%d", store_page_before(f->before), store_page_size(f->limit, VIEW_ROWS_MAX));
	return each_comparison(s, each, arg, err) < 0 ? -1 : 0;
}

int view_comparison(struct db *db, int64_t id, view_comparison_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, COMPARISON_SELECT "WHERE c.id = :id", "id=%ld", id);
	return store_page_require_row(each_comparison(s, each, arg, err), "comparison", id, err);
}

int view_body(struct db *db, int64_t id, struct buf *body, char *etag, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT etag, body, body_len FROM comparison WHERE id = :id", "id=%ld", id);
	int result = stmt_step(s, err);
	if (result == 1) {
		size_t len;
		const void *data = row_blob(s, 1, &len);
		row_copy(s, 0, etag, 65);
		int unpacked = unpack(data, len, (size_t)row_int(s, 2), body, err);
		stmt_reset(s);
		if (unpacked)
			return err_context(err, "the body of C%lld", (long long)id);
	}
	return store_page_require_row(result, "comparison", id, err);
}

int view_body_tag(struct db *db, int64_t id, size_t *len, char *etag, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT etag, body_len FROM comparison WHERE id = :id", "id=%ld", id);
	return store_page_require_row(stmt_first(s, err, *(char(*)[65])etag, *len), "comparison", id, err);
}

/*
 * Of job `j`: all cells of a suite, as a push measures them. A verify, bisect or backfill measures the cells in question, an
 * off-peak job one shard, and another provider or toolchain is another program.
 */
#define WHOLE                                                                                                                    \
	"j.kind IN ('compare', 'selfcheck', 'import') AND NOT j.quick AND NOT j.some_cells AND j.base_provider = '' AND "        \
	"j.target_provider = '' AND j.base_toolchain = '' AND j.target_toolchain = '' "

int view_compare(
	struct db *db, const char *repo, const char *base, const char *target, const char *suite, int64_t *id, struct fw_err *err)
{
	int64_t repo_row;
	if (view_repo_id(db, repo, &repo_row, err))
		return -1;
	struct stmt *s = db_query(db, err,
		"WITH pair(id, verdict, suite, is_whole) AS MATERIALIZED (SELECT c.id, c.verdict, t.name, " WHOLE
		"FROM comparison c JOIN job j ON j.id = c.job JOIN suite t ON t.id = c.suite WHERE c.repo = :repo AND "
		"c.target_sha = :target AND c.base_sha = :base AND c.kind NOT IN ('peer', 'config', 'environment') AND :suite IN "
		"('', t.name)) SELECT max(id), verdict FROM pair WHERE is_whole = (SELECT max(is_whole) FROM pair) GROUP BY suite "
		"ORDER BY 1",
		"repo=%ld base=%s target=%s suite=%s", repo_row, base, target, store_page_given(suite) ? suite : "");
	enum verdict worst = VERDICT_NONE, v;
	int64_t comparison;
	int result;
	*id = 0;
	while ((result = stmt_next(s, err, comparison, COLUMN_NAMED(v, verdict_from_name))) == 1)
		if (!*id || v < worst) {
			*id = comparison;
			worst = v;
		}
	if (result < 0 || *id)
		return result;
	return err_set(err, ERR_NOT_FOUND, "%.12s and %.12s were not compared in %s", base, target, repo);
}

int view_metrics(struct db *db, int64_t cell, view_metric_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT m.name, m.unit, f.value FROM metric f JOIN metric_name m ON m.id = f.name WHERE f.cell = :cell ORDER BY "
		"f.n",
		"cell=%ld", cell);
	const char *name, *unit;
	double value;
	return stmt_each(s, err, each(arg, name, unit, value), name, unit, value);
}

int view_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, struct buf *out, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT bytes FROM artifact WHERE owner_kind = :owner_kind AND owner = :owner AND kind = :kind",
			"owner_kind=%s owner=%ld kind=%s", owner_kind, owner, kind);
	char name[STORE_NAME_SIZE];
	store_name(owner_kind, owner, name);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no %s of %s", kind, name);
}

int view_location(struct db *db, const char *device_uuid, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT a.bytes FROM device d JOIN artifact a ON a.owner_kind = 'device' AND a.owner = d.id AND a.kind = 'place' "
		"WHERE d.uuid = :uuid",
		"uuid=%s", device_uuid);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no position of %s", device_uuid);
}

int view_suite(struct db *db, int64_t comparison, int64_t *suite, struct fw_err *err)
{
	return db_first_int(db, suite, err, "SELECT suite FROM comparison WHERE id = :comparison", "comparison=%ld", comparison);
}

int view_suite_text(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT CAST(s.text AS BLOB) FROM comparison c JOIN suite s ON s.id = c.suite WHERE c.id = :comparison",
		"comparison=%ld", comparison);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no C%lld", (long long)comparison);
}

int view_suite_versions(struct db *db, view_suite_version_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT name, origin, sha FROM suite WHERE id IN (SELECT max(id) FROM suite GROUP BY name) ORDER BY name", err);
	struct view_suite_version row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.name, row.origin, row.sha);
}

int view_environment(struct db *db, int64_t comparison, view_environment_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT e.id, e.first_at, e.hash, d.uuid, d.kind, d.name, e.driver, e.toolkit, e.timing, e.isolation, "
		"e.suite_sha, e.power_limit_w, e.cudnn, nullif(d.info ->> 'peak_gb_s', 0.0) FROM comparison c JOIN environment e "
		"ON e.id = c.environment JOIN device d ON d.id = c.device WHERE c.id = :comparison",
		"comparison=%ld", comparison);
	struct view_environment row;
	if (stmt_require(stmt_next(s, err, row.id, row.first_at, row.hash, row.uuid, row.kind, row.name, row.driver, row.toolkit,
				 row.timing, row.isolation, row.suite_sha, row.power_limit_w, row.cudnn, row.peak_gb_s),
		    err, "C%lld was not measured", (long long)comparison))
		return -1;
	each(arg, &row);
	stmt_reset(s);
	return 0;
}

int view_build(struct db *db, int64_t comparison, const char *side, view_build_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT b.id, b.inputs_hash, b.toolchain, b.device_kind, b.module_sha, b.state, b.detail, b.exit_status, "
		"b.exit_signal, b.duration_ms, b.built_at, b.log FROM comparison c JOIN build b ON b.id = CASE :side WHEN 'base' "
		"THEN c.base_build WHEN 'target' THEN c.target_build END WHERE c.id = :comparison",
		"comparison=%ld side=%s", comparison, side);
	struct view_build row;
	if (stmt_require(stmt_next(s, err, row.id, row.inputs_hash, row.toolchain, row.device_kind, row.module_sha, row.state,
				 row.detail, row.exit_status, row.exit_signal, row.duration_ms, row.built_at),
		    err, "C%lld has no build of its %s", (long long)comparison, side))
		return -1;
	row.log = row_blob(s, 11, &row.log_len);
	each(arg, &row);
	stmt_reset(s);
	return 0;
}
