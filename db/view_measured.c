#include "db/db.h"

int view_measured(struct db *db, int64_t profile, view_measured_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT x.id, x.key, x.state, x.path, x.base_config, x.target_config, coalesce(c.suite_group, ''), "
		"coalesce(c.title, ''), coalesce(c.direction, ''), coalesce(c.size, 0), c.flops, x.base_ms, x.target_ms, "
		"(SELECT f.value FROM metric_name m JOIN metric f ON f.cell = c.id AND f.name = m.id WHERE m.name = "
		"'base.peak_bytes'), (SELECT f.value FROM metric_name m JOIN metric f ON f.cell = c.id AND f.name = m.id WHERE "
		"m.name = 'target.peak_bytes'), coalesce(s.baseline, '') FROM profile_cell x JOIN profile p ON p.id = x.profile "
		"LEFT JOIN cell c ON c.comparison = p.comparison AND c.key = x.key LEFT JOIN cell_shape s ON s.id = c.cell_shape "
		"WHERE x.profile = :profile ORDER BY x.n",
		"profile=%ld", profile);
	struct view_measured row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.cell, row.key, row.state, row.path, row.base_config, row.target_config,
		row.group, row.title, row.direction, row.size, row.flops, row.base_ms, row.target_ms, row.base_peak_bytes,
		row.target_peak_bytes, row.baseline);
}
