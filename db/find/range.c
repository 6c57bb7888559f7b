/* range.c - see range.h. */
#include "db/find/range.h"

int find_range_points(struct db *db, const struct store_change *c, struct find_range_point *points, int max, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT l.sha, l.place, avg(r.x) - coalesce((SELECT sum(p.step) FROM change_point p "
		"JOIN mainline q ON q.repo = p.repo AND q.sha = p.commit_sha WHERE p.epoch = r.epoch AND p.key = r.key AND "
		"p.state = 'confirmed' AND p.kind = 'step' AND NOT q.dropped AND q.place <= l.place), 0) "
		"FROM ratio r JOIN mainline l ON l.repo = :repo AND l.sha = r.target_sha "
		"WHERE r.epoch = :epoch AND r.key = :key AND NOT l.dropped GROUP BY l.sha ORDER BY l.place DESC LIMIT :limit",
		err);
	int n = 0, result;
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_int(s, ":epoch", c->epoch);
	stmt_text(s, ":key", c->key);
	stmt_int(s, ":limit", max);
	while ((result = stmt_step(s, err)) == 1) {
		row_copy(s, 0, points[n].sha, sizeof points[n].sha);
		points[n].place = row_int(s, 1);
		points[n++].x = row_double(s, 2);
	}
	return result < 0 ? -1 : n;
}

int find_range_commits(struct db *db, const struct store_change *c, const char *from, const char *to, int *commits,
	int *unmeasured, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT count(*), total(NOT EXISTS (SELECT 1 FROM ratio r WHERE r.epoch = :epoch AND r.key = :key AND "
		"r.target_sha = l.sha)) FROM mainline l WHERE l.repo = :repo AND NOT l.dropped AND "
		"l.place > (SELECT place FROM mainline WHERE repo = :repo AND sha = :from) AND "
		"l.place <= (SELECT place FROM mainline WHERE repo = :repo AND sha = :to)",
		err);
	*commits = *unmeasured = 0;
	if (!s)
		return -1;
	stmt_int(s, ":epoch", c->epoch);
	stmt_text(s, ":key", c->key);
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":from", from);
	stmt_text(s, ":to", to);
	int result = stmt_step(s, err);
	if (result == 1) {
		*commits = (int)row_int(s, 0);
		*unmeasured = (int)row_int(s, 1);
	}
	stmt_reset(s);
	return result < 0 ? -1 : 0;
}

int find_range_awaited(struct db *db, int64_t repo, const char *sha, const char *key, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT 1 FROM job j WHERE j.repo = :repo AND j.target_sha = :target AND j.kind = 'anchor' AND "
		"j.state IN ('queued', 'sent', 'building', 'checking', 'measuring') AND "
		"EXISTS (SELECT 1 FROM job_cell w WHERE w.job = j.id AND w.word = :key) LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", repo);
	stmt_text(s, ":target", sha);
	stmt_text(s, ":key", key);
	return stmt_any(s, err);
}

int find_range_asked(
	struct db *db, const struct store_epoch *e, const char *origin, int64_t after, int64_t *place, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT coalesce(max(l.place), 0) FROM mainline l INDEXED BY mainline_by_place CROSS JOIN job j ON j.repo = l.repo "
		"AND j.target_sha = l.sha WHERE l.repo = :repo AND l.place > :after AND j.origin = :origin AND j.suite = :suite AND "
		"j.device_class = (SELECT class FROM environment WHERE id = :environment)",
		err);
	*place = 0;
	if (!s)
		return -1;
	stmt_int(s, ":repo", e->repo);
	stmt_int(s, ":after", after);
	stmt_text(s, ":origin", origin);
	stmt_text(s, ":suite", e->suite);
	stmt_int(s, ":environment", e->environment);
	return stmt_first_int(s, place, err) < 0 ? -1 : 0;
}
