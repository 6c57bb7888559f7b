/* node.c - kernels, memsets and copies that only one side's call has, with their own times. */
#include <stdio.h>

#include "profile/internal.h"

/* Number of nodes with this pair's side and name; 0 if an earlier one counted them. */
static int count(const struct pairing *p, size_t at, int side, double *ms, bool *is_timed)
{
	const struct kernel_pair *of = &p->pair[at];
	int n = 0;

	*ms = 0;
	*is_timed = true;
	for (size_t i = 0; i < p->n; i++) {
		const struct kernel_pair *other = &p->pair[i];

		if (pair_is_whole(other) || !pair_kernel(other, side) || strcmp(pair_name(other), pair_name(of)) != 0)
			continue;
		if (i < at)
			return 0;
		n++;
		*ms += other->base_ms;
		*is_timed &= other->is_timed;
	}
	return n;
}

void node_find(const struct pairing *p, double left_ms, struct findings *f)
{
	int untimed = 0;

	for (size_t i = 0; i < p->n; i++)
		untimed += !pair_is_whole(&p->pair[i]) && !p->pair[i].is_timed;
	for (size_t i = 0; i < p->n; i++) {
		const struct kernel_pair *pair = &p->pair[i];
		char what[FINDING_SIZE];
		bool is_timed;
		double ms;

		if (pair_is_whole(pair))
			continue;
		bool is_extra = pair_kernel(pair, 1);
		int n = count(p, i, is_extra, &ms, &is_timed);

		if (n == 0)
			continue;
		const char *where = is_extra ? "is new in every call" : "is no longer in the call";

		if (n > 1)
			snprintf(what, sizeof what, "%s, %d times", where, n);
		else
			snprintf(what, sizeof what, "%s", where);
		enum cause_kind kind = is_extra ? CAUSE_EXTRA_NODE : CAUSE_MISSING_NODE;

		if (is_timed)
			finding_exact(f, kind, pair, is_extra ? ms : -ms, what);
		else if ((left_ms > 0) == is_extra) /* the rest can only belong to this node */
			finding_add(f, kind, pair, left_ms * n / untimed, WEIGHT_EXACT, what);
	}
}
