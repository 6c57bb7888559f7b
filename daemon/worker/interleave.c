/* interleave.c - sessions of a run: their cells, their results, and the side at fault if a session ends early. */
#include "worker/internal.h"

#include <math.h>

enum {
	REDO_MAX = 3,
	EMPTY_RUNS_MAX = 3,
	MISSED_MAX = 3,
	DEATHS_MAX = 3,
	PAIRS_MIN = 4,
	DOUBTFUL_RUNS_MAX = 8 /* runs */
};

#define HALF_WIDTH_PCT 0.3

/* Results of one cell over all sessions. Shape: by side. */
struct interleave_known {
	struct interleave_evidence evidence[INTERLEAVE_SIDES_MAX];
	struct interleave_cost cost;
	int calls;                                                  /* calls of a turn, which a gain makes shorter */
	int made[INTERLEAVE_SIDES_MAX], late[INTERLEAVE_SIDES_MAX]; /* timed calls; those that began before they were queued */
	struct interleave_kernels kernels[INTERLEAVE_SIDES_MAX];
};

struct all_interleave {
	struct command *command;
	int n_cells;
	int *position; /* position[side][n_cells]: position of each cell in the side's order */
	int n_position[INTERLEAVE_SIDES_MAX];
	int *missed;                      /* missed[n_cells]: sessions in which a side did not reach the cell */
	struct interleave_known *known;   /* known[n_cells] */
	int deaths[INTERLEAVE_SIDES_MAX]; /* cells during whose turns it ended */
	int n_without_reference;          /* cells without the reference commit */
	char without_reference[500];      /* reason of the first one */
	bool is_memory_full;
	char memory_full_why[512];
	double turns_s, calls_s; /* sums over all pairs */
	int n_turns;
};

/* One run. Shape: all arrays have n_cells elements. */
struct interleave_run {
	struct all_interleave *all;
	uint64_t seed;
	int set, n, timed;
	int *list, *chain;
	bool *todo;
	enum sustained_order *sustained;
	bool only_sustained_runs;
};

bool command_can_interleave(const struct command *m)
{
	return m->list[COMMAND_BASE].can_interleave && m->list[COMMAND_TARGET].can_interleave;
}

int interleave_listed(struct command *m, int side, int cell, struct fw_err *err)
{
	const struct interleave_reported *reported = interleave_list_find(&m->list[side], m->bench->cells[cell].key);
	enum role role = m->side[side]->role;

	if (!reported && m->list[side].is_cut)
		return bench_fault(m->bench, cell, role, "crash", err,
			"not measured: the benchmark ended in %d other cells, at last in %s", m->list[side].deaths,
			m->list[side].cell[m->list[side].n - 1].key);
	if (!reported)
		return bench_fault(m->bench, cell, role, "unsupported", err, "the benchmark does not have this cell");
	if (reported->failure[0])
		return bench_fault(m->bench, cell, strcmp(reported->failure, "unsure") == 0 ? ROLE_DEVICE : role,
			reported->failure, err, "%s", reported->detail);
	return reported->ms > 0 ? 1 : bench_fault(m->bench, cell, role, "reported", err, "the benchmark made no call of it");
}

static int cell_of(const struct bench *b, const char *key)
{
	for (int i = 0; i < b->n_cells; i++)
		if (strcmp(b->cells[i].key, key) == 0)
			return i;
	return -1;
}

/* Continue this cell with base and target only. */
static void leave_reference_out(struct all_interleave *a, int cell, const char *why)
{
	int *position = a->position + (size_t)COMMAND_REFERENCE * (size_t)a->n_cells, n_left = 0;

	for (int i = 0; i < a->n_position[COMMAND_REFERENCE]; i++)
		if (position[i] != cell)
			position[n_left++] = position[i];
	a->n_position[COMMAND_REFERENCE] = n_left;
	if (a->n_without_reference++ == 0)
		snprintf(
			a->without_reference, sizeof a->without_reference, "%s: %.300s", a->command->bench->cells[cell].key, why);
}

