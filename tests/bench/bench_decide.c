/*
 * Verdicts of a rule for cells whose true change is known: the current rule, version 5, compared with version 4, on the same
 * draws.
 *
 * Modules: runs of equal kernels that an H200 timed on three days with the clock of each call, and of an older harness without
 * it, are drawn repeatedly, sides swapped at random, and a slowdown or a gain is multiplied into the target. A comparison takes
 * runs until the rule decides. Draws from so few runs are resampled: they do not bound tails that the recordings lack, as the
 * output states.
 *
 * At a threshold of 0.5 % the sets of a cell often end without a verdict: then all its runs are pooled, compared with the same
 * rule without that.
 *
 * Interleaved programs: simulated. Each process has one of two speeds for its lifetime, and clocks are known.
 * Usage: bench_decide GPU_RECORDED_DIR GPU_DIR
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "replay.h"
#include "verdict/verdict.h"

enum { SOURCES = 4, RULES = 2, EQUAL_CELLS = 172000, CHANGED_CELLS = 2000, PROGRAMS = 1500, LOW_CELLS = 1800, LOW_EQUALS = 10 };

#define LOW_PCT    0.5
#define PAIR_NOISE 0.005 /* of the pairs of a program, log ratio */

static const double threshold_pct = 1.5;
static const char *const rule_name[RULES] = { "version_4", "version_5" };
static struct samples source[SOURCES];
static struct samples first; /* h200-clock.csv, which is included in the first source */
static const char *const source_name[SOURCES] = { "h200_1", "h200_2", "h200_3", "h200_without_clocks" };
static const int equal_share[SOURCES] = { 6, 4, 4, 3 }; /* of EQUAL_CELLS */

/* Verdicts of a rule for the cells of one kind. */
struct request_counter {
	int cells, regression, improvement, unchanged, flagged, undecided, early;
	double runs;
	int covered;
};

static void take_rule(int which, bool programs, struct rule *out)
{
	static const struct benchmark benchmark = { .threshold_pct = 1.5 };

	if (programs)
		benchmark_rule(&benchmark, 1, out);
	else
		rule_default(out, 20);
	if (which == 0)
		replay_rule_before(out);
}

static void count(const struct judgement *j, double truth, struct request_counter *t)
{
	t->cells++;
	t->regression += j->verdict == VERDICT_REGRESSION;
	t->improvement += j->verdict == VERDICT_IMPROVEMENT;
	t->undecided += j->verdict == VERDICT_UNDECIDED;
	t->unchanged += j->verdict == VERDICT_UNCHANGED && !(j->flags & FLAG_BORDERLINE);
	t->flagged += j->verdict == VERDICT_UNCHANGED && (j->flags & FLAG_BORDERLINE);
	t->runs += j->all.runs;
	t->early += j->all.runs <= 4 && (j->verdict == VERDICT_REGRESSION || j->verdict == VERDICT_IMPROVEMENT);
	t->covered += j->all.ci_low <= truth && truth <= j->all.ci_high;
}

/* ---- modules ------------------------------------------------------------------------------------------------------------ */

static bool wants_equal(const char *comparison, const char *cell)
{
	(void)cell;
	return strncmp(comparison, "twin", 4) == 0 || strncmp(comparison, "selfcheck", 9) == 0;
}

/* The next run of a cell, drawn with replacement. `shift`: of the target's times, log ratio. */
static void draw(struct noise *dice, const struct samples_cell *c, bool swapped, bool clocks, double shift, int set,
	struct samples_run *room, struct run_pairs *out)
{
	const struct samples_run *l = &c->run[(int)(noise_uniform(dice) * c->n_runs)];
	const float *base = swapped ? l->target_ms : l->base_ms, *target = swapped ? l->base_ms : l->target_ms;
	float slower = (float)exp(shift);

