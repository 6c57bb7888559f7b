/** change.c - rows of change points. */
#include "db/internal.h"

static void read_row(struct stmt *s, struct store_change *out)
{
	row_read(s, out->id, out->repo, out->baseline_period, out->comparison, out->key, out->kind, out->origin, out->before_sha,
		out->commit_sha, out->step, out->state, out->tried, out->points, out->found_at, out->decided_at, out->alert,
		out->level, out->ended_at, out->job);
	out->change_pct = stats_change_pct(out->step);
}

/** 1 and the row, 0, -1. */
static int read_change(struct stmt *s, struct store_change *out, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result == 1) {
		read_row(s, out);
		stmt_reset(s);
	}
	return result;
}

int change_each(struct stmt *s, view_change_fn *each, void *arg, struct fw_err *err)
{
	struct store_change change;
	int result;
	while ((result = stmt_step(s, err)) == 1) {
		read_row(s, &change);
		each(arg, &change);
	}
	return result;
}

static struct stmt *bind_changing(struct stmt *s, const struct store_change *c, struct fw_err *err)
{
	return stmt_bind(s, err,
		"before=%s commit=%s step=%f state=%s tried=%d points=%d job?=%ld comparison?=%ld decided_at?=%ld alert?=%ld level=%f "
		"ended_at?=%ld",
		c->before_sha, c->commit_sha, c->step, c->state, c->tried, c->points, c->job, c->comparison, c->decided_at,
		c->alert, c->level, c->ended_at);
}

int store_change_insert(struct db *db, struct store_change *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO change_point (repo, baseline_period, key, kind, origin, before_sha, commit_sha, step, state, tried, "
		"points, comparison, found_at, decided_at, alert, level, ended_at, job) VALUES (:repo, :baseline_period, :key, "
		":kind, :origin, :before, :commit, :step, :state, :tried, :points, :comparison, :found_at, :decided_at, :alert, "
		":level, :ended_at, :job)",
		err);
	s = stmt_bind(s, err, "repo=%ld baseline_period=%ld key=%s kind=%s origin=%s found_at=%ld", c->repo, c->baseline_period,
		c->key, c->kind, c->origin, c->found_at);
	return stmt_insert(bind_changing(s, c, err), &c->id, err);
}

int store_change_update(struct db *db, const struct store_change *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"UPDATE change_point SET before_sha = :before, commit_sha = :commit, step = :step, state = :state, tried = "
		":tried, points = :points, comparison = :comparison, decided_at = :decided_at, alert = :alert, level = :level, "
		"ended_at = :ended_at, job = :job WHERE id = :id",
		err);
	return stmt_run(bind_changing(stmt_bind(s, err, "id=%ld", c->id), c, err), err);
}

int store_change_is_open(struct db *db, int64_t baseline_period, const char *key, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM change_point WHERE baseline_period = :baseline_period AND key = :key AND state IN "
		"('candidate', 'placing') LIMIT 1",
		"baseline_period=%ld key=%s", baseline_period, key);
}

int store_change_orphan(struct db *db, int64_t after, struct store_change *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CHANGE_COLUMNS
		"WHERE c.state IN ('candidate', 'placing') AND c.id > :after AND NOT EXISTS (SELECT 1 FROM job j "
		"WHERE j.id = c.job AND j.state IN ('queued', 'assigned', 'building', 'checking', 'measuring')) ORDER BY c.id "
		"LIMIT 1",
		"after=%ld", after);
	return read_change(s, out, err);
}

int store_change_of_job(struct db *db, int64_t job, int64_t after, struct store_change *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CHANGE_COLUMNS "WHERE c.job = :job AND c.state IN ('candidate', 'placing') AND c.id > :after ORDER BY c.id LIMIT "
			       "1",
		"job=%ld after=%ld", job, after);
	return read_change(s, out, err);
}

int store_change_from(struct db *db, int64_t baseline_period, const char *key, int64_t *position, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT coalesce(max(l.position), 0) FROM change_point c JOIN mainline l ON l.repo = c.repo AND l.sha = "
		"c.commit_sha WHERE c.baseline_period = :baseline_period AND c.key = :key AND c.state = 'confirmed' AND c.kind = "
		"'step' AND NOT l.dropped",
		"baseline_period=%ld key=%s", baseline_period, key);
	*position = 0;
	return stmt_first_int(s, position, err) < 0 ? -1 : 0;
}

int store_change_segment(struct db *db, const struct store_change *change, int64_t *from, int64_t *to, struct fw_err *err)
{
	*from = *to = 0;
	return stmt_optional(db_first(db, err, (*from, *to),
		"SELECT max(iif(l.position < here.position, l.position, 0)), min(iif(l.position > here.position, l.position, NULL)) FROM mainline "
		"here LEFT JOIN change_point c ON c.baseline_period = :baseline_period AND c.key = :key AND c.state = "
		"'confirmed' AND c.kind = 'step' LEFT JOIN mainline l ON l.repo = c.repo AND l.sha = c.commit_sha AND NOT "
		"l.dropped WHERE here.repo = :repo AND here.sha = :commit",
		"baseline_period=%ld key=%s repo=%ld commit=%s", change->baseline_period, change->key, change->repo,
		change->commit_sha));
}

