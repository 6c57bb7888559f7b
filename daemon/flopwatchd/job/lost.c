/* lost.c - judgement of a cell without its group or earlier comparisons. */
#include "flopwatchd/job/job.h"

static void judge_alone(const struct result *r, int cell, struct judge_timed *t)
{
	struct store_cell unused;
	memset(t, 0, sizeof *t);
	judge_cell(r, cell, t, &unused);
}

bool judge_lost_in_pairs(const struct result *r, int cell)
{
	struct judge_timed t;
	judge_alone(r, cell, &t);
	return t.found.typical.want_set == 2 ||
	       (t.found.typical.verdict == VERDICT_REGRESSION && !(t.found.typical.flags & FLAG_SUSTAINED));
}

bool judge_lost_in_sustained_runs(const struct result *r, int cell)
{
	struct judge_timed t;
	judge_alone(r, cell, &t);
	return t.found.sustained.want_set == 2;
}
