/* slow_calls.c - one row a set. */
#include "db/store/slow_calls.h"

#include <string.h>

int store_slow_calls_put(struct db *db, int64_t cell, const struct tail *tail, struct fw_err *err)
{
	for (int i = 0; i < MEAN_SETS; i++) {
		const struct tail_side *base = &tail[i].side[TAIL_BASE], *target = &tail[i].side[TAIL_TARGET];
		struct stmt *s = db_stmt(db,
			"INSERT INTO slow_calls (cell, set_number, launches, calls, base, base_longer, base_squares, "
			"base_spread, "
			"target, target_longer, target_squares, target_spread) SELECT :cell, :set, :launches, :calls, :base, "
			":base_longer, :base_squares, :base_spread, :target, :target_longer, :target_squares, :target_spread "
			"WHERE :calls > 0 ON CONFLICT (cell, set_number) DO UPDATE SET "
			"launches = excluded.launches, calls = excluded.calls, base = excluded.base, "
			"base_longer = excluded.base_longer, base_squares = excluded.base_squares, "
			"base_spread = excluded.base_spread, target = excluded.target, target_longer = excluded.target_longer, "
			"target_squares = excluded.target_squares, target_spread = excluded.target_spread",
			err);
		if (!s)
			return -1;
		stmt_int(s, ":cell", cell);
		stmt_int(s, ":set", i + 1);
		stmt_int(s, ":launches", tail[i].launches);
		stmt_int(s, ":calls", tail[i].calls);
		stmt_int(s, ":base", base->slow);
		stmt_double(s, ":base_longer", base->longer);
		stmt_double(s, ":base_squares", base->squares);
		stmt_double(s, ":base_spread", base->spread);
		stmt_int(s, ":target", target->slow);
		stmt_double(s, ":target_longer", target->longer);
		stmt_double(s, ":target_squares", target->squares);
		stmt_double(s, ":target_spread", target->spread);
		if (stmt_run(s, err))
			return -1;
	}
	return 0;
}

int store_slow_calls_get(struct db *db, int64_t cell, struct tail *tail, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT set_number, launches, calls, base, base_longer, base_squares, base_spread, target, target_longer, "
		"target_squares, "
		"target_spread FROM slow_calls WHERE cell = :cell AND set_number IN (1, 2)",
		err);
	int result;
	memset(tail, 0, MEAN_SETS * sizeof *tail);
	if (!s)
		return -1;
	stmt_int(s, ":cell", cell);
	while ((result = stmt_step(s, err)) == 1)
		tail[row_int(s, 0) - 1] = (struct tail){ .launches = (int)row_int(s, 1),
			.calls = (int)row_int(s, 2),
			.side = { { (int)row_int(s, 3), row_double(s, 4), row_double(s, 5), row_double(s, 6) },
				{ (int)row_int(s, 7), row_double(s, 8), row_double(s, 9), row_double(s, 10) } } };
	return result;
}
