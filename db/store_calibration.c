/** store_calibration.c - pooled scatter a cell and environment; false alarms a device. */
#include "db/store_calibration.h"

#include <math.h>

#include "core/stats.h"

int store_calibration_get(struct db *db, int64_t environment, const char *key, struct store_calibration *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT comparisons, alarms, launches, freedom, squares, variance, tau, mde_pct, blind FROM calibration "
		"WHERE environment = :environment AND key = :key",
		err);
	*out = (struct store_calibration){ .environment = environment, .key = key };
	if (!s)
		return -1;
	stmt_int(s, ":environment", environment);
	stmt_text(s, ":key", key);
	int r = stmt_step(s, err);
	if (r == 1) {
		out->comparisons = (int)row_int(s, 0);
		out->alarms = (int)row_int(s, 1);
		out->pooled = (struct calibration){ .launches = (int)row_int(s, 2),
			.freedom = (int)row_int(s, 3),
			.squares = row_double(s, 4),
			.variance = row_double(s, 5) };
		out->tau = row_double(s, 6);
		out->mde_pct = row_double(s, 7);
		out->blind = row_int(s, 8) != 0;
	}
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

int store_calibration_put(struct db *db, const struct store_calibration *c, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO calibration (environment, key, comparisons, alarms, launches, freedom, squares, variance, tau, "
		"mde_pct, blind, updated_at) VALUES (:environment, :key, :comparisons, :alarms, :launches, :freedom, :squares, "
		":variance, :tau, :mde, :blind, :now) ON CONFLICT (environment, key) DO UPDATE SET "
		"comparisons = excluded.comparisons, alarms = excluded.alarms, launches = excluded.launches, "
		"freedom = excluded.freedom, squares = excluded.squares, variance = excluded.variance, tau = excluded.tau, "
		"mde_pct = excluded.mde_pct, blind = excluded.blind, updated_at = excluded.updated_at",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":environment", c->environment);
	stmt_text(s, ":key", c->key);
	stmt_int(s, ":comparisons", c->comparisons);
	stmt_int(s, ":alarms", c->alarms);
	stmt_int(s, ":launches", c->pooled.launches);
	stmt_int(s, ":freedom", c->pooled.freedom);
	stmt_double(s, ":squares", c->pooled.squares);
	stmt_double(s, ":variance", c->pooled.variance);
	stmt_double(s, ":tau", c->tau);
	stmt_double(s, ":mde", c->mde_pct);
	stmt_int(s, ":blind", c->blind);
	stmt_int(s, ":now", now_ms);
	return stmt_run(s, err);
}

int store_calibration_environment(struct db *db, int64_t device, const char *suite_sha, int64_t *environment, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT e.id FROM environment e JOIN device d ON d.id = e.device AND d.driver = e.driver AND d.toolkit = "
		"e.toolkit AND d.cudnn = e.cudnn WHERE e.device = :device AND e.suite_sha = :suite ORDER BY e.id DESC LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":device", device);
	stmt_text(s, ":suite", suite_sha);
	*environment = 0;
	return stmt_first_int(s, environment, err) < 0 ? -1 : 0;
}

int store_calibration_asked(struct db *db, int64_t repo, const char *device_uuid, int64_t *at, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT queued_at FROM job INDEXED BY job_calibrates WHERE repo = :repo AND kind = 'calibrate' AND device_uuid = "
		":device ORDER BY id DESC LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", repo);
	stmt_text(s, ":device", device_uuid);
	*at = 0;
	return stmt_first_int(s, at, err) < 0 ? -1 : 0;
}

/* ---- for people ------------------------------------------------------------------------------------------------------ */

/** Clopper and Pearson's one-sided bound for a share, by bisection on the binomial. Units: per cent. */
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
	struct stmt *s = db_stmt(db,
		"SELECT count(*), total(c.n_regressions > 0), max(c.finished_at) FROM environment e JOIN comparison c INDEXED BY "
		"comparison_self ON c.environment = e.id AND c.kind IN ('selfcheck', 'calibrate') WHERE e.device = :device",
		err);
	*out = (struct view_false_alarms){ .upper_pct = NAN };
	if (!s)
		return -1;
	stmt_int(s, ":device", device);
	int r = stmt_step(s, err);
	if (r == 1) {
		out->comparisons = (int)row_int(s, 0);
		out->alarms = (int)row_int(s, 1);
		out->last_at = row_int(s, 2);
		out->upper_pct = upper_bound_pct(out->alarms, out->comparisons);
	}
	stmt_reset(s);
	s = r < 0 ? NULL
		  : db_stmt(db,
			    "SELECT count(*), total(k.blind) FROM device d JOIN environment e ON e.device = d.id AND e.driver = "
			    "d.driver AND e.toolkit = d.toolkit AND e.cudnn = d.cudnn JOIN calibration k ON k.environment = e.id "
			    "WHERE d.id = :device "
			    "AND "
			    "NOT EXISTS (SELECT 1 FROM environment n WHERE n.device = d.id AND n.suite_sha = e.suite_sha AND "
			    "n.id > "
			    "e.id)",
			    err);
	if (!s)
		return -1;
	stmt_int(s, ":device", device);
	r = stmt_step(s, err);
	if (r == 1) {
		out->cells = (int)row_int(s, 0);
		out->blind = (int)row_int(s, 1);
	}
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

int view_calibrations(struct db *db, const char *device, view_calibration_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT d.uuid, k.key, k.comparisons, k.alarms, k.launches, k.tau, k.mde_pct, k.blind, k.updated_at "
		"FROM device d JOIN environment e ON e.device = d.id AND e.driver = d.driver AND e.toolkit = d.toolkit "
		"AND e.cudnn = d.cudnn "
		"JOIN calibration k ON k.environment = e.id WHERE (:device = '' OR d.uuid = :device) AND NOT EXISTS "
		"(SELECT 1 FROM environment n WHERE n.device = d.id AND n.suite_sha = e.suite_sha AND n.id > e.id) "
		"ORDER BY d.uuid, k.key, k.environment",
		err);
	int r;
	if (!s)
		return -1;
	stmt_text(s, ":device", device ? device : "");
	while ((r = stmt_step(s, err)) == 1)
		each(arg, &(struct view_calibration){ .device = row_text(s, 0),
				  .cell = row_text(s, 1),
				  .comparisons = (int)row_int(s, 2),
				  .alarms = (int)row_int(s, 3),
				  .launches = (int)row_int(s, 4),
				  .tau_pct = 100 * row_double(s, 5),
				  .mde_pct = row_double(s, 6),
				  .blind = row_int(s, 7) != 0,
				  .updated_at = row_int(s, 8) });
	return r;
}
