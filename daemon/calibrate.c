/* calibrate.c - A/A comparisons in, tau0 and blindness out. */
#include "calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/calibration.h"
#include "db/store_calibration.h"
#include "db/store_repo.h"
#include "gitread.h"

int calibrate_plan(struct db *db, struct plan *plan, int64_t device, struct fw_err *err)
{
	int64_t environment = 0;
	struct rule *rule = &plan->ask.rule;
	if (strcmp(plan->ask.kind, "calibrate") == 0 && rule->launches_ok_min < CALIBRATION_LAUNCHES_MIN)
		rule->launches_ok_min = CALIBRATION_LAUNCHES_MIN;
	if (!device)
		return 0;
	if (store_calibration_environment(db, device, plan->suite_sha, &environment, err))
		return -1;
	for (int i = 0; environment && i < plan->ask.n_cells; i++) {
		struct cell *c = &plan->ask.cell[i];
		struct store_calibration known;
		double mde_pct;
		if (store_calibration_get(db, environment, c->key, &known, err))
			return -1;
		if (!calibration_learned(&known.pooled, &c->tau0, &c->nu0))
			c->tau0 = c->nu0 = 0;
		bool sees = calibration_sees(&known.pooled, rule, stats_theta(c->threshold_pct), &mde_pct);
		c->blind_pct = sees ? 0 : mde_pct;
	}
	return 0;
}

/** Estimates of the launches that count. Shape: out[STATS_LAUNCHES_MAX]. */
static int estimates_of(const struct judge_launches *l, struct launch_estimate *out)
{
	int n = 0;
	for (int i = 0; i < l->n; i++)
		if (l->estimate[i].n > 0)
			out[n++] = l->estimate[i];
	return n;
}

int calibrate_learn(struct db *db, const struct result *r, int64_t environment, const struct judge_launches *l,
	const struct store_cell *c, int64_t now_ms, struct fw_err *err)
{
	struct launch_estimate e[STATS_LAUNCHES_MAX];
	struct store_calibration known;
	bool itself = protocol_is_selfcheck(r->plan.ask.kind);
	bool equal = strcmp(r->plan.ask.kind, "change") == 0 && c->verdict == VERDICT_UNCHANGED && !c->borderline;
	int n = estimates_of(l, e);
	if (!environment || !(itself || equal) || !isfinite(c->m) || n == 0)
		return 0;
	if (store_calibration_get(db, environment, c->key, &known, err))
		return -1;
	calibration_add(&known.pooled, e, n);
	known.comparisons += itself;
	known.alarms += itself && c->verdict == VERDICT_REGRESSION;
	known.tau = calibration_tau(&known.pooled);
	known.blind = !calibration_sees(&known.pooled, &r->plan.ask.rule, stats_theta(c->threshold_pct), &known.mde_pct);
	return store_calibration_put(db, &known, now_ms, err);
}

int calibrate_enqueue(struct db *db, const char *upstream, struct store_job *like, int64_t now_ms, struct fw_err *err)
{
	char branch[1024];
	bool gone = false;
	if (gitread_encode(upstream, branch, sizeof(branch), err) ||
		store_tip_get(db, like->repo, branch, like->target_sha, &gone, err))
		return -1;
	if (gone)
		return err_set(err, ERR_NOT_FOUND, "there is no branch %.100s any more", upstream);
	snprintf(like->kind, sizeof(like->kind), "calibrate");
	snprintf(like->base_sha, sizeof(like->base_sha), "%s", like->target_sha);
	snprintf(like->base_how, sizeof(like->base_how), "given");
	return store_job_insert(db, like, now_ms, err) ||
			       store_job_log(db, like->id, now_ms, "queued: the same build under two names, to calibrate", err)
		       ? -1
		       : 0;
}
