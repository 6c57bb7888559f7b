/*
 * Slow calls: how often a kernel that takes 25 % longer in one call of ten is reported for the change of its mean, and how often
 * equal kernels are, on runs recorded on an H200.
 *
 * A comparison is the worker's own: its cells, its groups, its choice of what to run next. It draws runs of each cell, none
 * twice, sides as recorded; a cell whose recording ends has no further runs. The slowdown is planted in the target's calls of one
 * direction, in every tenth from a random one on, or in each with a probability of one in ten; `both_slow` plants the latter in
 * all calls of both sides. `unclocked`: the same runs without the clocks of their calls, which then appear slow wherever the
 * clock was low; `older`: a recording without clocks, seven runs per kernel.
 * Usage: bench_tail GPU_RECORDED_DIR SAMPLES.jsonl COMPARISONS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/protocol.h"
#include "replay.h"
#include "worker/internal.h"

enum { KINDS = 4 }; /* dense forward, dense backward, sparse forward, sparse backward */
enum plant { PLANT_NONE, PLANT_EVERY_TENTH, PLANT_ONE_IN_TEN, PLANT_BOTH_SIDES };

#define LONGER  1.25
#define BUDGET  600.0 /* s of device time, as in the suite */
#define OUTSIDE 1.3   /* of a run's time, besides the pairs: loading, warming up, resetting */

static const char *const kind_name[KINDS] = { "dense_forward", "dense_backward", "sparse_forward", "sparse_backward" };

static struct noise dice = { .state = 20261123 };

/* ---- one comparison ---------------------------------------------------------------------------------------------------- */

struct deck {
	int order[SAMPLES_RUNS_MAX], next;
};

struct scene {
	const struct samples *from;
	bool clocked;
	enum plant plant;
	bool backward; /* the planted direction */
	int n_cells;
	struct cell cell[SAMPLES_CELLS_MAX];
	struct bench_cell state[SAMPLES_CELLS_MAX];
	struct deck deck[SAMPLES_CELLS_MAX];
	struct bench bench;
};

/* The older recording has another name for them. */
static bool is_sparse(const struct samples_cell *c)
{
	return strstr(c->name, "sparse") != NULL;
}

static int kind_of(const struct samples_cell *c)
{
	return 2 * is_sparse(c) + c->is_backward;
}

static void begin(struct scene *s)
{
	s->n_cells = s->from->n;
	memset(s->state, 0, sizeof s->state);
	s->bench = (struct bench){ .n_cells = s->n_cells, .cells = s->cell, .cell = s->state };
	rule_default(&s->bench.rule, s->n_cells);
	for (int i = 0; i < s->n_cells; i++) {
		const struct samples_cell *c = &s->from->cell[i];
		s->cell[i] = (struct cell){ .threshold_pct = 1.5,
			.direction = c->is_backward ? DIRECTION_BACKWARD : DIRECTION_FORWARD };
		snprintf(s->cell[i].group, sizeof s->cell[i].group, is_sparse(c) ? "block_sparse" : "dense");
		s->state[i].open = true;
		s->state[i].found.typical.want_set = 1;
		replay_shuffle(&dice, s->deck[i].order, c->n_runs);
		s->deck[i].next = 0;
	}
}

static void end(struct scene *s)
{
	for (int i = 0; i < s->n_cells; i++)
		for (int k = 0; k < s->state[i].n_runs; k++)
			free(s->state[i].run[k].values);
}

static bool is_planted(const struct scene *s, int cell)
{
	return (s->plant == PLANT_EVERY_TENTH || s->plant == PLANT_ONE_IN_TEN) && s->from->cell[cell].is_backward == s->backward;
}

static void slow_down(enum plant plant, float *ms, int n)
{
	int phase = (int)(10 * noise_uniform(&dice));

	for (int i = 0; i < n; i++)
		if (plant == PLANT_EVERY_TENTH ? (i + phase) % 10 == 0 : noise_uniform(&dice) < 0.1)
			ms[i] *= (float)LONGER;
}