	room->n = l->n;
	memcpy(room->base_ms, base, (size_t)l->n * sizeof *base);
	for (int i = 0; i < l->n; i++)
		room->target_ms[i] = target[i] * slower;
	*out = (struct run_pairs){ .set = set, .n = l->n, .base_ms = room->base_ms, .target_ms = room->target_ms };
	if (!clocks)
		return;
	out->base_mhz = swapped ? l->target_mhz : l->base_mhz;
	out->target_mhz = swapped ? l->base_mhz : l->target_mhz;
}

/* Whether the sides of a whole comparison are swapped at random, which preserves the difference between them, or those of each
 * run, which makes it vary. */
enum swap { SWAP_COMPARISON, SWAP_RUN };

static void judge_cell(const struct rule *r, double threshold, const struct samples_cell *c, bool clocks, enum swap swap,
	double shift, uint64_t seed, struct request_counter *t)
{
	static struct samples_run room[STATS_RUNS_MAX];
	struct run_pairs pairs[STATS_RUNS_MAX];
	struct run_estimate e[STATS_RUNS_MAX];
	struct noise dice = { .state = seed };
	bool swapped = noise_uniform(&dice) < 0.5;
	struct judgement j = { .want_set = 1 };
	double beta;
	int n = 0;

	while (j.want_set != 0 && n < STATS_RUNS_MAX) {
		if (swap == SWAP_RUN)
			swapped = noise_uniform(&dice) < 0.5;
		draw(&dice, c, swapped, clocks, shift, j.want_set, &room[n], &pairs[n]);
		n++;
		stats_runs(r, pairs, n, e, &beta);
		verdict_judge(r, threshold, c->is_sparse, e, n, &j);
	}
	count(&j, shift, t);
}

static void judge_cells(int which, int from, int cells, double shift, uint64_t seed, struct request_counter *t)
{
	const struct samples *s = &source[from];
	struct rule r;

	take_rule(which, false, &r);
	for (int i = 0; i < cells; i++)
		judge_cell(&r, threshold_pct, &s->cell[i % s->n], from != SOURCES - 1, SWAP_COMPARISON, shift,
			seed + 1000003ull * (uint64_t)i, t);
}

static void figure(const char *name, const char *rule, double value, const char *unit)
{
	printf("bench decide.%s %s %.6g %s\n", name, rule, value, unit);
}

static void equal_modules(void)
{
	int shares = 0;

	for (int s = 0; s < SOURCES; s++)
		shares += equal_share[s];
	printf("bench decide.equal.resampled runs_drawn_again_and_again_from_recordings 1 of_1\n");
	for (int which = 0; which < RULES; which++) {
		struct request_counter all = { 0 };

		for (int s = 0; s < SOURCES; s++) {
			struct request_counter t = { 0 };
			char name[64];

			judge_cells(which, s, EQUAL_CELLS / shares * equal_share[s] + shares, 0, 7 + (uint64_t)s, &t);
			snprintf(name, sizeof name, "equal.%s.false_words", source_name[s]);
			figure(name, rule_name[which], t.regression + t.improvement, "count");
			snprintf(name, sizeof name, "equal.%s.runs", source_name[s]);
			figure(name, rule_name[which], t.runs / t.cells, "runs");
			all.cells += t.cells;
			all.regression += t.regression;
			all.improvement += t.improvement;
			all.undecided += t.undecided;
		}
		figure("equal.cells_resampled", rule_name[which], all.cells, "count");
		figure("equal.false_regressions", rule_name[which], all.regression, "count");
		figure("equal.false_improvements", rule_name[which], all.improvement, "count");
		figure("equal.undecided", rule_name[which], all.undecided, "count");
	}
}

