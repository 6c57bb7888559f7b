/* cell_verdict.c - order of failures and measurements in a cell's verdict. */
#include "verdict/verdict.h"

static enum verdict blame(enum cell_cause whose, enum verdict v, enum cell_cause *cause)
{
	*cause = whose;
	return v;
}

enum verdict cell_obstacle(const struct cell_failure *t, enum cell_cause *cause)
{
	enum verdict absence = verdict_of_absence(t->base, t->target, t->may_be_absent);
	bool is_shared = !t->is_itself && t->base[0] && strcmp(t->base, t->target) == 0;

	if (absence != VERDICT_NONE && (absence != VERDICT_ADDED || t->target_does))
		return blame(CELL_ABSENT, absence, cause);
	if (t->target[0] && !is_shared)
		return blame(CELL_TARGET, verdict_of_class(t->target), cause);
	if (t->base[0])
		return blame(CELL_BASE, VERDICT_NOT_COMPARABLE, cause);
	if (t->other_inputs)
		return blame(CELL_INPUTS, VERDICT_NOT_COMPARABLE, cause);
	if (t->outside[0])
		return blame(CELL_OUTSIDE, verdict_of_outside(t->outside), cause);
	return blame(CELL_CLEAR, VERDICT_NONE, cause);
}

enum verdict cell_unmeasured(int voided)
{
	return voided > 0 ? VERDICT_REJECTED : VERDICT_UNDECIDED;
}

bool cell_estimate(const struct rule *rule, struct cell_runs *l)
{
	for (int i = 0; i < l->n; i++)
		if (!l->pairs[i].base_ms || !l->pairs[i].target_ms)
			return false;
	stats_runs(rule, l->pairs, l->n, l->estimate, &l->beta);
	return true;
}

static void count_slow(const struct rule *rule, const struct cell_runs *l, struct tail tail[MEAN_SETS])
{
	struct tail_block block[MEAN_SETS] = { { .n = 0 } };

	memset(tail, 0, MEAN_SETS * sizeof *tail);
	for (int i = 0; i < l->n; i++) {
		bool is_second = l->pairs[i].set == 2;

		if (rule->programs)
			tail_count(&tail[is_second], &l->pairs[i], l->beta);
		else
			tail_count_in_block(&tail[is_second], &block[is_second], &l->pairs[i], l->beta);
	}
}

bool cell_judge(const struct rule *general, const struct verdict_options *options, struct cell_runs *pairs,
	struct cell_runs *sustained_runs, struct cell_finding *out)
{
	struct rule of_sustained_runs = verdict_rule_of_sustained_runs(general);
	bool has_samples = cell_estimate(general, pairs);

	if (has_samples)
		count_slow(general, pairs, out->tail);
	(void)cell_estimate(&of_sustained_runs, sustained_runs); /* else they are judged by their estimates */
	verdict_of_cell(general, options, pairs->estimate, pairs->n, sustained_runs->estimate, sustained_runs->n, &out->typical,
		&out->sustained);
	out->typical.beta = pairs->beta;
	return has_samples;
}

static void decide_by_runs(const struct cell_finding *f, struct cell_verdict *out)
{
	bool in_sustained_runs = f->typical.flags & FLAG_SUSTAINED;
	const struct estimate *all = in_sustained_runs ? &f->sustained.all : &f->typical.all;

	*out = (struct cell_verdict){ .verdict = f->typical.verdict,
		.decider = in_sustained_runs ? DECIDER_SUSTAINED_RUNS : DECIDER_PAIRS,
		.flags = f->typical.flags & ~FLAG_TAIL,
		.m = all->m,
		.se = all->se };
	snprintf(out->reason, sizeof out->reason, "%s", f->typical.reason);
}

static void decide_by_mean(struct cell_verdict *out)
{
	out->verdict = out->mean.verdict;
	out->decider = DECIDER_MEAN;
	out->flags &= ~(FLAG_BORDERLINE | FLAG_SUSTAINED | FLAG_NOISY | FLAG_OVERWHELMING);
	out->flags |= out->mean.borderline ? FLAG_BORDERLINE : 0;
	out->m = out->mean.all.m;
	out->se = out->mean.all.se;
	out->reason[0] = '\0';
}

void cell_decide(const struct rule *rule, double threshold_pct, const struct cell_finding *f, const struct tail *group,
	struct cell_verdict *out)
{
	decide_by_runs(f, out);
	if (!group)
		return;
	mean_judge(rule, threshold_pct, &f->typical, f->tail, group, &out->mean);
	out->flags |= out->mean.is_tail ? FLAG_TAIL : 0;
	if (mean_decides(&out->mean, &f->typical))
		decide_by_mean(out);
	else if (!out->reason[0])
		snprintf(out->reason, sizeof out->reason, "%s", out->mean.reason);
}
