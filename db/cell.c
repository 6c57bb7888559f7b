/** cell.c - queries of single pages; each reads an index from its newest end, and only the rows that are drawn. */
#include "db/internal.h"

#include <math.h>

#define NORMAL_95 1.96 /* standard errors of a 95 % interval */
enum { GRID_MAX = 100, GRID_SUITES = 8 /* suites of one branch */, KEYS_WINDOW = 64 };

int view_repeat(struct db *db, int64_t comparison, struct view_repeat *out, struct fw_err *err)
{
	*out = (struct view_repeat){ .job = 0, .state = JOBSTATE_N };
	struct stmt *s = db_query(db, err,
		"SELECT j.id, j.state FROM comparison c JOIN job o ON o.id = c.job JOIN suite u ON u.id = c.suite JOIN job j ON "
		"j.repo = c.repo AND j.target_sha = c.target_sha WHERE c.id = :id AND j.id > o.id AND j.state IN ('queued', "
		"'assigned', 'building', 'checking', 'measuring') AND j.base_sha IN (c.base_sha, '') AND j.suite IN (u.name, '') "
		"AND j.device_kind IN (o.device_kind, '') AND j.device_uuid IN (o.device_uuid, '') AND j.device_class IS "
		"o.device_class AND j.kind = o.kind AND j.quick = o.quick AND j.shard = o.shard AND (NOT j.some_cells OR "
		"o.some_cells AND " LIST_TEXT("job_cell", "job", "j.id") " = " LIST_TEXT("job_cell", "job",
			"o.id") ") AND j.base_provider = o.base_provider AND j.target_provider = o.target_provider AND j.base_config = "
				"o.base_config AND j.target_config = o.target_config AND j.base_toolchain = o.base_toolchain AND "
				"j.target_toolchain = o.target_toolchain AND j.base_flags = o.base_flags AND j.target_flags = o.target_flags "
				"ORDER BY j.id DESC LIMIT 1",
		"id=%ld", comparison);
	return stmt_first(s, err, out->job, COLUMN_NAMED(out->state, jobstate_from_name)) < 0 ? -1 : 0;
}

static int read_branch(struct db *db, int64_t comparison, char out[BRANCH_KEY_MAX], struct fw_err *err)
{
	int found = db_first_text(db, out, BRANCH_KEY_MAX, err,
		"SELECT iif(c.branch <> '', c.branch, " BRANCH_WITH(
			"c.repo", "c.target_sha") ") FROM comparison c WHERE c.id = :id",
		"id=%ld", comparison);
	return found < 0 ? -1 : 0;
}

int view_around(struct db *db, int64_t comparison, struct view_around *out, struct fw_err *err)
{
	*out = (struct view_around){ .previous = 0 };
	/* mostly there is no alert: a sort without rows costs a sixth of the query */
	int result = db_first(db, err,
		(out->etag, COLUMN_NAMED(out->verdict, verdict_from_name), out->previous, out->previous_base,
			out->previous_target, COLUMN_NAMED(out->previous_verdict, verdict_from_name),
			out->previous_baseline_period, out->previous_etag, out->alert,
			COLUMN_NAMED(out->alert_state, alertstate_from_name), out->next),
		"SELECT c.etag, c.verdict, p.id, p.base_sha, p.target_sha, p.verdict, e.hash, p.etag, a.id, a.state, (SELECT "
		"x.id FROM comparison x WHERE x.repo = c.repo AND x.branch = c.branch AND x.branch <> '' AND x.id > c.id AND "
		"x.suite = c.suite ORDER BY x.id LIMIT 1) FROM comparison c LEFT JOIN comparison p ON p.id = (SELECT x.id FROM "
		"comparison x WHERE x.repo = c.repo AND x.branch = c.branch AND x.branch <> '' AND x.id < c.id AND x.suite = "
		"c.suite ORDER BY x.id DESC LIMIT 1) LEFT JOIN environment e ON e.id = p.environment LEFT JOIN alert a ON a.id = "
		"iif(EXISTS (SELECT 1 FROM alert y WHERE y.repo = c.repo AND y.target_sha = c.target_sha), (SELECT y.id FROM "
		"alert y WHERE y.repo = c.repo AND y.target_sha = c.target_sha AND iif(y.kind = 'environment', EXISTS (SELECT 1 "
		"FROM json_each(y.cells) w WHERE w.value ->> 'comparison' = c.id), c.kind NOT IN ('peer', 'config', "
		"'environment')) ORDER BY y.kind = 'cost', y.state IN ('open', 'acknowledged') DESC, y.id DESC LIMIT 1), NULL) "
		"WHERE c.id = :id",
		"id=%ld", comparison);
	struct store_accepted accepted = { .verdict = VERDICT_REGRESSION };
	if (result == 1 && out->verdict == VERDICT_REGRESSION && store_accepted_of(db, comparison, &accepted, err) != 0)
		return -1;
	out->effective = accepted.verdict;
	out->is_accepted = accepted.verdict != VERDICT_REGRESSION;
	if (result == 1 &&
		(view_repeat(db, comparison, &out->repeat, err) != 0 || read_branch(db, comparison, out->branch, err) != 0))
		return -1;
	return store_page_require_row(result, "comparison", comparison, err);
}

