/* change.c - each measurement of a change point is a job with its id, each result an update of its row. */
#include "flopwatchd/history/internal.h"

#include <math.h>

enum { PRIORITY_VERIFY = -2, PRIORITY_BACKFILL = -10 };

/* fraction of the step that noise alone may show between two commits */
#define SHARE_NONE 0.35

int trend_enqueue(
	const struct trend *t, const struct store_baseline_period *e, struct store_job *job, const char *why, struct fw_err *err)
{
	job->repo = e->repo;
	snprintf(job->suite, sizeof job->suite, "%s", e->suite);
	snprintf(job->base_how, sizeof job->base_how, "given");
	return store_class_of_environment(t->db, e->environment, &job->device_class, err) ||
			       store_job_insert(t->db, job, t->now_ms, err) || store_job_log(t->db, job->id, t->now_ms, why, err)
		       ? -1
		       : 0;
}

/** `step`: the expected change. Its half is the threshold between equal and different. */
static int queue_job(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, enum jobkind kind,
	int priority, double step, const char *base, const char *target, const char *why, struct fw_err *err)
{
	struct store_job job = { .repo = e->repo,
		.kind = kind,
		.priority = priority,
		.queued_at = t->now_ms,
		.threshold_pct = -stats_change_pct(fabs(step) / 2) };
	snprintf(job.suite, sizeof job.suite, "%s", e->suite);
	snprintf(job.origin, sizeof job.origin, "%s", kind == JOBKIND_VERIFY ? "trend" : "backfill");
	snprintf(job.base_sha, sizeof job.base_sha, "%s", base);
	snprintf(job.target_sha, sizeof job.target_sha, "%s", target);
	snprintf(job.cells_glob, sizeof job.cells_glob, "%s", c->key);
	if (store_class_of_environment(t->db, e->environment, &job.device_class, err))
		return -1;
	int joined = store_job_add_cell(t->db, &job, c->key, err);
	if (joined < 0 || (joined == 0 && trend_enqueue(t, e, &job, why, err)) ||
		(joined == 1 && store_job_log(t->db, job.id, t->now_ms, why, err)))
		return -1;
	c->job = job.id;
	return store_change_update(t->db, c, err);
}

static int read_segment(const struct trend *t, const struct store_change *c, const struct store_baseline_period *e,
	struct store_series *s, struct fw_err *err)
{
	int64_t from, to;
	if (store_change_segment(t->db, c, &from, &to, err) || store_series(t->db, e, c->key, from, s, err))
		return -1;
	while (to && s->n && s->point[s->n - 1].position >= to)
		s->n--;
	return 0;
}

/** Index of a commit in the series, -1. */
static int find_point(const struct store_series *s, const char *sha)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->point[i].sha, sha) == 0)
			return i;
	return -1;
}

static int drop_candidate(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	snprintf(c->state, sizeof c->state, "dropped");
	c->decided_at = t->now_ms;
	return store_series_count(t->db, c->baseline_period, c->key, &c->points, err) || store_change_update(t->db, c, err) ? -1
															    : 0;
}

int trend_verify(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, struct fw_err *err)
{
	struct store_series s;
	char why[256];
	int first = 0;
	if (read_segment(t, c, e, &s, err))
		return -1;
	int at = find_point(&s, c->commit_sha);
	while (c->tried < CHANGEPOINT_PAIRS && !candidate_pair(s.x, s.n, at, c->tried, &first))
		c->tried++;
	if (c->tried == CHANGEPOINT_PAIRS)
		return drop_candidate(t, c, err);
	snprintf(why, sizeof why, "queued: the history of %.120s shows a step of %+.2f %% near %.12s", c->key,
		stats_change_pct(c->step), c->commit_sha);
	return queue_job(t, c, e, JOBKIND_VERIFY, PRIORITY_VERIFY, changepoint_step(s.x, s.n, first + 1), s.point[first].sha,
		s.point[first + 1].sha, why, err);
}

static int confirm(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, struct fw_err *err)
{
	struct store_series s;
	if (read_segment(t, c, e, &s, err))
		return -1;
	c->level = changepoint_level(s.x, find_point(&s, c->before_sha) + 1);
	snprintf(c->state, sizeof c->state, "confirmed");
	c->decided_at = t->now_ms;
	return store_change_update(t->db, c, err) || trend_report(t, c, err) ? -1 : 0;
}

/** Measure the middle one of the unmeasured commits between the two levels; without any, the position is known. */
static int locate_step(const struct trend *t, struct store_change *c, const struct store_baseline_period *e, struct fw_err *err)
{
	int64_t before, commit;
	char middle[65], why[160];
	if (store_upstream_position(t->db, c->repo, c->before_sha, &before, err) ||
		store_upstream_position(t->db, c->repo, c->commit_sha, &commit, err))
		return -1;
	int found = before && commit ? store_upstream_unmeasured(t->db, e, c->key, before, commit, middle, err) : 0;
	if (found < 1)
		return found < 0 ? -1 : confirm(t, c, e, err);
	snprintf(c->state, sizeof c->state, "placing");
	snprintf(why, sizeof why, "queued: there is a step between %.12s and %.12s, and this commit was skipped", c->before_sha,
		c->commit_sha);
	return queue_job(t, c, e, JOBKIND_BACKFILL, PRIORITY_BACKFILL, c->step, c->before_sha, middle, why, err);
}

