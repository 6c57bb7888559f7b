/*
 * Coverage of 95 % intervals: how often the interval at the end of a comparison contains the true value, on runs recorded on
 * H200s.
 *
 * Two equal kernels were timed, so the true value is the planted change: times of the target multiplied, its clock moved and its
 * times with it, as by a branch that draws another power, or both. A comparison draws runs of one cell of one recording, none
 * twice, with the sides as recorded or all of them swapped, and continues until the rule has decided and the interval is narrow
 * enough, or the recording ends. Next to each number is that of the earlier rule (version 4) on the same draws.
 * `first`: nothing is known of the cell. `learned`: its noise is calibrated on runs that the comparison does not draw.
 * Usage: bench_cover GPU_RECORDED_DIR GPU_DIR TRIALS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "stats/stats.h"
#include "verdict/verdict.h"

enum { LEARNED_RUNS = 12, KEPT_RUNS = 8, SERIES = 4, RULES = 2, RECORDINGS_MAX = 8 };

static const double threshold_pct = 1.5;
static const char *const part_name[SERIES] = { "dense_forward", "dense_backward", "sparse_forward", "sparse_backward" };

static struct noise dice = { .state = 20261122 };
static struct samples recording[RECORDINGS_MAX], memset_of_o;
static const char *recording_name[RECORDINGS_MAX];
static int recordings;
static struct rule rule_of[RULES]; /* before, and now */

/* ---- sources of runs --------------------------------------------------------------------------------------------- */

static bool wants_memset(const char *comparison, const char *cell)
{
	return strcmp(comparison, "fillo") == 0 && strstr(cell, "forward");
}

static int series_of(const struct samples_cell *c)
{
	return 2 * c->is_sparse + c->is_backward;
}

/* ---- one comparison ------------------------------------------------------------------------------------------------- */

static void learn(const struct samples_cell *c, const int *order, int n, const struct rule *rule, double *tau0, double *nu0)
{
	struct run_pairs p[LEARNED_RUNS];
	struct run_estimate e[LEARNED_RUNS];
	struct calibration known = { 0 };
	double beta;

	for (int i = 0; i < n; i++)
		p[i] = samples_pairs(&c->run[order[i]], 1, true);
	stats_runs(rule, p, n, e, &beta);
	calibration_add(&known, e, n);
	if (!calibration_learned(&known, tau0, nu0))
		*tau0 = *nu0 = 0;
}

/* Inputs of a comparison. */
struct setting {
	struct replay_plant plant;
	double beta; /* factor by which the planted clock changes times */
	bool learned;
	int runs; /* 0: as many as the rule requests */
};

struct outcome {
	struct judgement j;
	int runs;
	bool ran_out;
};

static void swap_sides(struct samples_run *l)
{
	for (int i = 0; i < l->n; i++) {
		float ms = l->base_ms[i], mhz = l->base_mhz[i];

		l->base_ms[i] = l->target_ms[i], l->base_mhz[i] = l->target_mhz[i];
		l->target_ms[i] = ms, l->target_mhz[i] = mhz;
	}
}

static bool wants_more(const struct setting *set, const struct outcome *out)
{
	if (set->runs > 0)
		return out->runs < set->runs;
	return (out->j.want_set != 0 || out->j.want_precision) && out->runs < STATS_RUNS_MAX;
}

static struct outcome compare(
	const struct samples_cell *c, const struct setting *set, const struct rule *general, const int *order, bool swapped)
{
	static struct samples_run drawn[STATS_RUNS_MAX];
	struct run_pairs p[STATS_RUNS_MAX];
	struct run_estimate e[STATS_RUNS_MAX];
	struct outcome out = { .j = { .want_set = 1 } };
	double fitted, tau0 = 0, nu0 = 0;
	int first = 0;

	if (set->learned) {
		first = c->n_runs - KEPT_RUNS < LEARNED_RUNS ? c->n_runs - KEPT_RUNS : LEARNED_RUNS;
		learn(c, order, first, general, &tau0, &nu0);
	}
	while (wants_more(set, &out)) {
		int at = first + out.runs;
		struct samples_run *l = &drawn[out.runs];

		out.ran_out = at >= c->n_runs;
		if (out.ran_out)
			break;
		*l = c->run[order[at]];
		if (swapped)
			swap_sides(l);
		replay_plant(l, &set->plant, set->beta, l);
		p[out.runs] = samples_pairs(l, set->runs == 0 && out.j.want_set == 2 ? 2 : 1, true);
		out.runs++;
		stats_runs(general, p, out.runs, e, &fitted);
		struct rule rule = memory_rule(general, tau0, nu0, e, out.runs);
		verdict_judge(&rule, threshold_pct, c->is_sparse, e, out.runs, &out.j);
	}
	return out;
}

