/* sustain.c - sentinels first, then whole directions. */
#include "worker/sustain.h"

#include <math.h>
#include <string.h>

#include "core/guard.h"

#define CLOCK_APART  0.01 /* of the clocks that both sides settle at */
#define ENERGY_APART 0.03 /* of the energy of a call */

bool sustain_possible(const struct bench *b)
{
	return !b->quick && strcmp(b->device.kind, "cpu") != 0;
}

static bool is_sparse(const struct bench *b, int cell)
{
	return b->cells[cell].attention.mask == FW_BLOCKS;
}

/* The longest open cell of its direction, among the sparse or among the others. */
static bool is_sentinel(const struct bench *b, int cell)
{
	int longest = -1, i;

	for (i = 0; i < b->n_cells; i++)
		if (b->cell[i].open && b->cells[i].direction == b->cells[cell].direction &&
			is_sparse(b, i) == is_sparse(b, cell) &&
			(longest < 0 || case_flops(&b->cells[i]) > case_flops(&b->cells[longest])))
			longest = i;
	return longest == cell;
}

static bool apart(double base, double target, double limit)
{
	return base > 0 && target > 0 && fabs(log(target / base)) > limit;
}

int sustain_add(struct bench *b, const struct msg_cell *m, struct fw_err *err)
{
	int base = bench_role(m, "base"), target = bench_role(m, "target");
	struct bench_cell *c = &b->cell[m->cell];
	char why[GUARD_WHY_SIZE];

	if (guard_discards(&m->guard, why))
		return 0;
	if (bench_keep(c->burst, &c->n_bursts, m, err) < 0)
		return -1;
	bench_judge(b, m->cell);
	if (m->mhz[base] && m->mhz[target] &&
		apart(stats_median(m->mhz[base], m->n), stats_median(m->mhz[target], m->n), CLOCK_APART))
		b->bursts[b->cells[m->cell].direction == DIRECTION_BACKWARD] = true;
	if (apart(m->energy_j[base], m->energy_j[target], ENERGY_APART))
		b->bursts[b->cells[m->cell].direction == DIRECTION_BACKWARD] = true;
	return 1;
}

/* The set whose next launch the sustained change of a cell needs; 0 none. */
static int wanted_set(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	bool lost_in_pairs = c->judgement.verdict == VERDICT_REGRESSION && !(c->judgement.flags & FLAG_SUSTAINED);

	/* once the pairs have settled; what they call a regression needs no second opinion */
	if (!c->open || !b->bursts[b->cells[cell].direction == DIRECTION_BACKWARD] || c->judgement.want_set != 0 || lost_in_pairs)
		return 0;
	return c->n_bursts == 0 ? 1 : c->n_bursts < STATS_LAUNCHES_MAX ? c->sustained.want_set : 0;
}

bool sustain_wants(const struct bench *b, int cell, int set)
{
	if (!sustain_possible(b))
		return false;
	return wanted_set(b, cell) == set || (!b->set_begun[set] && is_sentinel(b, cell));
}

int sustain_next(const struct bench *b, int *list, int *set)
{
	int n = 0, want, i;

	for (want = 1; want <= 2 && n == 0 && sustain_possible(b); want++)
		for (i = 0, *set = want; i < b->n_cells; i++)
			if (wanted_set(b, i) == want)
				list[n++] = i;
	return n;
}
