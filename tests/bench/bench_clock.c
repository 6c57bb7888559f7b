/*
 * What the clock of each call is worth as a control variate: noise of pairs and of launches with and without it, and the device time
 * that a 95 % interval of the wanted half-width takes, on recorded A/A comparisons of our own kernels.
 *
 * Input are the samples that tests/gpu/daemon.sh stores. A trial draws launches of a cell again and again until the interval is narrow.
 * Usage: bench_clock SAMPLES.jsonl
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats/stats.h"
#include "noise.h"
#include "samples.h"

enum { LAUNCHES_MAX = SAMPLES_LAUNCHES_MAX, TRIALS = 400 };

static struct samples recorded;
static struct noise dice = { .state = 20261121 };

/* Only comparisons of kernels with themselves: a planted slowdown is no noise. */
static bool wants_equal(const char *comparison, const char *cell)
{
	(void)cell;
	return strncmp(comparison, "slower", 6) != 0;
}

static struct launch_pairs pairs_of(const struct samples_cell *c, int i, bool clocked)
{
	return samples_pairs(&c->launch[i], 1, clocked);
}

/* Standard deviation of pairs around their launch, in percent. */
static double pair_sd(const struct samples_cell *c, double beta)
{
	double sum = 0;
	int freedom = 0;
	for (int l = 0; l < c->n_launches; l++) {
		struct launch_pairs p = pairs_of(c, l, true);
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

static double launch_sd(const struct samples_cell *c, const struct rule *rule, bool clocked, double *beta)
{
	struct launch_pairs p[LAUNCHES_MAX];
	struct launch_estimate e[LAUNCHES_MAX];
	double mean = 0, sum = 0;
	for (int i = 0; i < c->n_launches; i++)
		p[i] = pairs_of(c, i, clocked);
	stats_launches(rule, p, c->n_launches, e, beta);
	for (int i = 0; i < c->n_launches; i++)
		mean += e[i].d / c->n_launches;
	for (int i = 0; i < c->n_launches; i++)
		sum += (e[i].d - mean) * (e[i].d - mean);
	return 100 * sqrt(sum / (c->n_launches - 1));
}

/* Seconds of timed calls until the interval is as narrow as wanted, or the launches are used up; mean over trials. */
static double seconds_to_width(const struct samples_cell *c, const struct rule *rule, bool clocked)
{
	const double wanted = (c->is_sparse ? rule->half_width_sparse_pct : rule->half_width_dense_pct) / 100;
	double total_ms = 0;
	for (int trial = 0; trial < TRIALS; trial++) {
		struct launch_pairs p[STATS_LAUNCHES_MAX];
		struct launch_estimate e[STATS_LAUNCHES_MAX];
		struct estimate all;
		double beta;
		for (int n = 1; n <= rule->launches_max; n++) {
			const int drawn = (int)(noise_uniform(&dice) * c->n_launches);
			p[n - 1] = pairs_of(c, drawn, clocked);
			for (int i = 0; i < p[n - 1].n; i++)
				total_ms += (double)p[n - 1].base_ms[i] + p[n - 1].target_ms[i];
			stats_launches(rule, p, n, e, &beta);
			stats_combine(rule, e, n, &all);
			if (n >= rule->launches_ok_min && (all.ci_high - all.ci_low) / 2 <= wanted)
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
		if (c->n_launches < 2)
			continue;
		const double raw_launch = launch_sd(c, &rule, false, &none), launch = launch_sd(c, &rule, true, &beta);
		const double raw = seconds_to_width(c, &rule, false), clocked = seconds_to_width(c, &rule, true);
		raw_s += raw;
		clocked_s += clocked;
		printf("bench clock.%s.pair_sd raw %.6g pct\n", c->name, pair_sd(c, 0));
		printf("bench clock.%s.pair_sd clocked %.6g pct\n", c->name, pair_sd(c, beta));
		printf("bench clock.%s.launch_sd raw %.6g pct\n", c->name, raw_launch);
		printf("bench clock.%s.launch_sd clocked %.6g pct\n", c->name, launch);
		printf("bench clock.%s.beta %.6g ratio\n", c->name, beta);
		printf("bench clock.%s.time_to_width raw %.6g s\n", c->name, raw);
		printf("bench clock.%s.time_to_width clocked %.6g s\n", c->name, clocked);
	}
	printf("bench clock.all_cells.time_to_width raw %.6g s\n", raw_s);
	printf("bench clock.all_cells.time_to_width clocked %.6g s\n", clocked_s);
	return 0;
}