/* ---- results ---------------------------------------------------------------------------------------------------------- */

struct request_counter {
	int n, held, ran_out, regressions, unchanged;
	double half, square, runs;
};

static void count(struct request_counter *t, const struct outcome *o, double truth)
{
	const struct estimate *e = &o->j.all;

	t->n++;
	t->held += e->ci_low <= truth && truth <= e->ci_high;
	t->ran_out += o->ran_out;
	t->regressions += o->j.verdict == VERDICT_REGRESSION;
	t->unchanged += o->j.verdict == VERDICT_UNCHANGED;
	t->half += (e->ci_high - e->ci_low) / 2;
	t->square += (e->m - truth) * (e->m - truth);
	t->runs += o->runs;
}

static double share(int part, const struct request_counter *t)
{
	return 100.0 * part / t->n;
}

static void print(const char *what, const char *series, const char *who, const struct request_counter t[RULES])
{
	const struct request_counter *old = &t[0], *now = &t[1];

	if (now->n == 0)
		return;
	printf("bench cover.%s.%s %s %.1f pct, before %.1f (half-width %.3f, before %.3f; error %.3f rms, before %.3f; runs %.2f, "
	       "before %.2f; regression %.1f, before %.1f; unchanged %.1f, before %.1f; recording ended %.1f)\n",
		what, series, who, share(now->held, now), share(old->held, old), 100 * now->half / now->n,
		100 * old->half / old->n, 100 * sqrt(now->square / now->n), 100 * sqrt(old->square / old->n), now->runs / now->n,
		old->runs / old->n, share(now->regressions, now), share(old->regressions, old), share(now->unchanged, now),
		share(old->unchanged, old), share(now->ran_out, now));
}

/* Draws `trials` comparisons of each cell, by both rules. Shape: tally[SERIES][RULES]. */
static void draw(
	const struct samples *s, int trials, const struct setting *set, struct request_counter request_counter[SERIES][RULES])
{
	double truth = set->plant.time + set->beta * set->plant.clock;
	int order[SAMPLES_RUNS_MAX];

	for (int i = 0; i < s->n; i++) {
		const struct samples_cell *c = &s->cell[i];

		if (c->n_runs < 2 || (set->runs > c->n_runs) || (set->learned && c->n_runs <= KEPT_RUNS))
			continue;
		for (int t = 0; t < trials; t++) {
			replay_shuffle(&dice, order, c->n_runs);
			bool swapped = noise_uniform(&dice) < 0.5;

			for (int r = 0; r < RULES; r++) {
				struct outcome o = compare(c, set, &rule_of[r], order, swapped);
				count(&request_counter[series_of(c)][r], &o, truth);
			}
		}
	}
}

/* All recordings together. */
static void pooled(int trials, const struct setting *set, const char *what, const char *who)
{
	struct request_counter request_counter[SERIES][RULES] = { 0 };

	for (int i = 0; i < recordings; i++)
		draw(&recording[i], trials, set, request_counter);
	for (int i = 0; i < SERIES; i++)
		print(what, part_name[i], who, request_counter[i]);
}

