#include "web/page/internal.h"

#include "web/html/html.h"

/* ---- the sentence ----------------------------------------------------------------------------------------------------- */

static int count(const struct comparison *c, enum verdict verdict)
{
	int n = 0;
	for (int i = 0; i < c->n_cells; i++)
		n += c->cell[i].verdict == verdict;
	return n;
}

/* Of the cells with this verdict the one that moved most. */
static struct comparison_cell *first_of(const struct comparison *c, enum verdict verdict)
{
	struct comparison_cell *most = NULL;
	for (int i = 0; i < c->n_cells; i++)
		if (c->cell[i].verdict == verdict &&
			(!most || fabs(comparison_judged(&c->cell[i]).change_pct) > fabs(comparison_judged(most).change_pct)))
			most = &c->cell[i];
	return most;
}

static void name_cell(struct buf *out, const struct comparison_cell *cell)
{
	emit_rawf(out, "<a href=\"?open=%d#c%d\" data-cell=c%d>", cell->n, cell->n, cell->n);
	layout_case(out, cell->key, cell->title, cell->size);
	emit_raw(out, " ");
	emit_text(out, cell->direction);
	emit_raw(out, "</a>");
}

static void moved_cell(struct buf *out, struct comparison_cell *cell)
{
	struct comparison_judged judged = comparison_judged(cell);
	layout_decided(out, judged.change_pct, true);
	if (cell->decided_by == DECIDER_SUSTAINED_RUNS)
		emit_raw(out, " in sustained runs, once clocks settle under its power draw,");
	if (cell->decided_by == DECIDER_MEAN) {
		emit_raw(out, " on average, since ");
		emit_text(out, comparison_text(comparison_decided(cell), "text"));
		emit_raw(out, ",");
	}
	emit_raw(out, " in ");
	name_cell(out, cell);
	if (isfinite(judged.ci_low_pct)) {
		emit_raw(out, " (95 % interval ");
		layout_signed(out, judged.ci_low_pct, 2);
		emit_raw(out, " \u2026 ");
		layout_signed(out, judged.ci_high_pct, 2);
		emit_raw(out, ")");
	}
}

static void improvement_sentence(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *best = first_of(c, VERDICT_IMPROVEMENT);
	emit_rawf(out, "%d of %d cells are faster by more than their threshold, and none is slower",
		count(c, VERDICT_IMPROVEMENT), c->n_cells);
	if (!best)
		return;
	emit_raw(out, "; the best is ");
	moved_cell(out, best);
}

static void regression_sentence(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *w = first_of(c, VERDICT_REGRESSION);
	emit_rawf(out, "%d of %d cells are slower by more than their threshold", count(c, VERDICT_REGRESSION), c->n_cells);
	if (!w)
		return;
	const char *cause = comparison_decided(w) ? NULL : comparison_cause(w);
	emit_raw(out, "; the worst is ");
	moved_cell(out, w);
	if (cause) {
		emit_raw(out, ", where phase <b>");
		emit_text(out, cause);
		emit_raw(out, "</b> moved");
	}
	if (w->borderline)
		emit_raw(out, " (borderline: decided at the last run, by its sign or its interval)");
}

/* Rows of which there was nothing to compare, after what is said of the others. */
static void absences(struct buf *out, const struct comparison *c)
{
	static const struct {
		enum verdict verdict;
		const char *text;
	} said[] = { { VERDICT_REMOVED, "removed" }, { VERDICT_ADDED, "added" },
		{ VERDICT_UNSUPPORTED, "supported by neither side" } };
	int n_said = 0;
	if (comparison_is_side_by_side(c))
		return;
	for (int i = 0; i < 3; i++) {
		int n = count(c, said[i].verdict);
		if (n)
			emit_rawf(out, "%s%d %s", n_said++ ? ", " : "; not compared: ", n, said[i].text);
	}
}

