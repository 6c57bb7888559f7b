/* trend_name.c - from a change point to commits, on the line of the upstream branch. */
#include "trend_name.h"

#include <stdio.h>
#include <string.h>

#include "bisect_report.h"
#include "core/changepoint.h"
#include "core/stats.h"

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
		"JOIN line q ON q.repo = p.repo AND q.sha = p.commit_sha WHERE p.epoch = r.epoch AND p.key = r.key AND "
		"p.state = 'confirmed' AND p.kind = 'step' AND NOT q.dropped AND q.place <= l.place), 0) "
		"FROM ratio r JOIN line l ON l.repo = :repo AND l.sha = r.target_sha "
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

static int name_creep(const struct trend *t, const struct store_change *c, struct buf *out, struct fw_err *err)
{
	struct point p[CHANGEPOINT_POINTS_MAX];
	int from = 0, to = 0, n = read_points(t, c, p, err);
	if (n < 0)
		return -1;
	if (!shortest(p, n, RANGE_HOLDS * c->step, &from, &to)) {
		buf_puts(out, "[]");
		return 0;
	}
	return bisect_report_range(t->db, c->repo, p[from].sha, p[to].sha, (int)(p[to].place - p[from].place),
		stats_change_pct(p[to].x - p[from].x), 0, c->key, out, err);
}

static int count_commits(const struct trend *t, const struct store_change *c, int *commits, struct fw_err *err)
{
	struct stmt *s = db_stmt(t->db,
		"SELECT (SELECT place FROM line WHERE repo = :repo AND sha = :commit) - (SELECT place FROM line WHERE repo = "
		":repo "
		"AND sha = :before)",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":commit", c->commit_sha);
	stmt_text(s, ":before", c->before_sha);
	int64_t n = 0;
	int r = stmt_first_int(s, &n, err);
	*commits = n > 0 ? (int)n : 1;
	return r < 0 ? -1 : 0;
}

int trend_name(const struct trend *t, const struct store_change *c, struct buf *out, struct fw_err *err)
{
	int commits;
	if (strcmp(c->kind, "creep") == 0)
		return name_creep(t, c, out, err);
	if (count_commits(t, c, &commits, err))
		return -1;
	return bisect_report_range(t->db, c->repo, c->before_sha, c->commit_sha, commits, stats_change_pct(c->step),
		c->comparison, c->key, out, err);
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
