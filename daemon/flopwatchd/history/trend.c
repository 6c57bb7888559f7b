/* trend.c - processing of a new point in a series. changepoint.c has the scan, db/ the rows, change.c the results of jobs. */
#include "flopwatchd/history/internal.h"

#include <math.h>

/* ---- rereference: The job that replaces a reference commit, and its event. ---- */

enum { PRIORITY_REREFERENCE = -3, PAUSE_COMMITS = 5 };

/* Queue the measurement if the newest points of a cell are all far from the reference commit and none was queued recently. */
static int rereference_request(const struct trend *t, const struct store_baseline_period *e, const char *key,
	const struct store_series *s, struct fw_err *err)
{
	const struct store_series_point *newest = &s->point[s->n - 1];
	struct store_job job = { .kind = JOBKIND_REFERENCE, .origin = REREFERENCE_ORIGIN, .priority = PRIORITY_REREFERENCE };
	double reference, se;
	int64_t requested;
	char why[200];
	int known = store_chain_get(t->db, e, e->reference_sha, key, &reference, &se, err);
	if (known < 1 || !changepoint_is_far(s->x, s->n, reference))
		return known < 0 ? -1 : 0;
	if (find_range_requested(t->db, e, REREFERENCE_ORIGIN, newest->position - PAUSE_COMMITS, &requested, err))
		return -1;
	if (requested)
		return 0;
	snprintf(job.target_sha, sizeof job.target_sha, "%s", newest->sha);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", e->reference_sha);
	snprintf(why, sizeof why,
		"queued: main is %+.1f %% from its reference commit %.12s, so this commit becomes the reference commit",
		stats_change_pct(s->x[s->n - 1] - reference), e->reference_sha);
	return trend_enqueue(t, e, &job, why, err);
}

static int send_event(const struct trend *t, const struct store_baseline_period *e, const char *reference, int64_t comparison,
	struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "baseline_period.reference_moved");
	jsonw_format(j, "baseline_period=%ld suite=%s from=%s reference=%s comparison=%ld", e->id, e->suite, e->reference_sha,
		reference, comparison);
	return alert_deliver(t->db, NULL, &event, t->now_ms, err);
}

/** These ratios are already relative to the period's first reference commit, with errors added. */
static int put_chain(const struct trend *t, const struct store_comparison *c, const struct store_baseline_period *e,
	bool *is_whole, struct fw_err *err)
{
	struct store_cell cell = { .n = -1 };
	int result;
	*is_whole = true;
	while ((result = store_cell_next(t->db, c->id, cell.n, &cell, err)) == 1) {
		struct store_chain chain = {
			.baseline_period = e->id, .comparison = c->id, .reference_sha = c->target_sha, .key = cell.key
		};
		int found = store_ratio_of(t->db, e->id, cell.key, c->id, &chain.x, &chain.se, err);
		if (found == 0)
			*is_whole = false;
		if (found < 0 || (found && store_chain_insert(t->db, &chain, err)))
			return -1;
	}
	return result;
}

/* Replace the reference commit by a measured one. If a cell has no ratio, leave the old one and log a line. */
static int rereference_take(const struct trend *t, const struct store_job *job, const struct store_comparison *c,
	const struct store_baseline_period *e, struct fw_err *err)
{
	int64_t position;
	bool is_whole = false;
	if (strcmp(job->base_sha, e->reference_sha) != 0)
		return 0; /* another job replaced it first */
	if (store_upstream_position(t->db, e->repo, c->target_sha, &position, err) ||
		(position && put_chain(t, c, e, &is_whole, err)))
		return -1;
	if (!is_whole)
		return store_job_log(t->db, job->id, t->now_ms,
			"the reference commit stays: a cell has no ratio, or main has left the commit", err);
	return store_baseline_period_rereference(t->db, e->id, c->target_sha, err) || send_event(t, e, c->target_sha, c->id, err)
		       ? -1
		       : 0;
}

/* ---- trend_end: Expected level of a cell, drift beyond it, and recovery. ---- */

#define GROWN 0.001 /* log ratio; smaller growth does not rewrite an open alert */