static int n_compared(const struct comparison *c)
{
	return c->n_cells - count(c, VERDICT_REMOVED) - count(c, VERDICT_ADDED) - count(c, VERDICT_UNSUPPORTED);
}

static void sentence(struct buf *out, const struct comparison *c)
{
	emit_raw(out, "<p class=lead>");
	layout_verdict(out, verdict_word(c->kind, c->verdict));
	emit_raw(out, " ");
	if (comparison_is_side_by_side(c))
		comparison_peer_sentence(out, c);
	else if (c->verdict == VERDICT_REGRESSION)
		regression_sentence(out, c);
	else if (*c->identical_by)
		emit_rawf(out, "Both sides %s, so nothing was timed",
			strcmp(c->identical_by, "tree") == 0 ? "are the same source tree"
			: comparison_is_of_programs(c)       ? "run the same files in the same way"
							     : "are the same compiled module");
	else if (c->verdict == VERDICT_UNCHANGED && c->kind == JOBKIND_SELFCHECK)
		emit_rawf(out, "Against itself none of %d cells differs; there was no base to compare with", n_compared(c));
	else if (c->verdict == VERDICT_UNCHANGED)
		emit_rawf(out, "None of %d cells is slower by more than its threshold", n_compared(c));
	else if (c->verdict == VERDICT_IMPROVEMENT)
		improvement_sentence(out, c);
	else if (c->verdict == VERDICT_UNDECIDED)
		emit_rawf(out, "%d of %d cells are undecided; open one to see how many runs it needs",
			count(c, VERDICT_UNDECIDED), c->n_cells);
	else if (c->verdict == VERDICT_FAILED)
		emit_rawf(out, "%d of %d cells of the target failed", count(c, VERDICT_FAILED), c->n_cells);
	else if (c->verdict == VERDICT_REJECTED)
		emit_rawf(out, "The times of %d of %d cells are rejected", count(c, VERDICT_REJECTED), c->n_cells);
	else if (c->verdict == VERDICT_NOT_COMPARABLE)
		emit_rawf(out, "%d of %d cells are not comparable; their rows give the reasons", count(c, VERDICT_NOT_COMPARABLE),
			c->n_cells);
	else
		emit_raw(out, "No cell is supported by both sides");
	absences(out, c);
	emit_raw(out, ".</p>\n");
}

/* ---- how sure, and why ------------------------------------------------------------------------------------------------ */

static void count_runs(struct buf *out, const struct comparison *c)
{
	emit_rawf(out, " (%d run%s%s)", c->runs, c->runs == 1 ? "" : "s", c->quick ? ", a quick look" : "");
}

static bool has_flag(const struct comparison_cell *cell, const char *flag)
{
	size_t len = strlen(flag);
	for (const char *word = cell->flags; *word; word += strspn(word, " ")) {
		size_t n = strcspn(word, " ");
		if (n == len && memcmp(word, flag, n) == 0)
			return true;
		word += n;
	}
	return false;
}

/* What stands behind the call, beside its interval. */
static const char *evidence_of(const struct comparison_cell *cell, double sign)
{
	if (has_flag(cell, "overwhelming"))
		return ", and chance produces as much less than once in a million";
	if (cell->confirmed)
		return ", and a second set of fresh runs confirms it";
	return sign < 0 ? ", in one set of runs" : "";
}

/* How far the interval of what moved lies beyond its threshold; `sign` -1 for a loss. */
static void clearance(struct buf *out, const struct comparison *c, struct comparison_cell *cell, double sign)
{
	struct comparison_judged judged = comparison_judged(cell);
	double near_pct = sign < 0 ? -judged.ci_high_pct : judged.ci_low_pct, beyond = near_pct - cell->threshold_pct;
	if (!isfinite(beyond))
		return;
	emit_raw(out, sign < 0 ? "<p><b>How sure:</b> the interval of the worst cell "
			       : "<p><b>How sure:</b> the interval of the best cell ");
	if (beyond >= 0)
		emit_rawf(out, "is beyond its threshold of %.3g\u00a0%% by %.2f points", cell->threshold_pct, beyond);
	else
		emit_rawf(out, "still reaches into its threshold of %.3g\u00a0%%, by %.2f points", cell->threshold_pct, -beyond);
	emit_raw(out, evidence_of(cell, sign));
	count_runs(out, c);
}

