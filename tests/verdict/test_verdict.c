/* Verdicts: their names, two sets that must agree, and whole comparisons replayed on seeded noise. */
/* Left to `make check`: takes seconds, only computes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "noise.h"
#include "verdict/verdict.h"

static void words(void **state)
{
	(void)state;
	for (int v = VERDICT_FAILED; v < VERDICT_NONE; v++)
		assert_int_equal(verdict_from_name(verdict_name((enum verdict)v)), v);
	assert_string_equal(verdict_name(VERDICT_NOT_COMPARABLE), "not_comparable");
	assert_string_equal(verdict_name((enum verdict)99), "none");
	assert_int_equal(verdict_from_name("slower"), VERDICT_NONE);
	assert_int_equal(verdict_from_name(NULL), VERDICT_NONE);
	assert_int_equal(verdict_worse(VERDICT_UNCHANGED, VERDICT_REGRESSION), VERDICT_REGRESSION);
	assert_int_equal(verdict_worse(VERDICT_IDENTICAL, VERDICT_NONE), VERDICT_IDENTICAL);
	assert_int_equal(verdict_worse(VERDICT_REJECTED, VERDICT_FAILED), VERDICT_FAILED);
	assert_int_equal(verdict_worse(VERDICT_UNDECIDED, VERDICT_IMPROVEMENT), VERDICT_UNDECIDED);
}

/* Rows that one side lacks, or both: their verdict does not change those of the others. */
static void implausible_times_are_rejected(void **state)
{
	static const char *const disbelief[] = { "escaped", "clock", "roofline", "forged", "slowed" };
	static const char *const failures[] = { "wrong", "crash", "oob", "build", "timeout", "", "clocks" };

	(void)state;
	for (size_t i = 0; i < sizeof disbelief / sizeof *disbelief; i++)
		assert_int_equal(verdict_of_class(disbelief[i]), VERDICT_REJECTED);
	for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
		assert_int_equal(verdict_of_class(failures[i]), VERDICT_FAILED);
}

static void rows_of_one_side(void **state)
{
	static const enum verdict rows[] = { VERDICT_REMOVED, VERDICT_ADDED, VERDICT_UNSUPPORTED };

	(void)state;
	for (int v = VERDICT_FAILED; v < VERDICT_NONE; v++) {
		bool is_row = v == VERDICT_REMOVED || v == VERDICT_ADDED || v == VERDICT_UNSUPPORTED;

		assert_int_equal(verdict_is_absence((enum verdict)v), is_row);
		for (int k = 0; k < 3 && !is_row; k++)
			assert_int_equal(verdict_worse(rows[k], (enum verdict)v), v);
	}
	assert_int_equal(verdict_worse(VERDICT_ADDED, VERDICT_REMOVED), VERDICT_REMOVED);
	assert_int_equal(verdict_of_absence("unsupported", "unsupported", false), VERDICT_UNSUPPORTED);
	assert_int_equal(verdict_of_absence("unsupported", "", false), VERDICT_ADDED);
	assert_int_equal(verdict_of_absence("", "unsupported", true), VERDICT_REMOVED);
	assert_int_equal(verdict_of_absence("", "unsupported", false), VERDICT_NONE); /* a functional regression */
	assert_int_equal(verdict_of_absence("unsupported", "wrong", true), VERDICT_NONE);
	assert_int_equal(verdict_of_absence("wrong", "unsupported", true), VERDICT_NONE);
	assert_int_equal(verdict_of_absence("", "", true), VERDICT_NONE);
}

/* `one` runs of set 1 at d1, `two` of set 2 at d2. */
static void judge(struct rule *r, int one, double d1, int two, double d2, struct judgement *out)
{
	struct run_estimate e[STATS_RUNS_MAX];

	for (int i = 0; i < one + two; i++) {
		double d = i < one ? d1 : d2;

		e[i] = (struct run_estimate){ .set = i < one ? 1 : 2, .n = 16, .d = d, .q = 1e-7, .d_raw = d };
	}
	verdict_judge(r, 1.5, false, e, one + two, out);
}