/* The next run of a cell; returns the seconds for which it held the device. */
static double play(struct scene *s, int cell, int run, int set)
{
	const struct samples_cell *c = &s->from->cell[cell];
	struct deck *d = &s->deck[cell];
	struct samples_run l = c->run[d->order[d->next++]];
	struct msg_cell m = { .run = run, .set = set, .cell = cell, .series = SERIES_DEVICE, .n_sides = 2, .n = l.n };
	struct fw_err err = { 0 };
	double ms = 0;

	if (is_planted(s, cell) || s->plant == PLANT_BOTH_SIDES)
		slow_down(s->plant, l.target_ms, l.n);
	if (s->plant == PLANT_BOTH_SIDES)
		slow_down(s->plant, l.base_ms, l.n);
	device_check_unknown(&m.device_check);
	m.role[0] = ROLE_BASE;
	m.role[1] = ROLE_TARGET;
	m.ms[0] = l.base_ms;
	m.ms[1] = l.target_ms;
	m.mhz[0] = s->clocked ? l.base_mhz : NULL;
	m.mhz[1] = s->clocked ? l.target_mhz : NULL;
	if (bench_add(&s->bench, &m, &err) != 1) {
		fprintf(stderr, "bench_tail: %s\n", err.text);
		exit(1);
	}
	bench_judge(&s->bench, cell);
	for (int i = 0; i < l.n; i++)
		ms += (double)l.base_ms[i] + (double)l.target_ms[i];
	s->state[cell].open = d->next < c->n_runs && s->state[cell].n_runs < STATS_RUNS_MAX;
	return OUTSIDE * ms / 1e3;
}

static void compare(struct scene *s)
{
	int list[SAMPLES_CELLS_MAX], set, n, run = 0;

	begin(s);
	while (s->bench.gpu_s < BUDGET && (n = measure_next(&s->bench, list, &set)) > 0) {
		run++;
		for (int i = 0; i < n; i++)
			s->bench.gpu_s += play(s, list[i], run, set);
	}
}

/* ---- results ----------------------------------------------------------------------------------------------------------- */

struct request_counter {
	int cells, called, flagged, borderline, ended;
	int groups, groups_any, groups_most; /* groups with a reported cell, and with more than half of their cells reported */
	double square, wide, runs;
	int seen; /* cells whose mean is known */
};

static void count_cell(struct request_counter *t, const struct scene *s, int i, double truth, int *in_group, int *called)
{
	const struct bench_cell *c = &s->state[i];
	struct cell_verdict v;

	bench_decide(&s->bench, i, &v);
	const struct mean_judgement mean = v.mean;
	bool is_called = v.decider == DECIDER_MEAN && v.verdict == VERDICT_REGRESSION;
	t->cells++;
	t->called += is_called;
	t->flagged += mean.is_tail;
	t->borderline += is_called && mean.borderline;
	t->ended += !c->open && (c->found.typical.want_set || mean.want_set);
	t->runs += c->n_runs;
	if (mean.is_known) {
		t->seen++;
		t->square += (mean.all.m - truth) * (mean.all.m - truth);
		t->wide += MEAN_CI * mean.all.se;
	}
	++*in_group;
	*called += is_called;
}

static void count(struct request_counter request_counter[KINDS], const struct scene *s, bool planted)
{
	for (int k = 0; k < KINDS; k++) {
		int in_group = 0, called = 0;

		for (int i = 0; i < s->n_cells; i++)
			if (kind_of(&s->from->cell[i]) == k && is_planted(s, i) == planted)
				count_cell(&request_counter[k], s, i, planted ? log1p((LONGER - 1) / 10) : 0, &in_group, &called);
		request_counter[k].groups += in_group > 0;
		request_counter[k].groups_any += called > 0;
		request_counter[k].groups_most += in_group > 0 && 2 * called > in_group;
	}
}

