#include "db/db.h"

#include <stdlib.h>

/* ---- baseline periods -------------------------------------------------------------------------------------------------- */

#define BASELINE_PERIOD_COLUMNS                                                                                                  \
	"SELECT id, repo, environment, suite, reference_sha, held_mhz, started_at, first_sha FROM baseline_period "

/** 1 and the row, 0, -1. */
static int read_baseline_period(struct stmt *s, struct store_baseline_period *out, struct fw_err *err)
{
	return stmt_first(s, err, out->id, out->repo, out->environment, out->suite, out->reference_sha, out->held_mhz,
		out->started_at, out->first_sha);
}

int store_baseline_period_find(
	struct db *db, int64_t repo, int64_t environment, struct store_baseline_period *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, BASELINE_PERIOD_COLUMNS "WHERE repo = :repo AND environment = :environment",
		"repo=%ld environment=%ld", repo, environment);
	return read_baseline_period(s, out, err);
}

int store_baseline_period_get(struct db *db, int64_t id, struct store_baseline_period *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, BASELINE_PERIOD_COLUMNS "WHERE id = :id", "id=%ld", id);
	return stmt_require(read_baseline_period(s, out, err), err, "there is no baseline period %lld", (long long)id);
}

int store_baseline_period_reference(struct db *db, int64_t repo, const char *suite, int64_t device, char *sha, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT e.reference_sha FROM device d JOIN device_class c ON c.id = d.class JOIN device_class k ON k.model = "
		"c.model JOIN environment v ON v.class = k.id JOIN baseline_period e ON e.environment = v.id WHERE d.id = "
		":device AND e.repo = :repo AND e.suite = :suite ORDER BY k.id = c.id DESC, e.id DESC LIMIT 1",
		"repo=%ld suite=%s device=%ld", repo, suite, device);
	sha[0] = 0;
	return stmt_first_text(s, sha, 65, err) < 0 ? -1 : 0;
}

int store_baseline_period_insert(struct db *db, struct store_baseline_period *e, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"INSERT INTO baseline_period (repo, environment, suite, reference_sha, first_sha, held_mhz, started_at) VALUES "
		"(:repo, :environment, :suite, :reference, :reference, :held, :started_at)",
		"repo=%ld environment=%ld suite=%s reference=%s held=%f started_at=%ld", e->repo, e->environment, e->suite,
		e->reference_sha, e->held_mhz, e->started_at);
	if (stmt_insert(s, &e->id, err))
		return -1;
	memcpy(e->first_sha, e->reference_sha, sizeof e->first_sha);
	return 0;
}

int store_baseline_period_clock(struct db *db, int64_t id, double held_mhz, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE baseline_period SET held_mhz = :held WHERE id = :id", "id=%ld held=%f", id, held_mhz);
}

int store_baseline_period_rereference(struct db *db, int64_t id, const char *reference_sha, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE baseline_period SET reference_sha = :reference WHERE id = :id", "reference=%s id=%ld",
		reference_sha, id);
}

int store_chain_insert(struct db *db, const struct store_chain *c, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT OR REPLACE INTO reference_link (baseline_period, reference_sha, key, x, se, comparison) VALUES "
		"(:baseline_period, :reference, :key, :x, :se, :comparison)",
		"baseline_period=%ld reference=%s key=%s x=%f se=%f comparison=%ld", c->baseline_period, c->reference_sha, c->key,
		c->x, c->se, c->comparison);
}

int store_chain_get(struct db *db, const struct store_baseline_period *e, const char *reference_sha, const char *key, double *x,
	double *se, struct fw_err *err)
{
	*x = *se = 0;
	if (strcmp(reference_sha, e->first_sha) == 0)
		return 1;
	return db_first(db, err, (*x, *se),
		"SELECT x, se FROM reference_link WHERE baseline_period = :baseline_period AND reference_sha = :reference AND "
		"key = :key",
		"baseline_period=%ld reference=%s key=%s", e->id, reference_sha, key);
}

int store_baseline_period_has_reference(struct db *db, const struct store_baseline_period *e, const char *sha, struct fw_err *err)
{
	if (strcmp(sha, e->first_sha) == 0)
		return 1;
	return db_any(db, err,
		"SELECT 1 FROM reference_link WHERE baseline_period = :baseline_period AND reference_sha = :reference LIMIT 1",
		"baseline_period=%ld reference=%s", e->id, sha);
}

