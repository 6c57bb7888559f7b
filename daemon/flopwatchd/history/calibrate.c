/* calibrate.c - noise (tau0) and detection limits from A/A comparisons. */
#include "flopwatchd/history/history.h"

#include <math.h>
#include <stdio.h>

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

int calibrate_plan(struct db *db, struct plan *plan, int64_t repo, int64_t device, int64_t now_ms, struct fw_err *err)
{
	int64_t environment = 0;
	struct rule *rule = &plan->request.rule;
	if (plan->request.kind == JOBKIND_CALIBRATE) { /* no sequential stop either: the full minimum of runs is required */
		rule->runs_ok_min = max_int(rule->runs_ok_min, CALIBRATION_RUNS_MIN);
		rule->runs_regression_min = max_int(rule->runs_regression_min, CALIBRATION_RUNS_MIN);
	}
	if (!device)
		return 0;
	if (store_calibration_environment(db, device, plan->suite_sha, &environment, err))
		return -1;
	for (int i = 0; environment && i < plan->request.n_cells; i++) {
		struct cell *c = &plan->request.cell[i];
		struct calibration known;
		double mde_pct;
		if (store_noise_get(db, repo, environment, c->key, now_ms, &known, err))
			return -1;
		if (!calibration_learned(&known, &c->tau0, &c->nu0))
			c->tau0 = c->nu0 = 0;
		bool sees = calibration_has_power(&known, rule, stats_theta(c->threshold_pct), &mde_pct);
		c->underpowered_pct = sees ? 0 : mde_pct;
	}
	return 0;
}

/** Copy the estimates of valid runs. Returns their number. Shape: out[STATS_RUNS_MAX]. */
static int copy_estimates(const struct judge_runs *l, struct run_estimate *out)
{
	int n = 0;
	for (int i = 0; i < l->n; i++)
		if (l->estimate[i].n > 0)
			out[n++] = l->estimate[i];
	return n;
}

int calibrate_learn(struct db *db, const struct result *r, const struct store_comparison *c, const struct judge_runs *l,
	const struct store_cell *cell, struct fw_err *err)
{
	struct run_estimate e[STATS_RUNS_MAX];
	bool itself = jobkind_is_itself(r->plan.request.kind);
	bool equal =
		r->plan.request.kind == JOBKIND_COMPARE && cell->verdict == VERDICT_UNCHANGED && !(cell->flags & FLAG_BORDERLINE);
	struct store_noise shown = { .comparison = c->id,
		.repo = c->repo,
		.environment = c->environment,
		.key = cell->key,
		.is_itself = itself,
		.is_alarm = itself && cell->verdict == VERDICT_REGRESSION,
		.at = c->finished_at };
	int n = copy_estimates(l, e);
	calibration_add(&shown.shown, e, n);
	bool teaches = itself ? n > 0 : equal && n > 1;
	bool is_fork = r->plan.request.side[1].untrusted; /* its times may be invented */
	return !is_fork && !result_names_provider(r) && c->environment && teaches && isfinite(cell->m)
		       ? store_noise_add(db, &shown, err)
		       : 0;
}

int calibrate_enqueue(struct db *db, const char *upstream, struct store_job *like, int64_t now_ms, struct fw_err *err)
{
	char branch[1024];
	bool gone = false;
	if (gitread_encode(upstream, branch, sizeof branch, err) ||
		store_tip_get(db, like->repo, branch, like->target_sha, &gone, err))
		return -1;
	if (gone)
		return err_set(err, ERR_NOT_FOUND, "branch %.100s no longer exists", upstream);
	like->kind = JOBKIND_CALIBRATE;
	snprintf(like->base_sha, sizeof like->base_sha, "%s", like->target_sha);
	snprintf(like->base_how, sizeof like->base_how, "given");
	return store_job_insert(db, like, now_ms, err) ||
			       store_job_log(db, like->id, now_ms, "queued: the same build under two names, to calibrate", err)
		       ? -1
		       : 0;
}
