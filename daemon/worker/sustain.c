/* sustain.c - sustained runs of sentinels, then of whole directions. */
#include "worker/internal.h"

#include <math.h>

enum { AGREEING_RUNS = 2, DISCARDED_MAX = 3 }; /* runs of a sentinel that must agree on the side; limit of discarded runs */

#define RATIO_SD        0.005 /* standard deviation of the log ratio without a difference, on two H100 */
#define RATIO_SDS       2.5   /* multiple of that deviation */
#define ENERGY_SEPARATE 0.03  /* log ratio of the energies of a call */

/* Return whether sustained runs are useful: the device's clock follows its power, and the job is not quick. */
static bool is_possible(const struct bench *b)
{
	return !b->quick && b->device.kind != DEVICE_CPU;
}

static bool is_in_sustained_runs(const struct bench *b, int cell)
{
	return b->sustained_runs & sentinel_class(&b->cells[cell]);
}

/* Return whether the sides may draw different power: not if they launch the same kernels with the same configuration. */
static bool may_differ(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	return strcmp(c->work[BENCH_BASE].config, c->work[BENCH_TARGET].config) != 0 ||
	       !launches_equal(c->launches[BENCH_BASE], c->launches[BENCH_TARGET]);
}

/* Return whether the cell is the longest open one of its class that may differ, and this worker measures the sentinel. */
static bool is_sentinel(const struct bench *b, int cell)
{
	sentinel_set class = sentinel_class(&b->cells[cell]);
	int longest = -1, i;

	if (b->sentinels_elsewhere & class)
		return false;
	for (i = 0; i < b->n_cells; i++)
		if (b->cell[i].open && may_differ(b, i) && sentinel_class(&b->cells[i]) == class &&
			(longest < 0 || case_flops(&b->cells[i]) > case_flops(&b->cells[longest])))
			longest = i;
	return longest == cell;
}

double sustain_s(const enum sustained_order *sustained, int n)
{
	double s = 0;

	for (int i = 0; sustained && i < n; i++)
		s += sustained[i] != SUSTAINED_NONE ? 3 * SUSTAINED_S /* the interleaved run before both is shorter than one */
						    : 0;
	return s;
}

static int sign_beyond(double log_ratio, double limit)
{
	return log_ratio > limit ? 1 : log_ratio < -limit ? -1 : 0;
}

/* Return the mean log; NAN: unknown. The median would depend on the phase of the power limiter's oscillation. */
static double level(const float *v, int n)
{
	double sum = 0;
	int known = 0;

	for (int i = 0; i < n; i++)
		if (v[i] > 0) {
			sum += log(v[i]);
			known++;
		}
	return sum / known;
}

/* Return the log ratio of the sides' sustained runs, b over a. Shape: a[n], b[n]. */
static double log_ratio(const float *a, const float *b, int n)
{
	return level(b, n) - level(a, n);
}

/*
 * Return the side that draws more power in these sustained runs: 1 target, -1 base, 0 neither. A difference counts only if it far
 * exceeds the noise of equal builds.
 */
static int draws_more(const struct msg_cell *m, int base, int target)
{
	int sign = 0;

	if (m->mhz[base] && m->mhz[target] && m->n > 0) /* more power means a lower clock */
		sign = sign_beyond(log_ratio(m->mhz[target], m->mhz[base], m->n), RATIO_SDS * RATIO_SD);
	if (sign == 0 && m->energy_j[base] > 0 && m->energy_j[target] > 0)
		sign = sign_beyond(log(m->energy_j[target] / m->energy_j[base]), ENERGY_SEPARATE);
	return sign;
}

/*
 * Return the side that is slower in these sustained runs than in its pairs, by more than the regression threshold: 1 target, -1
 * base, 0 neither. Needed because clock drift can hide the effect of power, and not every device reports energy.
 */