/* ---- upstream branch ------------------------------------------------------------------------------------------------- */

int store_upstream_position(struct db *db, int64_t repo, const char *sha, int64_t *position, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT position FROM mainline WHERE repo = :repo AND sha = :sha AND NOT dropped",
		"repo=%ld sha=%s", repo, sha);
	*position = 0;
	return stmt_first_int(s, position, err) < 0 ? -1 : 0;
}

int store_upstream_put(struct db *db, int64_t repo, const char (*sha)[65], int n, bool is_cut, struct fw_err *err)
{
	int known = 0;
	int64_t position = 0;
	for (; known < n; known++) {
		if (store_upstream_position(db, repo, sha[known], &position, err))
			return -1;
		if (position)
			break;
	}
	if ((known < n || !is_cut) &&
		db_exec(db, err, "UPDATE mainline SET dropped = 1 WHERE repo = :repo AND position > :position AND NOT dropped",
			"repo=%ld position=%ld", repo, position))
		return -1;
	for (int i = known - 1; i >= 0; i--)
		if (db_exec(db, err,
			    "INSERT INTO mainline (repo, sha, position) VALUES (:repo, :sha, (SELECT coalesce(max(position), 0) + 1 FROM "
			    "mainline WHERE repo = :repo)) ON CONFLICT (repo, sha) DO UPDATE SET position = excluded.position, dropped = 0",
			    "repo=%ld sha=%s", repo, sha[i]))
			return -1;
	return 0;
}

int store_upstream_unmeasured(struct db *db, const struct store_baseline_period *e, const char *key, int64_t after,
	int64_t before, char *sha, struct fw_err *err)
{
	return db_first_text(db, sha, 65, err,
		"SELECT sha, count(*) OVER () AS n, row_number() OVER (ORDER BY position) AS i FROM mainline l WHERE repo = :repo "
		"AND position > :after AND position < :before AND NOT dropped AND NOT EXISTS (SELECT 1 FROM ratio r WHERE "
		"r.baseline_period = :baseline_period AND r.key = :key AND r.target_sha = l.sha) AND NOT EXISTS (SELECT 1 FROM "
		"comparison c JOIN suite u ON u.id = c.suite JOIN job j ON j.id = c.job WHERE c.repo = l.repo AND c.target_sha = "
		"l.sha AND u.name = :suite AND c.kind NOT IN ('peer', 'config', 'environment', 'import') AND j.quick = 0 AND "
		"j.base_provider = '' AND j.target_provider = '' AND (c.rows_unknown OR EXISTS (SELECT 1 FROM cell k WHERE "
		"k.comparison = c.id AND k.key = :key))) ORDER BY abs(2 * i - n - 1) LIMIT 1",
		"baseline_period=%ld key=%s suite=%s repo=%ld after=%ld before=%ld", e->id, key, e->suite, e->repo, after,
		before);
}

/* ---- ratios ---------------------------------------------------------------------------------------------------------- */

int store_ratio_insert(struct db *db, const struct store_ratio *r, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO ratio (baseline_period, key, target_sha, x, se, comparison) VALUES (:baseline_period, :key, "
		":target, :x, :se, :comparison)",
		"baseline_period=%ld key=%s target=%s x=%f se=%f comparison=%ld", r->baseline_period, r->key, r->target_sha, r->x,
		r->se, r->comparison);
}

int store_ratio_of(
	struct db *db, int64_t baseline_period, const char *key, int64_t comparison, double *x, double *se, struct fw_err *err)
{
	return db_first(db, err, (*x, *se),
		"SELECT x, se FROM ratio WHERE baseline_period = :baseline_period AND key = :key AND comparison = :comparison "
		"LIMIT 1",
		"baseline_period=%ld key=%s comparison=%ld", baseline_period, key, comparison);
}

enum { AGAIN_MAX = 16 }; /* measurements of one commit in its median */

