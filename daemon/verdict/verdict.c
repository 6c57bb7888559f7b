/* verdict.c - names of verdicts, and the judgement of runs. */
#include "verdict/verdict.h"

#include <math.h>

/* Sustained runs of a set, and their noise as a log ratio, by version of the rule. */
struct sustained_rule {
	double noise;
	int runs_min, runs_max;
};

/* A B B A of 0.4 s each, which covered only a share of the power limiter's oscillation. */
static const struct sustained_rule before_version_4 = { 0.014, 2, 4 };
/* A B B A of one second each: 0.12 to 0.59 % for eight kinds of cells on two H100. */
static const struct sustained_rule before_version_6 = { 0.004, 2, 4 };
/* A B of one second each: 0.16 to 0.63 % for the same cells, and never more than 1.4 %. One of them far beyond is enough. */
static const struct sustained_rule sustained_rule = { 0.006, 1, 8 };

enum { WIDTH_RUNS_MAX = 12 }; /* of a set, only for a narrower interval */

#define CLOCKS_SEPARATE                                                                                                          \
	2.5 /* standard errors; exceeded by one in forty cells of equal builds, and few of those could be a slowdown */

static const char *const names[] = {
	[VERDICT_FAILED] = "failed",
	[VERDICT_REJECTED] = "rejected",
	[VERDICT_REGRESSION] = "regression",
	[VERDICT_UNDECIDED] = "undecided",
	[VERDICT_NOT_COMPARABLE] = "not_comparable",
	[VERDICT_ACCEPTED] = "regression (accepted)",
	[VERDICT_IMPROVEMENT] = "improvement",
	[VERDICT_UNCHANGED] = "unchanged",
	[VERDICT_IDENTICAL] = "identical",
	[VERDICT_REMOVED] = "removed",
	[VERDICT_ADDED] = "added",
	[VERDICT_UNSUPPORTED] = "unsupported",
	[VERDICT_NONE] = "none",
};

const char *verdict_name(enum verdict v)
{
	return (unsigned)v <= VERDICT_NONE ? names[v] : names[VERDICT_NONE];
}

const char *verdict_or_empty(enum verdict v)
{
	return v == VERDICT_NONE ? "" : verdict_name(v);
}

const char *verdict_label(enum jobkind kind, enum verdict v)
{
	static const char *const against_peer[] = {
		[VERDICT_REGRESSION] = "slower",
		[VERDICT_NOT_COMPARABLE] = "no_pair",
		[VERDICT_IMPROVEMENT] = "faster",
		[VERDICT_UNCHANGED] = "level",
		[VERDICT_REMOVED] = "no_pair",
		[VERDICT_ADDED] = "no_pair",
		[VERDICT_UNSUPPORTED] = "no_pair",
		[VERDICT_NONE] = NULL,
	};
	const char *label = jobkind_is_side_by_side(kind) && (unsigned)v <= VERDICT_NONE ? against_peer[v] : NULL;
	return label ? label : verdict_name(v);
}

enum verdict verdict_from_name(const char *name)
{
	for (unsigned v = 0; name && v < VERDICT_NONE; v++)
		if (*names[v] == *name && strcmp(names[v], name) == 0)
			return (enum verdict)v;
	return VERDICT_NONE;
}

enum verdict verdict_of_class(const char *failure)
{
	static const char *const disbelief[] = { "escaped", "clock", "roofline", "forged", "slowed" };
	for (size_t i = 0; i < sizeof disbelief / sizeof disbelief[0]; i++)
		if (strcmp(failure, disbelief[i]) == 0)
			return VERDICT_REJECTED;
	return VERDICT_FAILED;
}

enum verdict verdict_of_outside(const char *failure)
{
	if (strcmp(failure, "unpaired") == 0)
		return VERDICT_NOT_COMPARABLE;
	return strcmp(failure, "unsure") == 0 ? VERDICT_UNDECIDED : VERDICT_REJECTED;
}

enum verdict verdict_worse(enum verdict a, enum verdict b)
{
	return a < b ? a : b;
}

enum verdict verdict_of_absence(const char *base, const char *target, bool rows)
{
	bool base_lacks = strcmp(base, "unsupported") == 0, target_lacks = strcmp(target, "unsupported") == 0;

