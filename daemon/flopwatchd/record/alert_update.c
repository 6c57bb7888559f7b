/* alert_update.c - alerts and their notifications, in the verdict's transaction, so that none is missing or duplicated. */
#include "flopwatchd/record/internal.h"

#include <math.h>

#include "flopwatchd/bisect/bisect.h"
#include "flopwatchd/notify/notify.h"

/* ---- alert_update ---- */

enum { ALERT_UPDATE_MAX = 1 << 20 };

void alert_update_init(struct alert_update *update)
{
	update->regressions = update->failures = 0;
	update->judged = NULL;
	alert_cells_init(&update->lost);
	alert_cells_init(&update->broken);
	alert_cells_init(&update->better);
}

void alert_update_fini(struct alert_update *update)
{
	alert_cells_fini(&update->lost);
	alert_cells_fini(&update->broken);
	alert_cells_fini(&update->better);
	free(update->judged);
}

/** True for a comparison of the repository's upstream branch. Returns 1, 0, -1. */
static int is_upstream(struct db *db, const struct store_comparison *c, struct fw_err *err)
{
	char upstream[256], encoded[1024];
	if (store_repo_upstream(db, c->repo, upstream, sizeof upstream, err) ||
		gitread_encode(upstream, encoded, sizeof encoded, err))
		return -1;
	return strcmp(encoded, c->branch) == 0;
}

/** True for a regression on the upstream branch that an older commit showed against the same base. Returns 1, 0, -1. */
static int is_reported(struct db *db, const struct store_comparison *c, const struct store_cell *cell, struct fw_err *err)
{
	struct store_base_reported reported;
	int upstream = is_upstream(db, c, err);
	if (upstream != 1)
		return upstream;
	if (store_base_reported(db, c->id, cell->key, &reported, err))
		return -1;
	return reported.decided_m > 0 && cell->decided_m - reported.decided_m <= stats_theta(cell->threshold_pct);
}

/** True for a failure on the upstream branch that has no alert yet. Returns 1, 0, -1. */
static int is_newly_broken(
	struct db *db, const char *suite, const struct store_comparison *c, const struct store_cell *cell, struct fw_err *err)
{
	int upstream = is_upstream(db, c, err);
	if (upstream != 1)
		return upstream;
	int known = store_alert_covers(db, c->repo, c->branch, ALERTKIND_FAILING, suite, cell->key, c->target_sha, err);
	return known < 0 ? -1 : !known;
}

/** True if the target fails, or makes its times invalid; heat and device faults do not count. */
static bool is_target_fault(const struct store_cell *cell)
{
	return cell->verdict == VERDICT_FAILED ||
	       (cell->verdict == VERDICT_REJECTED && verdict_of_class(cell->failure) == VERDICT_REJECTED);
}

/**
 * True for a cell of a large suite that is also missing from the base, although the branch had it when it was last measured. A
 * new division into shards compares a shard with a newer commit than before, so a regression between the two is on both sides.
 * `class`: the target's class of failure. Returns 1, 0, -1.
 */
static int is_missing_before(struct db *db, const struct result *r, int i, const struct store_comparison *c,
	const struct store_cell *cell, char class[16], struct fw_err *err)
{
	struct find_missing_result found;
	class[0] = '\0';
	if (r->plan.size.shards < 2 || (cell->verdict != VERDICT_UNSUPPORTED && cell->verdict != VERDICT_NOT_COMPARABLE))
		return 0;
	judge_target_class(r, i, class);
	if (!class[0])
		return 0;
	if (find_missing_result(db, c->repo, c->branch, r->plan.suite_name, cell->key, c->id, &found, err) != 0)
		return -1;
	return found.is_done ? is_newly_broken(db, r->plan.suite_name, c, cell, err) : 0;
}

static int add_missing_before(struct alert_update *update, struct db *db, const struct result *r, int i,
	const struct store_comparison *c, const struct store_cell *cell, struct fw_err *err)
{
	char class[16];
	int result = is_missing_before(db, r, i, c, cell, class, err);
	if (result == 1) {
		struct store_cell reported = *cell;
		snprintf(reported.failure, sizeof reported.failure, "%s", class);
		alert_cells_add(&update->broken, r, i, &reported);
	}
	return result;
}

