#include "db/internal.h"

/* The interval of sustained runs is a metric; that of the mean call follows from mean_m and mean_se. */
#define END_OF(which)                                                                                                            \
	"CASE k.decided_by WHEN 'sustained' THEN (SELECT t.value FROM metric t JOIN metric_name w ON w.id = t.name "             \
	"WHERE t.cell = k.id AND w.name = 'sustained." which "') ELSE k." which " END"

#define CHANGED "FROM cell b WHERE b.comparison = c.id AND b.verdict = c.verdict) "

#define ABSENT(verdict)                                                                                                          \
	"CASE WHEN c.verdict IN ('identical', 'removed', 'added', 'unsupported') THEN (SELECT count(*) FROM cell b WHERE "       \
	"b.comparison = c.id AND b.verdict = '" verdict "') ELSE 0 END"

#define HEADLINE_SELECT                                                                                                                       \
	"SELECT k.key, k.title, k.direction, k.size, k.n, coalesce(k.decided_pct, k.change_pct), " END_OF("ci_low_pct") ", " END_OF(          \
		"ci_high_pct") ", k.failure, k.reason, CASE WHEN c.verdict = 'regression' THEN c.n_regressions "                              \
			       "WHEN c.verdict IN ('unchanged', 'identical') THEN 0 ELSE (SELECT count(*) FROM cell b WHERE b.comparison = "  \
			       "c.id AND b.verdict = c.verdict) END, c.n_cells, k.decided_by, k.mean_m, k.mean_se, k.threshold_pct, "         \
			       "CASE c.verdict WHEN 'regression' THEN (SELECT max(coalesce(b.decided_pct, b.change_pct)) " CHANGED            \
			       "WHEN 'improvement' THEN (SELECT min(coalesce(b.decided_pct, b.change_pct)) " CHANGED "END, "                  \
			       "CASE WHEN c.verdict = 'undecided' THEN (SELECT count(*) FROM cell b WHERE b.comparison = c.id AND b.verdict " \
			       "= 'undecided' AND substr(b.reason, 1, length('" VERDICT_CLOSE "')) = '" VERDICT_CLOSE                         \
			       "') ELSE 0 END, " ABSENT("removed") ", " ABSENT("added") " FROM "                                              \
											"comparison c JOIN cell k ON k."

static int pass_first(struct stmt *s, view_headline_fn *each, void *arg, struct fw_err *err)
{
	struct view_headline row = { 0 };
	enum decider decider;
	double m, se;
	int result = stmt_next(s, err, row.key, row.title, row.direction, row.size, row.n, row.change_pct, row.low_pct,
		row.high_pct, row.failure, row.reason, row.alike, row.cells, COLUMN_NAMED(decider, decider_from_name), m, se,
		row.threshold_pct, row.least_pct, row.close, row.removed, row.added);
	if (result != 1)
		return result;
	if (decider == DECIDER_MEAN && isfinite(m) && isfinite(se)) {
		row.low_pct = stats_change_pct(m + MEAN_CI * se); /* a longer time is a lower throughput */
		row.high_pct = stats_change_pct(m - MEAN_CI * se);
	}
	each(arg, &row);
	stmt_reset(s);
	return 0;
}

int view_headline(struct db *db, int64_t comparison, view_headline_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		HEADLINE_SELECT
		"id = CASE WHEN c.verdict = 'improvement' THEN " CELL_BEST "WHEN c.verdict IN ('failed', 'rejected') "
		"THEN (SELECT b.id FROM cell b WHERE b.comparison = c.id AND b.verdict = c.verdict ORDER BY b.n LIMIT 1) WHEN "
		"c.worst_key <> '' THEN (SELECT b.id FROM cell b WHERE b.comparison = c.id AND b.key = c.worst_key) ELSE (SELECT "
		"b.id FROM cell b WHERE b.comparison = c.id ORDER BY b.n LIMIT 1) END WHERE c.id = :comparison",
		"comparison=%ld", comparison);
	return pass_first(s, each, arg, err);
}

int view_reported(struct db *db, int64_t comparison, const char *key, view_headline_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, HEADLINE_SELECT "comparison = c.id AND k.key = :key WHERE c.id = :comparison",
		"comparison=%ld key=%s", comparison, key);
	return pass_first(s, each, arg, err);
}
