/* alone.c - detection of a slowed base by runs of one side at a time. */
#include "worker/internal.h"

#include <math.h>

/*
 * Thresholds as time ratios. A check has few calls and may be a day old. A busy machine can halve the speed of any process,
 * which is undetectable without a clock reading.
 */
#define SUSPECT          1.12
#define SUSPECT_NO_CLOCK 1.6
#define SLOWED           1.08 /* for runs of this job */

/*
 * Standard errors beyond which a cell is suspected, or rejected as slowed. A rejection has a higher limit than a verdict;
 * tests/worker/test_alone.c counts false rejections.
 */
#define SUSPECT_K 2.0
#define SLOWED_K  5.0

enum { VOID_RUNS_MAX = 3 };

enum who { WHO_BASE = BENCH_BASE, WHO_TARGET = BENCH_TARGET, WHO_BOTH, WHO_N };

struct alone_check {
	struct bench *bench;
	enum who who;
	int runs; /* of all cells */
	struct cell_rounds {
		int n[WHO_N];
		struct alone_round round[ALONE_ROUNDS];
		int n_runs;         /* runs that included this cell */
		int last_timed_run; /* index of its last timed run, also if discarded */
	} * of;                     /* of[n_cells of the bench] */
	struct msg_fault suspicion; /* of the current run; may be caused by another side; failure "": none */
};

double alone_excess(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs)
{
	double by_time = log(target->ms / base->ms), cycles;

	if (base->mhz <= 0 || target->mhz <= 0)
		return by_time - pairs->m;
	cycles = by_time + log(target->mhz / base->mhz);
	return fmin(by_time - pairs->m, cycles - pairs->m_code);
}

double alone_round_excess(const struct alone_round *t, const struct estimate *pairs)
{
	const struct bench_alone *alone = t->alone, *paired = t->paired;
	double then = alone_excess(&alone[BENCH_BASE], &alone[BENCH_TARGET], pairs);

	if (alone[BENCH_BASE].mhz > 0 && alone[BENCH_TARGET].mhz > 0)
		return then;
	return fmin(
		then, log(alone[BENCH_TARGET].ms / alone[BENCH_BASE].ms) - log(paired[BENCH_TARGET].ms / paired[BENCH_BASE].ms));
}

bool alone_suspects(const struct bench_alone *base, const struct bench_alone *target, const struct estimate *pairs)
{
	bool clocked = base->mhz > 0 && target->mhz > 0;

	return pairs->runs > 0 && base->ms > 0 && target->ms > 0 &&
	       alone_excess(base, target, pairs) > log(clocked ? SUSPECT : SUSPECT_NO_CLOCK) + SUSPECT_K * pairs->se;
}

static double mean_of(const double *v, int n)
{
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += v[i];
	return n > 0 ? sum / n : 0;
}

enum alone_result alone_judge(const double *round, int n, double se)
{
	double squares = 0, mean = mean_of(round, n);
	int i;

	for (i = 0; i < n; i++)
		if (round[i] <= log(SLOWED))
			return ALONE_SAME;
	if (n < ALONE_ROUNDS)
		return ALONE_MORE;
	for (i = 0; i < n; i++)
		squares += (round[i] - mean) * (round[i] - mean);
	return mean > log(SLOWED) + SLOWED_K * sqrt(squares / (n - 1) / n + se * se) ? ALONE_SLOWED : ALONE_SAME;
}

static bool is_suspect(const struct bench *b, int cell)
{
	const struct bench_cell *c = &b->cell[cell];

	return bench_is_timed(b, cell) && c->judged &&
	       alone_suspects(&c->alone[BENCH_BASE], &c->alone[BENCH_TARGET], &c->found.typical.all);
}

static struct bench_alone typical(const struct msg_cell *m, int side)
{
	return (struct bench_alone){ .ms = (double)stats_median(m->ms[side], m->n),
		.mhz = m->mhz[side] ? (double)stats_median(m->mhz[side], m->n) : 0 };
}

/* Store the times of a run. Returns false if a side is missing. */
static bool take_times(struct alone_round *round, enum who who, const struct msg_cell *m)
{
	static const enum role ROLE[] = { [BENCH_BASE] = ROLE_BASE, [BENCH_TARGET] = ROLE_TARGET };
	int side;

	for (side = BENCH_BASE; side <= BENCH_TARGET; side++) {
		int at = bench_role(m, ROLE[side]);

		if (who != WHO_BOTH && (int)who != side)
			continue;
		if (at < 0)
			return false;
		(who == WHO_BOTH ? round->paired : round->alone)[side] = typical(m, at);
	}
	return true;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct alone_check *x = arg;
	char why[DEVICE_CHECK_WHY_SIZE];

	if (m->t == MSG_CELL && bench_decides(x->bench, m->u.cell)) {
		struct cell_rounds *t = &x->of[m->u.cell->cell];

		t->last_timed_run = x->runs;
		if (t->n[x->who] < ALONE_ROUNDS && !device_check_discards(&m->u.cell->device_check, why) &&
			take_times(&t->round[t->n[x->who]], x->who, m->u.cell))
			t->n[x->who]++;
		return 0;
	}
	if (m->t == MSG_FAULT && x->who == WHO_BOTH && m->u.fault.cell >= 0 && run_suspects(&m->u.fault)) {
		x->suspicion = m->u.fault; /* sent later, with the side that caused it */
		return 0;
	}
	if (m->t == MSG_FAULT)
		bench_note(x->bench, m->u.fault.cell, m->u.fault.role, m->u.fault.failure, m->u.fault.detail);
	return m->t == MSG_FAULT || m->t == MSG_AT ? bench_send(x->bench, m, err) : 0; /* earlier runs sent the other records */
}