/** Find the first point after a commit; the number of points if there is none. */
static int find_point_after(
	const struct trend *t, const struct store_series *s, const struct store_change *c, int *i, struct fw_err *err)
{
	int64_t position;
	if (store_upstream_position(t->db, c->repo, c->commit_sha, &position, err))
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
	double slowdown;
	int is_reported = store_change_drift(t->db, e, cell->key, &reported, err);
	if (is_reported < 0 || store_series(t->db, e, cell->key, 0, &s, err) ||
		store_change_explained(t->db, e, cell->key, &explained, err))
		return -1;
	double expected = store_explained_at(&explained, INT64_MAX);
	if (!changepoint_drift(s.x, s.n, stats_theta(cell->threshold_pct) + expected, &slowdown))
		return 0;
	return is_reported ? update_alert(t, e, &reported, &s, slowdown - expected, err)
			   : report_drift(t, e, cell->key, &s, expected, slowdown - expected, err);
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

static int end_slowdown(const struct trend *t, struct store_change *c, int64_t comparison, struct fw_err *err)
{
	char why[96];
	c->ended_at = t->now_ms;
	if (store_change_update(t->db, c, err))
		return -1;
	int over = c->alert ? store_change_alert_over(t->db, c->alert, err) : 0;
	snprintf(why, sizeof why, "recovered: the history is back where it was, seen in C%lld", (long long)comparison);
	return over < 1 ? over : alert_resolve(t->db, t->config, c->alert, comparison, why, t->now_ms, err);
}

/*
 * End regressions of this cell that later commits compensated: a step of which less than half remains, drift below its threshold.
 * An alert without a remaining regression is resolved; `comparison` shows it. `s`: the series since the last confirmed step.
 */
static int trend_end(const struct trend *t, int64_t comparison, const struct store_baseline_period *e,
	const struct store_cell *cell, const struct store_series *s, struct fw_err *err)
{
	struct store_change c = { .id = 0 };
	int result;
	while ((result = store_change_lasting(t->db, e, cell->key, c.id, &c, err)) == 1) {
		double level;
		int since, known = find_level_before(t, e, &c, &level, err);
		if (known < 0 || find_point_after(t, s, &c, &since, err))
			return -1;
		double left = strcmp(c.kind, "drift") == 0 ? stats_theta(cell->threshold_pct) : c.step / 2;
		if (known && changepoint_is_below(s->x, s->n, since, level + left) && end_slowdown(t, &c, comparison, err))
			return -1;
	}
	return result;
}

/* ---- trend ---- */

enum { PRIORITY_REMEASURE = -1, REMEASURES = 2 };

struct point {
	const struct trend *t;
	const struct store_comparison *c;
	const struct store_baseline_period *baseline_period;
	const struct store_cell *cell;
};

static struct store_change make_change(
	const struct point *p, const char *kind, const char *origin, const char *state, double step)
{
	struct store_change c = { .repo = p->baseline_period->repo,
		.baseline_period = p->baseline_period->id,
		.step = step,
		.level = NAN,
		.found_at = p->t->now_ms };
	if (strcmp(state, "confirmed") == 0) {
		c.comparison = p->c->id;
		c.decided_at = p->t->now_ms;
	}
	snprintf(c.key, sizeof c.key, "%.159s", p->cell->key);
	snprintf(c.kind, sizeof c.kind, "%.7s", kind);
	snprintf(c.origin, sizeof c.origin, "%.11s", origin);
	snprintf(c.state, sizeof c.state, "%.11s", state);
	return c;
}

static void set_range(struct store_change *c, const char *before, const char *commit)
{
	snprintf(c->before_sha, sizeof c->before_sha, "%.64s", before);
	snprintf(c->commit_sha, sizeof c->commit_sha, "%.64s", commit);
}

/**
 * Store a significant change against the base as a confirmed step; the series starts again there. A share of the change that an
 * older commit showed against the same base is already a step at that commit.
 */
static int store_seen_step(const struct point *p, struct fw_err *err)
{
	struct store_base_reported reported;
	struct store_series s;
	int64_t from;
	if (store_base_reported(p->t->db, p->c->id, p->cell->key, &reported, err))
		return -1;
	if (reported.m != 0 && fabs(p->cell->m - reported.m) <= stats_theta(p->cell->threshold_pct))
		return 0;
	struct store_change change = make_change(p, "step", "comparison", "confirmed", p->cell->m - reported.m);
	if (store_change_from(p->t->db, p->baseline_period->id, p->cell->key, &from, err) ||
		store_series(p->t->db, p->baseline_period, p->cell->key, from, &s, err))
		return -1;
	bool is_in = s.n && strcmp(s.point[s.n - 1].sha, p->c->target_sha) == 0;
	change.level = changepoint_level(s.x, is_in ? s.n - 1 : s.n);
	set_range(&change, reported.m != 0 ? reported.sha : p->c->base_sha, p->c->target_sha);
	return store_change_insert(p->t->db, &change, err);
}

static int queue_remeasure(const struct point *p, const char *sha, struct fw_err *err)
{
	for (int i = 0; i < REMEASURES; i++) {
		struct store_job job = { .priority = PRIORITY_REMEASURE, .repo = p->baseline_period->repo };
		job.kind = JOBKIND_REFERENCE;
		snprintf(job.origin, sizeof job.origin, "remeasure");
		snprintf(job.target_sha, sizeof job.target_sha, "%s", sha);
		snprintf(job.base_sha, sizeof job.base_sha, "%s", p->baseline_period->reference_sha);
		snprintf(job.cells_glob, sizeof job.cells_glob, "%.255s", p->cell->key);
		if (trend_enqueue(p->t, p->baseline_period, &job,
			    "queued: its ratio to the reference commit is out of line, so it is measured again", err))
			return -1;
	}
	return 0;
}

/** True if the newest point needs no repetition. 1, 0 it is measured again, -1. */
static int is_point_final(const struct point *p, const struct store_series *s, struct fw_err *err)
{
	const char *newest = s->point[s->n - 1].sha;
	int waiting = find_range_awaited(p->t->db, p->baseline_period->repo, newest, p->cell->key, err);
	if (waiting)
		return waiting < 0 ? -1 : 0;
	if (s->measured[s->n - 1] > 1 || strcmp(newest, p->baseline_period->reference_sha) == 0 ||
		!changepoint_is_odd(s->x, s->n))
		return 1;
	return queue_remeasure(p, newest, err);
}

/** `s`: the series from position `from` on, the last confirmed step. */
static int scan_for_step(const struct point *p, const struct store_series *s, int64_t from, struct fw_err *err)
{
	struct candidate_past past;
	struct changepoint found;
	int points, open = store_change_is_open(p->t->db, p->baseline_period->id, p->cell->key, err);
	if (open)
		return open < 0 ? -1 : 0;
	if (store_series_count(p->t->db, p->baseline_period->id, p->cell->key, &points, err) ||
		store_change_past(p->t->db, p->baseline_period->id, p->cell->key, from, &past, err))
		return -1;
	if (!candidate_find(s->x, s->n, points, &past, &found))
		return 0;
	struct store_change change = make_change(p, "step", "series", "candidate", found.step);
	change.points = points;
	set_range(&change, s->point[found.at - 1].sha, s->point[found.at].sha);
	if (store_change_insert(p->t->db, &change, err))
		return -1;
	return trend_verify(p->t, &change, p->baseline_period, err);
}

static int scan_series(const struct point *p, struct fw_err *err)
{
	struct store_series s;
	int64_t from;
	if (store_change_from(p->t->db, p->baseline_period->id, p->cell->key, &from, err) ||
		store_series(p->t->db, p->baseline_period, p->cell->key, from, &s, err))
		return -1;
	if (s.n == 0)
		return 0;
	int final = is_point_final(p, &s, err);
	if (final < 1)
		return final;
	return scan_for_step(p, &s, from, err) || trend_drift(p->t, p->baseline_period, p->cell, err) ||
			       trend_end(p->t, p->c->id, p->baseline_period, p->cell, &s, err) ||
			       rereference_request(p->t, p->baseline_period, p->cell->key, &s, err)
		       ? -1
		       : 0;
}

static int follow_cells(
	const struct trend *t, const struct store_comparison *c, const struct baseline_period *e, struct fw_err *err)
{
	struct store_cell cell = { .n = -1 };
	bool is_change = c->kind == JOBKIND_COMPARE;
	int result;
	while ((result = store_cell_next(t->db, c->id, cell.n, &cell, err)) == 1) {
		struct point p = { .t = t, .c = c, .baseline_period = &e->row, .cell = &cell };
		bool moved = cell.verdict == VERDICT_REGRESSION || cell.verdict == VERDICT_IMPROVEMENT;
		/* the series consists of pairs: it excludes sustained runs and slow calls */
		if (isfinite(cell.m) && is_change && moved && cell.decider == DECIDER_PAIRS && store_seen_step(&p, err))
			return -1;
		if (isfinite(cell.m) && scan_series(&p, err))
			return -1;
	}
	return result;
}

int trend_follow(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	const struct baseline_period *e, int64_t now_ms, struct fw_err *err)
{
	struct trend t = { .db = db, .config = config, .now_ms = now_ms };
	if (trend_answer(&t, job, c, err))
		return -1;
	if (!e->against != ROLE_NONE)
		return 0;
	if (follow_cells(&t, c, e, err))
		return -1;
	/* last: the scans above use the previous reference commit */
	return strcmp(job->origin, REREFERENCE_ORIGIN) == 0 ? rereference_take(&t, job, c, &e->row, err) : 0;
}

int trend_resume(struct db *db, const struct config *config, int64_t now_ms, struct fw_err *err)
{
	struct trend t = { .db = db, .config = config, .now_ms = now_ms };
	struct store_change change = { .id = 0 };
	int result;
	while ((result = store_change_orphan(db, change.id, &change, err)) == 1)
		if (trend_continue(&t, &change, err))
			return -1;
	return result;
}
