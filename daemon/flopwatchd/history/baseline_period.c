/* baseline_period.c - reference commits, and the position of a result in the history. */
#include "flopwatchd/history/history.h"

#include <math.h>
#include <stdio.h>

enum { PRIORITY_REFERENCE = -1 };

static const char *get_commit(const struct result *r, enum role role)
{
	int side = result_side(r, role);
	return side >= 0 ? r->plan.request.side[side].commit : "";
}

static bool was_timed(const struct result *r, enum role role)
{
	for (int i = 0; i < r->n_cells; i++)
		for (int k = 0; k < r->cell[i]->n_sides; k++)
			if (r->cell[i]->series == judge_series(r, r->cell[i]->cell) && r->cell[i]->role[k] == role)
				return true;
	return false;
}

static const enum role roles[] = {
	ROLE_BASE, ROLE_REFERENCE
}; /* may run a reference commit's build: a commit measured against itself has the reference commit as base */

static enum role find_role(const struct result *r, const char *reference)
{
	for (int i = 0; i < 2; i++)
		if (strcmp(get_commit(r, roles[i]), reference) == 0 && was_timed(r, roles[i]))
			return roles[i];
	return ROLE_NONE;
}

static double get_clock(const struct result *r)
{
	float clock[JOB_CELLS_MAX];
	int n = 0;
	for (int i = 0; i < r->plan.request.n_cells && n < JOB_CELLS_MAX; i++) {
		double mhz = judge_median(r, i, SERIES_DEVICE, "", ROLE_TARGET, JUDGE_MHZ);
		if (mhz > 0)
			clock[n++] = (float)mhz;
	}
	return n ? stats_median(clock, n) : NAN;
}

static int send_event(struct db *db, const struct result *r, const struct store_job *job, const struct store_baseline_period *e,
	bool carried, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "baseline_period.reference_set");
	jsonw_format(j,
		"baseline_period=%ld environment=%ld repo=%s suite=%s device=%s driver=%s toolkit=%s cudnn~=%s "
		"reference=%s carried=%i",
		e->id, e->environment, job->repo_name, e->suite, r->device.uuid, r->device.driver, r->device.toolkit,
		r->device.cudnn, e->reference_sha, carried);
	return alert_deliver(db, NULL, &event, e->started_at, err);
}

static int measure_reference(
	struct db *db, const struct store_job *job, const struct store_baseline_period *e, struct fw_err *err)
{
	struct store_job request = {
		.repo = job->repo, .kind = JOBKIND_REFERENCE, .origin = "baseline_period", .priority = PRIORITY_REFERENCE
	};
	snprintf(request.target_sha, sizeof request.target_sha, "%s", e->reference_sha);
	snprintf(request.base_sha, sizeof request.base_sha, "%s", e->reference_sha);
	snprintf(request.base_how, sizeof request.base_how, "given");
	snprintf(request.suite, sizeof request.suite, "%s", e->suite);
	return store_class_of_environment(db, e->environment, &request.device_class, err) ||
			       store_job_insert(db, &request, e->started_at, err) ||
			       store_job_log(db, request.id, e->started_at,
				       "queued: the reference commit is measured in its new baseline period", err)
		       ? -1
		       : 0;
}

static int start_period(
	struct db *db, const struct result *r, const struct store_job *job, struct baseline_period *out, struct fw_err *err)
{
	struct store_baseline_period *e = &out->row;
	char carried[65];
	if (store_baseline_period_reference(db, e->repo, e->suite, r->device_id, carried, err))
		return -1;
	bool keeps = carried[0] &&
		     !(r->plan.reference[0] && find_role(r, carried) == ROLE_NONE); /* drop a reference commit that fails now */
	const char *pinned = keeps ? carried : r->plan.is_upstream && was_timed(r, ROLE_BASE) ? get_commit(r, ROLE_BASE) : "";
	if (!pinned[0])
		return 0;
	snprintf(e->reference_sha, sizeof e->reference_sha, "%s", pinned);
	if (store_baseline_period_insert(db, e, err) || send_event(db, r, job, e, keeps, err))
		return -1;
	return find_role(r, pinned) != ROLE_NONE ? 0 : measure_reference(db, job, e, err);
}