static int slower_than_in_pairs(const struct bench *b, const struct msg_cell *m, int base, int target)
{
	const struct estimate *pairs = &b->cell[m->cell].found.typical.all;

	if (pairs->runs == 0 || m->n < 1)
		return 0;
	return sign_beyond(log_ratio(m->ms[base], m->ms[target], m->n) - pairs->m,
		fmax(stats_theta(b->cells[m->cell].threshold_pct), RATIO_SDS * RATIO_SD));
}

/* Return whether all sustained runs agree on the side. One may be chance, so a whole direction needs AGREEING_RUNS. */
static bool agrees_on_side(const struct bench_cell *c)
{
	return c->n_sustained_runs > 0 && abs(c->side_balance) == c->n_sustained_runs;
}

static bool needs_second(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	return c->open && !is_in_sustained_runs(b, cell) && agrees_on_side(c) && c->n_sustained_runs < AGREEING_RUNS;
}

/* Return whether a sentinel's first run was discarded because of the device and must be repeated. */
static bool needs_first_again(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	return c->open && c->n_sustained_runs == 0 && c->n_void_sustained_runs > 0 && c->n_void_sustained_runs < DISCARDED_MAX &&
	       is_sentinel(b, cell);
}

int sustain_add(struct bench *b, const struct msg_cell *m, struct fw_err *err)
{
	int base = bench_role(m, ROLE_BASE), target = bench_role(m, ROLE_TARGET);
	struct bench_cell *c = &b->cell[m->cell];
	char why[DEVICE_CHECK_WHY_SIZE];

	if (device_check_discards(&m->device_check, why)) {
		c->n_void_sustained_runs++;
		return 0;
	}
	if (bench_store_run(c->sustained_run, &c->n_sustained_runs, m, err) != 0)
		return -1;
	bench_judge(b, m->cell);
	int sign = draws_more(m, base, target);
	c->side_balance += sign ? sign : slower_than_in_pairs(b, m, base, target);
	if (c->n_sustained_runs >= AGREEING_RUNS && agrees_on_side(c))
		b->sustained_runs |= sentinel_direction(b->cells[m->cell].direction);
	return 1;
}

/* Return the set of the next run that a cell's sustained change needs; 0: none. */
static int wanted_set(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	bool lost_in_pairs = c->found.typical.verdict == VERDICT_REGRESSION && !(c->found.typical.flags & FLAG_SUSTAINED) &&
			     !(b->requested & sentinel_class(&b->cells[cell]));

	bool requested = is_in_sustained_runs(b, cell) || c->found.typical.want_sustained_runs;

	/* wait until the pairs are decided; a regression in pairs needs no further evidence */
	if (!c->open || !requested || c->found.typical.want_set != 0 || lost_in_pairs)
		return 0;
	return c->n_sustained_runs == 0 ? 1 : c->n_sustained_runs < STATS_RUNS_MAX ? c->found.sustained.want_set : 0;
}

enum sustained_order sustain_order(const struct bench *b, int cell, int set)
{
	bool is_wanted = wanted_set(b, cell) == set || (set == 1 && !b->set_begun[1] && is_sentinel(b, cell)) ||
			 needs_second(b, cell) || needs_first_again(b, cell);

	if (!is_possible(b) || !is_wanted)
		return SUSTAINED_NONE;
	return (b->seed + (uint64_t)b->cell[cell].n_sustained_runs) % 2 ? SUSTAINED_TARGET_FIRST : SUSTAINED_BASE_FIRST;
}

int sustain_next(const struct bench *b, int *list, int *set)
{
	int n = 0, want, i;

	for (want = 1; want <= 2 && n == 0 && is_possible(b); want++)
		for (i = 0, *set = want; i < b->n_cells; i++)
			if (wanted_set(b, i) == want || (want == 1 && b->cell[i].found.typical.want_set == 0 &&
								(needs_second(b, i) || needs_first_again(b, i))))
				list[n++] = i;
	return n;
}
