/* finding.c - documented in page.h. */
#include "web/page/internal.h"

#include <math.h>

struct comparison_cell *comparison_find_most_changed(const struct comparison *c, enum verdict verdict)
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
	for (const char *name = cell->flags; *name; name += strspn(name, " ")) {
		size_t n = strcspn(name, " ");
		if (n == len && memcmp(name, flag, n) == 0)
			return true;
		name += n;
	}
	return false;
}

/* ---- finding ------------------------------------------------------------------------------------------------------- */

/* Return the smallest change of the cells with this verdict. */
static double least_of(const struct comparison *c, enum verdict verdict)
{
	double least_pct = NAN;
	for (int i = 0; i < c->n_cells; i++) {
		double pct = c->cell[i].verdict == verdict ? comparison_judged(&c->cell[i]).change_pct : NAN;
		if (isfinite(pct) && !(fabs(least_pct) <= fabs(pct)))
			least_pct = pct;
	}
	return least_pct;
}

static int count_close(const struct comparison *c)
{
	int n = 0;
	for (int i = 0; i < c->n_cells; i++)
		n += c->cell[i].verdict == VERDICT_UNDECIDED && verdict_is_close(c->cell[i].reason);
	return n;
}

static double change_of(const struct comparison *c, enum verdict verdict)
{
	struct comparison_cell *most = comparison_find_most_changed(c, verdict);
	return most ? comparison_judged(most).change_pct : NAN;
}

static void put_change(struct buf *out, int n, const char *of, double most_pct, const char *direction)
{
	buf_printf(out, "%d%s", n, of);
	if (isfinite(most_pct))
		buf_printf(out, "%s %.1f %%", n > 1 ? " up to" : "", fabs(most_pct));
	buf_printf(out, " %s", direction);
}

bool finding_counts(struct buf *out, const struct change_counts *m)
{
	char of[40];
	snprintf(of, sizeof of, " of %d cell%s", m->cells, m->cells == 1 ? "" : "s");
	if (m->slower)
		put_change(out, m->slower, of, m->worst_pct, "slower");
	if (m->slower && m->faster)
		buf_puts(out, ", ");
	if (m->faster)
		put_change(out, m->faster, m->slower ? "" : of, m->best_pct, "faster");
	return m->slower || m->faster;
}

static void side_by_side(const struct comparison *c, struct buf *out)
{
	if (c->kind == JOBKIND_PEER)
		buf_printf(out, " next to %s: ", *c->base.provider ? c->base.provider : "another provider");
	else
		buf_puts(out, c->kind == JOBKIND_ENVIRONMENT ? " in another environment: " : " in another configuration: ");
	const struct change_counts counts = { .cells = c->n_cells,
		.slower = comparison_count(c, VERDICT_REGRESSION),
		.faster = comparison_count(c, VERDICT_IMPROVEMENT),
		.worst_pct = change_of(c, VERDICT_REGRESSION),
		.best_pct = change_of(c, VERDICT_IMPROVEMENT) };
	if (!finding_counts(out, &counts))
		buf_printf(out, "%s in %d cells", verdict_label(c->kind, c->verdict), c->n_cells);
	buf_puts(out, c->quick ? ", in a quick comparison" : "");
}

/* Return the class of the first failure. */
static const char *failure_of(const struct comparison *c)
{
	for (int i = 0; i < c->n_cells; i++)
		if (c->cell[i].verdict == c->verdict && *c->cell[i].failure)
			return c->cell[i].failure;
	return "";
}

static void write_verdict(const struct comparison *c, const char *subject, struct buf *out)
{
	bool is_accepted = c->verdict == VERDICT_REGRESSION && c->around->is_accepted;
	struct finding f = { .subject = subject,
		.verdict = *c->identical_by ? VERDICT_IDENTICAL
			   : is_accepted    ? c->around->effective
					    : c->verdict,
		.cells = c->n_cells,
		.regressions = comparison_count(c, VERDICT_REGRESSION),
		.accepted = is_accepted ? comparison_count(c, VERDICT_REGRESSION) : 0,
		.improvements = comparison_count(c, VERDICT_IMPROVEMENT),
		.undecided = comparison_count(c, VERDICT_UNDECIDED),
		.close = count_close(c),
		.removed = comparison_count(c, VERDICT_REMOVED),
		.added = comparison_count(c, VERDICT_ADDED),
		.unchanged = comparison_count(c, VERDICT_UNCHANGED),
		.failed = comparison_count(c, c->verdict),
		.worst_pct = change_of(c, VERDICT_REGRESSION),
		.best_pct = change_of(c, VERDICT_IMPROVEMENT),
		.least_pct = least_of(c, c->verdict),
		.why = failure_of(c),
		.is_quick = c->quick,
		.new_suite = c->is_new ? c->suite : NULL };
	char text[FINDING_SIZE];
	finding_text(&f, text);
	buf_puts(out, text);
}

void comparison_finding(const struct comparison *c, struct buf *out)
{
	struct buf subject;
	buf_init(&subject, FINDING_BYTES);
	if (*c->branch)
		branch_text(&subject, c->branch);
	else
		buf_printf(&subject, "%.10s", c->target.commit);
	if (comparison_is_side_by_side(c)) {
		if (!*c->branch && *c->around->branch) {
			buf_puts(&subject, " of ");
			branch_text(&subject, c->around->branch);
		}
		buf_puts(out, subject.data);
		side_by_side(c, out);
	} else if (c->kind == JOBKIND_SELFCHECK && !c->is_new && c->verdict == VERDICT_UNCHANGED && !*c->identical_by) {
		buf_printf(out, "%s does not differ from itself in %d of %d cell%s", subject.data,
			comparison_count(c, VERDICT_UNCHANGED), c->n_cells, c->n_cells == 1 ? "" : "s");
	} else {
		write_verdict(c, subject.data, out);
	}
	out->failed |= subject.failed;
	buf_fini(&subject);
}

/* ---- certainty ----------------------------------------------------------------------------------------------------- */

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

/* Write the end of the interval that is nearer to 0, against the threshold. */
static void put_distance(struct buf *out, const struct comparison *c, struct comparison_cell *cell)
{
	bool is_slower = c->verdict == VERDICT_REGRESSION;
	struct comparison_judged judged = comparison_judged(cell);
	double least_pct = is_slower ? -judged.ci_high_pct : judged.ci_low_pct;
	const char *direction = is_slower ? "slower" : "faster";
	if (!isfinite(least_pct) || !isfinite(cell->threshold_pct))
		return;
	buf_printf(out, "%s: ", evidence_of(cell));
	if (least_pct >= cell->threshold_pct)
		buf_printf(out, "at least %.2f %% %s, threshold %.3g %%", least_pct, direction, cell->threshold_pct);
	else
		buf_printf(out, "the interval reaches %.2f points into the threshold of %.3g %%", cell->threshold_pct - least_pct,
			cell->threshold_pct);
	count_runs(out, c);
}

/* Write the smallest slowdown that would have been detected in every cell; nothing if it is unknown for one of them. */
static void put_detectable(struct buf *out, const struct comparison *c)
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

void comparison_evidence(const struct comparison *c, struct buf *out)
{
	size_t begin = out->len;
	int n = 0;
	double least_pct = 0;
	if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT) {
		struct comparison_cell *most = comparison_find_most_changed(c, c->verdict);
		if (most)
			put_distance(out, c, most);
	} else if (c->verdict == VERDICT_UNCHANGED) {
		put_detectable(out, c);
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
