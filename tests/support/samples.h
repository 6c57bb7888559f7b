/**
 * samples.h - timed calls of whole comparisons, recorded on a GPU with the clock of each call, as a source of runs.
 *
 * Two formats are read: the samples that tests/gpu/daemon.sh and verdicts.sh store (JSON lines), and a table of pairs
 * (h200-clock.csv).
 */
#ifndef TESTS_SAMPLES_H
#define TESTS_SAMPLES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

enum { SAMPLES_CELLS_MAX = 64, SAMPLES_RUNS_MAX = 48 };

struct samples_run {
	int n;
	float base_ms[STATS_PAIRS_MAX], target_ms[STATS_PAIRS_MAX], base_mhz[STATS_PAIRS_MAX], target_mhz[STATS_PAIRS_MAX];
};

struct samples_cell {
	char name[64];
	bool is_sparse, is_backward;
	int n_runs;
	struct samples_run run[SAMPLES_RUNS_MAX];
};

struct samples {
	int n;
	struct samples_cell cell[SAMPLES_CELLS_MAX];
};

/** Whether a comparison's cell is selected: of two equal kernels, for example. */
typedef bool samples_wants_fn(const char *comparison, const char *cell);

/* "attention/block_sparse/s49152/r0.1/b64/hq64/hk8/d128/bf16/forward" -> "block_sparse_r0_1_b64_forward": the components that
 * distinguish cells. */
static inline void samples_short_name(const char *key, char out[64])
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

/** A new run of that cell; NULL where there is no space. */
static inline struct samples_run *samples_open(struct samples *s, const char *key)
{
	char name[64] = "";
	samples_short_name(key, name);
	int i = 0;
	while (i < s->n && strcmp(s->cell[i].name, name) != 0)
		i++;
	if (i == SAMPLES_CELLS_MAX)
		return NULL;
	struct samples_cell *c = &s->cell[i];
	if (i == s->n) {
		*c = (struct samples_cell){ .is_sparse = strstr(key, "block_sparse"), .is_backward = strstr(key, "backward") };
		memcpy(c->name, name, sizeof name);
		s->n++;
	}
	if (c->n_runs == SAMPLES_RUNS_MAX)
		return NULL;
	c->run[c->n_runs].n = 0;
	return &c->run[c->n_runs++];
}

static inline int samples_read_numbers(const json_t *list, float out[STATS_PAIRS_MAX])
{
	size_t i;
	const json_t *v;
	json_array_foreach(list, i, v)
	{
		if (i == STATS_PAIRS_MAX)
			break;
		out[i] = (float)json_number_value(v);
	}
	return (int)i;
}

/** JSON lines; the base's row comes before the target's. 0, or -1 where the file cannot be read. */
static inline int samples_read_json(const char *path, samples_wants_fn *wants, struct samples *out)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	struct samples_run *open = NULL;
	if (!f) {
		perror(path);
		return -1;
	}
	while (getline(&line, &size, f) > 0) {
		json_t *row = json_loads(line, 0, NULL);
		const char *comparison = json_string_value(json_object_get(row, "comparison"));
		const char *key = json_string_value(json_object_get(row, "cell"));
		const char *side = json_string_value(json_object_get(row, "side"));
		const json_t *ms = json_object_get(row, "ms"), *mhz = json_object_get(row, "mhz");
		if (comparison && key && side && wants(comparison, key)) {
			if (strcmp(side, "base") == 0 && (open = samples_open(out, key))) {
				open->n = samples_read_numbers(ms, open->base_ms);
				samples_read_numbers(mhz, open->base_mhz);
			} else if (strcmp(side, "target") == 0 && open) {
				int n = samples_read_numbers(ms, open->target_ms);
				samples_read_numbers(mhz, open->target_mhz);
				open->n = n < open->n ? n : open->n;
			}
		}
		json_decref(row);
	}
	free(line);
	fclose(f);
	return 0;
}

/** Rows `comparison,cell,run,set,pair,order,base_ms,target_ms,base_mhz,target_mhz` in order. 0, or -1. */
static inline int samples_read_csv(const char *path, samples_wants_fn *wants, struct samples *out)
{
	FILE *f = fopen(path, "r");
	char line[512], comparison[32], key[128], last[192] = "", now[192];
	struct samples_run *open = NULL;
	int run, set, pair;
	float v[4];
	if (!f || !fgets(line, sizeof line, f)) {
		perror(path);
		if (f)
			fclose(f);
		return -1;
	}
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%31[^,],%127[^,],%d,%d,%d,,%f,%f,%f,%f", comparison, key, &run, &set, &pair, &v[0], &v[1],
			    &v[2], &v[3]) != 9) {
			fprintf(stderr, "%s: not a row: %s", path, line);
			fclose(f);
			return -1;
		}
		if (!wants(comparison, key))
			continue;
		snprintf(now, sizeof now, "%s %s %d %d", comparison, key, run, set);
		if (strcmp(now, last) != 0)
			open = samples_open(out, key);
		memcpy(last, now, sizeof last);
		if (!open || open->n == STATS_PAIRS_MAX)
			continue;
		open->base_ms[open->n] = v[0];
		open->target_ms[open->n] = v[1];
		open->base_mhz[open->n] = v[2];
		open->target_mhz[open->n++] = v[3];
	}
	fclose(f);
	return 0;
}

static inline struct run_pairs samples_pairs(const struct samples_run *l, int set, bool clocked)
{
	return (struct run_pairs){ .set = set,
		.n = l->n,
		.base_ms = l->base_ms,
		.target_ms = l->target_ms,
		.base_mhz = clocked ? l->base_mhz : NULL,
		.target_mhz = clocked ? l->target_mhz : NULL };
}

#endif
