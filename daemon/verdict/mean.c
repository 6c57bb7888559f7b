/* mean.c - shares of a group, lengths of a cell, and the sequential decision on the mean. */
#include "verdict/verdict.h"

#include <math.h>

#define P_FIRST    0.001 /* chance of more frequent slow calls, for the first set of runs */
#define P_AGAIN    0.01  /* for the confirming one */
#define P_SUSPECT  0.1   /* worth more runs */
#define P_NEW      0.25  /* the same if the other side has none */
#define P_SEPARATE 0.001 /* that a cell's share equals its group's */
#define CALM       1.5   /* margins below the threshold at which a confirming set overrules the first */
#define MEAN_K     2     /* standard errors of the contribution of slow calls, in a decision */

enum { SPREAD_MIN = 3 }; /* slow calls required to estimate the noise of their lengths */

/* Evidence of one set of runs, or both, for more frequent slow calls on side `more`. */
struct set_evidence {
	int runs;
	double p; /* chance: in its own calls, or in its group's if the group has some; 1 if irrelevant */
	bool is_suspect;
	struct mean mean;
};

struct evidence {
	const struct rule *rule;
	double theta;
	const struct judgement *pairs;
	struct tail own, group; /* of the current set */
	struct tail own_all, group_all;
};

/* True if a cell's shares may equal those of its group. */
static bool is_alike(const struct tail *own, const struct tail *group)
{
	int rest = group->calls - own->calls;

	for (int k = 0; k < 2 && rest > 0; k++) {
		int slow = own->side[k].slow, others = group->side[k].slow - slow;

		if (stats_fisher(others, rest, slow, own->calls) < P_SEPARATE ||
			stats_fisher(slow, own->calls, others, rest) < P_SEPARATE)
			return false;
	}
	return true;
}

static double longer_of(const struct tail_side *s)
{
	return s->slow ? s->longer / s->slow : 0;
}

static double longer_variance(const struct tail_side *own, const struct tail_side *group)
{
	const struct tail_side *from = own->slow >= SPREAD_MIN ? own : group;
	double mean = longer_of(from), n = own->slow ? own->slow : group->slow;

	if (from->slow < SPREAD_MIN)
		return mean * mean / (n > 0 ? n : 1); /* unknown: as long again, or not at all */
	return fmax(0, from->squares / from->slow - mean * mean) * from->slow / (from->slow - 1) / n;
}

static struct mean estimate_mean(const struct evidence *e, bool alike)
{
	const struct tail *counted = alike ? &e->group : &e->own;
	const struct estimate *typical = &e->pairs->all;
	struct mean out = { .m = typical->m };
	double variance = 0;

	for (int k = 0; k < 2; k++) {
		const struct tail_side *own = &e->own_all.side[k], *group = &e->group_all.side[k];

		out.share[k] = tail_share(counted, (enum tail_which)k);
		out.longer[k] = longer_of(own->slow ? own : group);
	}
	for (int k = 0; k < 2; k++) {
		const struct tail_side *own = &e->own_all.side[k], *group = &e->group_all.side[k];
		double share = out.share[k], longer = out.longer[k] > 0 ? out.longer[k] : out.longer[1 - k];
		double sampled = longer * longer * tail_share_variance(counted, (enum tail_which)k);

		variance += (sampled + share * share * longer_variance(own, group)) / pow(1 + share * longer, 2);
		out.m += (k == TAIL_TARGET ? 1 : -1) * log1p(share * out.longer[k]);
	}
	out.se = hypot(typical->se, sqrt(variance));
	out.margin = hypot(typical->margin, MEAN_K * sqrt(variance));
	return out;
}

static struct set_evidence set_evidence(const struct evidence *e, enum tail_which more)
{
	enum tail_which less = more == TAIL_TARGET ? TAIL_BASE : TAIL_TARGET;
	bool alike = is_alike(&e->own, &e->group), has_some = e->own_all.side[more].slow > e->own_all.side[less].slow;
	double own = tail_p(&e->own, more), group = alike ? tail_p(&e->group, more) : 1;
	double p_own = tail_matters(&e->own, more, e->theta) ? own : 1,
	       p_group = tail_matters(&e->group, more, e->theta) ? group : 1;