static void prepare(struct all_interleave *a)
{
	struct bench *b = a->command->bench;

	a->n_cells = b->n_cells;
	a->position = mem_alloc_zero((size_t)(INTERLEAVE_SIDES_MAX * b->n_cells) + 1, sizeof *a->position);
	a->missed = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *a->missed);
	a->known = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *a->known);
	for (int side = 0; side < a->command->n_sides; side++)
		for (int i = 0; i < a->command->list[side].n; i++) {
			const struct interleave_reported *reported = &a->command->list[side].cell[i];
			int cell = cell_of(b, reported->key);

			if (cell >= 0 && side == COMMAND_REFERENCE && reported->failure[0])
				leave_reference_out(a, cell, reported->detail);
			else if (cell >= 0)
				a->position[side * a->n_cells + a->n_position[side]++] = cell;
		}
}

/* Choose the cells of the next session for `n_sides` sides. Returns their number, or -1. */
static int next_chain(const struct interleave_run *l, int n_sides, struct fw_err *err)
{
	const struct all_interleave *a = l->all;
	struct interleave_order order[INTERLEAVE_SIDES_MAX];

	for (int side = 0; side < n_sides; side++)
		order[side] = (struct interleave_order){ .n = a->n_position[side],
			.cell = a->position + (size_t)side * (size_t)a->n_cells };
	int n = interleave_chain(order, n_sides, l->todo, a->n_cells, l->chain);

	return n < 0 ? err_set(err, ERR_INTERNAL, "out of memory") : n;
}

static double alone_ms(const struct command *m, int n_sides, int cell)
{
	double longest = 0;

	for (int side = 0; side < n_sides; side++) {
		const struct interleave_reported *reported = interleave_list_find(&m->list[side], m->bench->cells[cell].key);

		longest = reported ? fmax(longest, reported->ms) : longest;
	}
	return longest;
}

/*
 * Return the manifest's number of pairs, or without one, the number that narrows a cell's interval at the lowest cost.
 * `call_ms`: all calls of one pair.
 */
static int pairs_of(const struct interleave_run *l, int cell, double call_ms, int most)
{
	const struct bench *b = l->all->command->bench;
	const struct interleave_cost *cost = &l->all->known[cell].cost;
	const struct estimate *all = &b->cell[cell].found.typical.all;
	double known = b->cells[cell].tau0 > 0 ? b->cells[cell].tau0 : b->rule.interim[PAIRING_INTERLEAVE].s0;
	int n = interleave_pairs(call_ms, l->n, most);

	return most > 0 ? n : interleave_pairs_wanted(cost, interleave_run_noise(cost, known, all->se, all->runs), n);
}

static void free_kernels(struct interleave_cell *c)
{
	for (int side = 0; side < INTERLEAVE_SIDES_MAX; side++)
		reported_kernels_fini(&c->kernels[side]);
}

static void request_cell(const struct interleave_run *l, struct interleave_session *s)
{
	struct command *m = l->all->command;
	int most = s->side[COMMAND_BASE]->benchmark.pairs;

	for (int i = 0; i < s->n; i++) {
		struct interleave_cell *c = &s->cell[i];
		int cell = l->chain[i];
		double ms = alone_ms(m, s->n_sides, cell);

		free_kernels(c);
		*c = (struct interleave_cell){
			.cell = cell, .key = m->bench->cells[cell].key, .alone_ms = ms, .failed_side = -1
		};
		c->warm = interleave_warm(ms);
		c->pairs = l->only_sustained_runs ? 0 : pairs_of(l, cell, s->n_sides * (1 + c->warm) * ms, most);
		c->budget_ms = interleave_budget_ms(l->n, most);
		c->sustained = l->sustained[cell];
	}
}

/* Return the session time except pairs and sustained runs: process starts, first calls, final checks. */
static double others_s(const struct interleave_session *s)
{
	double rest_s = s->all_s;

	for (int i = 0; i < s->n; i++)
		rest_s -= s->cell[i].pairs_s + s->cell[i].sustained_runs_s;
	return fmax(0, rest_s);
}

