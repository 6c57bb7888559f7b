#include "flopwatchd/history/history.h"

#include <math.h>
#include <stdio.h>

enum { CHANGED_SIZE = 320, TITLE_SIZE = 600 };

struct follow {
	struct db *db;
	const struct config *config;
	const struct result *r;
	const struct store_comparison *c;
	const struct store_environment_change *change;
	int64_t now_ms;
};

struct measured {
	int64_t comparison;
	const char *commit;
};

static int open_alert(const struct follow *f, const struct measured *by, struct alert_cells *cells, const char *what,
	int64_t *alert, struct fw_err *err)
{
	char title[TITLE_SIZE], changed[CHANGED_SIZE];
	bool is_new;
	struct store_alert a = { .repo = f->c->repo,
		.comparison = by->comparison,
		.kind = ALERTKIND_ENVIRONMENT,
		.changed = f->change->changed,
		.worst_pct = cells->worst_pct };
	changed_text(f->change->changed, changed, sizeof changed);
	snprintf(title, sizeof title, "%.300s: %.290s", changed, what);
	a.title = title;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", by->commit);
	if (store_repo_upstream_branch(f->db, f->c->repo, a.branch, err) ||
		alert_cells_end(cells, &a.cells_json, &a.groups_json, err) ||
		alert_open(f->db, f->config, &a, f->now_ms, &is_new, err))
		return -1;
	*alert = a.id;
	return 0;
}

/* Return the time scaled to the clock of the previous period; unscaled if no clock was ever observed. NAN: a clock is missing. */
static double time_now(const struct follow *f, int i, const struct store_cell *cell, double held_mhz)
{
	if (!isfinite(held_mhz))
		return cell->target_median_ms;
	return peer_ratio_at_clock(cell->target_median_ms, isfinite(cell->beta) ? cell->beta : 0,
		judge_median(f->r, i, judge_series(f->r, i), "", ROLE_TARGET, JUDGE_MHZ), held_mhz);
}

static int store_unpaired(const struct follow *f, struct fw_err *err)
{
	struct store_baseline_period before;
	struct store_cell cell = { .n = -1 };
	int result;
	if (store_baseline_period_get(f->db, f->change->baseline_period, &before, err))
		return -1;
	while ((result = store_cell_next(f->db, f->c->id, cell.n, &cell, err)) == 1) {
		struct store_environment_effect e = {
			.change = f->change->id, .key = cell.key, .ci_low_pct = NAN, .ci_high_pct = NAN
		};
		if (store_reference_ms(f->db, before.id, f->c->target_sha, cell.key, &e.before_ms, err))
			return -1;
		e.after_ms = time_now(f, cell.n, &cell, before.held_mhz);
		e.change_pct = (e.before_ms / e.after_ms - 1) * 100;
		if (isfinite(e.change_pct) && store_environment_effect_put(f->db, &e, err))
			return -1;
	}
	return result;
}

struct losing {
	const struct follow *f;
	int64_t comparison;
	struct alert_cells cells;
};

static void add_losing(void *arg, const char *key, double change_pct)
{
	struct losing *l = arg;
	alert_cells_add_unpaired(&l->cells, l->f->r->plan.suite_name, key, l->comparison, change_pct);
}

/* Ignore a time without a clock. */
static int judge_unpaired(const struct follow *f, const struct measured *by, int64_t *alert, struct fw_err *err)
{
	struct losing l = { f, by->comparison, { 0 } };
	struct store_baseline_period before;
	char what[160];
	if (store_baseline_period_get(f->db, f->change->baseline_period, &before, err))
		return -1;
	if (!isfinite(before.held_mhz))
		return 0;
	alert_cells_init(&l.cells);
	int result = store_environment_slowdowns(f->db, f->change->id, ENVIRONMENT_UNPAIRED_PCT, add_losing, &l, err);
	if (result == 0 && l.cells.n) {
		snprintf(what, sizeof what, "the reference commit %.12s is slower in %d cell%s, by %.1f %% at most; not paired",
			by->commit, l.cells.n, l.cells.n == 1 ? "" : "s", -l.cells.worst_pct);
		result = open_alert(f, by, &l.cells, what, alert, err);
	}
	alert_cells_fini(&l.cells);
	return result;
}

