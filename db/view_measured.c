#include "db/db.h"

int view_measured(struct db *db, int64_t profile, view_measured_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT x.id, x.key, x.state, x.path, x.base_config, x.target_config, coalesce(c.suite_group, ''), "
		"coalesce(c.title, ''), coalesce(c.direction, ''), coalesce(c.size, 0), c.flops, x.base_ms, x.target_ms FROM "
		"profile_cell x JOIN profile p ON p.id = x.profile LEFT JOIN cell c ON c.comparison = p.comparison AND c.key = "
		"x.key WHERE x.profile = :profile ORDER BY x.n",
		"profile=%ld", profile);
	struct view_measured row = { 0 };
	while ((result = stmt_next(s, err, row.cell, row.key, row.state, row.path, row.base_config, row.target_config, row.group,
			row.title, row.direction, row.size, row.flops, row.base_ms, row.target_ms)) == 1)
		each(arg, &row);
	return result;
}
