/** store_change.c - rows of change points. */
#include "db/store_change.h"

#include <math.h>

#define CHANGE_COLUMNS                                                                                                           \
	"SELECT c.id, c.repo, c.epoch, c.comparison, c.key, c.kind, c.origin, c.before_sha, c.commit_sha, c.step, c.state, "     \
	"c.tried, c.points, c.found_at, c.decided_at FROM change_point c "

/** 1 and the row, 0, -1. */
static int read_change(struct stmt *s, struct store_change *out, struct fw_err *err)
{
	int r = stmt_step(s, err);
	if (r != 1)
		return r;
	*out = (struct store_change){ .id = row_int(s, 0),
		.repo = row_int(s, 1),
		.epoch = row_int(s, 2),
		.comparison = row_int(s, 3),
		.step = row_double(s, 9),
		.tried = (int)row_int(s, 11),
		.points = (int)row_int(s, 12),
		.found_at = row_int(s, 13),
		.decided_at = row_int(s, 14) };
	row_copy(s, 4, out->key, sizeof(out->key));
	row_copy(s, 5, out->kind, sizeof(out->kind));
	row_copy(s, 6, out->origin, sizeof(out->origin));
	row_copy(s, 7, out->before_sha, sizeof(out->before_sha));
	row_copy(s, 8, out->commit_sha, sizeof(out->commit_sha));
	row_copy(s, 10, out->state, sizeof(out->state));
	stmt_reset(s);
	return 1;
}

static void bind_changing(struct stmt *s, const struct store_change *c)
{
	stmt_text(s, ":before", c->before_sha);
	stmt_text(s, ":commit", c->commit_sha);
	stmt_double(s, ":step", c->step);
	stmt_text(s, ":state", c->state);
	stmt_int(s, ":tried", c->tried);
	stmt_int(s, ":points", c->points);
	if (c->comparison)
		stmt_int(s, ":comparison", c->comparison);
	if (c->decided_at)
		stmt_int(s, ":decided_at", c->decided_at);
}

int store_change_insert(struct db *db, struct store_change *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO change_point (repo, epoch, key, kind, origin, before_sha, commit_sha, step, state, tried, points, "
		"comparison, found_at, decided_at) VALUES (:repo, :epoch, :key, :kind, :origin, :before, :commit, :step, :state, "
		":tried, :points, :comparison, :found_at, :decided_at)",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_int(s, ":epoch", c->epoch);
	stmt_text(s, ":key", c->key);
	stmt_text(s, ":kind", c->kind);
	stmt_text(s, ":origin", c->origin);
	stmt_int(s, ":found_at", c->found_at);
	bind_changing(s, c);
	if (stmt_run(s, err))
		return -1;
	c->id = db_last_id(db);
	return 0;
}

int store_change_get(struct db *db, int64_t id, struct store_change *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, CHANGE_COLUMNS "WHERE c.id = :id", err);
	if (!s)
		return -1;
	stmt_int(s, ":id", id);
	int r = read_change(s, out, err);
	return r == 0 ? err_set(err, ERR_NOT_FOUND, "there is no change point %lld", (long long)id) : r < 0 ? -1 : 0;
}

int store_change_update(struct db *db, const struct store_change *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"UPDATE change_point SET before_sha = :before, commit_sha = :commit, step = :step, state = :state, tried = "
		":tried, points = :points, comparison = :comparison, decided_at = :decided_at WHERE id = :id",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":id", c->id);
	bind_changing(s, c);
	return stmt_run(s, err);
}