/** Find the role of the reference commit: the current one, or an earlier one for a job that started before the change. */
static int choose_against(struct db *db, const struct result *r, struct baseline_period *e, struct fw_err *err)
{
	e->against = find_role(r, e->row.reference_sha);
	for (int i = 0; i < 2 && e->against == ROLE_NONE; i++) {
		const char *sha = get_commit(r, roles[i]);
		int had = sha[0] && was_timed(r, roles[i]) ? store_baseline_period_has_reference(db, &e->row, sha, err) : 0;
		if (had < 0)
			return -1;
		e->against = had ? roles[i] : ROLE_NONE;
	}
	return 0;
}

int baseline_period_enter(struct db *db, const struct result *r, const struct store_job *job, int64_t environment, int64_t now_ms,
	struct baseline_period *out, struct fw_err *err)
{
	*out = (struct baseline_period){ .against = ROLE_NONE, .clock_mhz = get_clock(r) };
	/* Peer and configuration comparisons belong to no history: one commit on both sides, or requested options or providers. */
	if (!environment || !was_timed(r, ROLE_TARGET) || jobkind_is_side_by_side(r->plan.request.kind) ||
		result_names_provider(r))
		return 0;
	int found = store_baseline_period_find(db, job->repo, environment, &out->row, err);
	if (found < 0)
		return -1;
	if (!found) {
		out->row = (struct store_baseline_period){
			.repo = job->repo, .environment = environment, .held_mhz = out->clock_mhz, .started_at = now_ms
		};
		snprintf(out->row.suite, sizeof out->row.suite, "%s", r->plan.suite_name);
		if (start_period(db, r, job, out, err))
			return -1;
	} else if (!isfinite(out->row.held_mhz) && isfinite(out->clock_mhz)) {
		out->row.held_mhz = out->clock_mhz;
		if (store_baseline_period_clock(db, out->row.id, out->row.held_mhz, err))
			return -1;
	}
	if (out->row.id && store_current_baseline_put(db, r->device.uuid, job->repo, out->row.suite, out->row.id, err))
		return -1;
	return out->row.id && r->plan.is_upstream ? choose_against(db, r, out, err) : 0;
}

int baseline_period_cell(struct db *db, const struct baseline_period *e, const struct result *r, int cell, struct store_cell *c,
	double *x, double *se, struct fw_err *err)
{
	struct estimate estimate;
	double reference_x, reference_se;
	*x = *se = NAN;
	snprintf(c->history_branch, sizeof c->history_branch, "%s", r->plan.upstream_branch);
	c->held_ms = c->reference_change_pct = c->reference_ci_low_pct = c->reference_ci_high_pct = NAN;
	c->baseline_period = isfinite(c->target_median_ms) ? e->row.id : 0;
	if (!c->baseline_period)
		return 0;
	c->held_ms = peer_ratio_at_clock(c->target_median_ms, isfinite(c->beta) ? c->beta : 0,
		judge_median(r, cell, judge_series(r, cell), "", ROLE_TARGET, JUDGE_MHZ), e->row.held_mhz);
	if (e->against == ROLE_NONE || !judge_estimate(r, cell, e->against, &estimate))
		return 0;
	int known = store_chain_get(db, &e->row, get_commit(r, e->against), c->key, &reference_x, &reference_se, err);
	if (known < 1)
		return known;
	*x = estimate.m + reference_x;
	*se = hypot(estimate.se, reference_se);
	double half = (estimate.ci_high - estimate.m) * (estimate.se > 0 ? *se / estimate.se : 1);
	c->reference_change_pct = stats_change_pct(*x);
	c->reference_ci_low_pct = stats_change_pct(*x + half);
	c->reference_ci_high_pct = stats_change_pct(*x - half);
	return 0;
}

int baseline_period_reference_time(struct db *db, const struct baseline_period *e, const struct result *r, int cell,
	const struct store_cell *c, int64_t device, struct fw_err *err)
{
	double reference_x, reference_se;
	double held_ms = peer_ratio_at_clock(judge_median(r, cell, judge_series(r, cell), "", e->against, JUDGE_MS),
		isfinite(c->beta) ? c->beta : 0, judge_median(r, cell, judge_series(r, cell), "", e->against, JUDGE_MHZ),
		e->row.held_mhz);
	if (!device || c->confirmed_on || !(held_ms > 0)) /* times of two devices belong to neither */
		return 0;
	int known = store_chain_get(db, &e->row, get_commit(r, e->against), c->key, &reference_x, &reference_se, err);
	if (known < 1)
		return known;
	const struct store_reference_time t = { .device = device,
		.baseline_period = e->row.id,
		.comparison = c->comparison,
		.key = c->key,
		.ln_ms = log(held_ms) - reference_x };
	return store_reference_time_put(db, &t, err);
}
