#include "db/db.h"

int view_part(struct db *db, int64_t comparison, struct view_part *out, struct fw_err *err)
{
	*out = (struct view_part){ 0 };
	return stmt_optional(db_first(db, err, (out->part, out->parts, out->cells, out->nights, out->measured),
		"SELECT j.part, t.parts - 1, t.cells, t.nights, (WITH RECURSIVE p(part) AS (SELECT 1 UNION ALL SELECT part + 1 "
		"FROM p WHERE part < t.parts - 1) SELECT count(*) FROM p WHERE (SELECT o.id FROM job w CROSS JOIN comparison o "
		"ON o.job = w.id WHERE w.repo = j.repo AND w.suite = j.suite AND w.part = p.part AND likely(w.part > 0) AND "
		"o.suite = t.id ORDER BY w.id DESC LIMIT 1)) FROM comparison c JOIN job j ON j.id = c.job JOIN suite t ON t.id = "
		"c.suite WHERE c.id = :id AND t.parts > 1",
		"id=%ld", comparison));
}