/* Handle a process of both sides that ended in the base's call, also by exit. 0, -1. */
static int blame_end(struct alone_check *x, struct runner_end *end, struct fw_err *err)
{
	struct bench *b = x->bench;

	if (x->suspicion.failure[0] && !b->lost)
		return run_blame(b, &x->suspicion, end->lost, err);
	if (x->who != WHO_BOTH || end->role != ROLE_BASE || end->cell < 0 || !bench_is_timed(b, end->cell) ||
		(!end->failure[0] && x->of[end->cell].last_timed_run == x->runs))
		return 0;
	runner_end_early(end);
	return run_blame_end(b, end->cell, end, err);
}

static int make_run(struct alone_check *x, const int *list, int n, struct fw_err *err)
{
	struct bench *b = x->bench;
	struct runner_task task = { .mode = TASK_TIME,
		.set = 1,
		.seed = inputs_mix(b->seed ^ inputs_mix((uint64_t)x->runs + 0xa10e)),
		.n_sides = x->who == WHO_BOTH ? 2 : 1,
		.side = { x->who == WHO_TARGET ? b->target : b->base, b->target },
		.n_cells = n,
		.cell = list,
		.deadline_s = b->limits.run_s,
		.record = take_record,
		.arg = x };
	struct runner_end end;
	int i;

	x->runs++;
	x->suspicion = (struct msg_fault){ .cell = -1 };
	for (i = 0; i < n; i++)
		x->of[list[i]].n_runs++;
	return runner_child_run(b, &task, &end, err) != 0 ? -1 : blame_end(x, &end, err);
}

/* Compute the excess of each complete round of a cell. Shape: round[ALONE_ROUNDS]. Returns their number. */
static int round_excesses(const struct cell_rounds *t, const struct estimate *pairs, double *round)
{
	int n = ALONE_ROUNDS, who, i;

	for (who = 0; who < WHO_N; who++)
		n = t->n[who] < n ? t->n[who] : n;
	for (i = 0; i < n; i++)
		round[i] = alone_round_excess(&t->round[i], pairs);
	return n;
}

static int report_slowed(struct alone_check *x, int cell, const double *round, int n, struct fw_err *err)
{
	double paired = -x->bench->cell[cell].found.typical.all.m;

	return bench_fault(x->bench, cell, ROLE_TARGET, "slowed", err,
		"%.3g times the base's speed next to it, %.3g times when each is alone: the base is slowed", exp(paired),
		exp(paired - mean_of(round, n)));
}

/* Reduce the list to the cells that are still undecided. Returns their number, -1 on error. */
static int keep_undecided(struct alone_check *x, int *list, int n, struct fw_err *err)
{
	struct bench *b = x->bench;
	int left = 0, i;

	for (i = 0; i < n; i++) {
		const struct cell_rounds *t = &x->of[list[i]];
		const struct estimate *all = &b->cell[list[i]].found.typical.all;
		double round[ALONE_ROUNDS];
		int done = round_excesses(t, all, round);
		enum alone_result result = alone_judge(round, done, all->se);

		if (result == ALONE_SLOWED && report_slowed(x, list[i], round, done, err) < 0)
			return -1;
		/* stop after repeated disturbances of the device */
		if (result == ALONE_MORE && bench_is_timed(b, list[i]) &&
			t->n_runs < t->n[WHO_BASE] + t->n[WHO_TARGET] + t->n[WHO_BOTH] + VOID_RUNS_MAX)
			list[left++] = list[i];
	}
	return left;
}

static int measure_rounds(struct alone_check *x, int *list, int n, struct fw_err *err)
{
	static const enum who ORDER[] = { WHO_BASE, WHO_BOTH, WHO_TARGET, WHO_TARGET, WHO_BOTH, WHO_BASE };

	while (n > 0 && !x->bench->lost) {
		x->who = ORDER[x->runs % (int)(sizeof ORDER / sizeof *ORDER)];
		if (make_run(x, list, n, err) != 0)
			return -1;
		n = keep_undecided(x, list, n, err);
	}
	return n < 0 ? -1 : 0;
}

int alone_run(struct bench *b, struct fw_err *err)
{
	struct alone_check x = { .bench = b, .of = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *x.of) };
	int *list = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *list), n = 0, result = 0, i;

	if (strcmp(b->side[b->base].sha256, b->side[b->target].sha256) != 0) {
		for (i = 0; i < b->n_cells; i++)
			if (is_suspect(b, i))
				list[n++] = i;
		result = measure_rounds(&x, list, n, err);
	}
	free(x.of);
	free(list);
	return result;
}
