/** bisect.c - a bisect has a row, commits and jobs; its measurements are comparisons. */
#include "db/internal.h"

#define OPEN_STATES "('listing', 'measuring')"
#define ENDED_JOB   "('done', 'failed', 'cancelled', 'superseded', 'target_missing')"

/* ---- the row --------------------------------------------------------------------------------------------------------- */

#define CELLS LIST_TEXT("bisect_cell", "bisect", "b.id")

#define BRANCH "coalesce((SELECT a.branch FROM alert a WHERE a.id = b.alert), " BRANCH_WITH("b.repo", "b.bad_sha") ", '')"

#define BISECT_COLUMNS                                                                                                           \
	"b.id, b.repo, b.alert, b.comparison, b.job, r.name, " BRANCH                                                            \
	", b.origin, b.who, b.goal, b.good_sha, b.bad_sha, b.suite, "                                                            \
	"b.device_kind, b.verdict, " CELLS ", b.state, b.state_why, b.n_jobs, b.created_at, b.ended_at, b.culprits, "            \
	"coalesce((SELECT max(n) FROM bisect_commit k WHERE k.bisect = b.id), 0) FROM bisect b JOIN repo r ON r.id = b.repo "

static void read_bisect(struct stmt *s, struct store_bisect *out)
{
	row_read(s, out->id, out->repo, out->alert, out->comparison, out->job, out->repo_name, out->branch, out->origin, out->who,
		out->goal, out->good_sha, out->bad_sha, out->suite, COLUMN_NAMED(out->device_kind, device_kind_from_name),
		out->verdict, out->cells, out->state, out->state_why, out->n_jobs, out->created_at, out->ended_at,
		out->culprits_json, out->commits);
}

static int put_cells(struct db *db, const struct store_bisect *b, struct fw_err *err)
{
	return list_put(
		db_stmt(db, "INSERT INTO bisect_cell (bisect, n, word) VALUES (:owner, :n, :word)", err), b->id, b->cells, err);
}

int store_bisect_insert(struct db *db, struct store_bisect *b, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"INSERT INTO bisect (repo, alert, origin, who, goal, good_sha, bad_sha, suite, device_kind, verdict, comparison, "
		"created_at) VALUES (:repo, nullif(:alert, 0), :origin, :who, :goal, :good, :bad, :suite, :device_kind, :verdict, "
		"nullif(:comparison, 0), :now)",
		"repo=%ld alert=%ld origin=%s who=%s goal=%s good=%s bad=%s suite=%s device_kind=%s verdict=%s comparison=%ld "
		"now=%ld",
		b->repo, b->alert, b->origin, b->who, b->goal, b->good_sha, b->bad_sha, b->suite,
		device_kind_name(b->device_kind), b->verdict, b->comparison, now_ms);
	return stmt_insert(s, &b->id, err) || put_cells(db, b, err) ? -1 : 0;
}

/** 1 and the row, 0, -1. */
static int first_bisect(struct stmt *s, struct store_bisect *out, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result == 1) {
		read_bisect(s, out);
		out->culprits_json = NULL;
		stmt_reset(s);
	}
	return result;
}

int store_bisect_get(struct db *db, int64_t id, struct store_bisect *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT " BISECT_COLUMNS "WHERE b.id = :id", "id=%ld", id);
	return stmt_require(first_bisect(s, out, err), err, "there is no bisect %lld", (long long)id);
}

int store_bisect_next_open(struct db *db, int64_t after_id, struct store_bisect *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT " BISECT_COLUMNS "WHERE b.state IN " OPEN_STATES " AND b.id > :after ORDER BY b.id LIMIT 1", "after=%ld",
		after_id);
	return first_bisect(s, out, err);
}

int store_bisect_state(struct db *db, int64_t id, const char *state, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err,
		    "UPDATE bisect SET state = :state, state_why = :why, ended_at = iif(:state IN " OPEN_STATES
		    ", NULL, :now) WHERE id = :id AND state IN " OPEN_STATES,
		    "id=%ld state=%s why=%s now=%ld", id, state, why, now_ms))
		return -1;
	return db_changes(db) == 1 ? 0 : err_set(err, ERR_CONFLICT, "bisect %lld has ended already", (long long)id);
}

int store_bisect_goal(struct db *db, const struct store_bisect *b, struct fw_err *err)
{
	if (db_exec(db, err,
		    "UPDATE bisect SET goal = :goal, verdict = :verdict, comparison = nullif(:comparison, 0), suite = :suite WHERE "
		    "id = :id",
		    "id=%ld goal=%s verdict=%s comparison=%ld suite=%s", b->id, b->goal, b->verdict, b->comparison, b->suite))
		return -1;
	return db_exec(db, err, "DELETE FROM bisect_cell WHERE bisect = :id", "id=%ld", b->id) || put_cells(db, b, err) ? -1 : 0;
}

int store_bisect_culprits(struct db *db, int64_t id, const char *culprits_json, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE bisect SET culprits = :culprits WHERE id = :id", "id=%ld culprits=%s", id, culprits_json);
}

/* ---- commits and jobs ------------------------------------------------------------------------------------------------ */

int store_bisect_commit(struct db *db, int64_t id, int n, const char *sha, struct fw_err *err)
{
	return db_exec(
		db, err, "INSERT INTO bisect_commit (bisect, n, sha) VALUES (:id, :n, :sha)", "id=%ld n=%d sha=%s", id, n, sha);
}

