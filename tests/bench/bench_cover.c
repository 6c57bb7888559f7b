/*
 * Whether 95 % means 95 %: how often the interval that a comparison ends with holds the truth, on launches recorded on an H200.
 *
 * Two equal kernels were timed, so the truth is what is planted: times of the target multiplied, or times and clocks moved
 * together as a branch that draws another power would. A comparison draws launches of one cell, none twice, sides as recorded, and goes
 * on until the rule has its word and its width; where the recording ends first, that is where it ends. `learned`: the cell's scatter is
 * calibrated on launches that the comparison does not draw. `first`: nothing is known of the cell.
 * Usage: bench_cover GPU_RECORDED_DIR SAMPLES.jsonl TRIALS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats/calibration.h"
#include "core/stats/memory.h"
#include "core/verdict/verdict.h"
#include "replay.h"

enum { LEARNED_LAUNCHES = 12, KEPT_LAUNCHES = 8, KINDS = 6 };

static const double threshold_pct = 1.5;
static const char *const kind_name[KINDS] = { "dense_forward", "dense_backward", "varlen_forward", "varlen_backward",
	"sparse_forward", "sparse_backward" };

static struct noise dice = { .state = 20261122 };
static struct samples equal, memset_of_o;

/* ---- sources of launches --------------------------------------------------------------------------------------------- */

static bool wants_memset(const char *comparison, const char *cell)
{
	return strcmp(comparison, "fillo") == 0 && strstr(cell, "forward");
}

static int kind_of(const struct samples_cell *c)
{
	int family = c->is_sparse ? 2 : strstr(c->name, "varlen") ? 1 : 0;

	return 2 * family + c->is_backward;
}

/* ---- one comparison ------------------------------------------------------------------------------------------------- */

static void learn(
	const struct samples_cell *c, const int *order, int n, bool clocked, const struct rule *rule, double *tau0, double *nu0)
{
	struct launch_pairs p[LEARNED_LAUNCHES];
	struct launch_estimate e[LEARNED_LAUNCHES];
	struct calibration known = { 0 };
	double beta;

	for (int i = 0; i < n; i++)
		p[i] = samples_pairs(&c->launch[order[i]], 1, clocked);
	stats_launches(rule, p, n, e, &beta);
	calibration_add(&known, e, n);
	if (!calibration_learned(&known, tau0, nu0))
		*tau0 = *nu0 = 0;
}

struct outcome {
	struct judgement j;
	int launches;
	bool ran_out;
	double code_half;
};

static struct outcome compare(
	const struct samples_cell *c, const struct replay_plant *plant, double beta, bool clocked, bool learned)
{
	static struct samples_launch drawn[STATS_LAUNCHES_MAX];
	struct launch_pairs p[STATS_LAUNCHES_MAX];
	struct launch_estimate e[STATS_LAUNCHES_MAX];
	struct outcome out = { .j = { .want_set = 1 } };
	struct rule general, rule = { .nu0 = 1 };
	int order[SAMPLES_LAUNCHES_MAX], first = 0;
	double fitted, tau0 = 0, nu0 = 0;

	rule_default(&general, 20);
	replay_shuffle(&dice, order, c->n_launches);
	if (learned) {
		first = c->n_launches - KEPT_LAUNCHES < LEARNED_LAUNCHES ? c->n_launches - KEPT_LAUNCHES : LEARNED_LAUNCHES;
		learn(c, order, first, clocked, &general, &tau0, &nu0);
	}
	while ((out.j.want_set != 0 || out.j.want_precision) && out.launches < STATS_LAUNCHES_MAX) {
		int at = first + out.launches;
		out.ran_out = at >= c->n_launches;
		if (out.ran_out)
			break;
		replay_plant(&c->launch[order[at]], plant, beta, &drawn[out.launches]);
		p[out.launches] = samples_pairs(&drawn[out.launches], out.j.want_set == 2 ? 2 : 1, clocked);
		out.launches++;
		stats_launches(&general, p, out.launches, e, &fitted);
		rule = memory_rule(&general, tau0, nu0, e, out.launches);
		verdict_judge(&rule, threshold_pct, c->is_sparse, e, out.launches, &out.j);
	}
	double freedom = rule.nu0 + out.launches - 1;
	out.code_half = stats_t95(freedom) * out.j.all.se_code;
	return out;
}

/* ---- figures ---------------------------------------------------------------------------------------------------------- */

struct tally {
	int n, held, code_held, ran_out, regressions, undecided, bursts;
	double half, square, launches;
};

static void count(struct tally *t, const struct outcome *o, double truth, double code_truth)
{
	const struct estimate *e = &o->j.all;

	t->n++;
	t->held += e->ci_low <= truth && truth <= e->ci_high;
	t->code_held += fabs(e->m_code - code_truth) <= o->code_half;
	t->ran_out += o->ran_out;
	t->regressions += o->j.verdict == VERDICT_REGRESSION;
	t->undecided += o->j.verdict == VERDICT_UNDECIDED && !o->ran_out;
	t->bursts += o->j.want_bursts;
	t->half += (e->ci_high - e->ci_low) / 2;
	t->square += (e->m - truth) * (e->m - truth);
	t->launches += o->launches;
}