static void one_set(void **state)
{
	struct judgement j;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	judge(&r, 0, 0, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 1);
	assert_string_equal(j.reason, "not measured yet");
	judge(&r, 1, 0, 0, 0, &j);
	assert_int_equal(j.want_set, 1);
	assert_non_null(strstr(j.reason, "1 of at most 12 runs"));
	judge(&r, 2, 0, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	assert_int_equal(j.want_set, 0);
	assert_string_equal(j.reason, "");
	assert_int_equal(j.all.runs, 2);
	judge(&r, 12, -0.016, 0, 0, &j); /* faster, but the interval still reaches -theta */
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	judge(&r, 12, 0.0150, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	assert_int_equal(j.flags, FLAG_BORDERLINE);
}

static void two_sets(void **state)
{
	struct judgement j;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	judge(&r, 4, 0.019, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 2);
	assert_string_equal(j.reason, "the confirming set of runs is not measured yet");
	judge(&r, 4, 0.019, 3, 0.019, &j);
	assert_int_equal(j.want_set, 2);
	assert_non_null(strstr(j.reason, "the confirming set's 3 of at most 12 runs"));
	judge(&r, 4, 0.019, 4, 0.019, &j);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, 0);
	assert_int_equal(j.want_set, 0);
	assert_int_equal(j.all.runs, 8);
	assert_string_equal(j.reason, "");
	judge(&r, 4, 0.019, 2, 0.0, &j); /* the second set is as good as the first */
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 0);
	assert_string_equal(j.reason, "the first set of runs shows -1.88 %, the confirming set 0.00 %");
	judge(&r, 12, 0.0152, 4, 0.019, &j);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, FLAG_BORDERLINE);
	judge(&r, 4, 0.019, 12, 0.0152, &j);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.flags, FLAG_BORDERLINE);
	judge(&r, 12, 0.0152, 12, 0.0150, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	judge(&r, 2, 0.0, 4, 0.019, &j); /* a first set that is judged again after its beta moved */
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 0);
}

