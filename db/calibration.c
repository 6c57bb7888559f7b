/** calibration.c - noise of cells, pooled by each query, and false alarms of devices. */
#include "db/db.h"

#include <math.h>

#define DAY_MS (INT64_C(24) * 3600 * 1000)

static int64_t oldest_at(int64_t now_ms)
{
	return now_ms - CALIBRATION_DAYS_MAX * DAY_MS;
}

int store_noise_add(struct db *db, const struct store_noise *c, struct fw_err *err)
{
	if (db_exec(db, err,
		    "INSERT INTO noise (comparison, repo, environment, key, at, itself, alarm, runs, freedom, squares, variance) "
		    "VALUES (:comparison, :repo, :environment, :key, :at, :itself, :alarm, :runs, :freedom, :squares, :variance)",
		    "comparison=%ld repo=%ld environment=%ld key=%s at=%ld itself=%d alarm=%d runs=%d freedom=%d squares=%f "
		    "variance=%f",
		    c->comparison, c->repo, c->environment, c->key, c->at, c->is_itself, c->is_alarm, c->shown.runs,
		    c->shown.freedom, c->shown.squares, c->shown.variance))
		return -1;
	return db_exec(db, err,
		"DELETE FROM noise WHERE environment = :environment AND repo = :repo AND key = :key AND id <= (SELECT id FROM "
		"noise WHERE environment = :environment AND repo = :repo AND key = :key ORDER BY id DESC LIMIT 1 OFFSET :rows)",
		"environment=%ld repo=%ld key=%s rows=%d", c->environment, c->repo, c->key, CALIBRATION_PARTS_MAX);
}

int store_noise_get(struct db *db, int64_t repo, int64_t environment, const char *key, int64_t now_ms, struct calibration *out,
	struct fw_err *err)
{
	struct calibration part[CALIBRATION_PARTS_MAX];
	int n = 0, result;
	*out = (struct calibration){ 0 };
	struct stmt *s = db_query(db, err,
		"SELECT runs, freedom, squares, variance FROM noise WHERE environment = :environment AND repo = :repo AND key = "
		":key AND at > :oldest ORDER BY id DESC LIMIT :limit",
		"environment=%ld repo=%ld key=%s oldest=%ld limit=%d", environment, repo, key, oldest_at(now_ms),
		CALIBRATION_PARTS_MAX);
	struct calibration row;
	while ((result = stmt_next(s, err, row.runs, row.freedom, row.squares, row.variance)) == 1)
		part[n++] = row;
	if (result == 0)
		*out = calibration_pool(part, n);
	return result;
}

int store_noise_forget(struct db *db, int64_t repo, const char *device_uuid, const char *globs, int *n, struct fw_err *err)
{
	char key[CASE_KEY_SIZE] = "";
	int result;
	*n = 0;
	for (;;) { /* cell by cell, so that no statement is read while its rows are deleted */
		struct stmt *s = db_query(
			db, err, "SELECT min(key) FROM noise WHERE repo = :repo AND key > :key", "repo=%ld key=%s", repo, key);
		result = stmt_step(s, err);
		bool found = result == 1 && !row_is_null(s, 0);
		if (found)
			row_copy(s, 0, key, sizeof key);
		stmt_reset(s);
		if (!found)
			return result < 0 ? -1 : 0;
		if (*globs && !suite_matches(key, globs))
			continue;
		if (db_exec(db, err,
			    "DELETE FROM noise WHERE repo = :repo AND key = :key AND (:device = '' OR environment IN (SELECT e.id "
			    "FROM environment e JOIN device d ON d.class = e.class WHERE d.uuid = :device))",
			    "repo=%ld key=%s device=%s", repo, key, device_uuid))
			return -1;
		*n += db_changes(db) > 0;
	}
}

int store_calibration_environment(struct db *db, int64_t device, const char *suite_sha, int64_t *environment, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT e.id FROM device d JOIN environment e ON e.class = d.class AND e.cudnn = d.cudnn WHERE d.id = :device "
		"AND e.suite_sha = :suite ORDER BY e.id DESC LIMIT 1",
		"device=%ld suite=%s", device, suite_sha);
	*environment = 0;
	return stmt_first_int(s, environment, err) < 0 ? -1 : 0;
}

int store_calibration_requested(struct db *db, int64_t repo, const char *device_uuid, int64_t *at, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT queued_at FROM job INDEXED BY job_calibrates WHERE repo = :repo AND kind = 'calibrate' AND device_uuid = "
		":device ORDER BY id DESC LIMIT 1",
		"repo=%ld device=%s", repo, device_uuid);
	*at = 0;
	return stmt_first_int(s, at, err) < 0 ? -1 : 0;
}

/* ---- views ----------------------------------------------------------------------------------------------------------- */

/** One-sided Clopper-Pearson bound of a share, by bisection on the binomial. Units: per cent. */
static double upper_bound_pct(int alarms, int n)
{
	double low = 0, high = 1;
	if (n < 1)
		return NAN;
	for (int step = 0; step < 60; step++) {
		double p = (low + high) / 2, term = pow(1 - p, n), sum = term;
		for (int k = 1; k <= alarms; k++) {
			term *= (double)(n - k + 1) / k * p / (1 - p);
			sum += term;
		}
		if (sum > 0.05)
			low = p;
		else
			high = p;
	}
	return 100 * high;
}

