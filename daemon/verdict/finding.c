/* finding.c - the first sentence about a comparison, a commit or a branch. */
#include "verdict/verdict.h"

#include <stdio.h>

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

/* " in 6 of 20 cells"; "" if the number is unknown. Shape: out[48]. */
static void in_cells(int n, int cells, char out[48])
{
	out[0] = '\0';
	if (n > 0)
		snprintf(out, 48, " in %d of %d cell%s", n, cells, plural(cells));
}

static void changed(const struct finding *f, bool slower, char *out, size_t size)
{
	double pct = slower ? -f->worst_pct : f->best_pct;
	char how[32] = "", where[48];

	in_cells(slower ? f->regressions : f->improvements, f->cells, where);
	if (isfinite(pct) && pct > 0)
		snprintf(how, sizeof how, pct < 1 ? "%.2f %% " : "%.1f %% ", pct);
	snprintf(out, size, " is %s%s%s", how, slower ? "slower" : "faster", where);
}

static void undecided(const struct finding *f, char *out, size_t size)
{
	int n = snprintf(out, size, " is undecided");

	if (f->undecided > 0)
		n = snprintf(out, size, ": too close to call in %d of %d cell%s", f->undecided, f->cells, plural(f->cells));
	if (f->unchanged > 0)
		snprintf(out + n, size - (size_t)n, "; %d %s unchanged", f->unchanged, f->unchanged == 1 ? "is" : "are");
}

static void obstacle(const struct finding *f, const char *text, char *out, size_t size)
{
	char where[48];

	in_cells(f->failed, f->cells, where);
	snprintf(out, size, "%s%s%s%s", text, where, *f->why ? ": " : "", f->why);
}

void finding_text(const struct finding *f, char out[FINDING_SIZE])
{
	char text[200] = "", where[48];

	switch (f->verdict) {
	case VERDICT_FAILED:
		obstacle(f, " failed", text, sizeof text);
		break;
	case VERDICT_REJECTED:
		obstacle(f, ": times are rejected", text, sizeof text);
		break;
	case VERDICT_NOT_COMPARABLE:
		obstacle(f, ": not comparable", text, sizeof text);
		break;
	case VERDICT_REGRESSION:
	case VERDICT_ACCEPTED:
		changed(f, true, text, sizeof text);
		break;
	case VERDICT_IMPROVEMENT:
		changed(f, false, text, sizeof text);
		break;
	case VERDICT_UNDECIDED:
		undecided(f, text, sizeof text);
		break;
	case VERDICT_UNCHANGED:
	case VERDICT_IDENTICAL:
		in_cells(f->verdict == VERDICT_UNCHANGED ? f->unchanged : 0, f->cells, where);
		snprintf(text, sizeof text, " is %s%s", f->verdict == VERDICT_IDENTICAL ? "identical to its base" : "unchanged",
			where);
		break;
	case VERDICT_REMOVED:
	case VERDICT_ADDED:
	case VERDICT_UNSUPPORTED:
		snprintf(text, sizeof text, " has nothing to compare: its cells are %s", verdict_name(f->verdict));
		break;
	case VERDICT_NONE:
		snprintf(text, sizeof text, " has no verdict yet");
		break;
	}
	snprintf(out, FINDING_SIZE, "%.280s%s%s", f->subject, text,
		f->is_quick                      ? " (quick look, not confirmed)"
		: f->verdict == VERDICT_ACCEPTED ? " (accepted)"
						 : "");
}