static void reverse(struct store_series *s)
{
	for (int i = 0, k = s->n - 1; i < k; i++, k--) {
		struct store_series_point p = s->point[i];
		double x = s->x[i];
		int measured = s->measured[i];
		s->point[i] = s->point[k];
		s->x[i] = s->x[k];
		s->measured[i] = s->measured[k];
		s->point[k] = p;
		s->x[k] = x;
		s->measured[k] = measured;
	}
}

int store_series(struct db *db, const struct store_baseline_period *e, const char *key, int64_t from, struct store_series *out,
	struct fw_err *err)
{
	double again[AGAIN_MAX];
	int result;
	memset(out, 0, sizeof *out);
	struct stmt *s = db_query(db, err,
		"SELECT l.sha, l.position, r.x FROM mainline l INDEXED BY mainline_by_position CROSS JOIN ratio r ON r.baseline_period "
		"= :baseline_period AND r.key = :key AND r.target_sha = l.sha WHERE l.repo = :repo AND l.position >= max(:from, "
		"(SELECT max(position) FROM mainline WHERE repo = :repo) - :limit) AND NOT l.dropped ORDER BY l.position DESC",
		"baseline_period=%ld key=%s repo=%ld from=%ld limit=%d", e->id, key, e->repo, from, STORE_LINE_COMMITS_MAX);
	const char *sha;
	int64_t position;
	double x;
	while ((result = stmt_next(s, err, sha, position, x)) == 1) {
		if (out->n == 0 || out->point[out->n - 1].position != position) {
			if (out->n == CHANGEPOINT_POINTS_MAX) {
				stmt_reset(s);
				result = 0;
				break;
			}
			snprintf(out->point[out->n].sha, sizeof out->point[0].sha, "%s", sha);
			out->point[out->n++].position = position;
		}
		int *measured = &out->measured[out->n - 1];
		if (*measured < AGAIN_MAX)
			again[(*measured)++] = x;
		out->x[out->n - 1] = median_of(again, *measured);
	}
	reverse(out);
	return result;
}

int store_series_count(struct db *db, int64_t baseline_period, const char *key, int *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT count(DISTINCT target_sha) FROM ratio WHERE baseline_period = :baseline_period AND key = :key",
		"baseline_period=%ld key=%s", baseline_period, key);
	int64_t count = 0;
	int result = stmt_first_int(s, &count, err);
	*n = (int)count;
	return result < 0 ? -1 : 0;
}

int store_baseline_period_devices(struct db *db, int64_t repo, struct store_baseline_period_device **out, struct fw_err *err)
{
	int result, n = 0, capacity = 0;
	*out = NULL;
	struct stmt *s = db_query(db, err,
		"SELECT d.uuid, d.class, d.outlier <> '', NOT EXISTS (SELECT 1 FROM device o WHERE o.class = d.class AND o.id "
		"<> d.id AND o.state <> 'absent'), coalesce((SELECT max(c.finished_at) FROM reference_time a JOIN "
		"baseline_period e ON e.id = a.baseline_period JOIN comparison c ON c.id = a.comparison WHERE a.device = d.id "
		"AND e.repo = :repo), 0) FROM device d WHERE d.state = 'ok' AND EXISTS (SELECT 1 FROM environment v JOIN "
		"baseline_period e ON e.environment = v.id AND e.repo = :repo WHERE v.class = d.class) ORDER BY d.id",
		"repo=%ld", repo);
	struct store_baseline_period_device d;
	while ((result = stmt_next(s, err, d.uuid, d.class, d.is_outlier, d.is_alone, d.last_reference_at)) == 1) {
		if (n == capacity) {
			capacity = capacity ? 2 * capacity : 16;
			*out = mem_grow(*out, (size_t)capacity, sizeof **out);
		}
		(*out)[n++] = d;
	}
	if (result < 0) {
		free(*out);
		*out = NULL;
	}
	return result < 0 ? -1 : n;
}

int store_baseline_period_of_class(
	struct db *db, int64_t repo, int64_t class, struct store_baseline_period *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		BASELINE_PERIOD_COLUMNS "WHERE repo = :repo AND environment IN (SELECT id FROM environment WHERE class = :class) "
					"ORDER BY id DESC LIMIT 1",
		"repo=%ld class=%ld", repo, class);
	return read_baseline_period(s, out, err);
}
