#include "flopwatchd/job/job.h"

#include <math.h>

#define LONG_ENOUGH 0.5 /* of the longest call of its class */

/* FLOPs of a partition's longest cell of a class, 0 unknown; -1: it has none. */
static double longest_flops(const struct plan *whole, const struct share *s, sentinel_set class)
{
	double most = -1;
	for (int i = 0; i < s->n; i++) {
		const struct cell *c = &whole->request.cell[s->cell[i]];
		double flops = case_flops(c);
		if (sentinel_class(c) == class)
			most = fmax(most, flops > 0 ? flops : 0);
	}
	return most;
}

static void assign_class(const struct plan *whole, struct share *share, int n, sentinel_set class, int *n_sentinels)
{
	double most = 0;
	int best = -1;
	for (int p = 0; p < n; p++)
		most = fmax(most, longest_flops(whole, &share[p], class));
	for (int p = 0; p < n; p++) {
		double here = longest_flops(whole, &share[p], class);
		if (here >= 0 && here >= LONG_ENOUGH * most && (best < 0 || n_sentinels[p] < n_sentinels[best]))
			best = p;
	}
	if (best < 0)
		return;
	for (int p = 0; p < n; p++)
		if (p != best)
			share[p].elsewhere |= class;
	n_sentinels[best]++;
}

void sentinels_assign(const struct plan *whole, struct share *share, int n)
{
	int n_sentinels[PLAN_PARTITIONS_MAX] = { 0 };
	sentinel_set dealt = 0;
	for (int i = 0; i < whole->request.n_cells; i++) {
		sentinel_set class = sentinel_class(&whole->request.cell[i]);
		if (!(dealt & class))
			assign_class(whole, share, n, class, n_sentinels);
		dealt |= class;
	}
}

static bool contains(const struct share *s, int cell)
{
	for (int i = 0; i < s->n; i++)
		if (s->cell[i] == cell)
			return true;
	return false;
}

static bool is_timed(const struct result *r, int cell)
{
	if (result_fault(r, ROLE_BASE, cell) || result_fault(r, ROLE_TARGET, cell) || result_fault(r, ROLE_DEVICE, cell) ||
		result_fault(r, ROLE_WORKER, cell))
		return false;
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->cell == cell)
			return true;
	return false;
}

static bool has_sustained_runs(const struct result *r, int cell)
{
	char why[DEVICE_CHECK_WHY_SIZE];
	for (int i = 0; i < r->n_cells; i++)
		if (r->cell[i]->cell == cell && r->cell[i]->series == SERIES_SUSTAINED &&
			!device_check_discards(&r->cell[i]->device_check, why))
			return true;
	return false;
}

static sentinel_set missed_classes(const struct result *r, const struct share *s)
{
	sentinel_set own = 0, measured = 0;
	for (int i = 0; i < s->n; i++) {
		sentinel_set class = sentinel_class(&r->plan.request.cell[s->cell[i]]);
		own |= class; /* without a sentinel also where all its cells launch the same kernels on both sides */
		measured |= has_sustained_runs(r, s->cell[i]) ? class : 0;
	}
	return own & ~s->elsewhere & ~measured;
}

void sentinels_find_missed(const struct result *whole, const struct share *share, int n, struct share *again)
{
	sentinel_set unseen = 0, differs = 0;
	for (int p = 0; p < n; p++) {
		unseen |= missed_classes(whole, &share[p]);
		differs |= share[p].sustained_runs;
	}
	again->n = 0;
	again->requested = again->elsewhere = differs;
	for (int p = n - 1; p >= 0; p--) /* cells measured again are also in a later entry of `share` */
		for (int i = 0; i < share[p].n; i++) {
			int cell = share[p].cell[i];
			sentinel_set class = sentinel_class(&whole->plan.request.cell[cell]);
			bool is_requested = class & differs & ~share[p].sustained_runs,
			     is_unseen = class & unseen & share[p].elsewhere && !result_launches_equal(whole, cell);
			bool is_later = false;
			for (int k = p + 1; k < n && !is_later; k++)
				is_later = contains(&share[k], cell);
			if (!is_later && (is_requested || is_unseen) && is_timed(whole, cell) && !has_sustained_runs(whole, cell))
				again->cell[again->n++] = cell;
		}
}