static void found(const struct samples *from, int comparisons, enum plant plant, bool clocked, const char *what, const char *who)
{
	static struct scene s;
	struct request_counter request_counter[KINDS] = { { 0 } };
	double gpu_s = 0;

	for (int i = 0; i < comparisons; i++) {
		s.from = from;
		s.clocked = clocked;
		s.plant = plant;
		s.backward = i % 2;
		compare(&s);
		count(request_counter, &s, true);
		gpu_s += s.bench.gpu_s / comparisons;
		end(&s);
	}
	for (int k = 0; k < KINDS; k++) {
		const struct request_counter *t = &request_counter[k];
		if (t->cells == 0)
			continue;
		printf("bench tail.%s.%s %s %.1f pct of cells, some in %.1f of groups (most in %.1f; flagged %.1f, by sign %.1f, "
		       "recording "
		       "ended %.1f, mean +-%.2f, error %.2f rms, %.1f runs)\n",
			what, kind_name[k], who, 100.0 * t->called / t->cells, 100.0 * t->groups_any / t->groups,
			100.0 * t->groups_most / t->groups, 100.0 * t->flagged / t->cells, 100.0 * t->borderline / t->cells,
			100.0 * t->ended / t->cells, 100 * t->wide / fmax(1, t->seen), 100 * sqrt(t->square / fmax(1, t->seen)),
			t->runs / t->cells);
	}
	printf("bench tail.%s.device %s %.1f s a comparison\n", what, who, gpu_s);
}

static void equal_kernels(const struct samples *from, int comparisons, enum plant plant, bool clocked, const char *who)
{
	static struct scene s;
	struct request_counter request_counter[KINDS] = { { 0 } };
	int cells = 0, called = 0, flagged = 0, alarms = 0;
	double gpu_s = 0;

	for (int i = 0; i < comparisons; i++) {
		int before = 0, after = 0;
		s.from = from;
		s.clocked = clocked;
		s.plant = plant;
		compare(&s);
		for (int k = 0; k < KINDS; k++)
			before += request_counter[k].called;
		count(request_counter, &s, false);
		for (int k = 0; k < KINDS; k++)
			after += request_counter[k].called;
		alarms += after > before;
		gpu_s += s.bench.gpu_s / comparisons;
		end(&s);
	}
	for (int k = 0; k < KINDS; k++) {
		cells += request_counter[k].cells;
		called += request_counter[k].called;
		flagged += request_counter[k].flagged;
	}
	printf("bench tail.false %s %d of %d cells (flagged %d; %d of %d comparisons; %.1f s a comparison)\n", who, called, cells,
		flagged, alarms, comparisons, gpu_s);
}

int main(int argc, char **argv)
{
	static struct samples clocked, older;
	int comparisons = argc == 4 ? atoi(argv[3]) : 0;

	if (comparisons < 1) {
		fprintf(stderr, "usage: bench_tail GPU_RECORDED_DIR SAMPLES.jsonl COMPARISONS\n");
		return 2;
	}
	if (replay_read_clocked(argv[1], argv[2], &clocked))
		return 1;
	replay_read_unclocked(argv[1], &older);
	found(&clocked, comparisons, PLANT_EVERY_TENTH, true, "every_10th", "clocked");
	found(&clocked, comparisons, PLANT_ONE_IN_TEN, true, "one_in_10", "clocked");
	found(&clocked, comparisons, PLANT_EVERY_TENTH, false, "every_10th", "unclocked");
	equal_kernels(&clocked, comparisons, PLANT_NONE, true, "clocked");
	equal_kernels(&clocked, comparisons, PLANT_NONE, false, "unclocked");
	equal_kernels(&older, comparisons, PLANT_NONE, false, "older");
	equal_kernels(&clocked, comparisons, PLANT_BOTH_SIDES, true, "both_slow");
	return 0;
}