int alert_update_cell(struct alert_update *update, struct db *db, const struct result *r, int i, const struct store_comparison *c,
	const struct store_cell *cell, struct fw_err *err)
{
	int result = 0;
	if (!update->judged)
		update->judged = mem_alloc_zero((size_t)r->plan.request.n_cells, sizeof *update->judged);
	update->judged[i] = (struct cost_cell){ cell->verdict, cell->flags, is_target_fault(cell) };
	if (cell->verdict == VERDICT_REGRESSION) {
		update->regressions++;
		result = c->branch[0] ? store_accepted_cell(db, c->id, cell->key, err)
				      : 0; /* users already answered the same regression */
		if (result == 0)
			result = is_reported(db, c, cell, err);
		if (result == 0)
			alert_cells_add(&update->lost, r, i, cell);
	} else if (is_target_fault(cell) && c->kind == JOBKIND_ENVIRONMENT) {
		alert_cells_add(&update->lost, r, i, cell); /* caused by no commit; environment.c reports the change */
	} else if (is_target_fault(cell)) {
		result = is_newly_broken(db, r->plan.suite_name, c, cell, err);
		if (result == 1)
			alert_cells_add(&update->broken, r, i, cell);
		update->failures += result == 1 && cell->verdict == VERDICT_FAILED;
	} else if (cell->verdict == VERDICT_IMPROVEMENT) {
		alert_cells_add(&update->better, r, i, cell);
	} else {
		result = add_missing_before(update, db, r, i, c, cell, err);
	}
	return result < 0 ? -1 : 0;
}

/** Write the verdict of the commit, which includes its other suites. */
static int write_commit(struct db *db, const struct store_job *job, struct jsonw *j, struct fw_err *err)
{
	struct commit_verdict v;
	int result = store_commit_verdict(db, job->repo, job->target_sha, job->branch, &v, err);
	jsonw_kv_string(j, "commit_verdict", v.verdict == VERDICT_NONE ? NULL : verdict_name(v.verdict));
	commit_verdict_write_unfinished(j, &v);
	commit_verdict_fini(&v);
	return result;
}

static int send_job_done(struct db *db, const struct config *config, const struct store_job *job,
	const struct store_comparison *c, const struct alert_update *update, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "job.done");
	jsonw_format(j,
		"job=%ld kind=%s state=%s comparison=%ld verdict=%s regressions=%d repo=%s branch=%s target=%s "
		"suite=%s",
		job->id, jobkind_name(c->kind), jobstate_name(JOBSTATE_DONE), c->id, verdict_name(c->verdict),
		update->regressions, job->repo_name, c->branch, c->target_sha, job->suite);
	if (status_is_reported(job) && write_commit(db, job, j, err) != 0) {
		store_event_fini(&event);
		return -1;
	}
	if (config && config->public_url[0]) {
		char url[640];
		snprintf(url, sizeof url, "%s/comparisons/%lld", config->public_url, (long long)c->id);
		jsonw_kv_string(j, "url", url);
	}
	return alert_deliver(db, status_is_reported(job) ? config : NULL, &event, now_ms, err);
}

/** Send the event of improvements, which open no alert. */
static int send_improvements(struct db *db, struct alert_update *update, const struct store_job *job,
	const struct store_comparison *c, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	const char *cells, *groups;
	if (update->better.n == 0)
		return 0;
	if (alert_cells_end(&update->better, &cells, &groups, err))
		return -1;
	struct jsonw *j = alert_message(&event, "improvement.found");
	jsonw_format(j, "comparison=%ld repo=%s branch=%s target=%s", c->id, job->repo_name, c->branch, c->target_sha);
	jsonw_key(j, "cells");
	jsonw_raw(j, cells, strlen(cells));
	jsonw_key(j, "groups");
	jsonw_raw(j, groups, strlen(groups));
	return alert_deliver(db, NULL, &event, now_ms, err);
}

