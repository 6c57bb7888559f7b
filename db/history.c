/** history.c - a cell's history: its points from one index, and the rows that explain them. */
#include "db/internal.h"

/* Only columns of the index cell_history, newest first; a metric is read by the cell's id, which the index has, too. */
#define COLUMNS "SELECT comparison, finished_at, target_sha, device, target_median_ms, verdict, point, branch, "
#define METRIC  "(SELECT m.value FROM metric m JOIN metric_name n ON n.id = m.name WHERE m.cell = cell.id AND n.name = :metric) "
#define OF_CELL "FROM cell INDEXED BY cell_history WHERE key = :key AND repo = :repo AND target_median_ms IS NOT NULL "
#define POINTS  COLUMNS "NULL " OF_CELL
#define SOME    "AND (:device = 0 OR device = :device) AND finished_at >= :since AND finished_at < :until "
#define UP_TO   "AND comparison <= :last "
#define NEWEST  "ORDER BY comparison DESC LIMIT :limit"
#define NOT_SIDE_BY_SIDE                                                                                                         \
	"AND comparison NOT IN (SELECT id FROM comparison WHERE kind IN ('peer', 'config', 'environment') AND repo = :repo) "

/* Classes of the device's model, with other drivers and settings, too. */
#define MODEL_OF_DEVICE                                                                                                          \
	"(SELECT k.id FROM device d JOIN device_class c ON c.id = d.class JOIN device_class k ON k.model = c.model "             \
	"WHERE d.id = :device)"

/** Uuid of the previous row's device, cached since a history rarely has several devices. */
struct device_name {
	int64_t id;
	char uuid[64];
};

static int name_device(struct db *db, struct device_name *name, int64_t id, struct fw_err *err)
{
	if (name->id == id)
		return 0;
	struct stmt *s = db_query(db, err, "SELECT uuid FROM device WHERE id = :id", "id=%ld", id);
	int result = stmt_step(s, err);
	if (result < 0)
		return -1;
	name->id = id;
	row_copy(s, 0, name->uuid, sizeof name->uuid);
	stmt_reset(s);
	return 0;
}

/** Ids of a scope's repository and device; device 0: any. 1, 0 one is unknown, -1. */
static int find_rows(struct db *db, const struct view_scope *of, int64_t *repo, int64_t *device, struct fw_err *err)
{
	*device = 0;
	int found = store_repo_find(db, of->repo, repo, err);
	if (found != 1 || !store_page_given(of->device))
		return found;
	return db_first_int(db, device, err, "SELECT id FROM device WHERE uuid = :uuid", "uuid=%s", of->device);
}

int view_cell_known(struct db *db, const struct view_scope *of, struct fw_err *err)
{
	int64_t repo, device;
	int found = find_rows(db, of, &repo, &device, err);
	if (found == 1)
		found = stmt_any(
			db_query(db, err,
				"SELECT 1 FROM cell INDEXED BY cell_history WHERE key = :key AND repo = :repo AND (:branch = '' OR branch = "
				":branch) AND (:device = 0 OR device = :device) LIMIT 1",
				"key=%s repo=%ld branch=%s device=%ld", of->cell, repo, of->branch ? of->branch : "", device),
			err);
	bool on_branch = store_page_given(of->branch), on_device = store_page_given(of->device);
	return stmt_require(found, err, "%s has no cell %.300s%s%.100s%s%.64s", of->repo, of->cell,
		on_branch ? " of branch " : "", on_branch ? of->branch : "", on_device ? " on device " : "",
		on_device ? of->device : "");
}

/* Most rows have the verdict of the previous row. */
static enum verdict verdict_after(enum verdict last, const char *name)
{
	return strcmp(verdict_name(last), name) == 0 ? last : verdict_from_name(name);
}

