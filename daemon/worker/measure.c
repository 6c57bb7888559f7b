/* measure.c - order of runs. */
#include "worker/internal.h"

enum { EMPTY_RUNS_MAX = 3, ROUNDS_MAX = 3 };

/* Return the set that slow calls or the target width still require for a cell with decided pairs; 0: none. */
static int set_for_width(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];
	struct cell_verdict v;

	if (!c->open || c->found.typical.want_set != 0 || b->quick)
		return 0;
	if (c->found.typical.want_precision)
		return 1;
	bench_decide(b, cell, &v);
	return v.mean.want_set;
}

int measure_next(const struct bench *b, int *list, int *set)
{
	int want, n, i;

	/* set 1 of all cells precedes the confirming set */
	for (want = 1; want <= 2; want++) {
		for (n = 0, i = 0; i < b->n_cells; i++) {
			const struct bench_cell *c = &b->cell[i];

			if (c->open && c->found.typical.want_set == want && !(b->quick && c->n_runs > 0))
				list[n++] = i;
		}
		*set = want;
		if (n > 0)
			return n;
	}
	/* then width and slow calls, and their confirmations, for all cells of a group together */
	for (want = 1; want <= 2; want++) {
		for (n = 0, i = 0; i < b->n_cells; i++)
			if (set_for_width(b, i) == want)
				list[n++] = i;
		*set = want;
		if (n > 0)
			return n;
	}
	*set = 1;
	return 0;
}

int measure_plan(const struct bench *b, int *list, int *set, bool *only_sustained)
{
	int n = measure_next(b, list, set), n_sustained = 0, sustained_set;

	if (n == 0 || b->cell[list[0]].found.typical.want_set == 0)
		n_sustained = sustain_next(b, list, &sustained_set);
	*only_sustained = n_sustained > 0;
	if (n_sustained == 0)
		return n;
	*set = sustained_set;
	return n_sustained;
}

/* The next run. Shape: all arrays have n_cells elements. */
struct plan {
	struct run_order order;
	int *cell;
	enum sustained_order *sustained;
};

static int plan_next(const struct bench *b, struct plan *p)
{
	struct run_order *o = &p->order;

	o->n = measure_plan(b, p->cell, &o->set, &o->only_sustained_runs);
	for (int i = 0; i < o->n; i++)
		p->sustained[i] = sustain_order(b, p->cell[i], o->set);
	return o->n;
}

static int run_all(struct bench *b, struct plan *p, struct fw_err *err)
{
	const struct run_order *o = &p->order;
	int empty = 0, status = health_check_wait_idle(b, err), i;
	char why[512] = "";

	while (status >= 0 && !b->lost && empty < EMPTY_RUNS_MAX && plan_next(b, p) > 0) {
		if (b->runs > 0 && b->gpu_s >= b->limits.budget_s)
			break; /* open cells remain undecided */
		status = measure_one_run(b, o, why, sizeof why, err);
		empty = status == 0 ? empty + 1 : 0;
		for (i = 0; i < o->n && empty == EMPTY_RUNS_MAX && !o->only_sustained_runs && status >= 0; i++)
			status = bench_fault(b, o->cell[i], ROLE_DEVICE, "device", err, "%s", why);
	}
	return status < 0 ? -1 : 0;
}

/*
 * Verify doubtful results. They are judged finally before, since runs between two interim analyses count only then: a gain that
 * only the final judgement finds would not be verified. Returns 1 if that may have reopened a cell.
 */
static int verify_results(struct bench *b, struct fw_err *err)
{
	int before = b->runs;

	bench_end(b);
	if (alone_run(b, err) != 0 || (!b->lost && audit_run(b, err) != 0))
		return -1;
	if (b->runs == before)
		return 0;
	bench_continue(b);
	return 1;
}

int measure_run(struct bench *b, struct fw_err *err)
{
	size_t n = (size_t)b->n_cells + 1;
	struct plan p = { .cell = mem_alloc_zero(n, sizeof *p.cell), .sustained = mem_alloc_zero(n, sizeof *p.sustained) };
	int round, result = 1;

	p.order.cell = p.cell;
	p.order.sustained = p.sustained;
	for (round = 0; result == 1 && round < ROUNDS_MAX && !b->lost; round++) {
		result = run_all(b, &p, err);
		if (result == 0 && !b->lost)
			result = verify_results(b, err);
	}
	bench_end(b);
	free(p.cell);
	free(p.sustained);
	return result < 0 ? -1 : 0;
}