/*
 * Change points c of one cell in all baseline periods o of the repository, suite and model of device of :baseline_period, at
 * positions l.
 */
#define OF_THIS_MODEL                                                                                                            \
	"FROM baseline_period e JOIN environment v ON v.id = e.environment JOIN change_point c ON c.repo = e.repo AND "          \
	"c.key = :key AND c.state = 'confirmed' JOIN baseline_period o ON o.id = c.baseline_period AND o.suite = "               \
	"e.suite JOIN environment w ON w.id = o.environment JOIN device_class vc ON vc.id = v.class JOIN device_class "          \
	"wc ON wc.id = w.class AND wc.model = vc.model JOIN mainline l ON l.repo = c.repo AND l.sha = c.commit_sha "             \
	"AND NOT l.dropped WHERE e.id = :baseline_period "

static void explain(struct store_explained *out, int64_t position, double step)
{
	double x = fmax(0, (out->n ? out->at[out->n - 1].x : 0) + step);
	if (out->n == STORE_EXPLAINED_MAX)
		memmove(out->at, out->at + 1, (size_t)--out->n * sizeof out->at[0]);
	out->at[out->n].position = position;
	out->at[out->n++].x = x;
}

int store_change_explained(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_explained *out, struct fw_err *err)
{
	int result;
	*out = (struct store_explained){ .n = 0 };
	/*
	 * a commit in two baseline periods counts once, as in the newer one: the other columns are those of the row that max()
	 * selects
	 */
	struct stmt *s = db_query(db, err,
		"SELECT c.step, l.position, c.kind = 'drift', max(c.id) " OF_THIS_MODEL
		"AND l.position > coalesce((SELECT a.position "
		"FROM mainline a WHERE a.repo = e.repo AND a.sha = e.first_sha AND NOT a.dropped), 0) AND iif(c.kind = 'step', "
		"c.ended_at IS NULL OR EXISTS (SELECT 1 FROM change_point g JOIN mainline h ON h.repo = g.repo AND h.sha = "
		"g.commit_sha AND NOT h.dropped WHERE g.baseline_period = c.baseline_period AND g.key = c.key AND g.kind = "
		"'step' AND g.state = 'confirmed' AND g.step <= -c.step / 2 AND h.position > l.position), c.ended_at IS NULL AND "
		"EXISTS (SELECT 1 FROM alert t WHERE t.id = c.alert AND t.state IN ('accepted', 'invalid', 'resolved'))) GROUP "
		"BY c.kind, c.commit_sha ORDER BY l.position",
		"baseline_period=%ld key=%s", e->id, key);
	double step;
	int64_t position;
	bool is_drift;
	while ((result = stmt_next(s, err, step, position, is_drift)) == 1) {
		explain(out, position, step);
		if (is_drift)
			out->answered = position;
	}
	return result;
}

double store_explained_at(const struct store_explained *x, int64_t position)
{
	double at = 0;
	for (int i = 0; i < x->n && x->at[i].position <= position; i++)
		at = x->at[i].x;
	return at;
}

int store_change_past(
	struct db *db, int64_t baseline_period, const char *key, int64_t from, struct candidate_past *out, struct fw_err *err)
{
	return stmt_optional(db_first(db, err, (out->n, out->points, out->step),
		"SELECT count(*), coalesce(max(c.points), 0), coalesce(max(abs(c.step)), 0.0) FROM change_point c JOIN mainline "
		"l ON l.repo = c.repo AND l.sha = c.commit_sha AND NOT l.dropped AND l.position >= :from WHERE c.baseline_period = "
		":baseline_period AND c.key = :key AND c.kind = 'step' AND c.state = 'dropped'",
		"baseline_period=%ld key=%s from=%ld", baseline_period, key, from));
}

int store_change_drift(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_change *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CHANGE_COLUMNS
		"WHERE c.id = (SELECT max(c.id) " OF_THIS_MODEL "AND c.kind = 'drift' AND c.ended_at IS NULL AND "
		"NOT EXISTS (SELECT 1 FROM alert t WHERE t.id = c.alert AND t.state IN ('accepted', 'invalid', 'resolved')))",
		"baseline_period=%ld key=%s", e->id, key);
	return read_change(s, out, err);
}

int store_change_lasting(struct db *db, const struct store_baseline_period *e, const char *key, int64_t after,
	struct store_change *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CHANGE_COLUMNS "WHERE c.id = (SELECT min(c.id) " OF_THIS_MODEL "AND c.step > 0 AND c.ended_at IS NULL AND c.id > "
			       ":after)",
		"baseline_period=%ld key=%s after=%ld", e->id, key, after);
	return read_change(s, out, err);
}

int store_change_alert_over(struct db *db, int64_t alert, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM alert a WHERE a.id = :alert AND a.state IN ('open', 'acknowledged') AND NOT EXISTS (SELECT 1 FROM "
		"change_point c WHERE c.alert = a.id AND c.ended_at IS NULL) AND NOT EXISTS (SELECT 1 FROM comparison o WHERE "
		"o.id = a.comparison AND o.kind = 'compare' AND o.n_regressions > 0)",
		"alert=%ld", alert);
}
