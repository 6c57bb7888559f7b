/*
 * Operating characteristics of the history's method: simulated histories of main whose noise is that of recorded runs. How often
 * a false step is confirmed, how many planted steps are found, how late and where, and how drift is reported.
 *
 * A commit is compared with its parent and with the reference commit by the sequential rule; outliers are measured again, the
 * series is scanned, a candidate's neighbours are compared directly, drift is tested: the product's own code, in the daemon's
 * order. A run is drawn from tests/data/gpu-recorded, as in bench_rule. Then how many direct comparisons the history requests
 * where series drift, by the rule of candidate.c and by the earlier one. Usage: bench_trend DIR HISTORIES (of each kind).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "recorded.h"
#include "stats/stats.h"
#include "verdict/verdict.h"

enum { COMMITS_MAX = 64, STEP_AT = 20, STEP_COMMITS = 32, DRIFT_FROM = 12, STILL = 12 };

static const double threshold_pct = 1.5;

static struct recording recording;
static struct noise dice = { .state = 20261122 };

/* The kernels of a suite: without a copy and a product of matrices. */
static const char *const kernels[] = { "dense_full_forward", "dense_full_backward", "dense_causal_forward",
	"dense_causal_backward", "varlen_full_forward", "varlen_full_backward", "varlen_causal_forward", "varlen_causal_backward",
	"sparse_r0.1_b128_forward", "sparse_r0.1_b128_backward", "sparse_r0.2_b128_forward", "sparse_r0.2_b128_backward" };
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

struct found {
	int before, commit; /* last of the old level, first of the new one */
	int seen;           /* newest commit when it was found */
	double step;
	bool at_once; /* by the commit's own comparison */
};

struct history {
	const struct recorded *kernel;
	int n;                     /* commits so far */
	double level[COMMITS_MAX]; /* true value: log time against the reference commit, which is commit 0 */
	double x[COMMITS_MAX];     /* measured; the median of `measured` values */
	int measured[COMMITS_MAX];
	struct candidate_past past; /* what was not confirmed since `from` */
	int from;                   /* the series begins again there */
	int n_found;
	struct found found[COMMITS_MAX];
	int drift;      /* newest commit when drift was reported; -1 never */
	int candidates; /* number of steps that were examined */
	int runs;       /* of all that the history requested */
};

/* ---- measuring ----------------------------------------------------------------------------------------------------------- */

struct answer {
	struct judgement judgement;
	struct estimate reference; /* the reference's, where one ran */
	int runs;
};

static struct run_estimate estimate_run(const struct recorded *k, const struct rule *r, double shift, int set)
{
	float base[RECORDED_PAIRS_MAX], target[RECORDED_PAIRS_MAX];
	struct run_pairs pairs = { .set = set, .base_ms = base, .target_ms = target };
	struct run_estimate e;
	double beta;

	pairs.n = recorded_play(k, &dice, stats_pairs(r, 2 * k->ms / 1000, false, false), exp(shift), base, target);
	stats_runs(r, &pairs, 1, &e, &beta);
	return e;
}

/* One comparison by the sequential rule, the reference commit timed in the same runs. */
static struct answer compare(const struct recorded *k, double base, double target, double pct)
{
	struct run_estimate e[STATS_RUNS_MAX], reference[STATS_RUNS_MAX];
	struct answer a = { .judgement = { .want_set = 1 } };
	bool sparse = strncmp(k->name, "sparse", 6) == 0;
	struct rule r;

	rule_default(&r, 20);
	while ((a.judgement.want_set || a.judgement.want_precision) && a.runs < STATS_RUNS_MAX) {
		int set = a.judgement.want_set ? a.judgement.want_set : 1;
		e[a.runs] = estimate_run(k, &r, target - base, set);
		reference[a.runs] = estimate_run(k, &r, target, set);
		a.runs++;
		verdict_judge(&r, pct, sparse, e, a.runs, &a.judgement);
	}
	stats_combine(&r, reference, a.runs, &a.reference);
	return a;
}

