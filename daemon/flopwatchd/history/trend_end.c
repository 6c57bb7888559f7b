/* trend_end.c - expected level of a cell, drift beyond it, and recovery. */
#include "flopwatchd/history/internal.h"

#include <stdio.h>

#include "flopwatchd/alert/alert.h"
#include "stats/stats.h"

#define GROWN 0.001 /* log ratio; smaller growth does not rewrite an open alert */

/** Find the first point after a commit; the number of points if there is none. */
static int find_point_after(
	const struct trend *t, const struct store_series *s, const struct store_change *c, int *i, struct fw_err *err)
{
	int64_t position;
	if (store_line_position(t->db, c->repo, c->commit_sha, &position, err))
		return -1;
	for (*i = 0; *i < s->n && s->point[*i].position <= position;)
		++*i;
	return 0;
}

/** While the level after the drift consists of few points, each new point refines the range of commits. */
static int refine_range(const struct trend *t, const struct store_baseline_period *e, struct store_change *c,
	const struct store_series *s, struct fw_err *err)
{
	int since;
	if (c->baseline_period != e->id)
		return 0;
	if (find_point_after(t, s, c, &since, err))
		return -1;
	return s->n - since > CHANGEPOINT_LEFT_MIN ? 0 : trend_alert(t, c, err);
}

static int update_alert(const struct trend *t, const struct store_baseline_period *e, struct store_change *c,
	const struct store_series *s, double step, struct fw_err *err)
{
	if (step < c->step + GROWN)
		return refine_range(t, e, c, s, err);
	c->step = step;
	return store_change_update(t->db, c, err) || trend_alert(t, c, err) ? -1 : 0;
}

static int report_drift(const struct trend *t, const struct store_baseline_period *e, const char *key,
	const struct store_series *s, double expected, double step, struct fw_err *err)
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
	return store_change_insert(t->db, &c, err) || trend_report(t, &c, err) ? -1 : 0;
}

int trend_drift(const struct trend *t, const struct store_baseline_period *e, const struct store_cell *cell, struct fw_err *err)
{
	struct store_series s;
	struct store_change reported;
	struct store_explained explained;
	double loss;
	int is_reported = store_change_drift(t->db, e, cell->key, &reported, err);
	if (is_reported < 0 || store_series(t->db, e, cell->key, 0, &s, err) ||
		store_change_explained(t->db, e, cell->key, &explained, err))
		return -1;
	double expected = store_explained_at(&explained, INT64_MAX);
	if (!changepoint_drift(s.x, s.n, stats_theta(cell->threshold_pct) + expected, &loss))
		return 0;
	return is_reported ? update_alert(t, e, &reported, &s, loss - expected, err)
			   : report_drift(t, e, cell->key, &s, expected, loss - expected, err);
}

/** Level before a change point in the series of `e`, which may have another reference commit. 1, 0 unknown, -1. */
static int find_level_before(const struct trend *t, const struct store_baseline_period *e, const struct store_change *c,
	double *level, struct fw_err *err)
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

static int end_loss(const struct trend *t, struct store_change *c, int64_t comparison, struct fw_err *err)
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
		int since, known = find_level_before(t, e, &c, &level, err);
		if (known < 0 || find_point_after(t, s, &c, &since, err))
			return -1;
		double left = strcmp(c.kind, "drift") == 0 ? stats_theta(cell->threshold_pct) : c.step / 2;
		if (known && changepoint_is_below(s->x, s->n, since, level + left) && end_loss(t, &c, comparison, err))
			return -1;
	}
	return result;
}