/** Find the measured cell in the comparison. 1, 0, -1. */
static int find_cell(struct db *db, int64_t comparison, const char *key, struct store_cell *out, struct fw_err *err)
{
	int result;
	out->n = -1;
	while ((result = store_cell_next(db, comparison, out->n, out, err)) == 1)
		if (strcmp(out->key, key) == 0)
			return 1;
	return result;
}

static bool is_timed(const struct store_cell *cell)
{
	return isfinite(cell->m) && isfinite(cell->se) && cell->verdict != VERDICT_FAILED && cell->verdict != VERDICT_REJECTED;
}

/** Use the current series: points added meanwhile distinguish a slope from a step. */
static bool confirms(const struct store_series *s, const struct store_comparison *by, const struct store_cell *cell)
{
	int at = find_point(s, by->target_sha);
	return at > 0 && is_timed(cell) && changepoint_confirms(changepoint_step(s->x, s->n, at), cell->m, cell->se);
}

static int apply_verify(const struct trend *t, struct store_change *c, const struct store_baseline_period *e,
	const struct store_comparison *by, const struct store_cell *cell, struct fw_err *err)
{
	struct store_series s;
	if (read_segment(t, c, e, &s, err))
		return -1;
	if (!confirms(&s, by, cell)) {
		c->tried++;
		return trend_verify(t, c, e, err);
	}
	snprintf(c->before_sha, sizeof c->before_sha, "%s", by->base_sha);
	snprintf(c->commit_sha, sizeof c->commit_sha, "%s", by->target_sha);
	c->step = cell->m;
	c->comparison = by->id;
	return locate_step(t, c, e, err);
}

/** Several commits share the step if the middle one has neither nearly all nor nearly none of it. */
static int apply_backfill(const struct trend *t, struct store_change *c, const struct store_baseline_period *e,
	const struct store_comparison *by, const struct store_cell *cell, struct fw_err *err)
{
	double share = is_timed(cell) ? cell->m / c->step : cell->verdict == VERDICT_IDENTICAL ? 0 : NAN;
	if (share > SHARE_NONE && share < 1 - SHARE_NONE)
		return confirm(t, c, e, err);
	if (share >= 1 - SHARE_NONE) {
		snprintf(c->commit_sha, sizeof c->commit_sha, "%s", by->target_sha);
		c->step = cell->m;
		c->comparison = by->id;
	} else if (share <= SHARE_NONE) {
		snprintf(c->before_sha, sizeof c->before_sha, "%s", by->target_sha);
		c->step -= share != 0 && fabs(cell->m) > 2 * cell->se ? cell->m : 0;
	}
	return locate_step(t, c, e, err);
}

static int apply_result(const struct trend *t, struct store_change *change, const struct store_comparison *c, struct fw_err *err)
{
	struct store_baseline_period baseline_period;
	struct store_cell cell;
	if (store_baseline_period_get(t->db, change->baseline_period, &baseline_period, err))
		return -1;
	int found = find_cell(t->db, c->id, change->key, &cell, err);
	if (found < 1)
		return found < 0 ? -1 : trend_continue(t, change, err);
	if (strcmp(change->state, "candidate") == 0)
		return apply_verify(t, change, &baseline_period, c, &cell, err);
	return apply_backfill(t, change, &baseline_period, c, &cell, err);
}

int trend_answer(const struct trend *t, const struct store_job *job, const struct store_comparison *c, struct fw_err *err)
{
	struct store_change change = { .id = 0 };
	int result;
	while ((result = store_change_of_job(t->db, job->id, change.id, &change, err)) == 1)
		if (apply_result(t, &change, c, err))
			return -1;
	return result;
}

int trend_continue(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	struct store_baseline_period baseline_period;
	if (store_baseline_period_get(t->db, c->baseline_period, &baseline_period, err))
		return -1;
	if (strcmp(c->state, "candidate") == 0) {
		c->tried++;
		return trend_verify(t, c, &baseline_period, err);
	}
	/* the middle commit cannot be measured, so the range stays */
	return strcmp(c->state, "placing") == 0 ? confirm(t, c, &baseline_period, err) : 0;
}

static int send_event(const struct trend *t, const struct store_change *c, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "change_point.confirmed");
	jsonw_format(j, "change_point=%ld kind=%s cell=%s before=%s commit=%s change_pct=%g", c->id, c->kind, c->key,
		c->before_sha, c->commit_sha, stats_change_pct(c->step));
	return alert_deliver(t->db, NULL, &event, t->now_ms, err);
}

int trend_report(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	if (send_event(t, c, err))
		return -1;
	return c->step > 0 ? trend_alert(t, c, err) : 0;
}
