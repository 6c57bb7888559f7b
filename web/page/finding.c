/* finding.c - documented in page.h. */
#include "web/page/internal.h"

struct comparison_cell *comparison_first(const struct comparison *c, enum verdict verdict)
{
	struct comparison_cell *most = NULL;
	for (int i = 0; i < c->n_cells; i++)
		if (c->cell[i].verdict == verdict &&
			(!most || fabs(comparison_judged(&c->cell[i]).change_pct) > fabs(comparison_judged(most).change_pct)))
			most = &c->cell[i];
	return most;
}

bool comparison_has_flag(const struct comparison_cell *cell, const char *flag)
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

void finding_percent(double pct, char out[FINDING_PERCENT_SIZE])
{
	snprintf(out, FINDING_PERCENT_SIZE, fabs(pct) < 1 ? "%.2f %%" : "%.1f %%", fabs(pct));
}

/* ---- the finding ------------------------------------------------------------------------------------------------------ */

/* "6 of 20 cells" of this verdict. */
static void count(const struct comparison *c, enum verdict verdict, struct buf *out)
{
	buf_printf(out, "%d of %d cell%s", comparison_count(c, verdict), c->n_cells, c->n_cells == 1 ? "" : "s");
}

/* "is 4.0 % slower in 6 of 20 cells": the cell with the largest change, and the number of cells with the same verdict. */
static void changed(const struct comparison *c, enum verdict verdict, const char *word, struct buf *out)
{
	char pct[FINDING_PERCENT_SIZE];
	struct comparison_cell *most = comparison_first(c, verdict);
	double change_pct = most ? comparison_judged(most).change_pct : NAN;
	buf_puts(out, " is ");
	if (isfinite(change_pct)) {
		finding_percent(change_pct, pct);
		buf_printf(out, "%s ", pct);
	}
	buf_printf(out, "%s in ", word);
	count(c, verdict, out);
}

static void beside(const struct comparison *c, struct buf *out)
{
	int slower = comparison_count(c, VERDICT_REGRESSION), faster = comparison_count(c, VERDICT_IMPROVEMENT);
	if (c->kind == JOBKIND_PEER)
		buf_printf(out, " next to %s: ", *c->base.provider ? c->base.provider : "another provider");
	else
		buf_puts(out, c->kind == JOBKIND_ENVIRONMENT ? " in another environment: " : " in another configuration: ");
	if (slower || faster)
		buf_printf(out, "%d slower, %d faster of %d cells", slower, faster, c->n_cells);
	else
		buf_printf(out, "%s in %d cells", verdict_word(c->kind, c->verdict), c->n_cells);
}

static const char *const texts[] = {
	[VERDICT_FAILED] = " fails in ",
	[VERDICT_REJECTED] = ": times are rejected in ",
	[VERDICT_UNDECIDED] = ": too close to call in ",
	[VERDICT_NOT_COMPARABLE] = ": not comparable in ",
};

void comparison_finding(const struct comparison *c, struct buf *out)
{
	if (*c->branch)
		branch_text(out, c->branch);
	else
		buf_printf(out, "%.10s", c->target.commit);
	if (comparison_is_side_by_side(c)) {
		beside(c, out);
	} else if (*c->identical_by) {
		buf_puts(out, " is identical to its base");
	} else if (c->verdict == VERDICT_REGRESSION) {
		changed(c, VERDICT_REGRESSION, "slower", out);
		buf_puts(out, c->around->alert && c->around->alert_state == ALERTSTATE_ACCEPTED ? ", accepted" : "");
	} else if (c->verdict == VERDICT_IMPROVEMENT) {
		changed(c, VERDICT_IMPROVEMENT, "faster", out);
	} else if (c->verdict == VERDICT_UNCHANGED) {
		buf_puts(out, c->kind == JOBKIND_SELFCHECK ? " does not differ from itself in " : " is unchanged in ");
		count(c, VERDICT_UNCHANGED, out);
	} else if ((size_t)c->verdict < sizeof texts / sizeof texts[0] && texts[c->verdict]) {
		buf_puts(out, texts[c->verdict]);
		count(c, c->verdict, out);
	} else {
		buf_puts(out, ": no cell is supported by both sides");
	}
	buf_puts(out, c->quick ? ", in a quick comparison" : "");
}

/* ---- how sure --------------------------------------------------------------------------------------------------------- */

static void count_runs(struct buf *out, const struct comparison *c)
{
	buf_printf(out, " (%d run%s%s)", c->runs, c->runs == 1 ? "" : "s", c->quick ? ", a quick comparison" : "");
}

static const char *evidence_of(const struct comparison_cell *cell)
{
	return comparison_has_flag(cell, "overwhelming") ? "chance produces this less than once in a million"
	       : cell->confirmed                         ? "confirmed by a second set of fresh runs"
							 : "seen in one set of runs";
}

/* The end of the interval that is nearer to 0, against the threshold. */
static void clearance(struct buf *out, const struct comparison *c, struct comparison_cell *cell)
{
	bool is_loss = c->verdict == VERDICT_REGRESSION;
	struct comparison_judged judged = comparison_judged(cell);
	double least_pct = is_loss ? -judged.ci_high_pct : judged.ci_low_pct;
	const char *word = is_loss ? "slower" : "faster";
	if (!isfinite(least_pct) || !isfinite(cell->threshold_pct))
		return;
	buf_printf(out, "%s: ", evidence_of(cell));
	if (least_pct >= cell->threshold_pct)
		buf_printf(out, "at least %.2f %% %s, threshold %.3g %%", least_pct, word, cell->threshold_pct);
	else
		buf_printf(out, "the interval reaches %.2f points into the threshold of %.3g %%", cell->threshold_pct - least_pct,
			cell->threshold_pct);
	count_runs(out, c);
}

/* The smallest slowdown that would have been detected in every cell; nothing where it is unknown for one of them. */
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
	buf_printf(out, "a slowdown of %.2f %% or more would be detected in any of them", least_pct);
	count_runs(out, c);
}

void comparison_sureness(const struct comparison *c, struct buf *out)
{
	size_t begin = out->len;
	int n = 0;
	double least_pct = 0;
	if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT) {
		struct comparison_cell *most = comparison_first(c, c->verdict);
		if (most)
			clearance(out, c, most);
	} else if (c->verdict == VERDICT_UNCHANGED) {
		sight(out, c);
	}
	if (out->len == begin)
		return;
	for (int i = 0; i < c->n_cells; i++)
		if (comparison_has_flag(&c->cell[i], "underpowered")) {
			n++;
			least_pct = fmax(least_pct, c->cell[i].mde_pct); /* ignores a NAN */
		}
	if (n)
		buf_printf(out, "; %d cell%s noisy", n, n == 1 ? " is" : "s are");
	if (n && least_pct > 0)
		buf_printf(out, ": slowdowns below %.1f %% may be missed", least_pct);
}
