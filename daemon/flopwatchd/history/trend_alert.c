/* trend_alert.c - cells and title of a history alert, and when they are rewritten. */
#include "flopwatchd/history/internal.h"

#include <math.h>

#include "flopwatchd/bisect/bisect.h"

/* ---- culprit: Commits of a change point on the upstream branch. ---- */

/* fraction of the regression that a range must contain: the steps subtracted from it are estimates */
#define RANGE_HOLDS 0.75

#define ANSWERED_NOISES 2.0 /* a point may be this far below its level */

static int count_commits(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err)
{
	if (find_range_commits(t->db, c, out->from, out->to, &out->commits, &out->unmeasured, err))
		return -1;
	if (out->commits < 1)
		out->commits = 1;
	return 0;
}

static int find_drift_range(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err)
{
	struct store_baseline_period e;
	struct store_explained explained;
	struct store_series s;
	struct rise rise;
	int64_t position[CHANGEPOINT_POINTS_MAX];
	if (store_baseline_period_get(t->db, c->baseline_period, &e, err) ||
		store_change_explained(t->db, &e, c->key, &explained, err) ||
		store_series(t->db, &e, c->key, explained.answered, &s, err))
		return -1;
	for (int i = 0; i < s.n; i++) {
		position[i] = s.point[i].position;
		s.x[i] -= store_explained_at(&explained, position[i]);
	}
	/* Users answered all drift up to that point: only later slowdown counts. */
	double least = -ANSWERED_NOISES * changepoint_noise(s.x, s.n);
	for (int i = 0; explained.answered && i < s.n; i++)
		s.x[i] = fmax(least, s.x[i]);
	if (!rise_find(s.x, position, s.n, RANGE_HOLDS * c->step, &rise))
		return 0;
	snprintf(out->from, sizeof out->from, "%s", s.point[rise.from].sha);
	snprintf(out->to, sizeof out->to, "%s", s.point[rise.to].sha);
	out->is_whole = rise.to == rise.from + 1;
	out->change_pct = stats_change_pct(rise.step);
	return count_commits(t, c, out, err);
}

int trend_range(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err)
{
	*out = (struct trend_range){ .is_whole = true, .change_pct = stats_change_pct(c->step) };
	if (strcmp(c->kind, "drift") == 0)
		return find_drift_range(t, c, out, err);
	snprintf(out->from, sizeof out->from, "%s", c->before_sha);
	snprintf(out->to, sizeof out->to, "%s", c->commit_sha);
	return count_commits(t, c, out, err);
}

static int trend_name(
	const struct trend *t, const struct store_change *c, const struct trend_range *range, struct buf *out, struct fw_err *err)
{
	if (!range->to[0]) {
		buf_puts(out, "[]");
		return 0;
	}
	return bisect_report_range(t->db, c->repo, range->from, range->to, range->commits, range->unmeasured, range->change_pct,
		c->comparison, c->key, out, err);
}

/* Describe the range of the drift: unmeasured commits may have caused all of it at once. */
static void describe_drift(const struct trend_range *range, char *out, size_t size)
{
	if (range->to[0] && range->is_whole && range->commits > 1)
		snprintf(out, size, "between %.12s and %.12s, where %d commit%s not measured", range->from, range->to,
			range->unmeasured, range->unmeasured == 1 ? " was" : "s were");
	else if (range->to[0] && range->is_whole)
		snprintf(out, size, "at %.12s, whose own comparison did not report it", range->to);
	else
		snprintf(out, size, "although no commit%s lost that much", range->unmeasured ? " that was measured" : "");
}

void trend_title(const struct store_change *c, const struct trend_range *range, char *out, size_t size)
{
	double pct = -stats_change_pct(c->step);
	char where[160];
	if (strcmp(c->kind, "drift") == 0) {
		describe_drift(range, where, sizeof where);
		snprintf(out, size, "%.2f %% lost since the reference commit %.12s, %s", pct, c->before_sha, where);
	} else if (range->commits > 1) {
		snprintf(out, size, "%.2f %% lost between %.12s and %.12s, seen in the history", pct, range->from, range->to);
	} else {
		snprintf(out, size, "%.2f %% lost at %.12s, seen in the history", pct, range->to);
	}
}

/* ---- trend_alert ---- */

