/*
 * The value of the clock of each call as a control variate: noise of pairs and of runs with and without it, and the device time
 * that a 95 % interval of the required half-width takes, on recorded A/A comparisons of our own kernels.
 *
 * Input: the samples that tests/gpu/daemon.sh stores. A trial draws runs of a cell repeatedly until the interval is narrow.
 * Usage: bench_clock SAMPLES.jsonl
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "samples.h"
#include "stats/stats.h"

enum { RUNS_MAX = SAMPLES_RUNS_MAX, TRIALS = 400 };

static struct samples recorded;
static struct noise dice = { .state = 20261121 };

/* Only comparisons of kernels with themselves: a planted slowdown is not noise. */
static bool wants_equal(const char *comparison, const char *cell)
{
	(void)cell;
	return strncmp(comparison, "slower", 6) != 0;
}

static struct run_pairs pairs_of(const struct samples_cell *c, int i, bool clocked)
{
	return samples_pairs(&c->run[i], 1, clocked);
}

/* Standard deviation of pairs around their run, in percent. */
static double pair_sd(const struct samples_cell *c, double beta)
{
	double sum = 0;
	int freedom = 0;
	for (int l = 0; l < c->n_runs; l++) {
		struct run_pairs p = pairs_of(c, l, true);
		double y[STATS_PAIRS_MAX], mean = 0;
		for (int i = 0; i < p.n; i++) {
			y[i] = log((double)p.target_ms[i] / p.base_ms[i]) - beta * log((double)p.target_mhz[i] / p.base_mhz[i]);
			mean += y[i] / p.n;
		}
		for (int i = 0; i < p.n; i++)
			sum += (y[i] - mean) * (y[i] - mean);
		freedom += p.n - 1;
	}
	return freedom > 0 ? 100 * sqrt(sum / freedom) : NAN;
}

static double run_sd(const struct samples_cell *c, const struct rule *rule, bool clocked, double *beta)
{
	struct run_pairs p[RUNS_MAX];
	struct run_estimate e[RUNS_MAX];
	double mean = 0, sum = 0;
	for (int i = 0; i < c->n_runs; i++)
		p[i] = pairs_of(c, i, clocked);
	stats_runs(rule, p, c->n_runs, e, beta);
	for (int i = 0; i < c->n_runs; i++)
		mean += e[i].d / c->n_runs;
	for (int i = 0; i < c->n_runs; i++)
		sum += (e[i].d - mean) * (e[i].d - mean);
	return 100 * sqrt(sum / (c->n_runs - 1));
}

/* Seconds of timed calls until the interval is as narrow as required, or the runs are used up; mean over trials. */
static double seconds_to_width(const struct samples_cell *c, const struct rule *rule, bool clocked)
{
	const double wanted = (c->is_sparse ? rule->half_width_sparse_pct : rule->half_width_dense_pct) / 100;
	double total_ms = 0;
	for (int trial = 0; trial < TRIALS; trial++) {
		struct run_pairs p[STATS_RUNS_MAX];
		struct run_estimate e[STATS_RUNS_MAX];
		struct estimate all;
		double beta;
		for (int n = 1; n <= rule->runs_max; n++) {
			const int drawn = (int)(noise_uniform(&dice) * c->n_runs);
			p[n - 1] = pairs_of(c, drawn, clocked);
			for (int i = 0; i < p[n - 1].n; i++)
				total_ms += (double)p[n - 1].base_ms[i] + p[n - 1].target_ms[i];
			stats_runs(rule, p, n, e, &beta);
			stats_combine(rule, e, n, &all);
			if (n >= rule->runs_ok_min && (all.ci_high - all.ci_low) / 2 <= wanted)
				break;
		}
	}
	return total_ms / TRIALS * 1e-3;
}

int main(int argc, char **argv)
{
	struct rule rule;
	double raw_s = 0, clocked_s = 0;
	if (argc != 2 || samples_read_json(argv[1], wants_equal, &recorded) != 0) {
		fprintf(stderr, "usage: bench_clock SAMPLES.jsonl\n");
		return 2;
	}
	rule_default(&rule, recorded.n);
	for (int i = 0; i < recorded.n; i++) {
		const struct samples_cell *c = &recorded.cell[i];
		double none, beta;
		if (c->n_runs < 2)
			continue;
		const double raw_run = run_sd(c, &rule, false, &none), run = run_sd(c, &rule, true, &beta);
		const double raw = seconds_to_width(c, &rule, false), clocked = seconds_to_width(c, &rule, true);
		raw_s += raw;
		clocked_s += clocked;
		printf("bench clock.%s.pair_sd raw %.6g pct\n", c->name, pair_sd(c, 0));
		printf("bench clock.%s.pair_sd clocked %.6g pct\n", c->name, pair_sd(c, beta));
		printf("bench clock.%s.run_sd raw %.6g pct\n", c->name, raw_run);
		printf("bench clock.%s.run_sd clocked %.6g pct\n", c->name, run);
		printf("bench clock.%s.beta %.6g ratio\n", c->name, beta);
		printf("bench clock.%s.time_to_width raw %.6g s\n", c->name, raw);
		printf("bench clock.%s.time_to_width clocked %.6g s\n", c->name, clocked);
	}
	printf("bench clock.all_cells.time_to_width raw %.6g s\n", raw_s);
	printf("bench clock.all_cells.time_to_width clocked %.6g s\n", clocked_s);
	return 0;
}