int view_cell_changes(struct db *db, int64_t comparison, view_cell_change_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(
		db, err, "SELECT key, change_pct FROM cell WHERE comparison = :comparison", "comparison=%ld", comparison);
	const char *key;
	double change_pct;
	return stmt_each(s, err, each(arg, key, change_pct), key, change_pct);
}

int view_cell_id(struct db *db, int64_t comparison, const char *key, int64_t *id, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT id FROM cell WHERE comparison = :comparison AND key = :key",
		"comparison=%ld key=%s", comparison, key);
	return stmt_require(stmt_first_int(s, id, err), err, "C%lld has no cell %s", (long long)comparison, key);
}

int view_device_info(struct db *db, const char *uuid, view_info_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT info FROM device WHERE uuid = :uuid", "uuid=%s", uuid);
	const char *info_json;
	return stmt_each(s, err, each(arg, info_json), info_json);
}

int view_grid(struct db *db, const char *repo, const char *branch, const char *suite, int n, view_grid_fn *each, void *arg,
	struct fw_err *err)
{
	int64_t repo_row;
	if (view_repo_id(db, repo, &repo_row, err))
		return -1;
	struct stmt *s = db_query(db, err,
		"WITH newest(id, subject) AS MATERIALIZED (SELECT w.id, coalesce(m.subject, '') FROM (SELECT id, suite, repo, "
		"target_sha FROM comparison WHERE repo = :repo AND branch = :branch AND NOT rows_unknown ORDER BY id DESC LIMIT "
		":window) w JOIN suite t ON t.id = w.suite AND t.name = :suite LEFT JOIN git_commit m ON m.repo = w.repo AND "
		"m.sha = w.target_sha ORDER BY w.id DESC LIMIT :n) SELECT x.comparison, x.target_sha, x.key, x.suite_group, "
		"x.title, x.direction, x.size, x.flops, x.target_median_ms, x.change_pct, x.verdict, w.subject FROM newest w "
		"CROSS JOIN cell x ON x.comparison = w.id ORDER BY x.comparison DESC, x.n",
		"repo=%ld branch=%s suite=%s window=%d n=%d", repo_row, branch, suite, GRID_SUITES * store_page_size(n, GRID_MAX),
		store_page_size(n, GRID_MAX));
	struct view_grid row;
	double flops;
	int result;
	while ((result = stmt_next(s, err, row.comparison, row.target, row.key, row.group, row.title, row.direction, row.size,
			flops, row.target_median_ms, row.change_pct, COLUMN_NAMED(row.verdict, verdict_from_name),
			row.subject)) == 1) {
		row.tflops = view_tflops(flops, row.target_median_ms);
		each(arg, &row);
	}
	return result;
}

/** Mean of the known clocks. Units: MHz; NAN none. */
static double mean_mhz(const unsigned char *data, size_t len)
{
	double sum = 0;
	int n = 0;
	for (size_t i = 0; i + sizeof(float) <= len; i += sizeof(float)) {
		float v;
		memcpy(&v, data + i, sizeof v);
		if (v > 0) {
			sum += (double)v;
			n++;
		}
	}
	return n ? sum / n : NAN;
}