int view_history(struct db *db, const struct view_scope *of, int limit, view_point_fn *each, void *arg, struct fw_err *err)
{
	int64_t repo, device;
	int found = find_rows(db, of, &repo, &device, err);
	if (found < 1)
		return found;
	bool has_branch = store_page_given(of->branch), wants_all = device == 0 && of->since == 0 && of->until == 0;
	struct stmt *s = of->metric && has_branch
				 ? db_stmt(db, COLUMNS METRIC OF_CELL SOME "AND branch = :branch " UP_TO NEWEST, err)
			 : of->metric              ? db_stmt(db, COLUMNS METRIC OF_CELL SOME UP_TO NOT_SIDE_BY_SIDE NEWEST, err)
			 : has_branch && wants_all ? db_stmt(db, POINTS "AND branch = :branch " UP_TO NEWEST, err)
			 : has_branch              ? db_stmt(db, POINTS SOME "AND branch = :branch " UP_TO NEWEST, err)
						   : db_stmt(db, POINTS SOME UP_TO NOT_SIDE_BY_SIDE NEWEST, err);
	s = stmt_bind(s, err, "key=%s repo=%ld last=%ld limit=%d", of->cell, repo, of->last ? of->last : INT64_MAX,
		store_page_size(limit, VIEW_HISTORY_MAX));
	if (has_branch)
		s = stmt_bind(s, err, "branch=%s", of->branch);
	if (of->metric)
		s = stmt_bind(s, err, "metric=%s", of->metric);
	if (!has_branch || !wants_all || of->metric)
		s = stmt_bind(s, err, "device=%ld since=%ld until=%ld", device, of->since, of->until ? of->until : INT64_MAX);
	struct device_name name = { 0 };
	enum verdict verdict = VERDICT_UNCHANGED;
	int result;
	while ((result = stmt_step(s, err)) == 1) {
		if (name_device(db, &name, row_int(s, 3), err)) {
			stmt_reset(s);
			return -1;
		}
		size_t len;
		const unsigned char *point = row_blob(s, 6, &len);
		if (len != POINT_BYTES) {
			result = err_set(err, ERR_DAMAGED, "database: a cell of C%lld has no values; restore a backup",
				(long long)row_int(s, 0));
			stmt_reset(s);
			return result;
		}
		double flops = point_get(point, POINT_flops), median_ms = row_double(s, 4);
		verdict = verdict_after(verdict, row_text(s, 5));
		each(arg, &(struct view_point){ .comparison = row_int(s, 0),
				  .finished_at = row_int(s, 1),
				  .commit = row_text(s, 2),
				  .device = name.uuid,
				  .base_median_ms = point_get(point, POINT_base_median_ms),
				  .median_ms = median_ms,
				  .tflops = view_tflops(flops, median_ms),
				  .change_pct = point_get(point, POINT_change_pct),
				  .ci_low_pct = point_get(point, POINT_ci_low_pct),
				  .ci_high_pct = point_get(point, POINT_ci_high_pct),
				  .branch = row_text(s, 7),
				  .metric = row_double(s, 8),
				  .verdict = verdict,
				  .borderline = (point_get_whole(point, POINT_FLAGS_AT, 2) & FLAG_BORDERLINE) != 0,
				  .baseline_period = (int64_t)point_get_whole(point, POINT_BASELINE_PERIOD_AT, 4),
				  .held_tflops = view_tflops(flops, point_get(point, POINT_held_ms)),
				  .reference_change_pct = point_get(point, POINT_reference_change_pct),
				  .reference_ci_low_pct = point_get(point, POINT_reference_ci_low_pct),
				  .reference_ci_high_pct = point_get(point, POINT_reference_ci_high_pct) });
	}
	return result;
}

int view_history_last(struct db *db, int64_t at, int64_t *last, struct fw_err *err)
{
	*last = 0;
	return db_first_int(db, last, err,
		"SELECT id FROM comparison WHERE finished_at <= :at ORDER BY finished_at DESC, id DESC LIMIT 1", "at=%ld", at);
}

/* ---- baseline periods, change points, alerts ------------------------------------------------------------------------- */

/** Bind a scope to a query over baseline periods. */
static int bind_scope(struct db *db, struct stmt *s, const struct view_scope *of, struct fw_err *err)
{
	int64_t repo, device;
	int found = s ? find_rows(db, of, &repo, &device, err) : -1;
	if (found < 1)
		return found;
	return stmt_bind(s, err, "key=%s repo=%ld device=%ld", of->cell, repo, device) ? 1 : -1;
}

