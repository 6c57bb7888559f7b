/* trend_end.c - what is expected of a cell on main, what goes beyond it, and what is back to it. */
#include "flopwatchd/history/trend_end.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "flopwatchd/alert/alert.h"
#include "core/stats/stats.h"
#include "flopwatchd/history/trend_alert.h"

#define GROWN 0.001 /* log ratio; an alert that is open is not written anew for less */

/* ---- drift ----------------------------------------------------------------------------------------- */

/** The first point after a commit; the number of points where none is. */
static int first_after(
	const struct trend *t, const struct store_series *s, const struct store_change *c, int *i, struct fw_err *err)
{
	int64_t place;
	if (store_line_place(t->db, c->repo, c->commit_sha, &place, err))
		return -1;
	for (*i = 0; *i < s->n && s->point[*i].place <= place;)
		++*i;
	return 0;
}

/** While the level after it is that of few points, each one more tells better which commits hold the loss. */
static int sharpen(const struct trend *t, const struct store_baseline_period *e, struct store_change *c,
	const struct store_series *s, struct fw_err *err)
{
	int since;
	if (c->baseline_period != e->id)
		return 0;
	if (first_after(t, s, c, &since, err))
		return -1;
	return s->n - since > CHANGEPOINT_LEFT_MIN ? 0 : trend_alert(t, c, err);
}

static int keep_up(const struct trend *t, const struct store_baseline_period *e, struct store_change *c,
	const struct store_series *s, double step, struct fw_err *err)
{
	if (step < c->step + GROWN)
		return sharpen(t, e, c, s, err);
	c->step = step;
	return store_change_update(t->db, c, err) || trend_alert(t, c, err) ? -1 : 0;
}

static int tell_drift(const struct trend *t, const struct store_baseline_period *e, const char *key, const struct store_series *s,
	double expected, double step, struct fw_err *err)
{
	struct store_change c = { .repo = e->repo,
		.baseline_period = e->id,
		.kind = "drift",
		.origin = "series",
		.state = "confirmed",
		.step = step,
		.level = expected,
		.points = s->n,
		.found_at = t->now_ms,
		.decided_at = t->now_ms };
	snprintf(c.key, sizeof c.key, "%s", key);
	snprintf(c.before_sha, sizeof c.before_sha, "%s", e->first_sha);
	snprintf(c.commit_sha, sizeof c.commit_sha, "%s", s->point[s->n - 1].sha);
	return store_change_insert(t->db, &c, err) || trend_tell(t, &c, err) ? -1 : 0;
}

int trend_drift(const struct trend *t, const struct store_baseline_period *e, const struct store_cell *cell, struct fw_err *err)
{
	struct store_series s;
	struct store_change told;
	struct store_explained explained;
	double loss;
	int is_told = store_change_drift(t->db, e, cell->key, &told, err);
	if (is_told < 0 || store_series(t->db, e, cell->key, 0, &s, err) ||
		store_change_explained(t->db, e, cell->key, &explained, err))
		return -1;
	double expected = store_explained_at(&explained, INT64_MAX);
	if (!changepoint_drift(s.x, s.n, stats_theta(cell->threshold_pct) + expected, &loss))
		return 0;
	return is_told ? keep_up(t, e, &told, &s, loss - expected, err)
		       : tell_drift(t, e, cell->key, &s, expected, loss - expected, err);
}

/* ---- the end --------------------------------------------------------------------------------------- */

/** The level before a change point, on the series of baseline period `e`, which may begin at another reference commit. 1, 0 not known, -1. */
static int level_before(const struct trend *t, const struct store_baseline_period *e, const struct store_change *c, double *level,
	struct fw_err *err)
{
	struct store_baseline_period older;
	double x, se;
	*level = c->level;
	if (c->baseline_period == e->id || !isfinite(c->level))
		return isfinite(c->level);
	if (store_baseline_period_get(t->db, c->baseline_period, &older, err))
		return -1;
	int result = store_chain_get(t->db, &older, e->first_sha, c->key, &x, &se, err);
	*level -= x;
	return result;
}

static int end(const struct trend *t, struct store_change *c, int64_t comparison, struct fw_err *err)
{
	char why[96];
	c->ended_at = t->now_ms;
	if (store_change_update(t->db, c, err))
		return -1;
	int over = c->alert ? store_change_alert_over(t->db, c->alert, err) : 0;
	snprintf(why, sizeof why, "recovered: the history is back where it was, seen in comparison %lld", (long long)comparison);
	return over < 1 ? over : alert_resolve(t->db, t->config, c->alert, comparison, why, t->now_ms, err);
}

int trend_end(const struct trend *t, int64_t comparison, const struct store_baseline_period *e, const struct store_cell *cell,
	const struct store_series *s, struct fw_err *err)
{
	struct store_change c = { .id = 0 };
	int result;
	while ((result = store_change_lasting(t->db, e, cell->key, c.id, &c, err)) == 1) {
		double level;
		int since, known = level_before(t, e, &c, &level, err);
		if (known < 0 || first_after(t, s, &c, &since, err))
			return -1;
		double left = strcmp(c.kind, "drift") == 0 ? stats_theta(cell->threshold_pct) : c.step / 2;
		if (known && changepoint_is_below(s->x, s->n, since, level + left) && end(t, &c, comparison, err))
			return -1;
	}
	return result;
}
