/* kernels.c - documented in internal.h. */
#include "web/page/internal.h"

#include <math.h>

/*
 * Return the row at this index of a side's call, from an earlier process; else one that only the other side has; else a new one.
 * NULL: the list is full.
 */
static struct kernel_row *row_of(struct kernels *k, const struct view_profile_kernel *v, int side)
{
	struct kernel_row *open = NULL;
	for (int i = 0; i < k->n; i++) {
		struct kernel_row *r = &k->row[i];
		bool is_same = strcmp(r->name, v->kernel) == 0 && strcmp(r->phase, v->phase) == 0;
		if (is_same && r->side[side].times && r->n[side] == v->n)
			return r;
		if (is_same && !r->side[side].times && !open)
			open = r;
	}
	if (!open && k->n < KERNELS_MAX) {
		open = &k->row[k->n++];
		snprintf(open->phase, sizeof open->phase, "%s", v->phase);
		snprintf(open->name, sizeof open->name, "%s", v->kernel);
		open->side[0].ms = open->side[1].ms = NAN;
	}
	if (open)
		open->n[side] = v->n;
	return open;
}

static void take(void *arg, const struct view_profile_kernel *v)
{
	struct kernels *k = arg;
	int side = strcmp(v->side, "target") == 0 ? KERNELS_TARGET : KERNELS_BASE;
	struct kernel_row *r = row_of(k, v, side);
	if (!r)
		return;
	struct kernel_side *s = &r->side[side];
	if (isfinite(v->ms))
		s->ms = s->timed ? s->ms + (v->ms - s->ms) / (s->timed + 1) : v->ms;
	s->timed += isfinite(v->ms);
	s->times++;
	s->registers = v->registers;
	s->local_bytes = v->local_bytes;
	s->shared_bytes = v->shared_bytes;
	s->ctas_per_sm = v->ctas_per_sm;
	snprintf(s->code_sha, sizeof s->code_sha, "%s", v->code_sha);
}

int kernels_read(struct db *db, int64_t cell, struct kernels *out, struct fw_err *err)
{
	*out = (struct kernels){ .row = mem_alloc_zero(KERNELS_MAX, sizeof *out->row) };
	return view_profile_kernels(db, cell, take, out, err);
}

void kernels_free(struct kernels *k)
{
	free(k->row);
	*k = (struct kernels){ .n = 0 };
}

int kernels_same_code(const struct kernel_row *row)
{
	const char *base = row->side[KERNELS_BASE].code_sha, *target = row->side[KERNELS_TARGET].code_sha;
	return base[0] && target[0] ? strcmp(base, target) == 0 : -1;
}
