#include "db/db.h"

int find_range_commits(struct db *db, const struct store_change *c, const char *from, const char *to, int *commits,
	int *unmeasured, struct fw_err *err)
{
	*commits = *unmeasured = 0;
	return stmt_optional(db_first(db, err, (*commits, *unmeasured),
		"SELECT count(*), total(NOT EXISTS (SELECT 1 FROM ratio r WHERE r.baseline_period = :baseline_period AND r.key = "
		":key AND r.target_sha = l.sha)) FROM mainline l WHERE l.repo = :repo AND l.dropped = (SELECT "
		"dropped FROM mainline WHERE repo = :repo AND sha = :to) AND l.position > (SELECT "
		"position FROM mainline WHERE repo = :repo AND sha = :from) AND l.position <= (SELECT position FROM mainline WHERE repo = "
		":repo AND sha = :to)",
		"baseline_period=%ld key=%s repo=%ld from=%s to=%s", c->baseline_period, c->key, c->repo, from, to));
}

int find_range_awaited(struct db *db, int64_t repo, const char *sha, const char *key, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM job j WHERE j.repo = :repo AND j.target_sha = :target AND j.kind = 'reference' AND j.state IN "
		"('queued', 'assigned', 'building', 'checking', 'measuring') AND EXISTS (SELECT 1 FROM job_cell w WHERE w.job = "
		"j.id AND w.word = :key) LIMIT 1",
		"repo=%ld target=%s key=%s", repo, sha, key);
}

int find_range_requested(struct db *db, const struct store_baseline_period *e, const char *origin, int64_t after,
	int64_t *position, struct fw_err *err)
{
	*position = 0;
	return stmt_optional(db_first_int(db, position, err,
		"SELECT coalesce(max(l.position), 0) FROM mainline l INDEXED BY mainline_by_position CROSS JOIN job j ON j.repo = "
		"l.repo AND j.target_sha = l.sha WHERE l.repo = :repo AND l.position > :after AND j.origin = :origin AND j.suite = "
		":suite AND j.device_class = (SELECT class FROM environment WHERE id = :environment)",
		"repo=%ld after=%ld origin=%s suite=%s environment=%ld", e->repo, after, origin, e->suite, e->environment));
}
