/* rereference.c - the job that replaces a reference commit, and its event. */
#include "flopwatchd/history/history.h"

#include <stdio.h>

#include "db/db.h"
#include "flopwatchd/alert/alert.h"
#include "stats/stats.h"

enum { PRIORITY_REREFERENCE = -3, PAUSE_COMMITS = 5 };

int rereference_request(const struct trend *t, const struct store_baseline_period *e, const char *key,
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
	jsonw_kv_int(j, "baseline_period", e->id);
	jsonw_kv_string(j, "suite", e->suite);
	jsonw_kv_string(j, "from", e->reference_sha);
	jsonw_kv_string(j, "reference", reference);
	jsonw_kv_int(j, "comparison", comparison);
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

int rereference_take(const struct trend *t, const struct store_job *job, const struct store_comparison *c,
	const struct store_baseline_period *e, struct fw_err *err)
{
	int64_t position;
	bool is_whole = false;
	if (strcmp(job->base_sha, e->reference_sha) != 0)
		return 0; /* another job replaced it first */
	if (store_line_position(t->db, e->repo, c->target_sha, &position, err) ||
		(position && put_chain(t, c, e, &is_whole, err)))
		return -1;
	if (!is_whole)
		return store_job_log(t->db, job->id, t->now_ms,
			"the reference commit stays: a cell has no ratio, or main has left the commit", err);
	return store_baseline_period_rereference(t->db, e->id, c->target_sha, err) || send_event(t, e, c->target_sha, c->id, err)
		       ? -1
		       : 0;
}