/* Where a rebuilt commit can show the whole effect, pairs decide, unless they were measured and show nothing. */
static int follow_unpaired(const struct follow *f, int64_t *alert, struct fw_err *err)
{
	const struct measured by = { f->c->id, f->c->target_sha };
	int pairs = f->change->paired ? store_environment_has_pairs(f->db, f->change->id, err) : f->change->paired_job != 0;
	if (pairs < 0 || store_unpaired(f, err) ||
		store_environment_change_measured(f->db, f->change->id, false, f->c->id, 0, err))
		return -1;
	return f->change->affects_runs || !pairs ? judge_unpaired(f, &by, alert, err) : 0;
}

static int store_paired(const struct follow *f, int *n, struct fw_err *err)
{
	struct store_cell cell = { .n = -1 };
	int result;
	*n = 0;
	while ((result = store_cell_next(f->db, f->c->id, cell.n, &cell, err)) == 1) {
		bool is_same = cell.verdict == VERDICT_IDENTICAL; /* another compiler produced the same module */
		struct store_environment_effect e = { .change = f->change->id,
			.is_paired = true,
			.key = cell.key,
			.change_pct = is_same ? 0 : cell.change_pct,
			.ci_low_pct = is_same ? 0 : cell.ci_low_pct,
			.ci_high_pct = is_same ? 0 : cell.ci_high_pct,
			.before_ms = cell.base_median_ms,
			.after_ms = cell.target_median_ms };
		if (!isfinite(e.change_pct))
			continue;
		if (store_environment_effect_put(f->db, &e, err))
			return -1;
		++*n;
	}
	return result;
}

/* The reference commit was timed before pairs proved to show nothing. */
static int judge_unpaired_later(const struct follow *f, int64_t *alert, struct fw_err *err)
{
	struct store_comparison reference;
	struct buf rule;
	if (!f->change->unpaired || f->change->affects_runs)
		return 0;
	buf_init(&rule, 1 << 16);
	int result = store_comparison_get(f->db, f->change->unpaired, &reference, &rule, err);
	buf_fini(&rule);
	return result ? -1 : judge_unpaired(f, &(struct measured){ f->change->unpaired, reference.target_sha }, alert, err);
}

static int follow_paired(const struct follow *f, struct alert_cells *lost, int64_t *alert, struct fw_err *err)
{
	const struct measured by = { f->c->id, f->c->target_sha };
	char what[TITLE_SIZE];
	int n;
	if (store_paired(f, &n, err))
		return -1;
	if (lost->n == 0)
		return n ? 0 : judge_unpaired_later(f, alert, err);
	alert_cells_title(lost, what, sizeof what);
	return open_alert(f, &by, lost, what, alert, err);
}

static bool has_device(const struct msg_device *d, const struct store_environment_change *change)
{
	char around[65];
	store_device_fingerprint(d, around);
	return strcmp(around, change->new_hash) == 0;
}

int environment_follow(struct db *db, const struct config *config, const struct result *r, const struct store_comparison *c,
	struct alert_cells *lost, int64_t now_ms, int64_t *alert, struct fw_err *err)
{
	struct store_environment_change change;
	struct follow f = { db, config, r, c, &change, now_ms };
	*alert = 0;
	int found = store_environment_change_of_job(db, c->job, &change, err);
	if (found < 1)
		return found;
	bool is_built_separate = !r->device.uuid[0]; /* identical builds needed no measurement, so no device is set */
	int is_there = is_built_separate ? store_environment_builds(db, &change, r->device.toolkit, err)
					 : has_device(&r->device, &change);
	if (is_there < 0)
		return -1;
	if (!is_there) /* undone or changed again before the job started; a build on another worker shows nothing */
		return is_built_separate ? 0 : store_environment_change_missed(db, change.id, err);
	bool is_paired = change.paired_job == c->job;
	if (is_paired ? follow_paired(&f, lost, alert, err) : follow_unpaired(&f, alert, err))
		return -1;
	return store_environment_change_measured(db, change.id, is_paired, c->id, *alert, err);
}