int store_bisect_last(struct db *db, int64_t id, int *n, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, "SELECT n FROM bisect_commit WHERE bisect = :id ORDER BY n DESC LIMIT 1", "id=%ld", id);
	int64_t last;
	int result = stmt_first_int(s, &last, err);
	if (result == 1)
		*n = (int)last;
	return stmt_require(result, err, "bisect %lld has no commits yet", (long long)id);
}

int store_bisect_sha(struct db *db, int64_t id, int n, char *sha, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT sha FROM bisect_commit WHERE bisect = :id AND n = :n", "id=%ld n=%d", id, n);
	return stmt_require(stmt_first_text(s, sha, 65, err), err, "bisect %lld has no commit %d", (long long)id, n);
}

int store_bisect_wait(struct db *db, int64_t id, int64_t job, int base_n, int target_n, struct fw_err *err)
{
	if (db_exec(db, err, "INSERT INTO bisect_job (job, bisect, base_n, target_n) VALUES (:job, :id, :base, :target)",
		    "job=%ld id=%ld base=%d target=%d", job, id, base_n, target_n))
		return -1;
	return db_exec(db, err, "UPDATE bisect SET job = :job, n_jobs = n_jobs + 1 WHERE id = :id", "job=%ld id=%ld", job, id);
}

/* ---- measurements ---------------------------------------------------------------------------------------------------- */

/** Rows of (base_n, target_n, comparison, key, verdict, decided_m, decided_se, decided_pct, threshold_pct). */
static int each_point(struct stmt *s, store_bisect_point_fn *each, void *arg, struct fw_err *err)
{
	struct store_bisect_point row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.base_n, row.target_n, row.comparison, row.key,
		COLUMN_NAMED(row.verdict, verdict_from_name), row.m, row.se, row.change_pct, row.threshold_pct);
}

int store_bisect_points(struct db *db, const struct store_bisect *b, store_bisect_point_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT o.n, k.n, x.id, c.key, c.verdict, c.decided_m, c.decided_se, c.decided_pct, c.threshold_pct FROM "
		"bisect_commit k CROSS JOIN comparison x INDEXED BY comparison_by_pair ON x.repo = :repo AND x.target_sha = "
		"k.sha JOIN bisect_commit o ON o.bisect = k.bisect AND o.sha = x.base_sha JOIN suite u ON u.id = x.suite JOIN "
		"job j ON j.id = x.job LEFT JOIN device d ON d.id = x.device JOIN cell c ON c.comparison = x.id WHERE k.bisect = "
		":id AND o.n < k.n AND u.name = :suite AND j.quick = 0 AND j.kind IN ('compare', 'selfcheck', 'bisect') AND "
		"j.base_provider = '' AND j.target_provider = '' AND "
		"(d.kind IS NULL OR :kind = '' OR d.kind = :kind) ORDER BY x.id",
		"id=%ld repo=%ld suite=%s kind=%s", b->id, b->repo, b->suite, device_kind_name(b->device_kind));
	return each_point(s, each, arg, err);
}

int store_bisect_ended_jobs(struct db *db, int64_t id, store_bisect_job_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT k.base_n, k.target_n, " STORE_JOB_CELLS " FROM bisect_job k JOIN job j ON j.id = k.job WHERE k.bisect = "
		":id AND j.state IN " ENDED_JOB,
		"id=%ld", id);
	int base_n, target_n;
	const char *cells;
	return stmt_each(s, err, each(arg, base_n, target_n, cells), base_n, target_n, cells);
}

int store_bisect_cells(struct db *db, int64_t comparison, store_bisect_point_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT 0, 0, c.comparison, c.key, c.verdict, c.decided_m, c.decided_se, c.decided_pct, c.threshold_pct FROM "
		"cell c WHERE c.comparison = :id ORDER BY c.n",
		"id=%ld", comparison);
	return each_point(s, each, arg, err);
}

int view_bisect_commits(struct db *db, int64_t id, view_bisect_commit_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT k.n, k.sha, coalesce(c.subject, '') FROM bisect b JOIN bisect_commit k ON k.bisect = b.id LEFT JOIN "
		"git_commit c ON c.repo = b.repo AND c.sha = k.sha WHERE b.id = :id ORDER BY k.n",
		"id=%ld", id);
	int n;
	const char *sha, *subject;
	return stmt_each(s, err, each(arg, n, sha, subject), n, sha, subject);
}

/* ---- views ----------------------------------------------------------------------------------------------------------- */

static int each_bisect(struct stmt *s, view_bisect_fn *each, void *arg, struct fw_err *err)
{
	struct store_bisect row;
	int result, n = 0;
	while ((result = stmt_step(s, err)) == 1) {
		n++;
		read_bisect(s, &row);
		each(arg, &row);
	}
	return result < 0 ? -1 : n;
}

int view_bisects(struct db *db, int64_t before, int limit, view_bisect_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT " BISECT_COLUMNS "WHERE b.id < :before ORDER BY b.id DESC LIMIT :limit",
		"before=%ld limit=%d", store_page_before(before), store_page_size(limit, VIEW_ROWS_MAX));
	return each_bisect(s, each, arg, err) < 0 ? -1 : 0;
}

int view_bisect(struct db *db, int64_t id, view_bisect_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT " BISECT_COLUMNS "WHERE b.id = :id", "id=%ld", id);
	return store_page_require_row(each_bisect(s, each, arg, err), "bisect", id, err);
}
