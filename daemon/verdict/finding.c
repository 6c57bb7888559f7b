/* finding.c - the first sentence about a comparison, a commit or a branch. */
#include "verdict/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

/* " in 6 of 20 cells"; without the total if it is unknown, "" if the number is. Shape: out[48]. */
static void in_cells(int n, int cells, char out[48])
{
	out[0] = '\0';
	if (n > 0 && cells < n)
		snprintf(out, 48, " in %d cell%s", n, plural(n));
	else if (n > 0)
		snprintf(out, 48, " in %d of %d cell%s", n, cells, plural(cells));
}

static void print_pct(double pct, char out[32])
{
	snprintf(out, 32, pct < 1 ? "%.2f %% " : "%.1f %% ", pct);
}

static void changed(const struct finding *f, bool slower, char *out, size_t size)
{
	double pct = slower ? -f->worst_pct : f->best_pct, least_pct = slower ? -f->least_pct : f->least_pct;
	int n = slower ? f->regressions : f->improvements;
	char most[32] = "", least[32] = "", where[48];

	in_cells(n, f->cells, where);
	if (isfinite(pct) && pct > 0) {
		print_pct(pct, most);
		print_pct(least_pct, least);
	}
	snprintf(out, size, " is %s%s%s%s", n > 1 && strcmp(most, least) != 0 ? "up to " : "", most, slower ? "slower" : "faster",
		where);
}

static void undecided(const struct finding *f, char *out, size_t size)
{
	int n = snprintf(out, size, " is undecided");

	if (f->undecided > 0)
		n = snprintf(out, size, "%s in %d of %d cell%s", f->close < f->undecided ? " is undecided" : ": " VERDICT_CLOSE,
			f->undecided, f->cells, plural(f->cells));
	if (f->unchanged > 0)
		n += snprintf(out + n, size - (size_t)n, "; %d %s unchanged", f->unchanged, f->unchanged == 1 ? "is" : "are");
	if (f->accepted > 0)
		snprintf(out + n, size - (size_t)n, "; %d %s slower (accepted)", f->accepted, f->accepted == 1 ? "is" : "are");
}

/* The classes of failure that are no noun by themselves. */
static const char *describe_class(const char *why)
{
	return strcmp(why, "wrong") == 0 ? "wrong results" : strcmp(why, "oob") == 0 ? "writes out of bounds" : why;
}

static void obstacle(const struct finding *f, const char *text, char *out, size_t size)
{
	char where[48];

	in_cells(strcmp(f->why, "build") == 0 ? 0 : f->failed, f->cells, where); /* without a build the cells are not known */
	snprintf(out, size, "%s%s%s%s", text, where, *f->why ? ": " : "", describe_class(f->why));
}

/* "2 cells removed, 1 added"; "" without such cells. */
static void absences(const struct finding *f, char out[64])
{
	int n = 0;

	out[0] = '\0';
	if (f->removed > 0)
		n = snprintf(out, 64, "%d cell%s removed", f->removed, plural(f->removed));
	if (f->added > 0 && n)
		snprintf(out + n, 64 - (size_t)n, ", %d added", f->added);
	else if (f->added > 0)
		snprintf(out, 64, "%d cell%s added", f->added, plural(f->added));
}

static bool is_timed(enum verdict v)
{
	return v == VERDICT_REGRESSION || v == VERDICT_ACCEPTED || v == VERDICT_IMPROVEMENT || v == VERDICT_UNDECIDED ||
	       v == VERDICT_UNCHANGED;
}

void finding_text(const struct finding *f, char out[FINDING_SIZE])
{
	char text[200] = "", where[48], absent[64], added[100] = "";
	bool is_new = f->new_suite && *f->new_suite;

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
		absences(f, absent);
		if (is_new && f->verdict == VERDICT_UNCHANGED) {
			snprintf(text, sizeof text, " does not differ from itself%s", where);
			break;
		}
		snprintf(text, sizeof text, " is %s%s%s%s",
			f->verdict == VERDICT_IDENTICAL ? "identical to its base" : "unchanged", where,
			*absent && f->verdict == VERDICT_IDENTICAL ? "; " : "", f->verdict == VERDICT_IDENTICAL ? absent : "");
		break;
	case VERDICT_REMOVED:
	case VERDICT_ADDED:
	case VERDICT_UNSUPPORTED:
		absences(f, absent);
		if (f->removed > 0 && f->added > 0)
			snprintf(text, sizeof text, " has nothing to compare: %s", absent);
		else
			snprintf(text, sizeof text, " has nothing to compare: its cells are %s", verdict_name(f->verdict));
		break;
	case VERDICT_NONE:
		snprintf(text, sizeof text, " has no verdict yet");
		break;
	}
	bool is_accepted = f->verdict == VERDICT_ACCEPTED, is_quick = f->is_quick && is_timed(f->verdict);
	if (is_new)
		snprintf(added, sizeof added, " adds benchmark %.64s%s", f->new_suite, text[0] == ' ' ? ", which" : "");
	snprintf(out, FINDING_SIZE, "%.280s%s%s%s%s", f->subject, added, text, is_accepted ? " (accepted)" : "",
		is_quick ? " (quick comparison, not confirmed)" : "");
}