/* Cells with the clock of each call. `sign`: 1 a regression, -1 a gain. */
static void changed_modules(double pct, int sign)
{
	for (int which = 0; which < RULES; which++) {
		struct request_counter t = { 0 };
		char name[64];
		double shift = sign > 0 ? stats_theta(pct) : -stats_theta(pct);

		for (int s = 0; s < SOURCES - 1; s++) {
			struct request_counter one = t;

			judge_cells(which, s, CHANGED_CELLS / (SOURCES - 1), shift, 99 + (uint64_t)s, &t);
			snprintf(name, sizeof name, "%s.%.2f.%s.found", sign > 0 ? "loss" : "gain", pct, source_name[s]);
			figure(name, rule_name[which],
				(double)(sign > 0 ? t.regression - one.regression : t.improvement - one.improvement) /
					(t.cells - one.cells),
				"of_1");
		}
		snprintf(name, sizeof name, "%s.%.2f.found", sign > 0 ? "loss" : "gain", pct);
		figure(name, rule_name[which], (double)(sign > 0 ? t.regression : t.improvement) / t.cells, "of_1");
		snprintf(name, sizeof name, "%s.%.2f.launches", sign > 0 ? "loss" : "gain", pct);
		figure(name, rule_name[which], t.runs / t.cells, "runs");
		snprintf(name, sizeof name, "%s.%.2f.within_4", sign > 0 ? "loss" : "gain", pct);
		figure(name, rule_name[which], (double)t.early / t.cells, "of_1");
	}
}

/* ---- programs ------------------------------------------------------------------------------------------------------------ */

static void judge_program(
	const struct rule *r, double separate, double truth, int pairs, struct noise *dice, struct request_counter *t)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct judgement j = { .want_set = 1 };
	int n = 0;

	while (j.want_set != 0 && n < STATS_RUNS_MAX) {
		double base = noise_uniform(dice) < 0.5 ? separate : 0, target = noise_uniform(dice) < 0.5 ? separate : 0;
		double sd = PAIR_NOISE / sqrt(pairs), d = truth + target - base + sd * noise_normal(dice);

		e[n++] = (struct run_estimate){
			.set = j.want_set, .n = pairs, .d = d, .q = sd * sd, .d_raw = d, .z_q = 1e-8, .beta = -1
		};
		verdict_judge(r, threshold_pct, false, e, n, &j);
	}
	count(&j, truth, t);
}

static void programs(double separate_pct, double loss_pct)
{
	double truth = loss_pct < 0 ? -stats_theta(-loss_pct) : stats_theta(loss_pct); /* a gain as far from 0 as a regression */

	for (int which = 0; which < RULES; which++) {
		struct noise dice = { .state = 31 };
		struct request_counter t = { 0 };
		struct rule r;
		const char *rule = rule_name[which];
		char head[64], name[96];

		take_rule(which, true, &r);
		for (int i = 0; i < PROGRAMS; i++)
			judge_program(&r, separate_pct / 100, truth, which ? 20 : 60, &dice, &t);
		snprintf(head, sizeof head, "interleave.speeds_%.0f_separate.%s_%.0f", separate_pct,
			loss_pct < 0 ? "gain" : "loss", fabs(loss_pct));
		snprintf(name, sizeof name, "%s.regression", head);
		figure(name, rule, (double)t.regression / t.cells, "of_1");
		snprintf(name, sizeof name, "%s.improvement", head);
		figure(name, rule, t.improvement, "count");
		snprintf(name, sizeof name, "%s.unchanged_without_a_flag", head);
		figure(name, rule, (double)t.unchanged / t.cells, "of_1");
		snprintf(name, sizeof name, "%s.undecided", head);
		figure(name, rule, (double)t.undecided / t.cells, "of_1");
		snprintf(name, sizeof name, "%s.covered", head);
		figure(name, rule, (double)t.covered / t.cells, "of_1");
		snprintf(name, sizeof name, "%s.runs", head);
		figure(name, rule, t.runs / t.cells, "runs");
	}
}

/*
 * The table by which rule version 5 was chosen was drawn from one recording only, the first in which every call has its clock: 81
 * runs of 20 cells, four per cell. Draws from it alone, with both ways to swap sides, can be compared with that table.
 */
