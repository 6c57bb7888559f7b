/* culprit.c - commits of a change point on the upstream branch. */
#include "flopwatchd/history/internal.h"

#include <stdio.h>

#include "db/db.h"
#include "flopwatchd/bisect/bisect.h"
#include "stats/stats.h"

/* part of the loss that a range must hold: the steps subtracted from it are estimates */
#define RANGE_HOLDS 0.75

#define ANSWERED_NOISES 2.0 /* a point may lie this far below its level */

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
	/* Users answered for all drift up to then: only later loss counts. */
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

int trend_name(
	const struct trend *t, const struct store_change *c, const struct trend_range *range, struct buf *out, struct fw_err *err)
{
	if (!range->to[0]) {
		buf_puts(out, "[]");
		return 0;
	}
	return bisect_report_range(t->db, c->repo, range->from, range->to, range->commits, range->unmeasured, range->change_pct,
		c->comparison, c->key, out, err);
}

/* Describe where drift came from: unmeasured commits may have lost all of it at once. */
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

int trend_name_open_drift(const struct trend *t, const struct store_change *c, char *sha, struct fw_err *err)
{
	return store_alert_open_drift(t->db, c->repo, c->key, sha, err);
}