/* The smallest loss that would have been called in every cell; nothing where it is not known of one. */
static void sight(struct buf *out, const struct comparison *c)
{
	double least_pct = 0;
	for (int i = 0; i < c->n_cells; i++) {
		if (c->cell[i].verdict != VERDICT_UNCHANGED)
			continue;
		if (!isfinite(c->cell[i].mde_pct))
			return;
		least_pct = fmax(least_pct, c->cell[i].mde_pct);
	}
	if (!(least_pct > 0))
		return;
	emit_rawf(out, "<p><b>How sure:</b> a slowdown of %.2f\u00a0%% or more would be detected in any of them", least_pct);
	count_runs(out, c);
}

/* What the first cell with this verdict says of itself. */
static void first_reason(struct buf *out, const struct comparison *c, enum verdict verdict)
{
	const struct comparison_cell *cell = NULL;
	for (int i = 0; i < c->n_cells && !cell; i++)
		if (c->cell[i].verdict == verdict && (*c->cell[i].failure || *c->cell[i].reason))
			cell = &c->cell[i];
	if (!cell)
		return;
	emit_raw(out, "<p><b>Why:</b> ");
	name_cell(out, cell);
	emit_raw(out, *cell->failure ? " is " : ": ");
	emit_text(out, cell->failure);
	if (*cell->failure && *cell->reason)
		emit_raw(out, ": ");
	emit_text(out, cell->reason);
}

static void how_sure(struct buf *out, const struct comparison *c)
{
	size_t begin = out->len;
	int n_underpowered = 0;
	if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT) {
		struct comparison_cell *most = first_of(c, c->verdict);
		if (most)
			clearance(out, c, most, c->verdict == VERDICT_REGRESSION ? -1 : 1);
	} else if (c->verdict == VERDICT_UNCHANGED) {
		sight(out, c);
	} else {
		first_reason(out, c, c->verdict);
	}
	if (out->len == begin)
		return;
	for (int i = 0; i < c->n_cells; i++)
		n_underpowered += has_flag(&c->cell[i], "underpowered");
	if (n_underpowered)
		emit_rawf(out, ". In %d cell%s runs of equal builds vary too much to show a loss of the threshold",
			n_underpowered, n_underpowered == 1 ? "" : "s");
	emit_raw(out, ".</p>\n");
}

/* Another configuration of the same provider needs no profile to be seen. */
static void reconfigured(struct buf *out, const struct comparison *c)
{
	struct comparison_cell *most = first_of(c, c->verdict);
	int n = 0;
	if (c->verdict != VERDICT_REGRESSION || !most || !comparison_is_reconfigured(most))
		return;
	for (int i = 0; i < c->n_cells; i++)
		n += c->cell[i].verdict == VERDICT_REGRESSION && comparison_is_reconfigured(&c->cell[i]);
	emit_rawf(out, "<p><b>Another configuration</b> in %d of them; the worst ran ", n);
	emit_raw(out, "<code>");
	emit_text(out, most->base_config);
	emit_raw(out, "</code>, now <code>");
	emit_text(out, most->target_config);
	emit_raw(out, "</code>.</p>\n");
}

int comparison_lead(struct db *db, struct buf *out, const struct comparison *c, struct fw_err *err)
{
	int result = 0;
	emit_raw(out, "<div class=said>");
	sentence(out, c);
	if (!comparison_is_side_by_side(c)) {
		how_sure(out, c);
		reconfigured(out, c);
		result = c->around->alert ? explained_line(db, out, c->around->alert, err) : 0;
	}
	emit_raw(out, "</div>\n");
	return result;
}