/** Name the culprit of these cells at once if it is known: the target, or that of an older tip. `is_bisected`: else start a bisect. */
static int open_alert(struct db *db, const struct config *config, struct store_alert *a, const struct result *r,
	const struct store_comparison *c, bool is_bisected, int64_t now_ms, struct judge_outcome *out, struct fw_err *err)
{
	struct buf culprit;
	buf_init(&culprit, ALERT_UPDATE_MAX);
	int known = is_bisected ? bisect_report_only(db, c, a->worst_pct, a->cells_json, &culprit, err) : 0;
	if (is_bisected && known == 0 && a->kind == ALERTKIND_REGRESSION)
		known = store_alert_inherited_culprits(db, c->id, a->cells_json, &culprit, err);
	if (known == 1)
		a->culprits_json = culprit.data;
	int result = known < 0 ? -1 : alert_open(db, config, a, now_ms, &out->alert_is_new, err);
	if (result == 0 && (out->alert_is_new || a->n_new_cells) && is_bisected && known == 0)
		result = bisect_begin(db, a, c, r, now_ms, err);
	out->alert = a->id;
	buf_fini(&culprit);
	return result;
}

static int open_cells(struct db *db, const struct config *config, enum alertkind kind, struct alert_cells *cells,
	const struct result *r, const struct store_comparison *c, bool is_bisected, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err)
{
	struct store_alert a = { .repo = c->repo, .comparison = c->id, .kind = kind, .worst_pct = cells->worst_pct };
	char title[600];
	alert_cells_title(cells, title, sizeof title);
	a.title = title;
	snprintf(a.branch, sizeof a.branch, "%s", c->branch);
	snprintf(a.target_sha, sizeof a.target_sha, "%s", c->target_sha);
	if (alert_cells_end(cells, &a.cells_json, &a.groups_json, err))
		return -1;
	return open_alert(db, config, &a, r, c, is_bisected, now_ms, out, err);
}

/** Resolve alerts of older tips that the newer one includes, once all suites have ended. */
static int retire_older(
	struct db *db, const struct config *config, const struct store_comparison *c, int64_t now_ms, struct fw_err *err)
{
	int64_t older[STORE_ALERT_RECOVER_MAX], alert;
	int n, upstream = is_upstream(db, c, err);
	char why[64];
	if (upstream != 0)
		return upstream < 0 ? -1 : 0;
	if (store_alert_live(db, c->repo, c->target_sha, ALERTKIND_REGRESSION, &alert, err))
		return -1;
	if (!alert)
		return 0;
	snprintf(why, sizeof why, "the newer tip has A%lld", (long long)alert);
	if (store_alert_older_tips(db, c->id, older, &n, err))
		return -1;
	for (int i = 0; i < n; i++)
		if (alert_resolve(db, config, older[i], c->id, why, now_ms, err))
			return -1;
	return 0;
}

struct lost {
	struct alert_cells *cells;
	const char *suite;
};

static void add_lost(void *arg, const char *key, int64_t comparison)
{
	const struct lost *to = arg;
	(void)comparison;
	alert_cells_add_missing(to->cells, to->suite, key, 0);
}

/** Missing cells: their culprit and suite or benchmark. */
struct gone {
	bool are_rows; /* rows of a benchmark that only the base writes */
	const char *culprit;
	char from[160];
};

static int open_gone(struct db *db, const struct config *config, const struct gone *g, const struct result *r,
	const struct store_comparison *c, int64_t now_ms, struct judge_outcome *out, struct fw_err *err)
{
	struct alert_cells gone;
	char title[240];
	alert_cells_init(&gone);
	struct lost lost = { &gone, r->plan.suite_name };
	int result = g->are_rows ? find_missing_removed(db, c, add_lost, &lost, err)
				 : missing_cells(db, c, r->plan.suite_name, add_lost, &lost, err);
	if (result == 0 && gone.n) {
		snprintf(title, sizeof title, "%d cell%s removed from %s", gone.n, gone.n == 1 ? " is" : "s are", g->from);
		struct store_alert a = {
			.repo = c->repo, .comparison = c->id, .kind = ALERTKIND_MISSING, .title = title, .worst_pct = NAN
		};
		snprintf(a.branch, sizeof a.branch, "%s", c->branch);
		snprintf(a.target_sha, sizeof a.target_sha, "%s", g->culprit);
		result = alert_cells_end(&gone, &a.cells_json, &a.groups_json, err);
		if (result == 0)
			result = open_alert(db, config, &a, r, c, false, now_ms, out, err);
	}
	alert_cells_fini(&gone);
	return result;
}