static int take_cells(struct interleave_run *l, struct interleave_session *s, const struct msg_device_check *device_check,
	int redo, struct fw_err *err)
{
	struct all_interleave *a = l->all;
	struct bench *b = a->command->bench;
	bool is_over = s->failure_side < 0;

	for (int i = 0; i < s->n; i++) {
		struct interleave_cell *c = &s->cell[i];
		char why[INTERLEAVE_TEXT_SIZE];
		enum interleave_result check = interleave_judge(a->command, s, c, a->known[c->cell].evidence, why, err);
		int status = check == INTERLEAVE_ERROR ? -1 : 0;

		if (check == INTERLEAVE_REFERENCE_FAULTY) {
			leave_reference_out(a, c->cell, why);
			continue;
		}
		a->known[c->cell].calls = interleave_shown_calls(c);
		for (int side = 0; side < s->n_sides; side++) {
			interleave_kernels_add(&a->known[c->cell].kernels[side], &c->kernels[side]);
			a->known[c->cell].made[side] += c->calls[side];
			a->known[c->cell].late[side] += c->late[side];
		}
		l->timed += check == INTERLEAVE_DISCARDED;
		if (check == INTERLEAVE_ACCEPTED)
			interleave_cost_add(&a->known[c->cell].cost, c->n, c->pairs_s, others_s(s) / s->n, c->ms[COMMAND_BASE],
				c->ms[COMMAND_TARGET]);
		if (check == INTERLEAVE_ACCEPTED && (l->only_sustained_runs ? c->n_sustained > 0 : c->n >= PAIRS_MIN)) {
			l->timed++;
			status = interleave_record(a->command, s, c, l->set, device_check, redo, err);
		}
		if (status < 0)
			return -1;
		a->turns_s += c->turns_s;
		a->calls_s += c->calls_s;
		a->n_turns += c->n_turns;
		/* after an early end, another session measures the missing cells, without the cell in whose turn a side ended */
		if (is_over || c->reached || c->missed)
			l->todo[c->cell] = false;
		if (c->missed && ++a->missed[c->cell] == MISSED_MAX &&
			bench_fault(b, c->cell, ROLE_TARGET, "abi", err,
				"listed by the benchmark, but not reached in the session") < 0)
			return -1;
	}
	return 0;
}

/*
 * Handle a session that ended because of the reference commit, or because the device lacked memory for it: the remaining cells
 * follow without the reference commit.
 */
static int take_failure_of_reference(struct interleave_run *l, const struct interleave_session *s, struct fw_err *err)
{
	struct all_interleave *a = l->all;
	bool is_breach = strcmp(s->problem.failure, "protocol") == 0;

	for (int i = 0; i < s->n; i++)
		if (s->cell[i].cell == s->failure_cell)
			l->todo[s->failure_cell] = s->cell[i].n < PAIRS_MIN;
	if (s->is_memory_full || s->failure_cell < 0 || is_breach || a->deaths[COMMAND_REFERENCE]++ == DEATHS_MAX)
		return command_drop_reference(a->command, s->problem.detail, err) != 0 ? -1 : 1;
	leave_reference_out(a, s->failure_cell, s->problem.detail);
	return 1;
}

/* Handle a session that a side ended. Returns 1 if other cells continue, 0 if nothing can be interleaved, -1 on error. */
static int take_failure(struct interleave_run *l, struct interleave_session *s, struct fw_err *err)
{
	struct all_interleave *a = l->all;
	struct command *m = a->command;
	int side = s->failure_side;

	if (side < 0)
		return 1;
	if (side == COMMAND_REFERENCE || (s->is_memory_full && s->n_sides > COMMAND_REFERENCE))
		return take_failure_of_reference(l, s, err);
	if (s->is_memory_full) {
		a->is_memory_full = true;
		snprintf(a->memory_full_why, sizeof a->memory_full_why, "%.200s: %.300s", role_name(m->side[side]->role),
			s->problem.detail);
		return 0;
	}
	bool is_breach = strcmp(s->problem.failure, "protocol") == 0;

	if (s->failure_cell >= 0 && !is_breach && a->deaths[side]++ < DEATHS_MAX)
		return bench_fault(m->bench, s->failure_cell, m->side[side]->role, s->problem.failure, err, "%s",
			       s->problem.detail) < 0
			       ? -1
			       : 1;
	return command_failed(m, side, &s->problem, err) < 0 ? -1 : 0;
}