	return (struct set_evidence){ .runs = e->own.runs,
		.p = has_some ? fmin(p_own, p_group) : p_own,
		.is_suspect = fmin(own, group) < (e->group_all.side[less].slow ? P_SUSPECT : P_NEW),
		.mean = estimate_mean(e, alike) };
}

static bool is_enough(const struct rule *r, const struct set_evidence *l)
{
	return l->runs >= r->runs_ok_min || l->runs >= r->runs_max;
}

static bool is_last(const struct rule *r, const struct set_evidence *l)
{
	return l->runs >= r->runs_max;
}

/* Decide the first set of runs, as stats_decide does for pairs: DECISION_OK gives no verdict. `sign`: 1 a slowdown, -1 a gain. */
static enum decision decide(const struct evidence *e, const struct set_evidence *l, int sign, bool *borderline)
{
	const struct rule *r = e->rule;
	double m = sign * l->mean.m;

	*borderline = false;
	if (l->p < P_FIRST && is_enough(r, l) && m - l->mean.margin > e->theta)
		return DECISION_REGRESSION;
	if (m + l->mean.margin < e->theta && is_enough(r, l))
		return DECISION_OK;
	if (!is_last(r, l))
		return l->is_suspect ? DECISION_MORE : DECISION_OK;
	*borderline = l->p < P_FIRST && m > e->theta && r->runs_max >= r->runs_regression_min && sign > 0;
	return *borderline ? DECISION_REGRESSION : DECISION_OK;
}

/* The confirming set shows the change again by itself, and both together are certain. `sign` as above. */
static enum decision confirm(
	const struct evidence *e, const struct set_evidence *l, const struct mean *both, int sign, bool *borderline)
{
	bool again = l->p < P_AGAIN && is_enough(e->rule, l) && sign * l->mean.m > e->theta;

	*borderline = false;
	if (again && sign * both->m - both->margin > e->theta)
		return DECISION_REGRESSION;
	if (is_enough(e->rule, l) && sign * l->mean.m + CALM * l->mean.margin < e->theta)
		return DECISION_OK;
	if (!is_last(e->rule, l))
		return DECISION_MORE;
	*borderline = again && sign * both->m > e->theta && sign > 0;
	return *borderline ? DECISION_REGRESSION : DECISION_OK;
}

static void take_set(struct evidence *e, const struct tail *own, const struct tail *group, int set)
{
	e->own = set ? own[set - 1] : e->own_all;
	e->group = set ? group[set - 1] : e->group_all;
}