/* The clock of one side, from the row or the archive. */
static double run_mhz(struct stmt *s, int column, const struct archived *a, int64_t cell, int64_t run, int64_t kind)
{
	size_t len;
	int n;
	const void *data = row_blob(s, column, &len);
	if (!row_is_null(s, column))
		return mean_mhz(data, len);
	data = archived_values(a, cell, run, kind, ARCHIVED_MHZ, &n);
	return data ? mean_mhz(data, (size_t)n * sizeof(float)) : NAN;
}

static int each_run(struct db *db, int64_t cell, const struct archived *a, view_run_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT l.n, l.set_number, t.n, t.call_order, t.d, t.q, t.run, kb.id, k.id, b.mhz, t.mhz FROM cell x "
		"JOIN sample_kind k ON k.series = x.series AND k.phase = '' AND k.side = 'target' JOIN sample_kind kb ON "
		"kb.series = x.series AND kb.phase = '' AND kb.side = 'base' CROSS JOIN sample t ON t.cell = x.id AND t.kind "
		"= k.id CROSS JOIN run l ON l.id = t.run LEFT JOIN sample b ON b.cell = t.cell AND b.run = t.run AND b.kind = "
		"kb.id WHERE x.id = :cell ORDER BY l.n",
		"cell=%ld", cell);
	int result;
	struct view_run row = { 0 };
	double d, q;
	int64_t run, base, target;
	while ((result = stmt_next(s, err, row.run, row.set, row.pairs, row.order, d, q, run, base, target)) == 1) {
		double half = NORMAL_95 * sqrt(q);
		bool has_ends = isfinite(d) && isfinite(half);
		row.change_pct = isfinite(d) ? stats_change_pct(d) : NAN;
		row.low_pct = has_ends ? stats_change_pct(d + half) : NAN; /* a longer time is a lower throughput */
		row.high_pct = has_ends ? stats_change_pct(d - half) : NAN;
		row.base_mhz = run_mhz(s, 9, a, cell, run, base);
		row.target_mhz = run_mhz(s, 10, a, cell, run, target);
		each(arg, &row);
	}
	return result;
}

int view_runs(struct db *db, int64_t cell, view_run_fn *each, void *arg, struct fw_err *err)
{
	struct archived a;
	struct fw_err lost = { 0 };
	int result = archived_read(
		db, cell, &a, &lost); /* on failure the clocks are unknown; the page of the calls reports the error */
	if (result < 0 && lost.code != ERR_INVALID && lost.code != ERR_NOT_FOUND)
		err_set(err, lost.code, "%s", lost.text);
	else
		result = each_run(db, cell, &a, each, arg, err);
	archived_fini(&a);
	return result;
}

int view_confirmed(struct db *db, int64_t cell, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM sample s JOIN run l ON l.id = s.run WHERE s.cell = :cell AND l.set_number = 2 LIMIT 1", "cell=%ld",
		cell);
}

int view_call_pairs(struct db *db, int64_t cell, int64_t *pairs, struct fw_err *err)
{
	*pairs = 0;
	return stmt_optional(db_first_int(db, pairs, err,
		"SELECT total(s.n) FROM sample s JOIN sample_kind k ON k.id = s.kind WHERE s.cell = :cell AND k.series = 'call' "
		"AND k.side = 'target'",
		"cell=%ld", cell));
}

int view_usual_s(
	struct db *db, const char *suite, enum jobkind kind, const char *device_kind, double *usual_s, struct fw_err *err)
{
	enum { LAST = 20 };
	float seconds[LAST];
	int n = 0, result;
	struct stmt *s = db_query(db, err,
		"SELECT j.ended_at - j.started_at FROM job j JOIN device d ON d.id = j.device WHERE j.state = 'done' AND j.suite "
		"= :suite AND j.kind = :kind AND (:device_kind = '' OR d.kind = :device_kind) AND NOT j.quick AND NOT "
		"j.some_cells AND j.started_at > 0 AND j.id > (SELECT max(id) FROM job) - 5000 ORDER BY j.id DESC LIMIT 20",
		"suite=%s kind=%s device_kind=%s", suite, jobkind_name(kind), device_kind);
	while ((result = stmt_step(s, err)) == 1)
		if (n < LAST)
			seconds[n++] = (float)row_int(s, 0) / 1000;
	*usual_s = n ? stats_median(seconds, n) : 0;
	return result;
}