int view_false_alarms(struct db *db, int64_t device, struct view_false_alarms *out, struct fw_err *err)
{
	*out = (struct view_false_alarms){ .upper_pct = NAN };
	int result = db_first(db, err, (out->comparisons, out->alarms, out->last_at),
		"SELECT comparisons, alarms, last_at FROM self_check WHERE device = :device", "device=%ld", device);
	if (result == 1)
		out->upper_pct = upper_bound_pct(out->alarms, out->comparisons);
	return result < 0 ? -1 : 0;
}

/** Rows of one cell, newest first. */
struct gathered {
	struct view_calibration row;
	char repo[128], suite[64], model[STORE_MODEL_SIZE], cell[CASE_KEY_SIZE];
	int64_t environment, newest; /* comparison */
	int n;
	struct calibration part[CALIBRATION_PARTS_MAX];
};

/** Apply the rule of the cell's newest comparison. */
static int apply_rule(struct db *db, struct gathered *g, struct fw_err *err)
{
	struct calibration known = calibration_pool(g->part, g->n);
	struct rule rule;
	double tau0, nu0, threshold_pct;
	struct stmt *s = db_query(db, err,
		"SELECT p.rule, k.threshold_pct FROM comparison p JOIN cell k ON k.comparison = p.id AND k.key = :key WHERE p.id "
		"= :comparison",
		"key=%s comparison=%ld", g->cell, g->newest);
	const char *text;
	int result = stmt_next(s, err, text, threshold_pct);
	if (result == 1)
		result = protocol_parse_rule(text, strlen(text), &rule, err) ? -1 : 1;
	stmt_reset(s);
	if (result != 1)
		return result < 0 ? -1 : err_set(err, ERR_INTERNAL, "C%lld has no cell %s", (long long)g->newest, g->cell);
	g->row.runs = known.runs;
	g->row.tau0_pct = calibration_learned(&known, &tau0, &nu0) ? 100 * tau0 : NAN;
	g->row.underpowered = !calibration_has_power(&known, &rule, stats_theta(threshold_pct), &g->row.mde_pct);
	return 0;
}

static int report(struct db *db, struct gathered *g, view_calibration_fn *each, void *arg, struct fw_err *err)
{
	if (g->n == 0)
		return 0;
	g->row.repo = g->repo;
	g->row.suite = g->suite;
	g->row.model = g->model;
	g->row.cell = g->cell;
	if (apply_rule(db, g, err))
		return -1;
	each(arg, &g->row);
	return 0;
}

static void take_part(struct gathered *g, struct stmt *s)
{
	struct calibration part;
	bool itself, alarm;
	if (g->n == 0)
		row_read(s, g->repo, g->model, g->row.class, g->cell, g->newest, g->row.updated_at, COLUMN_UNUSED, COLUMN_UNUSED,
			COLUMN_UNUSED, COLUMN_UNUSED, COLUMN_UNUSED, COLUMN_UNUSED, g->environment, g->suite);
	if (g->n == CALIBRATION_PARTS_MAX)
		return;
	row_read(s, COLUMN_UNUSED, COLUMN_UNUSED, COLUMN_UNUSED, COLUMN_UNUSED, COLUMN_UNUSED, COLUMN_UNUSED, itself, alarm,
		part.runs, part.freedom, part.squares, part.variance);
	g->row.comparisons += itself;
	g->row.alarms += alarm;
	g->part[g->n++] = part;
}

int view_calibrations(struct db *db, const char *repo, const char *device, int64_t now_ms, view_calibration_fn *each, void *arg,
	struct fw_err *err)
{
	struct gathered g = { .n = 0 };
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT r.name, c.model, c.id, k.key, k.comparison, k.at, k.itself, k.alarm, k.runs, k.freedom, k.squares, "
		"k.variance, k.environment, t.name FROM environment e JOIN device_class c ON c.id = e.class JOIN noise k ON "
		"k.environment = e.id AND k.at > :oldest JOIN repo r ON r.id = k.repo JOIN suite t ON t.sha = e.suite_sha WHERE "
		"EXISTS (SELECT 1 FROM device d WHERE d.class = c.id AND d.cudnn = e.cudnn AND (:device = '' OR d.uuid = "
		":device)) AND (:repo = '' OR r.name = :repo) AND NOT EXISTS (SELECT 1 FROM environment n WHERE n.class = c.id "
		"AND n.cudnn = e.cudnn AND n.suite_sha = e.suite_sha AND n.id > e.id) ORDER BY r.name, c.id, k.key, "
		"k.environment, k.id DESC",
		"device=%s repo=%s oldest=%ld", device ? device : "", repo ? repo : "", oldest_at(now_ms));
	while ((result = stmt_step(s, err)) == 1) {
		bool same = g.environment == row_int(s, 12) && strcmp(g.repo, row_text(s, 0)) == 0 &&
			    strcmp(g.cell, row_text(s, 3)) == 0;
		if (!same) {
			if (report(db, &g, each, arg, err)) {
				stmt_reset(s);
				return -1;
			}
			g = (struct gathered){ .n = 0 };
		}
		take_part(&g, s);
	}
	return result < 0 || report(db, &g, each, arg, err) ? -1 : 0;
}

static void count_cell(void *arg, const struct view_calibration *row)
{
	struct view_calibrated *to = arg;
	to->cells++;
	to->underpowered += row->underpowered;
}

int view_calibrated(struct db *db, const char *device, int64_t now_ms, struct view_calibrated *out, struct fw_err *err)
{
	*out = (struct view_calibrated){ 0 };
	return view_calibrations(db, NULL, device, now_ms, count_cell, out, err);
}