static double median_of_three(double a, double b, double c)
{
	return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

static void measure_again(struct history *h, int i)
{
	double again[2];

	for (int k = 0; k < 2; k++) {
		struct answer a = compare(h->kernel, 0, h->level[i], threshold_pct);
		again[k] = a.judgement.all.m;
		h->runs += a.runs;
	}
	h->x[i] = median_of_three(h->x[i], again[0], again[1]);
	h->measured[i] = 3;
}

/* ---- scanning the history ------------------------------------------------------------------------------------------------ */

static void note(struct history *h, int before, int commit, double step, bool at_once)
{
	h->found[h->n_found++] =
		(struct found){ .before = before, .commit = commit, .seen = h->n - 1, .step = step, .at_once = at_once };
	if (commit > h->from) {
		h->from = commit;
		h->past = (struct candidate_past){ .n = 0 };
	}
}

static void find_step(struct history *h)
{
	struct changepoint found;
	int n = h->n - h->from, first;

	if (!candidate_find(h->x + h->from, n, h->n, &h->past, &found))
		return;
	h->candidates++;
	for (int tried = 0; tried < CHANGEPOINT_PAIRS; tried++) {
		if (!candidate_pair(h->x + h->from, n, found.at, tried, &first))
			continue;
		first += h->from;
		double step = changepoint_step(h->x + h->from, n, first + 1 - h->from);
		struct answer a = compare(h->kernel, h->level[first], h->level[first + 1], -stats_change_pct(fabs(step) / 2));
		h->runs += a.runs;
		if (changepoint_confirms(step, a.judgement.all.m, a.judgement.all.se)) {
			note(h, first, first + 1, a.judgement.all.m, false);
			return;
		}
	}
	h->past = (struct candidate_past){ h->past.n + 1, h->n, fmax(h->past.step, fabs(found.step)) };
}

static void find_drift(struct history *h)
{
	double explained = 0, loss;
	int first = h->n > CHANGEPOINT_POINTS_MAX ? h->n - CHANGEPOINT_POINTS_MAX : 0;

	for (int i = 0; i < h->n_found; i++)
		explained = fmax(0, explained + h->found[i].step);
	if (changepoint_drift(h->x + first, h->n - first, stats_theta(threshold_pct) + explained, &loss))
		h->drift = h->n - 1;
}

/* Add one commit. */
static void grow(struct history *h)
{
	int i = h->n++;
	struct answer a = compare(h->kernel, i ? h->level[i - 1] : 0, h->level[i], threshold_pct);
	bool moved = a.judgement.verdict == VERDICT_REGRESSION || a.judgement.verdict == VERDICT_IMPROVEMENT;

	h->x[i] = a.reference.m;
	h->measured[i] = 1;
	if (moved)
		note(h, i - 1, i, a.judgement.all.m, true);
	if (i > 0 && changepoint_is_odd(h->x + h->from, h->n - h->from))
		measure_again(h, i);
	find_step(h);
	if (h->drift < 0)
		find_drift(h);
}

static void begin(struct history *h, int which)
{
	*h = (struct history){ .kernel = recorded_named(&recording, kernels[which % KERNELS]), .drift = -1 };
	if (!h->kernel)
		recorded_stop("is not in the recording", kernels[which % KERNELS]);
}

/* ---- results ------------------------------------------------------------------------------------------------------------- */

static void figure(const char *name, double value, const char *unit)
{
	printf("bench trend.%s %.6g %s\n", name, value, unit);
}

static void figure_of(const char *group, const char *name, double value, const char *unit)
{
	char full[96];
	snprintf(full, sizeof full, "%s.%s", group, name);
	figure(full, value, unit);
}

static void no_change(int histories)
{
	int commits = 0, steps = 0, at_once = 0, candidates = 0, drifts = 0, runs = 0;
	struct history h;

	for (int k = 0; k < histories; k++) {
		begin(&h, k);
		while (h.n < COMMITS_MAX)
			grow(&h);
		commits += h.n;
		candidates += h.candidates;
		drifts += h.drift >= 0;
		runs += h.runs;
		for (int i = 0; i < h.n_found; i++) {
			at_once += h.found[i].at_once;
			steps += !h.found[i].at_once;
		}
	}
	figure("no_change.commits", commits, "count");
	figure("no_change.false_steps_per_1000", 1000.0 * steps / commits, "count");
	figure("no_change.false_regressions_per_1000", 1000.0 * at_once / commits, "count");
	figure("no_change.false_drift_per_1000", 1000.0 * drifts / commits, "count");
	figure("no_change.candidates_per_1000", 1000.0 * candidates / commits, "count");
	figure("no_change.runs_per_1000", 1000.0 * runs / commits, "count");
}

static void planted(int histories, double pct, const char *name)
{
	int found = 0, at_once = 0, wrong = 0, late = 0, of_kernel[KERNELS] = { 0 }, tried[KERNELS] = { 0 };
	double worst = 100;
	struct history h;

	for (int k = 0; k < histories; k++) {
		bool hit = false;
		begin(&h, k);
		for (int i = STEP_AT; i < COMMITS_MAX; i++)
			h.level[i] = stats_theta(pct);
		while (h.n < STEP_AT + STEP_COMMITS)
			grow(&h);
		for (int i = 0; i < h.n_found; i++) {
			bool right = h.found[i].commit == STEP_AT;
			if (right && !hit) {
				found++;
				late += h.found[i].seen - STEP_AT;
				at_once += h.found[i].at_once;
			}
			hit = hit || right;
			wrong += !right;
		}
		of_kernel[k % KERNELS] += hit;
		tried[k % KERNELS]++;
	}
	for (int k = 0; k < KERNELS; k++)
		worst = fmin(worst, tried[k] ? 100.0 * of_kernel[k] / tried[k] : 100);
	figure_of(name, "found", 100.0 * found / histories, "pct");
	figure_of(name, "found.worst_cell", worst, "pct");
	figure_of(name, "found_by_its_comparison", 100.0 * at_once / histories, "pct");
	figure_of(name, "commits_later", found ? (double)late / found : NAN, "count");
	figure_of(name, "other_commit_accused", wrong, "count");
}

/* `commits` become slower by `pct` each; `before`: a step that comes, and is reported, before them. */
static void drift(int histories, double before, double pct, int commits, const char *name)
{
	int reported = 0, late = 0, accused = 0, runs = 0, of_kernel[KERNELS] = { 0 }, tried[KERNELS] = { 0 };
	double worst = 100;
	struct history h;

	for (int k = 0; k < histories; k++) {
		begin(&h, k);
		int from = before > 0 ? STEP_AT + DRIFT_FROM : DRIFT_FROM;
		for (int i = 1; i < COMMITS_MAX; i++)
			h.level[i] = h.level[i - 1] + (i >= from && i < from + commits ? stats_theta(pct) : 0) +
				     (i == STEP_AT ? stats_theta(before) : 0);
		while (h.n < from + commits + STILL)
			grow(&h);
		reported += h.drift >= 0;
		late += h.drift >= 0 ? h.drift - (from + commits - 1) : 0;
		for (int i = 0, any = 0; i < h.n_found; i++) {
			accused += !any && h.found[i].commit >= from;
			any = any || h.found[i].commit >= from;
		}
		runs += h.runs;
		of_kernel[k % KERNELS] += h.drift >= 0;
		tried[k % KERNELS]++;
	}
	for (int k = 0; k < KERNELS; k++)
		worst = fmin(worst, tried[k] ? 100.0 * of_kernel[k] / tried[k] : 100);
	figure_of(name, "found", 100.0 * reported / histories, "pct");
	figure_of(name, "found.worst_cell", worst, "pct");
	figure_of(name, "commits_after_its_last", reported ? (double)late / reported : NAN, "count");
	figure_of(name, "taken_for_a_step", 100.0 * accused / histories, "pct");
	figure_of(name, "runs", (double)runs / histories, "count");
}

/* ---- how many jobs the history requests ------------------------------------------------------------------------------------ */

/* A suite of 20 cells over 90 commits, scanned after each one. Simulated, because the recordings do not drift. */
enum { CELLS = 20, COMMITS = 90, JUMP_AT = 45, JUMP_AGAIN_AT = 60, PERIOD = 12 };

#define SD_OF_A_POINT 0.001
#define SE_OF_A_PAIR  0.0006
#define AR            0.9
#define JUMP          0.01

enum wander { STILL_NOISE, WALK, AUTOREGRESSIVE, SQUARE };

/** Model of a cell's series: its true level, and the noise of its points while the code is the same. */
struct course {
	const char *name;
	double drift; /* a commit ... */
	int from, to; /* ... of these; to 0: of all */
	double jump;  /* at JUMP_AT */
	double again; /* at JUMP_AGAIN_AT */
	enum wander wander;
	double wander_sd; /* of a commit's move (walk), of the noise (autoregressive), height (square) */
};

static const struct course courses[] = {
	{ .name = "white_noise" },
	{ .name = "drift_0_03", .drift = 0.0003 },
	{ .name = "drift_0_1", .drift = 0.001 },
	{ .name = "drift_0_2", .drift = 0.002 },
	{ .name = "slope_then_plateau", .drift = 0.001, .from = 20, .to = 45 },
	{ .name = "random_walk_0_3", .wander = WALK, .wander_sd = 0.003 },
	{ .name = "autoregressive_0_3", .wander = AUTOREGRESSIVE, .wander_sd = 0.003 },
	{ .name = "two_machines_by_interleave_0_5", .wander = SQUARE, .wander_sd = 0.005 },
	{ .name = "step_1_0", .jump = JUMP },
	{ .name = "two_steps_0_8", .jump = 0.008, .again = 0.008 },
	{ .name = "step_1_0_on_drift_0_05", .drift = 0.0005, .jump = JUMP },
	{ .name = "step_1_0_in_random_walk_0_3", .jump = JUMP, .wander = WALK, .wander_sd = 0.003 },
	{ .name = "step_1_0_in_random_walk_0_1", .jump = JUMP, .wander = WALK, .wander_sd = 0.001 },
	{ .name = "step_1_0_in_autoregressive_0_3", .jump = JUMP, .wander = AUTOREGRESSIVE, .wander_sd = 0.003 },
};

struct drifting_cell {
	double level[COMMITS], x[COMMITS];
	int from, found;            /* true steps, and confirmed ones */
	struct candidate_past past; /* the new rule */
	int dropped_at[COMMITS];    /* the old one: points when a step at this commit was not confirmed */
};

static void draw_cell(struct drifting_cell *c, const struct course *k)
{
	double wander = k->wander == AUTOREGRESSIVE ? k->wander_sd * noise_normal(&dice) : 0;
	int to = k->to ? k->to : COMMITS;

	memset(c, 0, sizeof *c);
	for (int i = 0; i < COMMITS; i++) {
		int slope = i < k->from ? 0 : (i < to ? i : to) - k->from;
		c->level[i] = k->drift * slope + (i >= JUMP_AT ? k->jump : 0) + (i >= JUMP_AGAIN_AT ? k->again : 0);
		if (k->wander == WALK)
			wander += k->wander_sd * noise_normal(&dice);
		else if (k->wander == AUTOREGRESSIVE)
			wander = AR * wander + k->wander_sd * sqrt(1 - AR * AR) * noise_normal(&dice);
		else if (k->wander == SQUARE)
			wander = i / PERIOD % 2 ? k->wander_sd : 0;
		c->x[i] = c->level[i] + wander + SD_OF_A_POINT * noise_normal(&dice);
		if (changepoint_is_odd(c->x, i + 1)) {
			double first = c->level[i] + wander + SD_OF_A_POINT * noise_normal(&dice);
			double second = c->level[i] + wander + SD_OF_A_POINT * noise_normal(&dice);
			c->x[i] = median_of_three(c->x[i], first, second);
		}
	}
}

/* The two commits `first` and the next are compared directly. */
static bool pair_confirms(struct drifting_cell *c, int n, int first)
{
	double step = changepoint_step(c->x + c->from, n - c->from, first + 1 - c->from);
	double m = c->level[first + 1] - c->level[first] + SE_OF_A_PAIR * noise_normal(&dice);

	if (!changepoint_confirms(step, m, SE_OF_A_PAIR))
		return false;
	c->found += first + 1 == JUMP_AT || first + 1 == JUMP_AGAIN_AT;
	c->from = first + 1;
	c->past = (struct candidate_past){ .n = 0 };
	return true;
}

/* The rule before candidate.c: each split that passes, three pairs, one job each; a split pauses for three points. Returns its
 * jobs. */
static int old_rule(struct drifting_cell *c, int n)
{
	struct changepoint found;
	int jobs = 0;

	if (!changepoint_find(c->x + c->from, n - c->from, &found))
		return 0;
	int at = c->from + found.at;
	if (c->dropped_at[at] > n - 3)
		return 0;
	for (int tried = 0; tried < CHANGEPOINT_PAIRS; tried++) {
		int first = at + changepoint_pair(tried);
		if (first < c->from || first + 1 > n - CHANGEPOINT_RIGHT_MIN)
			continue;
		jobs++;
		if (pair_confirms(c, n, first))
			return jobs;
	}
	c->dropped_at[at] = n;
	return jobs;
}

/* All cells after commit n - 1. Cells that request the same pair at the same time share a job. Returns the jobs. */
static int new_rule(struct drifting_cell *cell, int n)
{
	bool is_requested[CHANGEPOINT_PAIRS][COMMITS] = { { false } };
	int jobs = 0;

	for (int k = 0; k < CELLS; k++) {
		struct drifting_cell *c = &cell[k];
		struct changepoint found;
		bool is_confirmed = false;
		int from = c->from, first;
		if (!candidate_find(c->x + from, n - from, n, &c->past, &found))
			continue;
		for (int tried = 0; tried < CHANGEPOINT_PAIRS && !is_confirmed; tried++) {
			if (!candidate_pair(c->x + from, n - from, found.at, tried, &first))
				continue;
			jobs += !is_requested[tried][from + first];
			is_requested[tried][from + first] = true;
			is_confirmed = pair_confirms(c, n, from + first);
		}
		if (!is_confirmed)
			c->past = (struct candidate_past){ c->past.n + 1, n, fmax(c->past.step, fabs(found.step)) };
	}
	return jobs;
}

static void jobs_of(const struct course *k, bool is_new)
{
	static struct drifting_cell cell[CELLS];
	int jobs = 0, found = 0;
	char name[64];

	dice.state = 20261127; /* both rules see the same series */
	for (int i = 0; i < CELLS; i++)
		draw_cell(&cell[i], k);
	for (int n = 2; n <= COMMITS; n++) {
		for (int i = 0; !is_new && i < CELLS; i++)
			jobs += old_rule(&cell[i], n);
		jobs += is_new ? new_rule(cell, n) : 0;
	}
	for (int i = 0; i < CELLS; i++)
		found += cell[i].found;
	snprintf(name, sizeof name, "%s.%s", k->name, is_new ? "new" : "old");
	figure_of(name, "verify_jobs", jobs, "count");
	if (k->jump > 0)
		figure_of(name, k->again > 0 ? "found_of_40" : "found_of_20", found, "count");
}

static void jobs(void)
{
	for (size_t i = 0; i < sizeof courses / sizeof courses[0]; i++) {
		jobs_of(&courses[i], false);
		jobs_of(&courses[i], true);
	}
}

enum { SCENARIOS = 8 };

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (n < KERNELS) {
		fprintf(stderr, "usage: bench_trend DIR HISTORIES (at least %d)\n", KERNELS);
		return 2;
	}
	recorded_read(argv[1], &recording);
	figure("histories", SCENARIOS * n, "count");
	no_change(n);
	planted(n, 0.5, "step_0_5");
	planted(n, 1.0, "step_1_0");
	planted(n, 1.5, "step_1_5");
	planted(n, 2.0, "step_2_0");
	planted(n, 3.0, "step_3_0");
	drift(n, 0, 0.25, 8, "drift_8_of_0_25");
	drift(n, 1.0, 0.25, 8, "drift_8_of_0_25_after_a_step");
	jobs();
	return 0;
}
