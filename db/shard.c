#include "db/db.h"

int view_shard(struct db *db, int64_t comparison, struct view_shard *out, struct fw_err *err)
{
	*out = (struct view_shard){ 0 };
	return stmt_optional(db_first(db, err, (out->shard, out->shards, out->cells, out->nights, out->measured),
		"SELECT j.shard, t.shards - 1, t.cells, t.nights, (WITH RECURSIVE p(shard) AS (SELECT 1 UNION ALL SELECT shard + 1 "
		"FROM p WHERE shard < t.shards - 1) SELECT count(*) FROM p WHERE (SELECT o.id FROM job w CROSS JOIN comparison o "
		"ON o.job = w.id WHERE w.repo = j.repo AND w.suite = j.suite AND w.shard = p.shard AND likely(w.shard > 0) AND "
		"o.suite = t.id ORDER BY w.id DESC LIMIT 1)) FROM comparison c JOIN job j ON j.id = c.job JOIN suite t ON t.id = "
		"c.suite WHERE c.id = :id AND t.shards > 1",
		"id=%ld", comparison));
}
