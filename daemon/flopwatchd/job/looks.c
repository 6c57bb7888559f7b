/* looks.c - see looks.h. */
#include "flopwatchd/job/looks.h"

#include <math.h>

#include "core/case/case.h"

#define LONG_ENOUGH 0.5 /* of the longest call of its class */

/* FLOPs of a share's longest cell of a class; -1: it has none. */
static double longest(const struct plan *whole, const struct share *s, look_set class)
{
	double most = -1;
	for (int i = 0; i < s->n; i++) {
		const struct cell *c = &whole->ask.cell[s->cell[i]];
		if (look_class(c) == class)
			most = fmax(most, case_flops(c));
	}
	return most;
}

static void deal_class(const struct plan *whole, struct share *share, int n, look_set class, int *looks)
{
	double most = 0;
	int best = -1;
	for (int p = 0; p < n; p++)
		most = fmax(most, longest(whole, &share[p], class));
	for (int p = 0; p < n; p++) {
		double here = longest(whole, &share[p], class);
		if (here >= 0 && here >= LONG_ENOUGH * most && (best < 0 || looks[p] < looks[best]))
			best = p;
	}
	for (int p = 0; p < n; p++)
		if (p != best)
			share[p].elsewhere |= class;
	looks[best]++;
}

void looks_deal(const struct plan *whole, struct share *share, int n)
{
	int looks[PLAN_PARTS_MAX] = { 0 };
	look_set dealt = 0;
	for (int i = 0; i < whole->ask.n_cells; i++) {
		look_set class = look_class(&whole->ask.cell[i]);
		if (!(dealt & class))
			deal_class(whole, share, n, class, looks);
		dealt |= class;
	}
}

static look_set classes_of(const struct plan *whole)
{
	look_set all = 0;
	for (int i = 0; i < whole->ask.n_cells; i++)
		all |= look_class(&whole->ask.cell[i]);
	return all;
}

/* Times, and nothing that ended them: what failed would fail again. */
static bool is_sound(const struct result *r, int cell)
{
	if (result_fault(r, ROLE_BASE, cell) || result_fault(r, ROLE_TARGET, cell) || result_fault(r, ROLE_DEVICE, cell) ||
		result_fault(r, ROLE_WORKER, cell))
		return false;
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->cell == cell)
			return true;
	return false;
}

void looks_again(const struct result *whole, const struct share *share, int n, struct share *again)
{
	look_set all = classes_of(&whole->plan), missed = 0, differs = 0;
	for (int p = 0; p < n; p++) {
		missed |= all & ~share[p].elsewhere & ~share[p].looked;
		differs |= share[p].bursts;
	}
	again->n = 0;
	again->asked = again->elsewhere = differs;
	for (int p = 0; p < n; p++)
		for (int i = 0; i < share[p].n; i++) {
			look_set class = look_class(&whole->plan.ask.cell[share[p].cell[i]]);
			bool unseen = share[p].elsewhere & ~share[p].bursts & class;
			if (unseen && ((missed | differs) & class) && is_sound(whole, share[p].cell[i]))
				again->cell[again->n++] = share[p].cell[i];
		}
}