/* Drop closed cells: they need no session. */
static void forget_closed(struct interleave_run *l)
{
	const struct bench *b = l->all->command->bench;

	for (int i = 0; i < b->n_cells; i++)
		l->todo[i] = l->todo[i] && b->cell[i].open;
}

/* Run a session between two readings of the device; repeat it while the readings invalidate it. */
static int run_until_valid(struct interleave_run *l, struct interleave_session *s, struct msg_device_check *device_check,
	int *redo, struct fw_err *err)
{
	struct bench *b = s->bench;
	bool gpu = s->side[COMMAND_BASE]->benchmark.gpu;
	char why[DEVICE_CHECK_WHY_SIZE];

	for (int pass = 0;; pass++) {
		struct msg_device_check after;

		device_check_unknown(device_check);
		device_check_unknown(&after);
		if (gpu && health_check_device_check(b, pass, device_check, err) != 0)
			return -1;
		request_cell(l, s);
		if (interleave_session_run(s, err) != 0 || (gpu && health_check_device_check(b, pass, &after, err) != 0))
			return -1;
		device_check_merge(device_check, &after);
		device_check->energy_j = -1; /* the energy of whole processes is not that of the timed calls */
		if (!device_check_discards(device_check, why) || pass == REDO_MAX || device_check_xid_breaks(device_check->xid) ||
			s->failure_side >= 0 || b->gpu_s >= b->limits.budget_s)
			return 0;
		++*redo;
	}
}

/* Run one session over `n` cells of the chain. Returns 1 to continue, 0 if the run is over, -1 on error. */
static int run_session(struct interleave_run *l, int n, int n_sides, struct fw_err *err)
{
	struct command *m = l->all->command;
	struct interleave_session *s = mem_alloc(sizeof *s);
	struct msg_device_check device_check;
	int redo = 0, result = -1;

	*s = (struct interleave_session){ .bench = m->bench,
		.build = m->build,
		.parent = m->forks ? m->parent : NULL,
		.n_sides = n_sides,
		.n = n,
		.seed = l->seed,
		.first = order_first(n_sides, COMMAND_BASE, COMMAND_TARGET, bench_rotation(m->bench)),
		.cell = mem_alloc_zero((size_t)n, sizeof *s->cell) };
	for (int side = 0; side < n_sides; side++)
		s->side[side] = m->side[side];
	if (run_until_valid(l, s, &device_check, &redo, err) == 0 && take_cells(l, s, &device_check, redo, err) == 0)
		result = take_failure(l, s, err);
	forget_closed(l);
	if (result >= 0 && health_check_xid(m->bench, device_check.xid, err) < 0)
		result = -1;
	if (device_check.foreign > 0 && m->forks)
		interleave_parents_end(m->parent, COMMAND_SIDES_MAX); /* a parent may be the other process on the device */
	if (result >= 0 && device_check.foreign > 0 && !m->bench->lost && health_check_wait_idle(m->bench, err) < 0)
		result = -1;
	for (int i = 0; i < n; i++)
		free_kernels(&s->cell[i]);
	free(s->cell);
	free(s);
	return result;
}