int view_baseline_periods(
	struct db *db, const struct view_scope *of, view_baseline_period_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT e.id, e.started_at, e.suite, e.reference_sha, c.model, v.driver, v.toolkit, v.isolation, e.held_mhz, "
		"v.power_limit_w, e.first_sha, v.cudnn, v.class FROM baseline_period e JOIN environment v ON v.id = "
		"e.environment JOIN device_class c ON c.id = v.class WHERE e.repo = :repo AND (:device = 0 OR v.class IN " MODEL_OF_DEVICE
		") AND EXISTS (SELECT 1 FROM ratio r WHERE r.baseline_period = e.id AND r.key = :key) ORDER BY "
		"e.id",
		err);
	int result = bind_scope(db, s, of, err);
	struct view_baseline_period row = { 0 };
	while (result == 1 &&
		(result = stmt_next(s, err, row.id, row.started_at, row.suite, row.reference, row.model, row.driver, row.toolkit,
			 row.isolation, row.held_mhz, row.power_limit_w, row.first_reference, row.cudnn, row.class)) == 1)
		each(arg, &row);
	return result;
}

int view_changes(struct db *db, const struct view_scope *of, view_change_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		CHANGE_COLUMNS
		"JOIN baseline_period e ON e.id = c.baseline_period JOIN environment v ON v.id = e.environment WHERE c.key = :key AND "
		"e.repo = :repo AND (:device = 0 OR v.class IN " MODEL_OF_DEVICE ") AND c.state <> 'dropped' ORDER BY c.id",
		err);
	int result = bind_scope(db, s, of, err);
	return result == 1 ? change_each(s, each, arg, err) : result;
}

int view_environment_changes(
	struct db *db, const struct view_scope *of, view_environment_change_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT c.id, c.seen_at, c.paired_job, c.unpaired_job, c.paired, c.unpaired, c.alert, c.suite, d.uuid, "
		"c.changed, p.change_pct, p.ci_low_pct, p.ci_high_pct, u.change_pct FROM environment_change c JOIN device d ON "
		"d.id = c.device JOIN baseline_period e ON e.id = c.baseline_period JOIN environment v ON v.id = e.environment "
		"LEFT JOIN environment_effect p ON p.key = :key AND p.change = c.id AND p.is_paired = 1 LEFT JOIN "
		"environment_effect u ON u.key = :key AND u.change = c.id AND u.is_paired = 0 WHERE c.repo = :repo AND (:device "
		"= 0 OR v.class IN " MODEL_OF_DEVICE ") AND (c.new_hash <> '' OR coalesce(c.paired, c.unpaired) IS NOT NULL) AND "
		"EXISTS (SELECT 1 FROM ratio r WHERE r.baseline_period = c.baseline_period AND r.key = :key) ORDER BY c.id",
		err);
	int result = bind_scope(db, s, of, err);
	struct view_environment_change row = { 0 };
	while (result == 1 && (result = stmt_next(s, err, row.id, row.seen_at, row.paired_job, row.unpaired_job, row.paired,
				       row.unpaired, row.alert, row.suite, row.device, row.changed_json, row.paired_pct,
				       row.paired_low_pct, row.paired_high_pct, row.unpaired_pct)) == 1)
		each(arg, &row);
	return result;
}

int view_cell_alerts(struct db *db, const struct view_scope *of, view_cell_alert_fn *each, void *arg, struct fw_err *err)
{
	int64_t repo, device;
	int result = find_rows(db, of, &repo, &device, err);
	if (result < 1)
		return result;
	struct stmt *s = db_query(db, err,
		"SELECT id, kind, state, target_sha FROM alert WHERE repo = :repo AND (:branch = '' OR branch = :branch) AND "
		"instr(cells, '\"' || :key || '\"') ORDER BY id DESC LIMIT 100",
		"repo=%ld branch=%s key=%s", repo, of->branch ? of->branch : "", of->cell);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, row_int(s, 0), alertkind_from_name(row_text(s, 1)), alertstate_from_name(row_text(s, 2)),
			row_text(s, 3));
	return result;
}
