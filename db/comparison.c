/**
 * comparison.c - lists of repositories, commits and comparisons, and single rows.
 *
 * Each combination of filters has a separate statement, so that each reads exactly one index from its newest end.
 */
#include "db/internal.h"

#include <stdio.h>

#include "lib/lib.h"
#include "verdict/verdict.h"

/* ---- repositories, branches, commits --------------------------------------------------------------------------------- */

int view_repos(struct db *db, view_repo_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_stmt(db,
		"SELECT id, name, url, upstream, state, error, is_local, fetched_at, (SELECT count(*) FROM branch_tip b WHERE "
		"b.repo = r.id AND b.watched AND NOT b.gone), (SELECT count(*) FROM alert a WHERE a.repo = r.id AND a.state IN "
		"('open', 'acknowledged')) FROM repo r ORDER BY name",
		err);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_repo){ .id = row_int(s, 0),
				  .name = row_text(s, 1),
				  .url = row_text(s, 2),
				  .upstream = row_text(s, 3),
				  .state = row_text(s, 4),
				  .error = row_text(s, 5),
				  .is_local = row_int(s, 6) != 0,
				  .fetched_at = row_int(s, 7),
				  .branches = (int)row_int(s, 8),
				  .open_alerts = (int)row_int(s, 9) });
	return result;
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
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_commit){ .repo_id = row_int(s, 0),
				  .repo = row_text(s, 1),
				  .sha = row_text(s, 2),
				  .tree = row_text(s, 3),
				  .first_parent = row_text(s, 4),
				  .author = row_text(s, 5),
				  .subject = row_text(s, 6),
				  .committed_at = row_int(s, 7) });
	return result;
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
	while ((result = stmt_step(s, err)) == 1) {
		n++;
		each(arg, &(struct view_comparison){ .id = row_int(s, 0),
				  .job = row_int(s, 1),
				  .repo = row_text(s, 2),
				  .branch = row_text(s, 3),
				  .kind = jobkind_from_name(row_text(s, 4)),
				  .suite = row_text(s, 5),
				  .verdict = verdict_from_name(row_text(s, 6)),
				  .base = row_text(s, 7),
				  .base_how = row_text(s, 8),
				  .target = row_text(s, 9),
				  .subject = row_text(s, 10),
				  .identical_by = row_text(s, 11),
				  .device = row_text(s, 12),
				  .etag = row_text(s, 13),
				  .cells = (int)row_int(s, 14),
				  .regressions = (int)row_int(s, 15),
				  .worst_pct = row_double(s, 16),
				  .worst_cell = row_text(s, 17),
				  .gpu_s = row_double(s, 18),
				  .wall_s = row_double(s, 19),
				  .finished_at = row_int(s, 20),
				  .runs = (int)row_int(s, 21),
				  .best_pct = row_double(s, 22),
				  .best_cell = row_text(s, 23),
				  .author = row_text(s, 24) });
	}
	return result < 0 ? -1 : n;
}

/* Comparisons with a regression have one of these verdicts, each of which has an index, so that rare ones are found without a scan. */
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
		return err_set(err, ERR_INVALID,
			filters & BY_REPO ? "target goes with repo alone" : "branch and target need a repo beside them");
	int64_t repo = 0;
	if (filters & BY_REPO) {
		int found = store_repo_find(db, f->repo, &repo, err);
		if (found < 1)
			return found;
	}
	struct stmt *s = db_stmt(db, sql, err);
	if (filters & BY_REPO)
		stmt_int(s, ":repo", repo);
	if (filters & BY_BRANCH)
		stmt_text(s, ":branch", f->branch);
	if (filters & BY_VERDICT)
		stmt_text(s, ":verdict", f->verdict);
	if (filters & BY_TARGET)
		stmt_text(s, ":target", f->target);
	stmt_int(s, ":before", store_page_before(f->before));
	stmt_int(s, ":limit", store_page_size(f->limit, VIEW_ROWS_MAX));
	return each_comparison(s, each, arg, err) < 0 ? -1 : 0;
}

int view_comparison(struct db *db, int64_t id, view_comparison_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, COMPARISON_SELECT "WHERE c.id = :id", "id=%ld", id);
	return store_page_one(each_comparison(s, each, arg, err), "comparison", id, err);
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
			return err_context(err, "the body of comparison %lld", (long long)id);
	}
	return store_page_one(result, "comparison", id, err);
}

