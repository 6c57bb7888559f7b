/* culprit.c - from a change point to commits, on the line of the upstream branch. */
#include "flopwatchd/history/culprit.h"

#include <stdio.h>
#include <string.h>

#include "flopwatchd/bisect/report.h"
#include "core/stats/changepoint.h"
#include "core/stats/stats.h"

/* The share of the loss that a range has to hold. */
#define RANGE_HOLDS 0.9

struct point {
	char sha[65];
	int64_t place;
	double x; /* log ratio to the anchor, without the steps that were told */
};

/** The series of an epoch's cell along the branch, at most the last CHANGEPOINT_POINTS_MAX. Returns their number, -1. */
static int read_points(const struct trend *t, const struct store_change *c, struct point *points, struct fw_err *err)
{
	struct stmt *s = db_stmt(t->db,
		"SELECT l.sha, l.place, avg(r.x) - coalesce((SELECT sum(p.step) FROM change_point p "
		"JOIN mainline q ON q.repo = p.repo AND q.sha = p.commit_sha WHERE p.epoch = r.epoch AND p.key = r.key AND "
		"p.state = 'confirmed' AND p.kind = 'step' AND NOT q.dropped AND q.place <= l.place), 0) "
		"FROM ratio r JOIN mainline l ON l.repo = :repo AND l.sha = r.target_sha "
		"WHERE r.epoch = :epoch AND r.key = :key AND NOT l.dropped GROUP BY l.sha ORDER BY l.place DESC LIMIT :limit",
		err);
	int n = 0, r;
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_int(s, ":epoch", c->epoch);
	stmt_text(s, ":key", c->key);
	stmt_int(s, ":limit", CHANGEPOINT_POINTS_MAX);
	while ((r = stmt_step(s, err)) == 1) {
		row_copy(s, 0, points[n].sha, sizeof(points[n].sha));
		points[n].place = row_int(s, 1);
		points[n++].x = row_double(s, 2);
	}
	return r < 0 ? -1 : n;
}

/** Newest first in `p`: the pair with the fewest commits between which `loss` came. */
static bool shortest(const struct point *p, int n, double loss, int *from, int *to)
{
	int64_t best = INT64_MAX;
	for (int b = 0; b < n; b++)
		for (int a = b + 1; a < n; a++)
			if (p[b].x - p[a].x >= loss && p[b].place - p[a].place < best) {
				best = p[b].place - p[a].place;
				*from = a;
				*to = b;
			}
	return best < INT64_MAX;
}

/** Commits after one place up to another, and those among them without a point. */
static int count_commits(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err)
{
	struct stmt *s = db_stmt(t->db,
		"SELECT count(*), total(NOT EXISTS (SELECT 1 FROM ratio r WHERE r.epoch = :epoch AND r.key = :key AND "
		"r.target_sha = l.sha)) FROM mainline l WHERE l.repo = :repo AND NOT l.dropped AND l.place > (SELECT place FROM "
		"mainline "
		"WHERE "
		"repo = :repo AND sha = :from) AND l.place <= (SELECT place FROM mainline WHERE repo = :repo AND sha = :to)",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":epoch", c->epoch);
	stmt_text(s, ":key", c->key);
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":from", out->from);
	stmt_text(s, ":to", out->to);
	int r = stmt_step(s, err);
	if (r == 1) {
		out->commits = row_int(s, 0) > 0 ? (int)row_int(s, 0) : 1;
		out->unmeasured = (int)row_int(s, 1);
	}
	stmt_reset(s);
	return r < 0 ? -1 : 0;
}

static int range_of_creep(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err)
{
	struct point p[CHANGEPOINT_POINTS_MAX];
	int from = 0, to = 0, n = read_points(t, c, p, err);
	if (n < 0 || !shortest(p, n, RANGE_HOLDS * c->step, &from, &to))
		return n < 0 ? -1 : 0;
	snprintf(out->from, sizeof(out->from), "%s", p[from].sha);
	snprintf(out->to, sizeof(out->to), "%s", p[to].sha);
	out->is_whole = from == to + 1;
	out->change_pct = stats_change_pct(p[to].x - p[from].x);
	return count_commits(t, c, out, err);
}

int trend_range(const struct trend *t, const struct store_change *c, struct trend_range *out, struct fw_err *err)
{
	*out = (struct trend_range){ .is_whole = true, .change_pct = stats_change_pct(c->step) };
	if (strcmp(c->kind, "creep") == 0)
		return range_of_creep(t, c, out, err);
	snprintf(out->from, sizeof(out->from), "%s", c->before_sha);
	snprintf(out->to, sizeof(out->to), "%s", c->commit_sha);
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

/* Where creep came from: what nobody measured may have lost all of it at once. */
static void place_of_creep(const struct trend_range *range, char *out, size_t size)
{
	if (range->to[0] && range->is_whole && range->commits > 1)
		snprintf(out, size, "between %.12s and %.12s, where %d commit%s not measured", range->from, range->to,
			range->unmeasured, range->unmeasured == 1 ? " was" : "s were");
	else if (range->to[0] && range->is_whole)
		snprintf(out, size, "at %.12s, whose own comparison did not tell it", range->to);
	else
		snprintf(out, size, "although no commit%s lost that much", range->unmeasured ? " that was measured" : "");
}

void trend_title(const struct store_change *c, const struct trend_range *range, char *out, size_t size)
{
	double pct = -stats_change_pct(c->step);
	char where[160];
	if (strcmp(c->kind, "creep") == 0) {
		place_of_creep(range, where, sizeof(where));
		snprintf(out, size, "%.2f %% lost since the anchor %.12s, %s", pct, c->before_sha, where);
	} else if (range->commits > 1) {
		snprintf(out, size, "%.2f %% lost between %.12s and %.12s, seen in the history", pct, range->from, range->to);
	} else {
		snprintf(out, size, "%.2f %% lost at %.12s, seen in the history", pct, range->to);
	}
}

int trend_name_open_creep(const struct trend *t, int64_t repo, char *sha, struct fw_err *err)
{
	struct stmt *s = db_stmt(t->db,
		"SELECT target_sha FROM alert WHERE repo = :repo AND kind = 'creep' AND state IN ('open', 'acknowledged') "
		"ORDER BY id DESC LIMIT 1",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", repo);
	return stmt_first_text(s, sha, 65, err);
}
