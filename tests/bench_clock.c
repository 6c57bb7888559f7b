/*
 * What the clock of each call is worth as a control variate: scatter of pairs and of launches with and without it, and the device time
 * that a 95 % interval of the wanted half-width takes, on recorded A/A comparisons of our own kernels.
 *
 * Input are the samples that tests/gpu/daemon.sh stores. A trial draws launches of a cell again and again until the interval is narrow.
 * Usage: bench_clock SAMPLES.jsonl
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/stats.h"
#include "noise.h"

enum { CELLS_MAX = 64, LAUNCHES_MAX = 32, TRIALS = 400 };

struct side {
	int n;
	float ms[STATS_PAIRS_MAX], mhz[STATS_PAIRS_MAX];
};

struct cell {
	char name[64];
	bool is_sparse;
	int n_launches;
	struct side base[LAUNCHES_MAX], target[LAUNCHES_MAX];
};

static struct cell cell[CELLS_MAX];
static int n_cells;
static struct noise dice = { .state = 20261121 };

/* "attention/block_sparse/s49152/r0.1/b64/hq64/hk8/d128/bf16/forward" -> "block_sparse_r0_1_b64_forward": what tells cells apart. */
static void short_name(const char *key, char out[64])
{
	size_t n = 0;
	char copy[256], *save = NULL;
	snprintf(copy, sizeof copy, "%s", key);
	for (char *part = strtok_r(copy, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		bool is_size = strchr("shd", part[0]) && strcspn(part, "0123456789") <= 2;
		if (!is_size && strcmp(part, "attention") != 0 && strcmp(part, "bf16") != 0)
			n += (size_t)snprintf(out + n, 64 - n, "%s%s", n ? "_" : "", part);
	}
	for (char *s = out; *s; s++)
		if (*s == '.')
			*s = '_';
}

static struct cell *cell_named(const char *key)
{
	char name[64] = "";
	short_name(key, name);
	for (int i = 0; i < n_cells; i++)
		if (strcmp(cell[i].name, name) == 0)
			return &cell[i];
	if (n_cells == CELLS_MAX)
		return NULL;
	snprintf(cell[n_cells].name, sizeof cell[n_cells].name, "%s", name);
	cell[n_cells].is_sparse = strstr(key, "block_sparse") != NULL;
	return &cell[n_cells++];
}

static void read_side(const json_t *row, struct side *out)
{
	size_t i;
	const json_t *v, *ms = json_object_get(row, "ms"), *mhz = json_object_get(row, "mhz");
	out->n = 0;
	json_array_foreach(ms, i, v)
	{
		if (i == STATS_PAIRS_MAX)
			break;
		out->ms[i] = (float)json_number_value(v);
		out->mhz[i] = (float)json_number_value(json_array_get(mhz, i));
		out->n = (int)i + 1;
	}
}

/* Only comparisons of kernels with themselves: a planted slowdown is no noise. The base's row comes before the target's. */
static int read_samples(const char *path)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	if (!f) {
		perror(path);
		return -1;
	}
	while (getline(&line, &size, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);
		const char *comparison = json_string_value(json_object_get(row, "comparison"));
		const char *key = json_string_value(json_object_get(row, "cell"));
		const char *subject = json_string_value(json_object_get(row, "subject"));
		struct cell *c = comparison && key && subject && strncmp(comparison, "slower", 6) != 0 ? cell_named(key) : NULL;
		if (c && c->n_launches < LAUNCHES_MAX && strcmp(subject, "base") == 0)
			read_side(row, &c->base[c->n_launches]);
		else if (c && c->n_launches < LAUNCHES_MAX && strcmp(subject, "target") == 0)
			read_side(row, &c->target[c->n_launches++]);
		json_decref(row);
	}
	free(line);
	fclose(f);
	return n_cells ? 0 : -1;
}

static struct launch_pairs pairs_of(const struct cell *c, int i, bool clocked)
{
	return (struct launch_pairs){ .set = 1,
		.n = c->base[i].n < c->target[i].n ? c->base[i].n : c->target[i].n,
		.base_ms = c->base[i].ms,
		.target_ms = c->target[i].ms,
		.base_mhz = clocked ? c->base[i].mhz : NULL,
		.target_mhz = clocked ? c->target[i].mhz : NULL };
}

/* Standard deviation of pairs around their launch, in percent. */
static double pair_sd(const struct cell *c, double beta)
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

static double launch_sd(const struct cell *c, const struct rule *rule, bool clocked, double *beta)
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
static double seconds_to_width(const struct cell *c, const struct rule *rule, bool clocked)
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
	if (argc != 2 || read_samples(argv[1]) != 0) {
		fprintf(stderr, "usage: bench_clock SAMPLES.jsonl\n");
		return 2;
	}
	rule_default(&rule, n_cells);
	for (int i = 0; i < n_cells; i++) {
		const struct cell *c = &cell[i];
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