/* Measure all cells of the run, in as many sessions as the sides' orders need; first those with the reference commit. */
static int run_sessions(struct interleave_run *l, struct fw_err *err)
{
	struct command *m = l->all->command;
	struct bench *b = m->bench;
	int result = 1, passes = 0;

	for (int n_sides = m->n_sides; n_sides >= COMMAND_REFERENCE && result == 1;) {
		int n = next_chain(l, n_sides, err);

		if (n < 0)
			return -1;
		if (n == 0) {
			n_sides--;
			continue;
		}
		if (b->lost || (passes++ > 0 && b->gpu_s >= b->limits.budget_s))
			break;
		result = run_session(l, n, n_sides, err);
		n_sides = n_sides < m->n_sides ? n_sides : m->n_sides;
	}
	return result < 0 ? -1 : 0;
}

static int make_run(struct interleave_run *l, struct fw_err *err)
{
	struct bench *b = l->all->command->bench;
	uint64_t seed = inputs_mix(b->seed + (uint64_t)++b->runs);

	/* runs of one parent share its address layout and hash seed, which may favour a side */
	if (b->runs > 1 && b->runs % INTERLEAVE_FORKED_RUNS_MAX == 1)
		interleave_parents_end(l->all->command->parent, COMMAND_SIDES_MAX);
	l->seed = seed;
	l->timed = 0;
	for (int i = 0; i < b->n_cells; i++) {
		l->todo[i] = false;
		l->sustained[i] = SUSTAINED_NONE;
	}
	for (int i = 0; i < l->n; i++) {
		l->todo[l->list[i]] = true;
		l->sustained[l->list[i]] = sustain_order(b, l->list[i], l->set);
	}
	if (bench_announce(b, l->list, l->n, l->set, seed, err) < 0)
		return -1;
	int result = run_sessions(l, err);

	b->set_begun[l->set] = true;
	return result;
}

/* Return whether more turns can show a gain by the worker's clock, or that a side computes in the other's turns. */
static bool needs_more_turns(const struct bench *b, int cell, const struct interleave_known *k)
{
	const struct interleave_evidence *base = &k->evidence[COMMAND_BASE], *target = &k->evidence[COMMAND_TARGET];
	char why[INTERLEAVE_WHY_SIZE];

	if (!b->cell[cell].open || b->cell[cell].n_runs == 0 || b->cell[cell].n_runs >= DOUBTFUL_RUNS_MAX)
		return false;
	return interleave_may_overlap(base) || interleave_may_overlap(target) ||
	       (bench_verdict(b, cell) == VERDICT_IMPROVEMENT &&
		       interleave_gain(base, target, k->calls, why) == INTERLEAVE_GAIN_UNCONFIRMED);
}

/* List the decided cells that need more turns. Returns their number. */
static int next_doubtful(struct interleave_run *l)
{
	const struct all_interleave *a = l->all;
	const struct bench *b = a->command->bench;

	l->n = 0;
	l->set = 1;
	for (int i = 0; i < b->n_cells && !b->quick; i++)
		if (needs_more_turns(b, i, &a->known[i]))
			l->list[l->n++] = i;
	return l->n;
}

/* Plan the next run: for pairs, then for sustained runs, then only for width. Returns the number of cells. */
static int plan_next(struct interleave_run *l)
{
	l->n = measure_plan(l->all->command->bench, l->list, &l->set, &l->only_sustained_runs);
	return l->n > 0 ? l->n : next_doubtful(l);
}

static int end_without_times(struct all_interleave *a, int cell, struct fw_err *err)
{
	int late = interleave_judge_late(a->command, cell, a->known[cell].made, a->known[cell].late, err);

	if (late != 0)
		return late < 0 ? -1 : 0;
	return bench_fault(a->command->bench, cell, ROLE_DEVICE, "device", err, "interleaved sessions produce no times");
}

static int run_all(struct interleave_run *l, struct fw_err *err)
{
	struct all_interleave *a = l->all;
	struct bench *b = a->command->bench;
	int empty = 0, status = 0;

	while (status == 0 && !b->lost && !a->is_memory_full && plan_next(l) > 0) {
		int before = 0, after = 0;

		if (b->runs > 0 && b->gpu_s >= b->limits.budget_s)
			break; /* open cells remain undecided */
		for (int i = 0; i < b->n_cells; i++)
			before += b->cell[i].open;
		status = make_run(l, err);
		for (int i = 0; i < b->n_cells; i++)
			after += b->cell[i].open;
		empty = l->timed > 0 || after < before ? 0 : empty + 1;
		if (empty == EMPTY_RUNS_MAX && l->only_sustained_runs)
			break; /* the cell ends without sustained runs */
		for (int i = 0; i < l->n && empty == EMPTY_RUNS_MAX && status == 0; i++)
			status = end_without_times(a, l->list[i], err);
	}
	return status;
}

