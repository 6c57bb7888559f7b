/*
 * verdict.c - words, and the step from launches to a word.
 */
#include "core/verdict/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BURST_SCATTER 0.004 /* between launches of bursts, log ratio: 0.12 to 0.59 % of eight sorts of cells on two H100 */
#define BURST_SCATTER_BRIEF                                                                                                      \
	0.014 /* of those of 0.4 s, which rules of before version 4 judged: they saw a piece of the limiter's swing */
enum { BURST_LAUNCHES_MIN = 2, BURST_LAUNCHES_MAX = 4 };

#define CLOCKS_APART 2.5 /* standard errors; in one of forty cells of equal builds, and few of those could be a loss */

static const char *const names[] = {
	[VERDICT_FAILED] = "failed",
	[VERDICT_REJECTED] = "rejected",
	[VERDICT_REGRESSION] = "regression",
	[VERDICT_UNDECIDED] = "undecided",
	[VERDICT_NOT_COMPARABLE] = "not_comparable",
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

const char *verdict_word(enum jobkind kind, enum verdict v)
{
	static const char *const beside[] = {
		[VERDICT_REGRESSION] = "slower",
		[VERDICT_NOT_COMPARABLE] = "no_pair",
		[VERDICT_IMPROVEMENT] = "faster",
		[VERDICT_UNCHANGED] = "level",
		[VERDICT_REMOVED] = "no_pair",
		[VERDICT_ADDED] = "no_pair",
		[VERDICT_UNSUPPORTED] = "no_pair",
		[VERDICT_NONE] = NULL,
	};
	const char *word = jobkind_is_beside(kind) && (unsigned)v <= VERDICT_NONE ? beside[v] : NULL;
	return word ? word : verdict_name(v);
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

static const char *const deciders[] = { [DECIDER_PAIRS] = "", [DECIDER_BURSTS] = "sustained", [DECIDER_MEAN] = "mean" };

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

/* Undecided, because launches of one build do not agree with each other. */
#define noisy(out, ...) (undecided((out), __VA_ARGS__), (void)((out)->flags |= FLAG_NOISY))

static const char *plural(int n)
{
	return n == 1 ? "" : "es";
}

/* The margin of a decision is wider than the 95 % interval that a cell shows, so it is told as what is missing, never as a second interval. */
static void explain_distance(double theta, const struct estimate *e, struct judgement *out, const char *how_many)
{
	double margin = e->margin, change = stats_change_pct(e->m), limit = stats_change_pct(theta);

	undecided(out, "%s; %.2f %% lies %.2f points from %.2f %%, and at this scatter a decision takes %.2f", how_many, change,
		fabs(change - limit), limit, fabs(stats_change_pct(e->m + (e->m > theta ? -margin : margin)) - change));
}

/* More launches are wanted: of what. */
static void explain_more(const struct rule *r, double theta, const char *which, const struct estimate *e, struct judgement *out)
{
	char how_many[64];

	snprintf(how_many, sizeof how_many, "%s%d of at most %d launches", which, e->launches, r->launches_max);
	if (fabs(e->m - theta) <= e->margin)
		explain_distance(theta, e, out, how_many);
	else if (e->launches < r->launches_regression_min)
		undecided(out, "%s; a regression takes %d", how_many, r->launches_regression_min);
	else
		undecided(out, "%s; fewer than three in four of them show half of the loss", how_many);
}

/* No decision from the launches of one set: why, and whether more of them would help. */
static void explain_open(
	const struct rule *r, double theta, int set, enum decision d, const struct estimate *e, struct judgement *out)
{
	const char *which = set == 2 ? "confirming set: " : "";
	char look[64];

	if (e->launches == 0) {
		undecided(out, "%snot measured yet", which);
	} else if (d == DECISION_MORE) {
		explain_more(r, theta, which, e, out);
	} else if (r->launches_max < r->launches_regression_min) {
		snprintf(look, sizeof look, "a quick look of %d launch%s", e->launches, plural(e->launches));
		explain_distance(theta, e, out, look);
	} else {
		noisy(out, "%slaunches scatter too much: standard error %.2f %% after %d launches, %.2f %% is allowed", which,
			100 * e->se, e->launches, 100 * r->se_max);
	}
	if (d == DECISION_MORE)
		out->want_set = set;
}

/* The launches of one set. Shape: out[STATS_LAUNCHES_MAX]. */
static int pick(const struct launch_estimate *e, int n, int set, struct launch_estimate *out)
{
	int kept = 0;

	for (int i = 0; i < n && kept < STATS_LAUNCHES_MAX; i++)
		if (e[i].set == set)
			out[kept++] = e[i];
	return kept;
}

static bool too_wide(const struct rule *r, bool sparse, const struct estimate *e)
{
	double half_pct = 100 * (e->ci_high - e->ci_low) / 2;

	return half_pct > (sparse ? r->half_width_sparse_pct : r->half_width_dense_pct);
}

/* Set 1 saw no regression. A second set exists only where an earlier look at set 1 did. */
static void judge_ok(const struct rule *r, double theta, bool sparse, const struct estimate *one, enum decision second,
	bool borderline, struct judgement *out)
{
	if (second == DECISION_REGRESSION) {
		noisy(out, "the first set of launches shows no regression, the confirming set does");
		return;
	}
	out->verdict = one->m + one->margin < -theta ? VERDICT_IMPROVEMENT : VERDICT_UNCHANGED;
	out->flags |= borderline ? FLAG_BORDERLINE : 0;
	out->want_precision = one->launches < r->launches_max && too_wide(r, sparse, &out->all);
}

void verdict_judge(
	const struct rule *r, double threshold_pct, bool sparse, const struct launch_estimate *e, int n, struct judgement *out)
{
	struct launch_estimate set[STATS_LAUNCHES_MAX];
	double theta = stats_theta(threshold_pct);
	bool borderline[2] = { false, false };
	struct estimate one, two;

	*out = (struct judgement){ .verdict = VERDICT_UNDECIDED };
	stats_combine(r, e, n, &out->all);
	out->mde_pct = stats_mde_pct(theta, &out->all);
	out->flags = flag_clock(&out->all);
	out->want_bursts = n > 0 && out->all.m < theta && out->all.m_apart > theta && out->all.clock_apart > CLOCKS_APART;

	int launches = pick(e, n, 1, set);
	enum decision first = stats_decide(r, theta, set, launches, &borderline[0]);

	stats_combine(r, set, launches, &one);
	launches = pick(e, n, 2, set);
	enum decision second = stats_decide(r, theta, set, launches, &borderline[1]);

	stats_combine(r, set, launches, &two);
	if (first == DECISION_MORE || first == DECISION_UNDECIDED) {
		explain_open(r, theta, 1, first, &one, out);
	} else if (first == DECISION_OK) {
		judge_ok(r, theta, sparse, &one, second, borderline[0], out);
	} else if (!r->confirm || second == DECISION_REGRESSION) {
		out->verdict = VERDICT_REGRESSION;
		out->flags |= borderline[0] || (r->confirm && borderline[1]) ? FLAG_BORDERLINE : 0;
	} else if (second == DECISION_OK) {
		noisy(out, "the first set of launches shows %.2f %%, the confirming set %.2f %%", stats_change_pct(one.m),
			stats_change_pct(two.m));
	} else {
		explain_open(r, theta, 2, second, &two, out);
	}
}

struct rule verdict_rule_of_bursts(const struct rule *general)
{
	struct rule r = *general;

	r.beta_min = 0;
	r.tau0 = general->version < 4 ? BURST_SCATTER_BRIEF : BURST_SCATTER;
	r.launches_regression_min = BURST_LAUNCHES_MIN;
	r.launches_max = BURST_LAUNCHES_MAX;
	r.learned = false;
	return r;
}

void verdict_sustained(struct judgement *j, const struct judgement *sustained)
{
	bool lost = sustained->verdict == VERDICT_REGRESSION && j->verdict != VERDICT_REGRESSION;
	bool gained = sustained->verdict == VERDICT_IMPROVEMENT && j->verdict == VERDICT_UNCHANGED;

	if (sustained->all.launches == 0 || !(lost || gained))
		return;
	j->verdict = sustained->verdict;
	j->flags = (j->flags & ~(FLAG_BORDERLINE | FLAG_NOISY)) | FLAG_SUSTAINED | (sustained->flags & FLAG_BORDERLINE);
	j->reason[0] = '\0';
}

void verdict_blind(const struct rule *r, double blind_pct, const struct judgement *sustained, struct judgement *j)
{
	double change_pct = stats_change_pct(j->flags & FLAG_SUSTAINED ? sustained->all.m : j->all.m);
	bool is_clear = !(j->flags & FLAG_BORDERLINE) && r->launches_max >= r->launches_regression_min;

	if (!(blind_pct > 0))
		return;
	j->flags = (j->flags & ~FLAG_NOISY) | FLAG_BLIND; /* another hour will not show more */
	if (j->verdict != VERDICT_REGRESSION || is_clear || -change_pct >= blind_pct)
		return;
	j->flags &= ~FLAG_BORDERLINE;
	undecided(j, "equal builds scatter so much here that a loss below %.1f %% has to be clear, and %.2f %% is not", blind_pct,
		change_pct);
}