/* A loss in percent of throughput: in time, by a lower clock alone, or half of it each. */
static void planted(int trials, bool learned, const char *who)
{
	static const double losses_pct[] = { 0, 0.5, 1, 1.5, 2, 4 };
	static const struct {
		const char *name;
		double time, clock;
	} ways[] = { { "time", 1, 0 }, { "clock", 0, 1 }, { "both", 0.5, 0.5 } };

	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
		for (size_t k = w > 0; k < sizeof losses_pct / sizeof *losses_pct; k++) {
			double loss = stats_theta(losses_pct[k]);
			struct setting set = { { ways[w].time * loss, -ways[w].clock * loss }, -1, learned, 0 };
			char what[32];

			snprintf(what, sizeof what, "%s_%g", ways[w].name, losses_pct[k]);
			pooled(trials, &set, what, who);
		}
}

static void equal(int trials)
{
	static const int runs[] = { 2, 3, 4, 8 };

	for (int i = 0; i < recordings; i++) {
		struct request_counter request_counter[SERIES][RULES] = { 0 };

		draw(&recording[i], 4 * trials, &(struct setting){ .beta = -1 }, request_counter);
		for (int k = 0; k < SERIES; k++)
			print("equal", part_name[k], recording_name[i], request_counter[k]);
	}
	for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
		char who[32];

		snprintf(who, sizeof who, "of_%d_runs", runs[k]);
		pooled(trials, &(struct setting){ .beta = -1, .runs = runs[k] }, "equal", who);
	}
}

/* A branch that really changes the clock: a memset of O before the kernel. All runs of a cell together. */
static void real_memset(void)
{
	for (int i = 0; i < memset_of_o.n; i++) {
		const struct samples_cell *c = &memset_of_o.cell[i];
		struct run_pairs p[STATS_RUNS_MAX];
		struct run_estimate e[STATS_RUNS_MAX];
		struct estimate all;
		int n = c->n_runs < STATS_RUNS_MAX ? c->n_runs : STATS_RUNS_MAX;
		double beta;

		for (int l = 0; l < n; l++)
			p[l] = samples_pairs(&c->run[l], 1, true);
		stats_runs(&rule_of[1], p, n, e, &beta);
		stats_combine(&rule_of[1], e, n, &all);
		printf("bench cover.memset.%s flopwatch %.2f pct (%.2f to %.2f; the code %.2f, pairs as they are %.2f)\n",
			c->name, stats_change_pct(all.m), stats_change_pct(all.ci_high), stats_change_pct(all.ci_low),
			stats_change_pct(all.m_code), stats_change_pct(all.m_raw));
	}
}

static void read_recording(const char *dir, const char *file, const char *name)
{
	char path[4096];
	struct samples *to = &recording[recordings];

	snprintf(path, sizeof path, "%s/%s", dir, file);
	if (strstr(file, ".csv") ? samples_read_csv(path, replay_wants_equal, to)
				 : samples_read_json(path, replay_wants_equal, to))
		exit(1);
	recording_name[recordings++] = name;
}

int main(int argc, char **argv)
{
	char path[4096];
	int trials = argc == 4 ? atoi(argv[3]) : 0;

	if (trials < 1) {
		fprintf(stderr, "usage: bench_cover GPU_RECORDED_DIR GPU_DIR TRIALS\n");
		return 2;
	}
	read_recording(argv[1], "h200-clock.csv", "h200_clock");
	read_recording(argv[2], "h200-2026-11-21-verdicts-samples.jsonl", "h200_11_21");
	read_recording(argv[2], "h200-2026-11-22-verdicts-samples.jsonl", "h200_11_22");
	read_recording(argv[2], "h200-2026-11-22-losses-samples.jsonl", "h200_11_22_losses");
	read_recording(argv[2], "h100-2026-11-27-card-1-samples.jsonl", "h100_card_1");
	read_recording(argv[2], "h100-2026-11-27-card-2-samples.jsonl", "h100_card_2");
	snprintf(path, sizeof path, "%s/h200-clock.csv", argv[1]);
	if (samples_read_csv(path, wants_memset, &memset_of_o))
		return 1;
	rule_default(&rule_of[1], 20);
	rule_default(&rule_of[0], 20);
	replay_rule_before(&rule_of[0]);
	equal(trials);
	planted(trials, false, "first");
	planted(trials, true, "learned");
	real_memset();
	return 0;
}