static void print(const char *what, const char *kind, const char *who, const struct tally *t, bool code)
{
	if (t->n == 0)
		return;
	printf("bench cover.%s.%s %s %.1f pct", what, kind, who, 100.0 * t->held / t->n);
	if (code)
		printf(", of the code %.1f", 100.0 * t->code_held / t->n);
	printf(" (half-width %.3f, error %.3f rms, %.1f launches, regression %.1f, bursts asked for %.1f, undecided %.1f, "
	       "recording ended %.1f)\n",
		100 * t->half / t->n, 100 * sqrt(t->square / t->n), t->launches / t->n, 100.0 * t->regressions / t->n,
		100.0 * t->bursts / t->n, 100.0 * t->undecided / t->n, 100.0 * t->ran_out / t->n);
}

static double beta_of(const struct samples_cell *c)
{
	struct launch_pairs p[STATS_LAUNCHES_MAX];
	struct launch_estimate e[STATS_LAUNCHES_MAX];
	struct rule rule;
	int n = c->n_launches < STATS_LAUNCHES_MAX ? c->n_launches : STATS_LAUNCHES_MAX;
	double beta;

	rule_default(&rule, 20);
	for (int i = 0; i < n; i++)
		p[i] = samples_pairs(&c->launch[i], 1, true);
	stats_launches(&rule, p, n, e, &beta);
	return beta;
}

/* Exact plants: times of the target multiplied. */
static void exact(const struct samples *s, int trials, bool clocked, bool learned, const char *who)
{
	static const double plants_pct[] = { 0, 0.5, 1, 2, 5 };

	for (size_t k = 0; k < sizeof plants_pct / sizeof *plants_pct; k++) {
		struct tally tally[KINDS] = { { 0 } };
		struct replay_plant plant = { .time = log1p(plants_pct[k] / 100) };
		char what[32];

		for (int i = 0; i < s->n; i++)
			for (int t = 0; t < trials; t++) {
				struct outcome o = compare(&s->cell[i], &plant, 0, clocked, learned);
				count(&tally[kind_of(&s->cell[i])], &o, plant.time, plant.time);
			}
		snprintf(what, sizeof what, "exact_%g", plants_pct[k]);
		for (int i = 0; i < KINDS; i++)
			print(what, kind_name[i], who, &tally[i], clocked);
	}
}

/* Plants that move the clock: by as much as branches usually do, and (`all`) a loss that comes with an equally lower clock. */
static void moved(const struct samples *s, int trials, bool learned, double time_pct, bool all, const char *what, const char *who)
{
	struct tally tally[KINDS] = { { 0 } };
	struct rule rule;

	rule_default(&rule, 20);
	for (int i = 0; i < s->n; i++) {
		double beta = beta_of(&s->cell[i]);
		for (int t = 0; t < trials; t++) {
			double time = log1p(time_pct / 100);
			struct replay_plant plant = all ? (struct replay_plant){ 0, -time }
							: (struct replay_plant){ time, rule.clock.usual * noise_normal(&dice) };
			struct outcome o = compare(&s->cell[i], &plant, all ? -1 : beta, true, learned);
			double truth = plant.time + (all ? -1 : beta) * plant.clock;
			count(&tally[kind_of(&s->cell[i])], &o, truth, truth - beta * plant.clock);
		}
	}
	for (int i = 0; i < KINDS; i++)
		print(what, kind_name[i], who, &tally[i], true);
}

/* A branch that really moves the clock: a memset of O before the kernel. All launches of a cell together. */
static void real_memset(void)
{
	struct rule rule;

	rule_default(&rule, 20);
	for (int i = 0; i < memset_of_o.n; i++) {
		const struct samples_cell *c = &memset_of_o.cell[i];
		struct launch_pairs p[STATS_LAUNCHES_MAX];
		struct launch_estimate e[STATS_LAUNCHES_MAX];
		struct estimate all;
		int n = c->n_launches < STATS_LAUNCHES_MAX ? c->n_launches : STATS_LAUNCHES_MAX;
		double beta;

		for (int l = 0; l < n; l++)
			p[l] = samples_pairs(&c->launch[l], 1, true);
		stats_launches(&rule, p, n, e, &beta);
		stats_combine(&rule, e, n, &all);
		printf("bench cover.memset.%s flopwatch %.2f pct (%.2f to %.2f; the code %.2f, pairs as they are %.2f)\n",
			c->name, stats_change_pct(all.m), stats_change_pct(all.ci_high), stats_change_pct(all.ci_low),
			stats_change_pct(all.m_code), stats_change_pct(all.m_raw));
	}
}

int main(int argc, char **argv)
{
	static struct samples older;
	char path[4096];
	int trials = argc == 4 ? atoi(argv[3]) : 0;

	if (trials < 1) {
		fprintf(stderr, "usage: bench_cover GPU_RECORDED_DIR SAMPLES.jsonl TRIALS\n");
		return 2;
	}
	snprintf(path, sizeof path, "%s/h200-clock.csv", argv[1]);
	if (replay_read_clocked(argv[1], argv[2], &equal) || samples_read_csv(path, wants_memset, &memset_of_o))
		return 1;
	replay_read_unclocked(argv[1], &older);
	exact(&equal, trials, true, true, "clocked_learned");
	exact(&equal, trials, true, false, "clocked_first");
	exact(&equal, trials, false, true, "unclocked_learned");
	exact(&older, trials, false, false, "unclocked_first");
	moved(&equal, trials, true, 0, false, "moved_0", "clocked_learned");
	moved(&equal, trials, true, 2, false, "moved_2", "clocked_learned");
	moved(&equal, trials, true, 5, false, "moved_5", "clocked_learned");
	moved(&equal, trials, true, 2, true, "by_clock_2", "clocked_learned");
	moved(&equal, trials, true, 3, true, "by_clock_3", "clocked_learned");
	moved(&equal, trials, true, 5, true, "by_clock_5", "clocked_learned");
	real_memset();
	return 0;
}
