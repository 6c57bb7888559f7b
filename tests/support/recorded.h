/**
 * recorded.h - the recorded runs of tests/data/gpu-recorded as a source of noise: every run is one process that timed the same
 * kernel as `a` and as `b`, pair by pair (the README there states their origin). The clock of each call was not recorded.
 */
#ifndef TESTS_RECORDED_H
#define TESTS_RECORDED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "stats/stats.h"

enum { RECORDED_KERNELS_MAX = 16, RECORDED_RUNS_MAX = 16, RECORDED_PAIRS_MAX = 32, RECORDED_BLOCK = 4 };

struct recorded {
	char name[48];
	int n_runs;
	struct {
		int n;
		float a[RECORDED_PAIRS_MAX], b[RECORDED_PAIRS_MAX];
	} run[RECORDED_RUNS_MAX];
	double ms; /* median call */
};

struct recording {
	int n;
	struct recorded kernel[RECORDED_KERNELS_MAX];
};

/** End the program with one line about `name`. */
static inline void recorded_stop(const char *what, const char *name)
{
	fprintf(stderr, "%s: %s\n", name, what);
	exit(1);
}

/** NULL: none of that name. */
static inline struct recorded *recorded_named(struct recording *r, const char *name)
{
	for (int i = 0; i < r->n; i++)
		if (strcmp(r->kernel[i].name, name) == 0)
			return &r->kernel[i];
	return NULL;
}

/** Open a file of the folder and read its first line. */
static inline FILE *recorded_open(const char *dir, const char *name, char line[256])
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	FILE *f = fopen(path, "r");
	if (!f || !fgets(line, 256, f))
		recorded_stop("cannot be read", path);
	return f;
}

/** Ends the program if the file is invalid. */
static inline void recorded_read(const char *dir, struct recording *r)
{
	char line[256], name[48], first;
	FILE *f = recorded_open(dir, "h200-launches.csv", line);
	int run, pair;
	float a, b;

	r->n = 0;
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%47[^,],%d,%d,%c,%f,%f", name, &run, &pair, &first, &a, &b) != 6 || run < 0 ||
			run >= RECORDED_RUNS_MAX || pair < 0 || pair >= RECORDED_PAIRS_MAX)
			recorded_stop("is no row of a recording", line);
		struct recorded *k = recorded_named(r, name);
		if (!k && r->n == RECORDED_KERNELS_MAX)
			recorded_stop("is one kernel too many", name);
		if (!k) {
			k = &r->kernel[r->n++];
			*k = (struct recorded){ .n_runs = 0 };
			snprintf(k->name, sizeof k->name, "%s", name);
		}
		k->run[run].a[pair] = a;
		k->run[run].b[pair] = b;
		k->run[run].n = pair + 1;
		if (k->n_runs <= run)
			k->n_runs = run + 1;
	}
	fclose(f);
	for (int i = 0; i < r->n; i++) {
		float all[RECORDED_RUNS_MAX * RECORDED_PAIRS_MAX];
		int n = 0;
		for (int l = 0; l < r->kernel[i].n_runs; l++)
			for (int p = 0; p < r->kernel[i].run[l].n; p++)
				all[n++] = r->kernel[i].run[l].a[p];
		r->kernel[i].ms = stats_median(all, n);
	}
}

/**
 * Draw one run of `k`, sides as recorded, its target `slower` times as long: `wanted` pairs in a row, or all where fewer
 * were recorded. Shape: base[RECORDED_PAIRS_MAX], target as well. Returns the number of pairs.
 */
static inline int recorded_play(
	const struct recorded *k, struct noise *dice, int wanted, double slower, float *base, float *target)
{
	int from = (int)(noise_uniform(dice) * k->n_runs), recorded = k->run[from].n;
	int n = wanted < recorded ? wanted : recorded;
	int start = (int)(noise_uniform(dice) * ((recorded - n) / RECORDED_BLOCK + 1)) * RECORDED_BLOCK;

	for (int p = 0; p < n; p++) {
		base[p] = k->run[from].a[start + p];
		target[p] = (float)(slower * (double)k->run[from].b[start + p]);
	}
	return n;
}

#endif
