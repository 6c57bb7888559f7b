#include "db/db.h"

enum { NEWEST_OF_BRANCH = 64 }; /* whole comparisons; hundreds of shards in an off-peak period do not displace them */

int find_off_peak_suites(
	struct db *db, int64_t repo, const char *branch, find_off_peak_suite_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, name, target_sha, class, cells, shards, nights FROM (SELECT t.id, t.name, c.target_sha, e.class, "
		"t.cells, t.shards, t.nights, row_number() OVER (PARTITION BY t.name, e.class ORDER BY c.id DESC) AS age FROM "
		"(SELECT p.id FROM comparison p JOIN job j ON j.id = p.job AND NOT j.quick AND NOT j.some_cells WHERE p.repo = "
		":repo AND p.branch = :branch AND p.kind IN ('compare', 'selfcheck') ORDER BY p.id DESC LIMIT :newest) n JOIN "
		"comparison c ON c.id = n.id JOIN suite t ON t.id = c.suite JOIN environment e ON e.id = c.environment) s WHERE "
		"age = 1 AND shards > 1 AND EXISTS (SELECT 1 FROM device d WHERE d.class = s.class AND d.state = 'ok') ORDER BY "
		"name, class",
		"repo=%ld branch=%s newest=%d", repo, branch, NEWEST_OF_BRANCH);
	struct find_off_peak_suite row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.suite, row.name, row.target_sha, row.device_class, row.size.cells,
		row.size.shards, row.size.nights);
}

/* Comparisons from before the branch's suite changed do not count: their commits have the other suite in their trees. */
#define SINCE_SUITE_CHANGED                                                                                                      \
	"coalesce((SELECT z.id FROM comparison z JOIN job y ON y.id = z.job WHERE z.repo = :repo AND z.branch = "                \
	":branch AND z.suite IN (SELECT id FROM suite WHERE name = :name AND id <> :suite) AND z.kind IN ('compare', "           \
	"'selfcheck') AND NOT y.quick AND NOT y.some_cells ORDER BY z.id DESC LIMIT 1), 0)"

#define JOB_OF_SUITE "j.repo = :repo AND j.suite = :name AND "

/*
 * Shards that have a job, each found by a search: grouping would read the jobs of all off-peak periods. The index has only shards
 * above 0; without `likely` SQLite would search by that condition alone.
 */
#define SHARDS                                                                                                                   \
	"p(shard) AS (SELECT min(j.shard) FROM job j WHERE " JOB_OF_SUITE                                                        \
	"j.shard > 0 UNION ALL SELECT (SELECT j.shard FROM job j "                                                               \
	"WHERE " JOB_OF_SUITE                                                                                                    \
	"likely(j.shard > 0) AND j.shard > p.shard ORDER BY j.shard LIMIT 1) FROM p WHERE p.shard IS NOT NULL)"

#define JOB_OF_SHARD JOB_OF_SUITE "j.shard = p.shard AND likely(j.shard > 0) AND j.device_class = :class "

#define NEWEST_OF_SHARD                                                                                                          \
	"(SELECT o.id FROM job j CROSS JOIN comparison o ON o.job = j.id WHERE " JOB_OF_SHARD                                    \
	"AND o.suite = :suite AND o.id > " SINCE_SUITE_CHANGED " ORDER BY j.id DESC LIMIT 1)"

#define IS_REQUESTED "EXISTS (SELECT 1 FROM job j INDEXED BY job_by_target WHERE " JOB_OF_SHARD "AND j.target_sha = :target)"

int find_off_peak_shards(struct db *db, int64_t repo, const char *branch, const struct find_off_peak_suite *like,
	find_off_peak_shard_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"WITH RECURSIVE " SHARDS " SELECT p.shard, coalesce(c.finished_at, 0), coalesce(c.target_sha, ''), "
		"coalesce(c.verdict IN ('regression', 'improvement', 'failed', 'rejected'), 0), " IS_REQUESTED
		" FROM p LEFT JOIN comparison c ON c.id = " NEWEST_OF_SHARD " WHERE p.shard IS NOT NULL ORDER BY p.shard",
		"repo=%ld branch=%s suite=%ld name=%s target=%s class=%ld", repo, branch, like->suite, like->name,
		like->target_sha, like->device_class);
	int result;
	struct find_off_peak_shard row = { 0 };
	while ((result = stmt_next(s, err, row.shard, row.measured_at, row.target_sha, row.has_change, row.is_requested)) == 1)
		each(arg, &row);
	return result;
}
