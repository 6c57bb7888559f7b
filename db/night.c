#include "db/db.h"

enum { NEWEST_OF_BRANCH = 64 }; /* whole comparisons; hundreds of shards a night do not displace them */

int find_night_suites(struct db *db, int64_t repo, const char *branch, find_night_suite_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, name, target_sha, class, cells, parts, nights FROM (SELECT t.id, t.name, c.target_sha, e.class, "
		"t.cells, t.parts, t.nights, row_number() OVER (PARTITION BY t.name, e.class ORDER BY c.id DESC) AS age FROM "
		"(SELECT p.id FROM comparison p JOIN job j ON j.id = p.job AND NOT j.quick AND NOT j.some_cells WHERE p.repo = "
		":repo AND p.branch = :branch AND p.kind IN ('compare', 'selfcheck') ORDER BY p.id DESC LIMIT :newest) n JOIN "
		"comparison c ON c.id = n.id JOIN suite t ON t.id = c.suite JOIN environment e ON e.id = c.environment) s WHERE "
		"age = 1 AND parts > 1 AND EXISTS (SELECT 1 FROM device d WHERE d.class = s.class AND d.state = 'ok') ORDER BY "
		"name, class",
		"repo=%ld branch=%s newest=%d", repo, branch, NEWEST_OF_BRANCH);
	int result;
	struct find_night_suite row = { 0 };
	while ((result = stmt_next(s, err, row.suite, row.name, row.target_sha, row.device_class, row.size.cells, row.size.parts,
			row.size.nights)) == 1)
		each(arg, &row);
	return result;
}

/* Comparisons from before the branch's suite changed do not count: their commits have the other suite in their trees. */
#define SINCE_SUITE_CHANGED                                                                                                      \
	"coalesce((SELECT z.id FROM comparison z JOIN job y ON y.id = z.job WHERE z.repo = :repo AND z.branch = "                \
	":branch AND z.suite IN (SELECT id FROM suite WHERE name = :name AND id <> :suite) AND z.kind IN ('compare', "           \
	"'selfcheck') AND NOT y.quick AND NOT y.some_cells ORDER BY z.id DESC LIMIT 1), 0)"

int find_night_parts(struct db *db, int64_t repo, const char *branch, const struct find_night_suite *like,
	find_night_part_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT p.part, coalesce(c.finished_at, 0), coalesce(c.target_sha, ''), coalesce(c.verdict IN ('regression', "
		"'improvement', 'failed', 'rejected'), 0), p.is_requested FROM (SELECT j.part, max(j.target_sha = :target) AS "
		"is_requested, (SELECT max(o.id) FROM job w JOIN comparison o ON o.job = w.id WHERE w.repo = :repo AND w.suite = "
		":name AND w.part = j.part AND w.part > 0 AND w.device_class = :class AND o.suite = :suite AND o.id > " SINCE_SUITE_CHANGED
		") AS newest FROM job j WHERE j.repo = :repo AND j.suite = :name AND j.part > 0 AND "
		"j.device_class = :class GROUP BY j.part) p LEFT JOIN comparison c ON c.id = p.newest ORDER BY p.part",
		"repo=%ld branch=%s suite=%ld name=%s target=%s class=%ld", repo, branch, like->suite, like->name,
		like->target_sha, like->device_class);
	int result;
	struct find_night_part row = { 0 };
	while ((result = stmt_next(s, err, row.part, row.measured_at, row.target_sha, row.is_alert_update, row.is_requested)) ==
		1)
		each(arg, &row);
	return result;
}
