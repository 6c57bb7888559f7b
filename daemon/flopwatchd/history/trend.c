/*
 * trend.c - processing of a new point in a series. core has the scan, db the rows, change.c the results of jobs, trend_end.c
 * drift and recovery, rereference.c new reference commits.
 */
#include "flopwatchd/history/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "stats/stats.h"

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
 * Store a significant change against the base as a confirmed step; the series starts again there. A part that an older commit
 * showed against the same base is a step at that commit already.
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
	int settled = is_point_final(p, &s, err);
	if (settled < 1)
		return settled;
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
		/* the series consists of pairs: sustained runs and slow calls do not belong to it */
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
		if (trend_go_on(&t, &change, err))
			return -1;
	return result;
}
