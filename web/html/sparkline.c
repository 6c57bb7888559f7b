#include "web/html/html.h"

#include <math.h>

struct points {
	double speed[SPARKLINE_UPSTREAM + SPARKLINE_OWN]; /* newest first, as a history is read */
	bool slowdown[SPARKLINE_UPSTREAM + SPARKLINE_OWN];
	int n;
	bool flops;
};

int sparkline_begin(struct db *db, const char *repo, const char *branch, int64_t last, struct sparkline *out, struct fw_err *err)
{
	int64_t id;
	*out = (struct sparkline){ .repo = repo, .branch = branch, .last = last };
	int found = store_repo_find(db, repo, &id, err);
	return found < 1 ? found : store_repo_upstream_branch(db, id, out->upstream, err);
}

static void take(void *arg, const struct view_point *row)
{
	struct points *p = arg;
	p->flops = isfinite(row->tflops);
	p->speed[p->n] = p->flops ? row->tflops : 1e3 / row->median_ms;
	p->slowdown[p->n++] = row->verdict == VERDICT_REGRESSION;
}

int sparkline_draw(struct buf *out, struct db *db, const struct sparkline *spark, const char *cell, struct fw_err *err)
{
	struct points p = { .n = 0 };
	struct view_scope of = { .repo = spark->repo, .branch = spark->branch, .cell = cell, .last = spark->last };
	bool is_upstream = strcmp(spark->branch, spark->upstream) == 0;
	bool has_points = spark->last > 0; /* a scope up to 0 would have no upper end */
	if (has_points && *spark->branch && !is_upstream && view_history(db, &of, SPARKLINE_OWN, take, &p, err) != 0)
		return -1;
	int n_own = p.n;
	of.branch = spark->upstream;
	if (has_points && *spark->upstream && view_history(db, &of, SPARKLINE_UPSTREAM, take, &p, err) != 0)
		return -1;
	if (p.n < 2) {
		emit_raw(out, "<span class=dim>\u2013</span>");
		return 0;
	}
	double y[SPARKLINE_UPSTREAM + SPARKLINE_OWN];
	bool slowdown[SPARKLINE_UPSTREAM + SPARKLINE_OWN];
	char label[128];
	for (int i = 0; i < p.n; i++) {
		y[i] = p.speed[p.n - 1 - i];
		slowdown[i] = p.slowdown[p.n - 1 - i];
	}
	snprintf(label, sizeof label, "%s over %d pushes, the last %d of this branch: from %.4g to %.4g",
		p.flops ? "TFLOP/s" : "calls a second", p.n, is_upstream ? p.n : n_own, y[0], y[p.n - 1]);
	mark_spark(out, y, slowdown, p.n, label);
	return 0;
}
