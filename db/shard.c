#include "db/db.h"

int view_part(struct db *db, int64_t comparison, struct view_part *out, struct fw_err *err)
{
	*out = (struct view_part){ 0 };
	return stmt_optional(db_first(db, err, (out->part, out->parts, out->cells, out->nights, out->measured),
		"SELECT j.part, t.parts - 1, t.cells, t.nights, (SELECT count(DISTINCT w.part) FROM job w JOIN comparison o ON "
		"o.job = w.id AND o.suite = t.id WHERE w.repo = j.repo AND w.suite = j.suite AND w.part > 0) FROM comparison c "
		"JOIN job j ON j.id = c.job JOIN suite t ON t.id = c.suite WHERE c.id = :id AND t.parts > 1",
		"id=%ld", comparison));
}