static void a_quick_comparison_is_an_interim_analysis(void **state)
{
	struct judgement j;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	r.confirm = false;
	r.runs_max = 1;
	judge(&r, 1, 0.04, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	judge(&r, 1, 0.0, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	assert_false(j.want_precision);
	judge(&r, 1, 0.02, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 0);
	assert_non_null(strstr(j.reason, "quick comparison"));
}

/* A row shows one interval; its reason describes the same change and what a decision still requires. */
static void reasons_have_no_interval(void **state)
{
	struct judgement j;
	struct rule r;
	char change[64];

	(void)state;
	rule_default(&r, 20);
	for (double m = -0.01; m < 0.06; m += 0.0025)
		for (int n = 1; n <= 11; n++) {
			struct run_estimate e[12];
			for (int i = 0; i < n; i++)
				e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = m + (i % 2 ? 0.02 : -0.02), .q = 1e-6 };
			verdict_judge(&r, 1.5, false, e, n, &j);
			if (j.verdict != VERDICT_UNDECIDED)
				continue;
			assert_null(strstr(j.reason, ".."));
			snprintf(change, sizeof change, ": %.2f points", fabs(stats_change_pct(j.all.m) + 1.5));
			if (strstr(j.reason, "points"))
				assert_non_null(strstr(j.reason, change));
		}
	judge(&r, 1, 0.02, 0, 0, &j);
	assert_string_equal(j.reason,
		"too close to call after 1 of at most 12 runs: 0.48 points from the threshold, where a verdict needs "
		"0.87 (standard error 0.25 %)");
	judge(&r, 3, 0.02, 0, 0, &j);
	assert_string_equal(j.reason,
		"-1.98 % after 3 of at most 12 runs lies beyond the threshold, but is not overwhelming; any other "
		"change needs 4 runs");
	judge(&r, 4, 0.02, 2, 0.018, &j);
	assert_non_null(strstr(j.reason,
		"too close to call after the confirming set's 2 of at most 12 runs: 0.28 points from the threshold, where a verdict needs "));
}

/* What a measurement at another hour may decide: runs that do not agree, in one set or between the two. Not what the budget or a
 * quick job left open. */
static void a_noisy_cell_has_the_noisy_flag(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct judgement j, none = { .verdict = VERDICT_UNDECIDED }, lost;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < 12; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = i % 2 ? 0.02 : -0.02, .q = 1e-7 };
	verdict_judge(&r, 1.5, false, e, 12, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_true(j.flags & FLAG_NOISY);
	verdict_judge(&r, 1.5, false, e, 4, &j); /* more were requested */
	assert_int_equal(j.want_set, 1);
	assert_false(j.flags & FLAG_NOISY);
	judge(&r, 4, 0.04, 4, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_true(j.flags & FLAG_NOISY);
	judge(&r, 2, 0, 0, 0, &j);
	assert_false(j.flags & FLAG_NOISY);
	/* an underpowered cell is always so; and sustained runs may decide */
	judge(&r, 4, 0.04, 4, 0, &j);
	verdict_underpowered(&r, 5, &none, &j);
	assert_int_equal(j.flags & (FLAG_NOISY | FLAG_UNDERPOWERED), FLAG_UNDERPOWERED);
	judge(&r, 4, 0.04, 4, 0.04, &lost);
	judge(&r, 4, 0.04, 4, 0, &j);
	verdict_sustained(&j, &lost);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_false(j.flags & FLAG_NOISY);
	r.runs_max = 1;
	r.confirm = false;
	judge(&r, 1, 0.015, 0, 0, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_false(j.flags & FLAG_NOISY);
}

static void noise_is_no_verdict(void **state)
{
	struct run_estimate e[12];
	struct judgement j;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < 12; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = i % 2 ? 0.035 : -0.005, .q = 1e-6 };
	verdict_judge(&r, 1.5, false, e, 12, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 0);
	assert_non_null(strstr(j.reason, "runs vary too much: standard error 0.54 %"));
}

/* Cells that the worker stops as hopeless: the remedy is another kind of program, not more runs of this one. */
static void more_runs_are_suggested_only_where_they_decide(void **state)
{
	struct verdict_options options = { .threshold_pct = 1.5, .tau0 = NAN, .nu0 = NAN, .is_over = true };
	struct run_estimate e[9];
	struct judgement j, sustained;
	struct rule r;

	(void)state;
	rule_default(&r, 1);
	r.programs = true;
	r.confirm = false;
	r.runs_max = 32;
	for (int i = 0; i < 9; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 2, .d = i % 2 ? 0.12 : -0.09, .q = 1e-6 };
	for (int n = 4; n <= 9; n++) {
		verdict_of_cell(&r, &options, e, n, NULL, 0, &j, &sustained);
		assert_int_equal(j.verdict, VERDICT_UNDECIDED);
		assert_int_equal(j.want_set, 0);
		assert_non_null(strstr(j.reason, "; even 32 would not decide: interleave the program"));
		assert_null(strstr(j.reason, "may decide"));
	}
}

/* What is said of further runs is a prediction from the standard error, the number of runs and the threshold alone. */
static void the_remedy_fits_how_calls_are_paired(void **state)
{
	struct verdict_options options = { .threshold_pct = 1.5, .tau0 = NAN, .nu0 = NAN, .is_over = true };
	struct run_estimate e[4];
	struct judgement j, sustained;
	struct rule r;

	(void)state;
	rule_default(&r, 1);
	r.programs = true;
	r.confirm = false;
	r.runs_max = 32;
	for (int i = 0; i < 4; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 20, .d = i % 2 ? 0.12 : -0.09, .q = 1e-6 };
	verdict_of_cell(&r, &options, e, 4, NULL, 0, &j, &sustained);
	assert_non_null(strstr(j.reason, "; even 32 would not decide: use a quieter machine, or make calls do equal work"));
	assert_null(strstr(j.reason, "interleave"));
	options.is_base_alone = true; /* which is not why these vary */
	verdict_of_cell(&r, &options, e, 4, NULL, 0, &j, &sustained);
	assert_null(strstr(j.reason, "interleave"));
	for (int i = 0; i < 4; i++)
		e[i].n = 2;
	verdict_of_cell(&r, &options, e, 4, NULL, 0, &j, &sustained);
	assert_non_null(strstr(j.reason, "; even 32 would not decide: the base is not interleaved yet"));
	assert_null(strstr(j.reason, "interleave the program"));
}

static void more_runs_are_not_suggested_at_a_larger_error(void **state)
{
	struct verdict_options options = { .threshold_pct = 1.5, .tau0 = NAN, .nu0 = NAN, .is_over = true };
	struct run_estimate e[6];
	struct judgement j, sustained;
	struct rule r;

	(void)state;
	rule_default(&r, 1);
	r.programs = true;
	r.confirm = false;
	r.runs_max = 32;
	for (int wild = 0; wild < 40; wild++)
		for (int mean = -4; mean <= 4; mean++) {
			for (int i = 0; i < 6; i++)
				e[i] = (struct run_estimate){
					.set = 1, .n = 2, .d = 0.15 * mean + (i % 2 ? 1 : -1) * 0.02 * (wild + 1), .q = 1e-6
				};
			verdict_of_cell(&r, &options, e, 6, NULL, 0, &j, &sustained);
			if (!strstr(j.reason, "runs vary too much"))
				continue;
			if (0.67 * j.all.se * sqrt(6. / 32) > r.se_max)
				assert_true(strstr(j.reason, "; even 32 would not decide: ") ||
					    strstr(j.reason, "; up to 26 more may decide, but only a change above "));
			else
				assert_string_equal(strrchr(j.reason, ';'), "; up to 26 more may decide");
		}
	for (int i = 0; i < 6; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 2, .d = (i % 2 ? 1.1 : 0.3), .q = 1e-6 };
	verdict_of_cell(&r, &options, e, 6, NULL, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_non_null(strstr(j.reason, "; up to 26 more may decide, but only a change above "));
	assert_int_equal(j.want_set, 1);
}

/* A loss that the interval shows, without the evidence of a verdict, is named with its bound. */
static void a_probable_loss_is_reported(void **state)
{
	struct verdict_options options = { .threshold_pct = 1.5, .tau0 = NAN, .nu0 = NAN, .is_over = true };
	struct run_estimate e[12];
	struct judgement j, sustained;
	struct rule r;

	(void)state;
	rule_default(&r, 1);
	r.programs = true;
	r.confirm = false;
	r.runs_max = 32;
	for (int i = 0; i < 12; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 2, .d = i % 2 ? 0.12 : 0.02, .q = 1e-6 };
	verdict_of_cell(&r, &options, e, 12, NULL, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(strncmp(j.reason, "probably slower, by at least 3.", 31), 0);
	assert_non_null(strstr(j.reason, " % (95 %): runs vary too much: standard error 1."));
	assert_non_null(strstr(j.reason, "; up to 20 more may decide"));
	for (int i = 0; i < 12; i++)
		e[i].d -= 0.07; /* no loss */
	verdict_of_cell(&r, &options, e, 12, NULL, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(strncmp(j.reason, "runs vary", 9), 0);
}

static void precision_while_budget_lasts(void **state)
{
	struct run_estimate e[12];
	struct judgement j;
	struct rule r;

	(void)state;
	rule_default(&r, 20);
	for (int i = 0; i < 12; i++)
		e[i] = (struct run_estimate){ .set = 1, .n = 16, .d = i % 2 ? 0.001 : -0.001, .q = 4e-6 };
	verdict_judge(&r, 1.5, false, e, 2, &j);
	assert_int_equal(j.verdict, VERDICT_UNCHANGED);
	assert_true(j.want_precision); /* half-width 0.53 %, 0.4 % is required of a dense cell */
	verdict_judge(&r, 1.5, true, e, 2, &j);
	assert_false(j.want_precision); /* and 0.6 % of a sparse one */
	r.half_width_dense_pct = 0;
	verdict_judge(&r, 1.5, false, e, 12, &j);
	assert_false(j.want_precision); /* no run beyond the last */
}

/* One cell of a comparison, run after run as the worker does it, up to the verdict. */
static void run_cell(struct noise *n, const struct rule *r, double shift, int pairs, struct judgement *out)
{
	static struct noise_run data[STATS_RUNS_MAX];
	struct run_pairs p[STATS_RUNS_MAX];
	struct run_estimate e[STATS_RUNS_MAX] = { 0 };
	double beta;
	int runs = 0;

	verdict_judge(r, 1.5, true, e, 0, out);
	while (out->want_set && runs < STATS_RUNS_MAX) {
		noise_pairs(n, shift, pairs, out->want_set, &data[runs], &p[runs]);
		runs++;
		stats_runs(r, p, runs, e, &beta);
		verdict_judge(r, 1.5, true, e, runs, out);
	}
	assert_int_equal(out->want_set, 0);
	assert_int_equal(out->all.runs, runs);
}

struct request_counter {
	int regression, borderline, undecided, unchanged, improvement, runs;
};

static struct request_counter run_cells(struct noise n, double shift, int cells, int pairs)
{
	struct request_counter t = { 0 };
	struct rule r;

	rule_default(&r, 20);
	for (int i = 0; i < cells; i++) {
		struct judgement j;

		run_cell(&n, &r, shift, pairs, &j);
		t.regression += j.verdict == VERDICT_REGRESSION;
		t.undecided += j.verdict == VERDICT_UNDECIDED;
		t.unchanged += j.verdict == VERDICT_UNCHANGED;
		t.improvement += j.verdict == VERDICT_IMPROVEMENT;
		t.borderline += j.flags & FLAG_BORDERLINE ? 1 : 0;
		t.runs += j.all.runs;
	}
	return t;
}

/* Noise as measured: calls 0.8 %, runs 0.25 %, one outlier in 200 calls. */
static const struct noise typical = { .state = 11, .white = 0.008, .run = 0.0025, .outlier = 0.005 };
/* A power-limited device: the clock moves the times, a thousandth remains without it. */
static const struct noise clocked = { .state = 12, .white = 0.001, .run = 0.001, .clock = 0.006, .outlier = 0.005 };

static void identical_builds_raise_no_alarm(void **state)
{
	struct request_counter t;

	(void)state;
	t = run_cells(typical, 0, 2000, 16);
	assert_int_equal(t.regression, 0);
	assert_int_equal(t.improvement, 0);
	assert_true(t.unchanged >= 1999);
	assert_true(t.runs < 2000 * 3);
	t = run_cells(clocked, 0, 2000, 4);
	assert_int_equal(t.regression, 0);
	assert_int_equal(t.improvement, 0);
	assert_true(t.unchanged >= 1998); /* two outliers among four pairs of one run leave a cell undecided */
}

/* A cell with clocks, judged after each of its runs as the worker judges it. `at`: runs when its sets ended, 0 never. */
static struct judgement measure(const struct rule *r, double threshold_pct, double loss_pct, double sd, uint64_t seed, int *at)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct judgement j = { .want_set = 1 };
	struct noise dice = { .state = seed };
	int n = 0;

	*at = 0;
	while (j.want_set != 0 && n < STATS_RUNS_MAX) {
		double d = stats_theta(loss_pct) + sd * noise_normal(&dice);

		e[n++] = (struct run_estimate){
			.set = j.want_set, .n = 16, .d = d, .q = sd * sd / 4, .d_raw = d, .z_q = 1e-10, .beta = -1
		};
		verdict_judge(r, threshold_pct, false, e, n, &j);
		if (*at == 0 && strstr(j.reason, "; together "))
			*at = n;
	}
	return j;
}

/* At a threshold of 0.5 % the runs of a cell whose sets do not agree continue, and all are analysed together. */
static void sets_without_a_verdict_are_pooled(void **state)
{
	enum { CELLS = 400 };
	static const double losses_pct[] = { 0, 0.2, 0.9 }, sd = 0.0042;
	int wrong[2][3] = { { 0 } }, open[2][3] = { { 0 } }, continued = 0;

	(void)state;
	for (int pooled = 0; pooled < 2; pooled++)
		for (int l = 0; l < 3; l++)
			for (int i = 0; i < CELLS; i++) {
				struct rule r;
				int at;

				rule_default(&r, 20);
				r.runs_pooled_max = pooled ? r.runs_pooled_max : 0;
				struct judgement j = measure(&r, 0.5, losses_pct[l], sd, 77 + (uint64_t)i, &at);
				bool is_found = j.verdict == (l < 2 ? VERDICT_UNCHANGED : VERDICT_REGRESSION);

				assert_true(pooled || at == 0);
				assert_true(j.all.runs <= 32);
				assert_int_equal(j.want_set, 0);
				open[pooled][l] += j.verdict == VERDICT_UNDECIDED;
				wrong[pooled][l] += j.verdict != VERDICT_UNDECIDED && !is_found;
				continued += at > 0;
			}
	assert_true(continued > CELLS / 20);
	for (int l = 0; l < 3; l++) {
		assert_int_equal(wrong[1][l], wrong[0][l]);
		assert_true(open[1][l] <= open[0][l]);
	}
	assert_true(open[1][1] + open[1][2] < open[0][1] + open[0][2]);
}

/* What the sets ended with remains: further runs are no further chance for them. */
static void pooled_runs_do_not_change_their_sets(void **state)
{
	struct run_estimate e[STATS_RUNS_MAX];
	struct verdict_options options = { .threshold_pct = 0.5, .tau0 = NAN, .nu0 = NAN };
	struct judgement j, sustained;
	struct rule r;
	int n = 0;

	(void)state;
	rule_default(&r, 20);
	for (; n < 16; n++) { /* 0.75 % in the first set, less in the other, which varies too much */
		double d = n < 4 ? (n % 2 ? 0.0065 : 0.0085) : n % 2 ? 0.0025 : 0.0105;

		e[n] = (struct run_estimate){
			.set = n < 4 ? 1 : 2, .n = 16, .d = d, .q = 1e-8, .d_raw = d, .z_q = 1e-10, .beta = -1
		};
	}
	verdict_judge(&r, 0.5, false, e, 16, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	assert_int_equal(j.want_set, 2);
	assert_true(j.flags & FLAG_NOISY);
	assert_non_null(strstr(j.reason, "the confirming set's runs vary too much"));
	assert_non_null(strstr(j.reason, "after 16 of at most 32 runs"));
	verdict_judge(&r, 1.5, false, e, 16, &j); /* a higher threshold does not pool */
	assert_null(strstr(j.reason, "together"));

	/* all later runs show 1.05 %: the next analysis decides, the one of the last run if none follows */
	for (int i = 16; i < 32; i++) {
		e[i] = e[4];
	}
	verdict_judge(&r, 0.5, false, e, 23, &j);
	assert_int_equal(j.verdict, VERDICT_UNDECIDED);
	verdict_judge(&r, 0.5, false, e, 32, &j);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
	assert_int_equal(j.want_set, 0);
	assert_string_equal(j.reason, "");
	options.is_over = true;
	verdict_of_cell(&r, &options, e, 31, NULL, 0, &j, &sustained);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);

	r.runs_pooled_max = 0; /* of a comparison before */
	verdict_judge(&r, 0.5, false, e, 16, &j);
	assert_int_equal(j.want_set, 0);
	assert_null(strstr(j.reason, "together"));
}

static void slower_builds_are_found(void **state)
{
	struct request_counter t;

	(void)state;
	t = run_cells(typical, stats_theta(2), 300, 16);
	assert_true(t.regression >= 297);
	t = run_cells(typical, stats_theta(3), 300, 16);
	assert_true(t.regression >= 299);
	assert_int_equal(t.borderline, 0);
	assert_true(t.runs < 300 * 10);
	t = run_cells(clocked, stats_theta(2), 300, 4);
	assert_true(t.regression >= 297);
	t = run_cells(clocked, stats_theta(3), 300, 4);
	assert_int_equal(t.regression, 300);
}

static void small_changes_stay_silent(void **state)
{
	struct request_counter t;

	(void)state;
	t = run_cells(typical, stats_theta(1.0), 500, 16);
	assert_int_equal(t.regression, 0);
	t = run_cells(typical, -log(1.04), 300, 16);
	assert_int_equal(t.improvement, 300);
}

/* The clock as control variate reduces the number of runs. */
static void clocks_save_runs(void **state)
{
	struct noise underpowered = clocked;
	struct request_counter with, without;

	(void)state;
	underpowered.white = sqrt(clocked.white * clocked.white + clocked.clock * clocked.clock);
	underpowered.clock = 0;
	with = run_cells(clocked, stats_theta(2.0), 200, 4);
	without = run_cells(underpowered, stats_theta(2.0), 200, 4);
	assert_true(with.runs < without.runs * 0.8);
}

static void labels_of_a_comparison_with_a_peer(void **state)
{
	(void)state;
	assert_string_equal(verdict_label(JOBKIND_PEER, VERDICT_REGRESSION), "slower");
	assert_string_equal(verdict_label(JOBKIND_CONFIG, VERDICT_REGRESSION), "slower");
	assert_string_equal(verdict_label(JOBKIND_PEER, VERDICT_FAILED), "failed");
	assert_string_equal(verdict_label(JOBKIND_PEER, VERDICT_ADDED), "no_pair");
	assert_string_equal(verdict_label(JOBKIND_PEER, VERDICT_NONE), "none");
	assert_string_equal(verdict_label(JOBKIND_COMPARE, VERDICT_REGRESSION), "regression");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(labels_of_a_comparison_with_a_peer),
		cmocka_unit_test(implausible_times_are_rejected),
		cmocka_unit_test(rows_of_one_side),
		cmocka_unit_test(one_set),
		cmocka_unit_test(two_sets),
		cmocka_unit_test(a_quick_comparison_is_an_interim_analysis),
		cmocka_unit_test(reasons_have_no_interval),
		cmocka_unit_test(a_noisy_cell_has_the_noisy_flag),
		cmocka_unit_test(noise_is_no_verdict),
		cmocka_unit_test(more_runs_are_suggested_only_where_they_decide),
		cmocka_unit_test(the_remedy_fits_how_calls_are_paired),
		cmocka_unit_test(more_runs_are_not_suggested_at_a_larger_error),
		cmocka_unit_test(a_probable_loss_is_reported),
		cmocka_unit_test(precision_while_budget_lasts),
		cmocka_unit_test(identical_builds_raise_no_alarm),
		cmocka_unit_test(sets_without_a_verdict_are_pooled),
		cmocka_unit_test(pooled_runs_do_not_change_their_sets),
		cmocka_unit_test(slower_builds_are_found),
		cmocka_unit_test(small_changes_stay_silent),
		cmocka_unit_test(clocks_save_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