enum { MESSAGE_MAX = 1 << 16 };

#define ROUNDING_PCT 0.005 /* the stored text of an alert has rounded numbers */

static int write_cell(const struct store_change *c, const char *suite, struct buf *out, struct fw_err *err)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_format(&j, "[ { cell=%s suite=%s change_pct=%f borderline=%i } ]", c->key, suite, stats_change_pct(c->step), false);
	return out->failed ? err_set(err, ERR_FULL, "the alert's cell does not fit") : 0;
}

static bool is_same_range(const struct store_alert_reported *reported, const struct trend_range *range)
{
	return strcmp(reported->from, range->from) == 0 && strcmp(reported->to, range->to) == 0 &&
	       reported->commits == range->commits && reported->skipped == range->unmeasured &&
	       !(fabs(reported->range_pct - range->change_pct) >=
		       ROUNDING_PCT); /* NAN: other cells also became slower in the range */
}

/** True if the alert already contains this regression and range, or has no space for the cell. */
static bool is_reported(
	const struct store_change *c, const struct store_alert_reported *reported, const struct trend_range *range)
{
	if (c->alert != reported->id)
		return false;
	if (isnan(reported->change_pct))
		return reported->is_full;
	return fabs(reported->change_pct - stats_change_pct(c->step)) < ROUNDING_PCT && is_same_range(reported, range);
}

/** The worst cell gives the title; a cell without a range replaces one with a range only after further slowdown. */
static bool keeps_title(
	const struct store_change *c, const struct store_alert_reported *reported, const struct trend_range *range)
{
	double pct = stats_change_pct(c->step);
	bool has_grown = pct < reported->change_pct - ROUNDING_PCT;
	return reported->others_pct < pct - ROUNDING_PCT || (reported->to[0] && !range->to[0] && !has_grown);
}

int trend_alert(const struct trend *t, struct store_change *c, struct fw_err *err)
{
	bool is_drift = strcmp(c->kind, "drift") == 0, is_new;
	struct store_alert a = { .repo = c->repo,
		.comparison = c->comparison,
		.kind = is_drift ? ALERTKIND_DRIFT : ALERTKIND_REGRESSION,
		.worst_pct = stats_change_pct(c->step) };
	struct store_baseline_period baseline_period;
	struct trend_range range;
	struct store_alert_reported reported;
	char title[256];
	struct buf cells, culprits;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", c->commit_sha);
	/* drift of several cells is one alert, at the commit of the first */
	if (is_drift && store_alert_open_drift(t->db, c->repo, c->key, a.target_sha, err) < 0)
		return -1;
	if (store_baseline_period_get(t->db, c->baseline_period, &baseline_period, err) || trend_range(t, c, &range, err))
		return -1;
	int64_t accepted = 0;
	char upstream[sizeof a.branch];
	if (!is_drift && (store_repo_upstream_branch(t->db, c->repo, upstream, err) ||
				 store_accepted_step(
					 t->db, c->repo, upstream, c->commit_sha, baseline_period.suite, c->key, &accepted, err)))
		return -1;
	if (accepted) { /* a user has already accepted this step, on some branch */
		c->alert = accepted;
		return store_change_update(t->db, c, err);
	}
	int is_open = store_alert_reported(t->db, &a, baseline_period.suite, c->key, &reported, err);
	if (is_open < 0 || (is_open && is_reported(c, &reported, &range)))
		return is_open < 0 ? -1 : 0;
	buf_init(&cells, MESSAGE_MAX);
	buf_init(&culprits, MESSAGE_MAX);
	int result = write_cell(c, baseline_period.suite, &cells, err) ||
				     store_repo_upstream_branch(t->db, c->repo, a.branch, err) ||
				     trend_name(t, c, &range, &culprits, err)
			     ? -1
			     : 0;
	trend_title(c, &range, title, sizeof title);
	a.title = is_open && keeps_title(c, &reported, &range) ? "" : title;
	a.cells_json = cells.data;
	a.culprits_json = culprits.data;
	if (result == 0)
		result = alert_open(t->db, t->config, &a, t->now_ms, &is_new, err);
	buf_fini(&cells);
	buf_fini(&culprits);
	c->alert = a.id;
	return result ? -1 : store_change_update(t->db, c, err);
}