int view_last_device_check(struct db *db, int64_t device, struct buf *device_check_json, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT t.power_w, t.temp_c, t.sm_mhz, t.reasons, t.foreign_processes, t.xid, t.ecc, t.energy_j, t.regime FROM "
		"device d CROSS JOIN run l ON l.id = d.last_run CROSS JOIN cell x ON x.comparison = l.comparison CROSS JOIN "
		"sample t ON t.cell = x.id AND t.run = l.id CROSS JOIN sample_kind k ON k.id = t.kind WHERE d.id = :device AND "
		"k.side = 'target' ORDER BY x.n, k.series, k.phase LIMIT 1",
		"device=%ld", device);
	struct msg_device_check g = { 0 };
	int result = stmt_first(s, err, g.power_w, g.temp_c, g.sm_mhz, g.reasons, g.foreign, g.xid, g.ecc, g.energy_j, g.regime);
	if (result == 1) {
		struct jsonw j;
		jsonw_init(&j, device_check_json);
		protocol_put_device_check(&j, &g);
	}
	return result < 0 ? -1 : 0;
}

int view_cell_keys(struct db *db, const char *repo, const char *branch, view_cell_key_fn *each, void *arg, struct fw_err *err)
{
	int64_t repo_row;
	if (view_repo_id(db, repo, &repo_row, err))
		return -1;
		/*
		 * of a sharded suite the newest comparison of each shard: a cell is listed until its shard was measured without
		 * it
		 */
#define KEYS(of_branch)                                                                                                                  \
	"WITH RECURSIVE newest(id) AS MATERIALIZED (SELECT max(w.id) FROM (SELECT c.id, c.suite, c.job, c.kind FROM "                    \
	"comparison c JOIN job j ON j.id = c.job AND j.shard = 0 WHERE c.repo = :repo AND NOT c.rows_unknown " of_branch(                \
		"c") " ORDER BY c.id DESC LIMIT :window) w JOIN suite t ON t.id = w.suite JOIN job j ON j.id = "                         \
		     "w.job WHERE w.kind IN ('compare', 'selfcheck', 'import') GROUP BY t.name, j.quick OR j.some_cells), large AS "     \
		     "MATERIALIZED (SELECT t.name, t.shards, max(c.id) FROM newest w JOIN comparison c ON c.id = w.id JOIN suite t "     \
		     "ON t.id = c.suite GROUP BY t.name), shard(suite, n, shards) AS (SELECT name, 1, shards FROM large WHERE shards > " \
		     "1 UNION ALL SELECT suite, n + 1, shards FROM shard WHERE n + 1 < shards), shown(id) AS MATERIALIZED (SELECT id "   \
		     "FROM newest UNION SELECT (SELECT o.id FROM job j JOIN comparison o ON o.job = j.id WHERE j.repo = :repo AND "      \
		     "j.suite = w.suite AND j.shard = w.n AND j.shard > 0 " of_branch(                                                   \
			     "j") " ORDER BY j.id DESC LIMIT 1) FROM shard "                                                             \
				  "w) SELECT key FROM shown w CROSS JOIN cell x ON x.comparison = w.id GROUP BY key ORDER BY min(w.id), min(x.n)"
#define OF_BRANCH(table) "AND " table ".branch = :branch"
#define OF_ANY(table)    ""
	struct stmt *s = store_page_given(branch) ? db_stmt(db, KEYS(OF_BRANCH), err) : db_stmt(db, KEYS(OF_ANY), err);
	s = stmt_bind(s, err, "repo=%ld window=%d", repo_row, KEYS_WINDOW);
	if (store_page_given(branch))
		s = stmt_bind(s, err, "branch=%s", branch);
	const char *key;
	return stmt_each(s, err, each(arg, key), key);
}