static void losses_of_the_first_recording(double pct)
{
	static const char *const swaps[] = { [SWAP_COMPARISON] = "swapped_by_comparison", [SWAP_RUN] = "swapped_by_run" };

	for (int k = 0; k < 2 * RULES; k++) {
		int which = k / 2;
		struct request_counter t = { 0 };
		struct rule r;
		char head[64], name[96];

		take_rule(which, false, &r);
		for (int i = 0; i < CHANGED_CELLS; i++)
			judge_cell(&r, threshold_pct, &first.cell[i % first.n], true, (enum swap)(k % 2), stats_theta(pct),
				99 + 1000003ull * (uint64_t)i, &t);
		snprintf(head, sizeof head, "first_recording.%s.loss.%.2f", swaps[k % 2], pct);
		snprintf(name, sizeof name, "%s.found", head);
		figure(name, rule_name[which], (double)t.regression / t.cells, "of_1");
		snprintf(name, sizeof name, "%s.runs", head);
		figure(name, rule_name[which], t.runs / t.cells, "runs");
		snprintf(name, sizeof name, "%s.within_4", head);
		figure(name, rule_name[which], (double)t.early / t.cells, "of_1");
	}
}

/* A loss in cells with clocks, at a low threshold. */
static void low_threshold(double pct)
{
	static const char *const names[] = { "sets", "pooled" };

	for (int pooled = 0; pooled < 2; pooled++) {
		struct request_counter t = { 0 };
		struct rule r;
		char name[64];

		take_rule(1, false, &r);
		if (!pooled)
			r.runs_pooled_max = 0;
		for (int s = 0; s < SOURCES - 1; s++)
			for (int i = 0; i < (pct > 0 ? 1 : LOW_EQUALS) * LOW_CELLS / (SOURCES - 1); i++)
				judge_cell(&r, LOW_PCT, &source[s].cell[i % source[s].n], true, SWAP_RUN, stats_theta(pct),
					1234 + (uint64_t)s + 1000003ull * (uint64_t)i, &t);
		const struct {
			const char *name, *unit;
			double value;
		} of[] = { { "regression", "count", t.regression }, { "improvement", "count", t.improvement },
			{ "unchanged", "count", t.unchanged + t.flagged }, { "undecided", "count", t.undecided },
			{ "cells", "count", t.cells }, { "runs", "runs", t.runs / t.cells } };

		for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
			snprintf(name, sizeof name, "threshold_%.1f.loss.%.2f.%s", LOW_PCT, pct, of[i].name);
			figure(name, names[pooled], of[i].value, of[i].unit);
		}
	}
}

static int read_all(const char *recorded, const char *gpu)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/h200-clock.csv", recorded);
	if (samples_read_csv(path, replay_wants_equal, &first))
		return -1;
	snprintf(path, sizeof path, "%s/h200-2026-11-21-verdicts-samples.jsonl", gpu);
	if (replay_read_clocked(recorded, path, &source[0]))
		return -1;
	snprintf(path, sizeof path, "%s/h200-2026-11-22-verdicts-samples.jsonl", gpu);
	if (samples_read_json(path, wants_equal, &source[1]))
		return -1;
	snprintf(path, sizeof path, "%s/h200-2026-11-22-losses-samples.jsonl", gpu);
	if (samples_read_json(path, wants_equal, &source[2]))
		return -1;
	replay_read_unclocked(recorded, &source[3]);
	return 0;
}

int main(int argc, char **argv)
{
	static const double low_losses_pct[] = { 0, 0.3, 0.4, 0.6, 0.7, 0.8 };
	static const double changes_pct[] = { 1.58, 2.02, 3.03, 4.02 };

	if (argc != 3) {
		fprintf(stderr, "usage: bench_decide GPU_RECORDED_DIR GPU_DIR\n");
		return 2;
	}
	if (read_all(argv[1], argv[2]))
		return 1;
	for (size_t i = 0; i < sizeof low_losses_pct / sizeof *low_losses_pct; i++)
		low_threshold(low_losses_pct[i]);
	equal_modules();
	for (size_t i = 0; i < sizeof changes_pct / sizeof *changes_pct; i++) {
		changed_modules(changes_pct[i], 1);
		changed_modules(changes_pct[i], -1);
		losses_of_the_first_recording(changes_pct[i]);
	}
	for (int separate = 0; separate <= 2; separate++) {
		programs(separate, 0);
		programs(separate, 2);
		programs(separate, -2);
	}
	return 0;
}