int view_body_tag(struct db *db, int64_t id, size_t *len, char *etag, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT etag, body_len FROM comparison WHERE id = :id", "id=%ld", id);
	int result = stmt_step(s, err);
	if (result == 1) {
		row_copy(s, 0, etag, 65);
		*len = (size_t)row_int(s, 1);
		stmt_reset(s);
	}
	return store_page_one(result, "comparison", id, err);
}

int view_compare(
	struct db *db, const char *repo, const char *base, const char *target, const char *suite, int64_t *id, struct fw_err *err)
{
	int64_t repo_row;
	if (view_repo_id(db, repo, &repo_row, err))
		return -1;
	struct stmt *s = db_query(db, err,
		"SELECT max(c.id), c.verdict FROM comparison c JOIN suite t ON t.id = c.suite WHERE c.repo = :repo AND "
		"c.target_sha = :target AND c.base_sha = :base AND c.kind NOT IN ('peer', 'config', 'environment') AND :suite IN "
		"('', t.name) GROUP BY t.name ORDER BY 1",
		"repo=%ld base=%s target=%s suite=%s", repo_row, base, target, store_page_given(suite) ? suite : "");
	enum verdict worst = VERDICT_NONE;
	int result;
	*id = 0;
	while ((result = stmt_step(s, err)) == 1) {
		enum verdict v = verdict_from_name(row_text(s, 1));
		if (!*id || v < worst) {
			*id = row_int(s, 0);
			worst = v;
		}
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
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, row_text(s, 0), row_text(s, 1), row_double(s, 2));
	return result;
}

int view_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, struct buf *out, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT bytes FROM artifact WHERE owner_kind = :owner_kind AND owner = :owner AND kind = :kind",
			"owner_kind=%s owner=%ld kind=%s", owner_kind, owner, kind);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no %s of %s %lld", kind, owner_kind, (long long)owner);
}

int view_position(struct db *db, const char *device_uuid, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT a.bytes FROM device d JOIN artifact a ON a.owner_kind = 'device' AND a.owner = d.id AND a.kind = 'place' "
		"WHERE d.uuid = :uuid",
		"uuid=%s", device_uuid);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no place of %s", device_uuid);
}

int view_suite(struct db *db, int64_t comparison, int64_t *suite, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT suite FROM comparison WHERE id = :comparison", "comparison=%ld", comparison);
	return stmt_first_int(s, suite, err);
}

int view_suite_text(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT CAST(s.text AS BLOB) FROM comparison c JOIN suite s ON s.id = c.suite WHERE c.id = :comparison",
		"comparison=%ld", comparison);
	return stmt_require(stmt_first_bytes(s, out, err), err, "there is no comparison %lld", (long long)comparison);
}

int view_environment(struct db *db, int64_t comparison, view_environment_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT e.id, e.first_at, e.hash, d.uuid, d.kind, d.name, e.driver, e.toolkit, e.timing, e.isolation, "
		"e.suite_sha, e.power_limit_w, e.cudnn, nullif(d.info ->> 'peak_gb_s', 0.0) FROM comparison c JOIN environment e "
		"ON e.id = c.environment JOIN device d ON d.id = c.device WHERE c.id = :comparison",
		"comparison=%ld", comparison);
	if (stmt_require(stmt_step(s, err), err, "comparison %lld was not measured", (long long)comparison))
		return -1;
	each(arg, &(struct view_environment){ .id = row_int(s, 0),
			  .first_at = row_int(s, 1),
			  .hash = row_text(s, 2),
			  .uuid = row_text(s, 3),
			  .kind = row_text(s, 4),
			  .name = row_text(s, 5),
			  .driver = row_text(s, 6),
			  .toolkit = row_text(s, 7),
			  .timing = row_text(s, 8),
			  .isolation = row_text(s, 9),
			  .suite_sha = row_text(s, 10),
			  .power_limit_w = row_double(s, 11),
			  .cudnn = row_text(s, 12),
			  .peak_gb_s = row_double(s, 13) });
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
	if (stmt_require(stmt_step(s, err), err, "comparison %lld has no build of its %s", (long long)comparison, side))
		return -1;
	struct view_build row = { .id = row_int(s, 0),
		.inputs_hash = row_text(s, 1),
		.toolchain = row_text(s, 2),
		.device_kind = row_text(s, 3),
		.module_sha = row_text(s, 4),
		.state = row_text(s, 5),
		.detail = row_text(s, 6),
		.exit_status = (int)row_int(s, 7),
		.exit_signal = (int)row_int(s, 8),
		.duration_ms = row_int(s, 9),
		.built_at = row_int(s, 10) };
	row.log = row_blob(s, 11, &row.log_len);
	each(arg, &row);
	stmt_reset(s);
	return 0;
}