static void explain(struct mean_judgement *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void explain(struct mean_judgement *out, const char *format, ...)
{
	char words[EXPLAIN_SIZE];
	va_list args;

	explain_slow_calls(out->all.share, mean_longer(&out->all), words);
	int used = snprintf(out->reason, sizeof out->reason, "%s: ", words);

	va_start(args, format);
	vsnprintf(out->reason + used, sizeof out->reason - (size_t)used, format, args);
	va_end(args);
}

static void judge_slowdown(struct evidence *e, const struct tail *own, const struct tail *group, struct mean_judgement *out)
{
	bool borderline[MEAN_SETS] = { false, false };
	double limit = stats_change_pct(e->theta);

	take_set(e, own, group, 1);
	struct set_evidence one = set_evidence(e, TAIL_TARGET);
	enum decision first = decide(e, &one, 1, &borderline[0]);

	take_set(e, own, group, 2);
	struct set_evidence two = set_evidence(e, TAIL_TARGET);
	enum decision second = confirm(e, &two, &out->all, 1, &borderline[1]);

	if (first == DECISION_REGRESSION && (!e->rule->confirm || second == DECISION_REGRESSION)) {
		out->is_tail = out->is_known = true;
		out->verdict = VERDICT_REGRESSION;
		out->borderline = borderline[0] || (e->rule->confirm && borderline[1]);
		return;
	}
	if (first == DECISION_MORE)
		out->want_set = 1;
	else if (first == DECISION_REGRESSION && second == DECISION_MORE)
		out->want_set = 2;
	if (!out->is_tail)
		return;
	if (first == DECISION_MORE)
		explain(out, "change of the mean %.2f..%.2f %% is undecided against %.2f %%",
			stats_change_pct(one.mean.m + one.mean.margin), stats_change_pct(one.mean.m - one.mean.margin), limit);
	else if (first == DECISION_REGRESSION && second == DECISION_MORE)
		explain(out, "change of the mean %.2f %%, not confirmed by a second set of runs", stats_change_pct(one.mean.m));
	else if (first == DECISION_REGRESSION)
		explain(out, "change of the mean %.2f %% in the first set of runs, %.2f %% in the confirming one",
			stats_change_pct(one.mean.m), stats_change_pct(two.mean.m));
}

/* A gain needs a confirming set like a slowdown, unless the rule is before version 5. */
static void judge_gain(struct evidence *e, const struct tail *own, const struct tail *group, struct mean_judgement *out)
{
	bool confirms = e->rule->confirm && e->rule->p_interim > 0, none;

	take_set(e, own, group, 1);
	struct set_evidence one = set_evidence(e, TAIL_BASE);
	enum decision first = decide(e, &one, -1, &none);

	take_set(e, own, group, 2);
	struct set_evidence two = set_evidence(e, TAIL_BASE);
	enum decision second = confirm(e, &two, &out->all, -1, &none);

	if (first == DECISION_REGRESSION && (!confirms || second == DECISION_REGRESSION)) {
		out->is_known = true;
		out->verdict = VERDICT_IMPROVEMENT;
	}
	if (first == DECISION_MORE)
		out->want_set = 1;
	else if (first == DECISION_REGRESSION && confirms && second == DECISION_MORE)
		out->want_set = 2;
}

void mean_judge(const struct rule *r, double threshold_pct, const struct judgement *pairs, const struct tail *own,
	const struct tail *group, struct mean_judgement *out)
{
	struct evidence e = { .rule = r, .theta = stats_theta(threshold_pct), .pairs = pairs };
	bool in_sustained_runs = (pairs->flags & FLAG_SUSTAINED) != 0, lost = pairs->verdict == VERDICT_REGRESSION;

	*out = (struct mean_judgement){ .verdict = VERDICT_UNCHANGED };
	for (int i = 0; i < MEAN_SETS; i++) {
		tail_pool(&e.own_all, &own[i]);
		tail_pool(&e.group_all, &group[i]);
	}
	if (e.own_all.calls == 0 || (lost && !in_sustained_runs))
		return;
	take_set(&e, own, group, 0);
	struct set_evidence more = set_evidence(&e, TAIL_TARGET), less = set_evidence(&e, TAIL_BASE);

	out->all = more.mean;
	out->is_tail = more.p < P_FIRST;
	out->is_known = more.p < P_FIRST || less.p < P_FIRST;
	judge_slowdown(&e, own, group, out);
	if (!out->is_tail && out->want_set == 0)
		judge_gain(&e, own, group, out);
	if (lost) { /* the decision is made */
		out->verdict = VERDICT_UNCHANGED;
		out->want_set = 0;
		out->reason[0] = '\0';
	}
}

bool mean_decides(const struct mean_judgement *mean, const struct judgement *j)
{
	bool open = j->verdict == VERDICT_UNCHANGED || j->verdict == VERDICT_IMPROVEMENT;

	if (mean->verdict == VERDICT_REGRESSION)
		return true;
	return mean->verdict == VERDICT_IMPROVEMENT && open && !(j->flags & FLAG_SUSTAINED);
}

double mean_longer(const struct mean *mean)
{
	return mean->longer[mean->share[TAIL_TARGET] > mean->share[TAIL_BASE] ? TAIL_TARGET : TAIL_BASE];
}