static int note_end(struct all_interleave *a, struct fw_err *err)
{
	struct bench *b = a->command->bench;
	int n = a->n_turns, result = 0;

	if (a->is_memory_full)
		result = bench_send_note(b, -1, ROLE_NONE, err,
			"base and target cannot be interleaved on this device, and are timed one after the other: %s",
			a->memory_full_why);
	else if (n > 0)
		result = bench_send_note(b, -1, ROLE_NONE, err,
			"interleaved programs: %d turns, each %.3g ms for calls of %.3g ms, warm-up included: a turn cost %.3g ms",
			n, a->turns_s * 1e3 / n, a->calls_s * 1e3 / n, (a->turns_s - a->calls_s) * 1e3 / n);
	if (result != 0 || a->n_without_reference == 0)
		return result;
	return bench_send_note(b, -1, ROLE_NONE, err, "the reference commit of the history is not measured in %d of %d cells: %s",
		a->n_without_reference, a->n_cells, a->without_reference);
}

static int report_kernels(struct all_interleave *a, struct fw_err *err)
{
	int result = 0;

	for (int cell = 0; cell < a->n_cells && result == 0; cell++)
		for (int side = 0; side < COMMAND_REFERENCE && result == 0; side++)
			result = interleave_report_kernels(a->command, side, cell, &a->known[cell].kernels[side], err);
	return result;
}

static void free_known(struct all_interleave *a)
{
	for (int cell = 0; cell < a->n_cells; cell++)
		for (int side = 0; side < INTERLEAVE_SIDES_MAX; side++)
			reported_kernels_fini(&a->known[cell].kernels[side].list);
	free(a->known);
}

int interleave_measure(struct command *m, struct fw_err *err)
{
	struct all_interleave all = { .command = m };
	size_t capacity = (size_t)m->bench->n_cells + 1;
	struct interleave_run l = { .all = &all,
		.list = mem_alloc_zero(capacity, sizeof *l.list),
		.chain = mem_alloc_zero(capacity, sizeof *l.chain),
		.todo = mem_alloc_zero(capacity, sizeof *l.todo),
		.sustained = mem_alloc_zero(capacity, sizeof *l.sustained) };
	int status = 0;

	/* pairs of calls are far less noisy than whole processes, and their runs are cheap */
	m->bench->rule.half_width_dense_pct = fmin(m->bench->rule.half_width_dense_pct, HALF_WIDTH_PCT);
	if (!m->list[COMMAND_REFERENCE].can_interleave)
		status = command_drop_reference(
			m, "the benchmark is not interleaved at this commit, unlike at base and target", err);
	prepare(&all);
	if (status == 0)
		status = interleave_report_lists(m, err);
	if (status == 0)
		status = run_all(&l, err);
	if (status == 0 && !all.is_memory_full)
		bench_end(m->bench);
	for (int i = 0; i < m->bench->n_cells && status == 0; i++) {
		status = interleave_judge_late(m, i, all.known[i].made, all.known[i].late, err);
		if (status == 0)
			status = interleave_judge_gain(m, i, all.known[i].evidence, all.known[i].calls, err);
		status = status < 0 ? -1 : 0;
	}
	if (status == 0)
		status = report_kernels(&all, err);
	if (status == 0)
		status = note_end(&all, err);
	free(l.list);
	free(l.chain);
	free(l.todo);
	free(l.sustained);
	free(all.position);
	free(all.missed);
	free_known(&all);
	return status < 0 ? -1 : !all.is_memory_full;
}