/** Bind a cell of an epoch and look for a first row. 1, 0, -1. */
static int any_of_cell(struct stmt *s, int64_t epoch, const char *key, struct fw_err *err)
{
	if (!s)
		return -1;
	stmt_int(s, ":epoch", epoch);
	stmt_text(s, ":key", key);
	int r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

int store_change_is_open(struct db *db, int64_t epoch, const char *key, struct fw_err *err)
{
	return any_of_cell(
		db_stmt(db,
			"SELECT 1 FROM change_point WHERE epoch = :epoch AND key = :key AND state IN ('candidate', 'placing') "
			"LIMIT 1",
			err),
		epoch, key, err);
}

int store_change_orphan(struct db *db, int64_t after, struct store_change *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		CHANGE_COLUMNS "WHERE c.state IN ('candidate', 'placing') AND c.id > :after AND NOT EXISTS "
			       "(SELECT 1 FROM job j WHERE j.change_point = c.id AND j.state IN "
			       "('queued', 'sent', 'building', 'checking', 'measuring')) ORDER BY c.id LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":after", after);
	return read_change(s, out, err);
}

int store_change_from(struct db *db, int64_t epoch, const char *key, int64_t *place, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT coalesce(max(l.place), 0) FROM change_point c JOIN line l ON l.repo = c.repo AND l.sha = c.commit_sha "
		"WHERE c.epoch = :epoch AND c.key = :key AND c.state = 'confirmed' AND c.kind = 'step' AND NOT l.dropped",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":epoch", epoch);
	stmt_text(s, ":key", key);
	int r = stmt_step(s, err);
	*place = r == 1 ? row_int(s, 0) : 0;
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

int store_change_segment(struct db *db, const struct store_change *change, int64_t *from, int64_t *to, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT max(iif(l.place < here.place, l.place, 0)), min(iif(l.place > here.place, l.place, NULL)) "
		"FROM line here LEFT JOIN change_point c ON c.epoch = :epoch AND c.key = :key AND c.state = 'confirmed' AND "
		"c.kind = 'step' LEFT JOIN line l ON l.repo = c.repo AND l.sha = c.commit_sha AND NOT l.dropped "
		"WHERE here.repo = :repo AND here.sha = :commit",
		err);
	*from = *to = 0;
	if (!s)
		return -1;
	stmt_int(s, ":epoch", change->epoch);
	stmt_text(s, ":key", change->key);
	stmt_int(s, ":repo", change->repo);
	stmt_text(s, ":commit", change->commit_sha);
	int r = stmt_step(s, err);
	if (r == 1) {
		*from = row_int(s, 0);
		*to = row_int(s, 1);
	}
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

int store_change_explained(struct db *db, int64_t epoch, const char *key, double *step, struct fw_err *err)
{
	int r;
	struct stmt *s = db_stmt(db,
		"SELECT c.step FROM change_point c JOIN line l ON l.repo = c.repo AND l.sha = c.commit_sha "
		"WHERE c.epoch = :epoch AND c.key = :key AND c.state = 'confirmed' AND c.kind = 'step' AND NOT l.dropped "
		"ORDER BY l.place",
		err);
	*step = 0;
	if (!s)
		return -1;
	stmt_int(s, ":epoch", epoch);
	stmt_text(s, ":key", key);
	while ((r = stmt_step(s, err)) == 1)
		*step = fmax(0, *step + row_double(s, 0));
	return r;
}

int store_change_is_barred(struct db *db, int64_t epoch, const char *key, const char *commit_sha, int points, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT 1 FROM change_point WHERE epoch = :epoch AND key = :key AND state = 'dropped' AND commit_sha = :commit "
		"AND points > :points LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_text(s, ":commit", commit_sha);
	stmt_int(s, ":points", points);
	return any_of_cell(s, epoch, key, err);
}

int store_change_has_creep(struct db *db, int64_t epoch, const char *key, struct fw_err *err)
{
	return any_of_cell(
		db_stmt(db,
			"SELECT 1 FROM epoch e JOIN epoch o ON o.repo = e.repo AND o.suite = e.suite AND o.anchor_sha = "
			"e.anchor_sha "
			"JOIN change_point c ON c.epoch = o.id AND c.key = :key AND c.kind = 'creep' WHERE e.id = :epoch LIMIT 1",
			err),
		epoch, key, err);
}
