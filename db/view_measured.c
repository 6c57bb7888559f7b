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
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_measured){ .cell = row_int(s, 0),
				  .key = row_text(s, 1),
				  .state = row_text(s, 2),
				  .path = row_text(s, 3),
				  .base_config = row_text(s, 4),
				  .target_config = row_text(s, 5),
				  .group = row_text(s, 6),
				  .title = row_text(s, 7),
				  .direction = row_text(s, 8),
				  .size = (int)row_int(s, 9),
				  .flops = row_double(s, 10),
				  .base_ms = row_double(s, 11),
				  .target_ms = row_double(s, 12) });
	return result;
}