	if (base_lacks && target_lacks)
		return VERDICT_UNSUPPORTED;
	if (base_lacks && !target[0])
		return VERDICT_ADDED;
	return target_lacks && !base[0] && rows ? VERDICT_REMOVED : VERDICT_NONE;
}

bool verdict_is_absence(enum verdict v)
{
	return v == VERDICT_REMOVED || v == VERDICT_ADDED || v == VERDICT_UNSUPPORTED;
}

bool verdict_is_close(const char *reason)
{
	return strncmp(reason, VERDICT_CLOSE, strlen(VERDICT_CLOSE)) == 0;
}

static const char *const deciders[] = { [DECIDER_PAIRS] = "", [DECIDER_SUSTAINED_RUNS] = "sustained", [DECIDER_MEAN] = "mean" };

const char *decider_name(enum decider d)
{
	return (unsigned)d <= DECIDER_MEAN ? deciders[d] : deciders[DECIDER_PAIRS];
}

enum decider decider_from_name(const char *name)
{
	for (unsigned d = 0; d <= DECIDER_MEAN; d++)
		if (strcmp(deciders[d], name) == 0)
			return (enum decider)d;
	return DECIDER_PAIRS;
}

static void undecided(struct judgement *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void undecided(struct judgement *out, const char *format, ...)
{
	va_list args;

	out->verdict = VERDICT_UNDECIDED;
	va_start(args, format);
	vsnprintf(out->reason, sizeof out->reason, format, args);
	va_end(args);
}

/* Undecided, because runs of one build disagree. */
#define noisy(out, ...) (undecided((out), __VA_ARGS__), (void)((out)->flags |= FLAG_NOISY))

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

/* `margin`, a log ratio, as points of percent at the change. */
static double points(const struct estimate *e, double margin)
{
	return fabs(stats_change_pct(e->m - margin) - stats_change_pct(e->m));
}

/*
 * Explain the missing distance, never as a second interval next to the 95 % one. `limit`: the open threshold, theta or -theta;
 * `when`: after which runs.
 */
static void explain_distance(double limit, const struct estimate *e, double margin, const char *when, struct judgement *out)
{
	/* begins with VERDICT_CLOSE, in full so that a search for the message finds it */
	undecided(out,
		"too close to call %s: %.2f points from the threshold, where a verdict needs %.2f (standard error %.2f %%)", when,
		fabs(stats_change_pct(e->m) - stats_change_pct(limit)), points(e, margin), 100 * e->se);
}

static void report_runs(const struct rule *r, const char *which, int n, char *out, size_t size)
{
	snprintf(out, size, "after %s%d of at most %d runs", which, n, r->runs_max);
}

static void explain_more(const struct rule *r, double theta, const char *which, const struct estimate *e, struct judgement *out)
{
	double limit = stats_excludes_slowdown(r, theta, e) ? -theta : theta;
	char when[80];

	report_runs(r, which, e->runs, when, sizeof when);
	if (fabs(e->m - limit) <= e->margin)
		explain_distance(limit, e, e->margin, when, out);
	else if (e->runs < r->runs_regression_min)
		undecided(out, "%.2f %% %s lies beyond the threshold, but is not overwhelming; any other change needs %d runs",
			stats_change_pct(e->m), when, r->runs_regression_min);
	else
		undecided(out, "%.2f %% %s, of which fewer than three in four show half of the change", stats_change_pct(e->m),
			when);
}

/* A slowdown that the 95 % interval shows, although the runs vary too much for a verdict; else "". Shape: out[64]. */
static const char *describe_probable_slowdown(const struct estimate *e, double theta, char *out)
{
	out[0] = '\0';
	if (e->runs >= 2 && e->ci_low > theta)
		snprintf(out, 64, "probably slower, by at least %.1f %% (95 %%): ", -stats_change_pct(e->ci_low));
	return out;
}

/* Explain a set without a decision, and whether more runs would help. */
static void explain_open(
	const struct rule *r, double theta, int set, enum decision d, const struct estimate *e, struct judgement *out)
{
	const char *which = set == 2 ? "the confirming set's " : "";
	char scope[64];

	if (e->runs == 0 && set == 2) {
		undecided(out, "the confirming set of runs is not measured yet");
	} else if (e->runs == 0) {
		undecided(out, "not measured yet");
	} else if (d == DECISION_MORE) {
		explain_more(r, theta, which, e, out);
	} else if (r->runs_max < r->runs_regression_min) {
		snprintf(scope, sizeof scope, "in a quick comparison of %d run%s", e->runs, plural(e->runs));
		explain_distance(theta, e, e->margin, scope, out);
	} else {
		double allowed = stats_se_max(r, theta);
		char least[48] = "";
		if (allowed < r->se_max)
			snprintf(least, sizeof least, "; a slowdown from %.2f %% on would be shown", stats_mde_pct(theta, e));
		noisy(out, "%s%sruns vary too much: standard error %.2f %% after %d runs, %.*f %% is allowed%s",
			describe_probable_slowdown(e, theta, scope), which, 100 * e->se, e->runs, allowed < 0.0001 ? 4 : 2,
			100 * allowed, least);
	}
	if (d == DECISION_MORE)
		out->want_set = set;
}

/* Select the runs of one set. Shape: out[STATS_RUNS_MAX]. */
static int pick(const struct run_estimate *e, int n, int set, struct run_estimate *out)
{
	int n_left = 0;

	for (int i = 0; i < n && n_left < STATS_RUNS_MAX; i++)
		if (e[i].set == set)
			out[n_left++] = e[i];
	return n_left;
}

static bool too_wide(const struct rule *r, bool sparse, const struct estimate *e)
{
	double half_pct = 100 * (e->ci_high - e->ci_low) / 2;

	return half_pct > (sparse ? r->half_width_sparse_pct : r->half_width_dense_pct);
}

/* True if an unchanged cell is worth a run for its width. `n`: runs of set 1 so far. */
static bool wants_width(const struct rule *r, bool sparse, int n, const struct judgement *j)
{
	return n < r->runs_max && n < WIDTH_RUNS_MAX && too_wide(r, sparse, &j->all);
}

struct set_result {
	enum decision decision;
	bool borderline;
	struct estimate all;
};

static void request_set(const struct rule *r, double theta, const struct run_estimate *e, int n, int set, struct set_result *out)
{
	struct run_estimate of_set[STATS_RUNS_MAX];
	int runs = pick(e, n, set, of_set);

	out->decision = stats_decide(r, theta, of_set, runs, &out->borderline);
	stats_combine(r, of_set, runs, &out->all);
}

/* Set 1 shows no change. A second set exists only if an earlier analysis of set 1 showed a change. */
static void judge_ok(const struct rule *r, double theta, bool sparse, const struct set_result *one, const struct set_result *two,
	struct judgement *out)
{
	bool gains = !(r->p_interim > 0) && one->all.m + one->all.margin < -theta; /* a gain by one set, before version 5 */

	if (two->decision == DECISION_REGRESSION) {
		noisy(out, "the first set of runs shows no regression, the confirming set does");
		return;
	}
	out->verdict = gains ? VERDICT_IMPROVEMENT : VERDICT_UNCHANGED;
	out->flags |= one->borderline ? FLAG_BORDERLINE : 0;
	out->want_precision = wants_width(r, sparse, one->all.runs, out);
}

/* Both sets agree, or the rule needs one set only. */
static void call(
	const struct rule *r, enum verdict v, const struct set_result *one, const struct set_result *two, struct judgement *out)
{
	out->verdict = v;
	out->flags |= one->borderline || (r->confirm && two->borderline) ? FLAG_BORDERLINE : 0;
}

/* Set 1 shows a regression or improvement, and set 2 does not (yet). */
static void judge_unconfirmed(
	const struct rule *r, double theta, const struct set_result *one, const struct set_result *two, struct judgement *out)
{
	bool is_open = two->decision == DECISION_MORE || two->decision == DECISION_UNDECIDED;

	if (is_open)
		explain_open(r, theta, 2, two->decision, &two->all, out);
	else
		noisy(out, "the first set of runs shows %.2f %%, the confirming set %.2f %%", stats_change_pct(one->all.m),
			stats_change_pct(two->all.m));
}

/* Only a gain is open: nothing became slower, and the reason still states the missing runs. */
static void conclude_unchanged(struct judgement *out)
{
	out->verdict = VERDICT_UNCHANGED;
	out->flags &= ~FLAG_NOISY;
}

static void judge_sets(
	const struct rule *r, double theta, bool sparse, const struct run_estimate *e, int n, struct judgement *out)
{
	struct set_result one, two;

	request_set(r, theta, e, n, 1, &one);
	request_set(r, theta, e, n, 2, &two);
	switch (one.decision) {
	case DECISION_MORE:
	case DECISION_UNDECIDED:
		explain_open(r, theta, 1, one.decision, &one.all, out);
		if (r->p_interim > 0 && stats_excludes_slowdown(r, theta, &one.all) && two.decision != DECISION_REGRESSION)
			conclude_unchanged(out);
		break;
	case DECISION_OK:
		judge_ok(r, theta, sparse, &one, &two, out);
		break;
	case DECISION_REGRESSION:
		if (!r->confirm || two.decision == DECISION_REGRESSION)
			call(r, VERDICT_REGRESSION, &one, &two, out);
		else
			judge_unconfirmed(r, theta, &one, &two, out);
		break;
	case DECISION_IMPROVEMENT:
		if (!r->confirm || two.decision == DECISION_IMPROVEMENT) {
			call(r, VERDICT_IMPROVEMENT, &one, &two, out);
			break;
		}
		judge_unconfirmed(r, theta, &one, &two, out);
		if (two.decision != DECISION_REGRESSION)
			conclude_unchanged(out);
		break;
	}
}

/* Return the number of runs after which the sets ended without a verdict; 0: they have not. */
static int runs_of_sets(const struct rule *r, double theta, bool sparse, const struct run_estimate *e, int n)
{
	for (int i = r->runs_regression_min; i <= n; i++) {
		struct judgement j = { .verdict = VERDICT_UNDECIDED };

		judge_sets(r, theta, sparse, e, i, &j);
		if (j.verdict == VERDICT_UNDECIDED && j.flags & FLAG_NOISY && j.want_set == 0)
			return i;
	}
	return 0;
}

/*
 * The sets ended without a verdict after `of_sets` runs. Those that follow have set 2, and are analysed together with the sets,
 * which are not decided again: each further run would be another chance for them to agree.
 */
static void judge_pooled(const struct rule *r, double theta, const struct verdict_options *options, const struct run_estimate *e,
	int n, int of_sets, struct judgement *out)
{
	static const enum verdict verdicts[] = { [DECISION_OK] = VERDICT_UNCHANGED,
		[DECISION_REGRESSION] = VERDICT_REGRESSION,
		[DECISION_IMPROVEMENT] = VERDICT_IMPROVEMENT };
	int at = options->is_over || n >= r->runs_pooled_max ? n : interim_last_analysis(n);
	enum decision d = stats_decide_pooled(r, theta, e, at > of_sets ? at : of_sets);

	judge_sets(r, theta, options->sparse, e, of_sets, out);
	out->is_pooled = true;
	if (at <= of_sets || d == DECISION_MORE || d == DECISION_UNDECIDED) {
		size_t length = strlen(out->reason);

		out->want_set = d != DECISION_UNDECIDED && n < r->runs_pooled_max ? 2 : 0;
		snprintf(out->reason + length, sizeof out->reason - length, "; together %.2f %% after %d of at most %d runs",
			stats_change_pct(out->all.m), n, r->runs_pooled_max);
		return;
	}
	out->verdict = verdicts[d];
	out->flags &= ~(FLAG_NOISY | FLAG_BORDERLINE);
	out->reason[0] = '\0';
}

static void judge_modules(const struct rule *r, double theta, const struct verdict_options *options, const struct run_estimate *e,
	int n, struct judgement *out)
{
	int of_sets = stats_pools(r, theta) ? runs_of_sets(r, theta, options->sparse, e, n) : 0;

	if (of_sets > 0)
		judge_pooled(r, theta, options, e, n, of_sets, out);
	else
		judge_sets(r, theta, options->sparse, e, n, out);
}

/* Predict, from standard error and number of runs, what decides a cell whose runs vary too much. Shape: out[120]. */
static void explain_rest(const struct rule *r, double theta, const struct run_estimate *e, int n, bool is_base_alone,
	enum stats_outlook outlook, double least, char *out)
{
	bool is_interleaved = stats_pairing_kind(r, e, n) == PAIRING_INTERLEAVE;

	out[0] = '\0';
	if (outlook == STATS_HOPELESS && is_interleaved)
		snprintf(out, 120, "; even %d would not decide: use a quieter machine, or make calls do equal work", r->runs_max);
	else if (outlook == STATS_HOPELESS && is_base_alone) /* ends with VERDICT_BASE_WHOLE */
		snprintf(out, 120, "; even %d would not decide: the base is not interleaved yet", r->runs_max);
	else if (outlook == STATS_HOPELESS) /* ends with VERDICT_INTERLEAVE */
		snprintf(out, 120, "; even %d would not decide: interleave the program", r->runs_max);
	else if (outlook == STATS_LARGE_ONLY)
		snprintf(out, 120, "; up to %d more may decide, but only a change above %.2g %%", r->runs_max - n,
			-stats_change_pct(theta + r->k * least));
	else if (n < r->runs_max)
		snprintf(out, 120, "; up to %d more may decide", r->runs_max - n);
}

static void explain_programs(const struct rule *r, double theta, const struct run_estimate *e, int n,
	const struct verdict_options *options, struct judgement *out)
{
	struct interim l;
	char when[80], slowdown[64], rest[120];
	bool is_over = options->is_over || n >= r->runs_max;
	double least;
	enum stats_outlook outlook =
		is_over && n >= INTERIM_PROGRAMS_MIN ? stats_outlook(r, theta, e, n, &least) : STATS_MAY_DECIDE;

	report_runs(r, "", n, when, sizeof when);
	explain_rest(r, theta, e, n, options->is_base_alone, outlook, least, rest);
	interim_estimate(r, theta, e, n, &l);
	if (n == 0)
		undecided(out, "not measured yet");
	else if (n < INTERIM_PROGRAMS_MIN)
		undecided(out, "%s: each process of a program has its own speed, which takes at least %d to see", when,
			INTERIM_PROGRAMS_MIN);
	else if (is_over && out->all.se > r->se_max)
		undecided(out, "%sruns vary too much: standard error %.2f %% after %d runs, %.2f %% is allowed%s",
			describe_probable_slowdown(&out->all, theta, slowdown), 100 * out->all.se, n, 100 * r->se_max, rest);
	else
		explain_distance(out->all.m < 0 ? -theta : theta, &out->all,
			is_over ? (out->all.ci_high - out->all.ci_low) / 2 : stats_t_above(r->p_interim, l.degrees) * l.se, when,
			out);
	out->want_set = n < r->runs_max && outlook != STATS_HOPELESS ? 1 : 0;
	out->flags |= n >= r->runs_max && out->all.se > r->se_max ? FLAG_NOISY : 0;
}

static void judge_programs(const struct rule *r, double theta, const struct run_estimate *e, int n,
	const struct verdict_options *options, struct judgement *out)
{
	static const enum verdict verdicts[] = { [DECISION_OK] = VERDICT_UNCHANGED,
		[DECISION_REGRESSION] = VERDICT_REGRESSION,
		[DECISION_IMPROVEMENT] = VERDICT_IMPROVEMENT };
	bool is_last = options->is_over || n >= r->runs_max;
	enum decision shown = is_last ? interim_last(r, theta, e, n) : DECISION_UNDECIDED;

	if (shown == DECISION_UNDECIDED) {
		explain_programs(r, theta, e, n, options, out);
		return;
	}
	out->verdict = verdicts[shown];
	out->flags |= FLAG_BORDERLINE;
}

/*
 * An immediate decision must be overwhelming under the learned noise, too: if runs agree better than before, that may be
 * chance, at one comparison in a thousand (memory.c), which is far from one in a million.
 */
static enum decision decide_at_once(
	const struct rule *r, const struct rule *remembered, double theta, bool is_over, const struct run_estimate *e, int n)
{
	enum decision at_once = interim_decide(r, theta, e, n, is_over);

	return at_once == interim_decide(remembered, theta, e, n, is_over) ? at_once : DECISION_MORE;
}

/* `remembered`: the rule of this cell, whether or not its current runs agree with it. */
static void judge(const struct rule *r, const struct rule *remembered, const struct verdict_options *options,
	const struct run_estimate *e, int n, struct judgement *out)
{
	bool is_quick = r->runs_max < r->runs_regression_min, sparse = options->sparse;
	double theta = stats_theta(options->threshold_pct);

	*out = (struct judgement){ .verdict = VERDICT_UNDECIDED };
	stats_combine(r, e, n, &out->all);
	out->mde_pct = stats_mde_pct(theta, &out->all);
	out->flags = flag_clock(&out->all);
	out->want_sustained_runs =
		n > 0 && out->all.m < theta && out->all.m_separate > theta && out->all.clock_separate > CLOCKS_SEPARATE;

	enum decision at_once = decide_at_once(r, remembered, theta, options->is_over, e, n);

	if (at_once == DECISION_REGRESSION || at_once == DECISION_IMPROVEMENT) {
		out->verdict = at_once == DECISION_REGRESSION ? VERDICT_REGRESSION : VERDICT_IMPROVEMENT;
		out->flags |= FLAG_OVERWHELMING;
	} else if (at_once == DECISION_OK) {
		out->verdict = VERDICT_UNCHANGED;
		out->want_precision = wants_width(r, sparse, n, out);
	} else if (r->programs && r->p_interim > 0 && !is_quick) {
		judge_programs(r, theta, e, n, options, out);
	} else {
		judge_modules(r, theta, options, e, n, out);
	}
}

void verdict_judge(
	const struct rule *r, double threshold_pct, bool sparse, const struct run_estimate *e, int n, struct judgement *out)
{
	const struct verdict_options options = { .threshold_pct = threshold_pct, .sparse = sparse };

	judge(r, r, &options, e, n, out);
}

void verdict_of_cell(const struct rule *general, const struct verdict_options *options, const struct run_estimate *pairs, int n,
	const struct run_estimate *sustained_runs, int n_sustained_runs, struct judgement *typical, struct judgement *sustained)
{
	struct rule of_cell = memory_rule(general, options->tau0, options->nu0, pairs, n),
		    of_sustained_runs = verdict_rule_of_sustained_runs(general);
	struct rule remembered = stats_rule_of_cell(general, options->tau0, options->nu0);
	bool fits = memory_fits(options->tau0, options->nu0, pairs, n);

	judge(&of_cell, &remembered, options, pairs, n, typical);
	judge(&of_sustained_runs, &of_sustained_runs, options, sustained_runs, n_sustained_runs, sustained);
	verdict_sustained(typical, sustained);
	verdict_underpowered(&of_cell, fits ? options->underpowered_pct : 0, sustained, typical);
}

struct rule verdict_rule_of_sustained_runs(const struct rule *general)
{
	struct rule r = *general;
	const struct sustained_rule *s = general->version < 4   ? &before_version_4
					 : general->version < 6 ? &before_version_6
								: &sustained_rule;

	r.beta_min = 0;
	r.tau0 = s->noise;
	if (general->version >= 6)
		r.runs_ok_min = s->runs_min;
	r.runs_regression_min = s->runs_min;
	r.runs_max = s->runs_max;
	r.runs_pooled_max = 0;
	r.learned = false;
	r.p_alone = 1;      /* that noise was measured */
	r.programs = false; /* both sides are alive at once and interleaved in one run, like modules */
	return r;
}

void verdict_sustained(struct judgement *j, const struct judgement *sustained)
{
	bool lost = sustained->verdict == VERDICT_REGRESSION && j->verdict != VERDICT_REGRESSION;
	bool gained = sustained->verdict == VERDICT_IMPROVEMENT && j->verdict == VERDICT_UNCHANGED;

	if (sustained->all.runs == 0 || !(lost || gained))
		return;
	j->verdict = sustained->verdict;
	j->flags = (j->flags & ~(FLAG_BORDERLINE | FLAG_NOISY | FLAG_OVERWHELMING)) | FLAG_SUSTAINED |
		   (sustained->flags & (FLAG_BORDERLINE | FLAG_OVERWHELMING));
	j->reason[0] = '\0';
}

void verdict_underpowered(const struct rule *r, double underpowered_pct, const struct judgement *sustained, struct judgement *j)
{
	double change_pct = stats_change_pct(j->flags & FLAG_SUSTAINED ? sustained->all.m : j->all.m);
	bool is_clear = !(j->flags & FLAG_BORDERLINE) && r->runs_max >= r->runs_regression_min;

	if (!(underpowered_pct > 0))
		return;
	j->flags = (j->flags & ~FLAG_NOISY) | FLAG_UNDERPOWERED; /* another run will not show more */
	if (j->verdict != VERDICT_REGRESSION || is_clear || -change_pct >= underpowered_pct)
		return;
	j->flags &= ~FLAG_BORDERLINE;
	undecided(j, "equal builds vary so much here that a slowdown below %.1f %% has to be clear, and %.2f %% is not",
		underpowered_pct, change_pct);
}

bool verdict_is_change(enum verdict v)
{
	return v == VERDICT_REGRESSION || v == VERDICT_IMPROVEMENT;
}
