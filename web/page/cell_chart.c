/* A cell of a branch over time, next to the same cell of the upstream branch. */

#include "web/page/internal.h"

/* Draw the comparison's threshold as a band around its base. */
static int draw_threshold(struct db *db, struct trend *t, const struct cell_chart *of, struct fw_err *err)
{
	const struct chart_line *line = &t->chart.line[t->chart.n_lines - 1];
	struct headline headline;
	if (of->cost) {
		trend_limit(t, t->scale * of->base, of->limit_pct);
		return 0;
	}
	if (reported_read(db, of->comparison, of->cell, &headline, err) != 0)
		return -1;
	for (int i = 0; i < line->n; i++)
		if (line->point[i].comparison == of->comparison)
			trend_limit(t, line->point[i].base_y, headline.threshold_pct);
	return 0;
}

static int add_line(struct db *db, struct trend *t, const struct cell_chart *of, const char *branch, struct fw_err *err)
{
	struct view_scope scope = { .repo = of->repo, .branch = branch, .cell = of->cell, .metric = trend_stored(t->metric) };
	struct buf name;
	buf_init(&name, FINDING_BYTES);
	branch_text(&name, branch);
	const char *text = name.data ? name.data : "";
	int result = t->chart.n_lines ? trend_add_line(db, t, &scope, text, err) : trend_add_first(db, t, &scope, text, err);
	buf_fini(&name);
	return result;
}

int cell_chart_draw(struct db *db, struct buf *out, const struct cell_chart *of, struct fw_err *err)
{
	struct view_scope own = { .repo = of->repo, .branch = of->branch, .cell = of->cell };
	struct sparkline spark;
	struct unit unit;
	bool flops;
	int result = 0;
	if (sparkline_begin(db, of->repo, of->branch, 0, &spark, err) < 0 || trend_flops(db, &own, &flops, &unit, err) != 0)
		return -1;
	struct trend *t = trend_new(trend_metric(of->cost, flops), flops, unit);
	if (*spark.upstream)
		result = add_line(db, t, of, spark.upstream, err);
	if (result == 0 && strcmp(of->branch, spark.upstream) != 0)
		result = add_line(db, t, of, of->branch, err);
	if (result == 0)
		result = draw_threshold(db, t, of, err);
	if (result == 0) {
		trend_label(t, of->cell, false);
		chart_draw(out, &t->chart);
	}
	trend_free(t);
	return result;
}