/** The base defines the suite, so the base removed its cells; each side defines its rows, which are missing if known. */
static int open_missing(struct db *db, const struct config *config, const struct result *r, const struct store_comparison *c,
	int64_t now_ms, struct judge_outcome *out, struct fw_err *err)
{
	bool installed = strcmp(r->plan.suite_origin, "installed") == 0;
	struct gone cells = { .culprit = installed || plan_is_benchmark(&r->plan) ? c->target_sha : c->base_sha };
	struct gone rows = { .are_rows = true, .culprit = c->target_sha };
	/* plan_alerts has reported a removed suite */
	int result = r->plan.dropped || c->rows_unknown ? 0 : is_upstream(db, c, err);
	if (result != 1)
		return result;
	if (!plan_is_benchmark(&r->plan))
		snprintf(cells.from, sizeof cells.from, "suite %.64s%s", r->plan.suite_name,
			installed ? ", whose installed file changed" : "");
	else
		snprintf(cells.from, sizeof cells.from, "benchmark %.64s", r->plan.suite_name);
	snprintf(rows.from, sizeof rows.from, "benchmark %.64s", r->plan.suite_name);
	return open_gone(db, config, &cells, r, c, now_ms, out, err) || open_gone(db, config, &rows, r, c, now_ms, out, err) ? -1
															     : 0;
}

static int end_alerts(struct db *db, const struct config *config, const struct store_comparison *c, int64_t now_ms,
	struct judge_outcome *out, struct fw_err *err)
{
	char why[64];
	snprintf(why, sizeof why, "recovered in C%lld", (long long)c->id);
	if (store_alert_recovered(db, c->id, out->recovered, &out->n_recovered, err))
		return -1;
	for (int i = 0; i < out->n_recovered; i++)
		if (alert_resolve(db, config, out->recovered[i], c->id, why, now_ms, err))
			return -1;
	return 0;
}

int alert_update_publish(struct db *db, const struct config *config, struct alert_update *update, const struct result *r,
	const struct store_job *job, const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err)
{
	if (send_job_done(db, config, job, c, update, now_ms, err))
		return -1;
	bool is_alone = job->kind == JOBKIND_SELFCHECK && !strcmp(job->base_how, "self") && !job->quick && !job->cells_glob[0];
	/* without a base no change is known, and no commit to search for, but a failure is: this commit may have added it */
	if (is_alone && update->broken.n &&
		open_cells(db, config, ALERTKIND_FAILING, &update->broken, r, c, false, now_ms, out, err))
		return -1;
	if (is_alone && c->branch[0])
		return end_alerts(db, config, c, now_ms, out, err);
	if (!whole)
		return 0;
	int upstream = is_upstream(db, c, err);
	if (upstream < 0)
		return -1;
	if ((!job->shard && open_missing(db, config, r, c, now_ms, out, err)) ||
		(update->broken.n && open_cells(db, config, ALERTKIND_FAILING, &update->broken, r, c, update->failures > 0,
					     now_ms, out, err)) ||
		(update->lost.n && open_cells(db, config, ALERTKIND_REGRESSION, &update->lost, r, c, true, now_ms, out, err)) ||
		(!job->shard && retire_older(db, config, c, now_ms, err)) ||
		(update->judged && judge_costs(db, config, r, update->judged, job, c, upstream, now_ms, err)) ||
		send_improvements(db, update, job, c, now_ms, err))
		return -1;
	return end_alerts(db, config, c, now_ms, out, err);
}

int alert_update_baseline_period(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "baseline_period.started");
	jsonw_format(j, "environment=%ld device=%s name=%s driver=%s toolkit=%s cudnn~=%s suite=%s", environment, r->device.uuid,
		r->device.name, r->device.driver, r->device.toolkit, r->device.cudnn, r->plan.suite_name);
	return alert_deliver(db, NULL, &event, now_ms, err);
}
