/* program_run.c - order of processes, device readings around rounds, and records of a run. */
#include "worker/internal.h"

#include <ctype.h>
#include <math.h>

/* ---- control: The control run and its outcome. ---- */

struct control {
	const struct bench *bench;
	bool timed, failed;
	char *failure, *detail;
};

static void note_failure(struct control *c, const char *failure, const char *detail)
{
	if (!c->failed)
		snprintf(c->failure, 16, "%s", failure);
	if (!c->failed)
		snprintf(c->detail, 512, "%s", detail);
	c->failed = true;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct control *c = arg;

	(void)err;
	if (m->t == MSG_CELL)
		c->timed = c->timed || bench_decides(c->bench, m->u.cell);
	else if (m->t == MSG_FAULT)
		note_failure(c, m->u.fault.failure, m->u.fault.detail);
	return 0;
}

int control_run(struct bench *b, int cell, char failure[16], char detail[512], struct fw_err *err)
{
	struct control c = { .bench = b, .failure = failure, .detail = detail };
	char sha256[HASH_HEX];
	int copy = sealed_copy(b->side[b->base].fd, "base", sha256, err);
	struct runner_task task = { .mode = TASK_TIME,
		.set = 1,
		.seed = inputs_mix(b->seed ^ inputs_mix((uint64_t)b->runs + 0xc0de)),
		.n_sides = 2,
		.side = { b->base, b->base },
		.copy_fd = copy,
		.n_cells = 1,
		.cell = &cell,
		.deadline_s = b->limits.run_s,
		.record = take_record,
		.arg = &c };
	struct runner_end end;
	int status;

	failure[0] = detail[0] = '\0';
	if (copy < 0)
		return -1;
	status = runner_child_run(b, &task, &end, err);
	close(copy);
	if (status != 0)
		return -1;
	if (!c.timed)
		runner_end_early(&end);
	if (end.failure[0])
		note_failure(&c, end.failure, end.detail);
	return !c.failed;
}

/* ---- roofline: Work divided by peak. ---- */

static const double share = 0.9;

/* Return the factor of the cell's peak over the device's peak, which is given for dense bf16. */
static double times_bf16(const struct cell *c)
{
	const struct family *f = case_family(c);

	switch (f && f->multiplied ? f->multiplied(c->shape.bytes, c->direction) : FW_BF16) {
	case FW_E4M3:
	case FW_E5M2:
	case FW_I8:
		return 2;
	case FW_I4:
		return 4;
	default:
		return 1;
	}
}

double roofline_floor_ms(const struct msg_device *d, const struct cell *c)
{
	double bytes = case_bytes(c) - 2.0 * (double)d->l2_bytes, flops = case_flops(c), ms = 0;

	if (d->peak_tflops > 0 && flops > 0)
		ms = flops / (d->peak_tflops * times_bf16(c) * 1e9);
	if (d->peak_gb_s > 0 && bytes > 0)
		ms = fmax(ms, bytes / (d->peak_gb_s * 1e6));
	return share * ms;
}

/* ---- program_run ---- */

enum { ROUNDS = BENCHMARK_PAIRS, REDO_MAX = 3 };

/* A run in progress. Shape: reading[round][side]. */
struct taken {
	struct command *command;
	int set, first, redo;                              /* side that begins; discarded rounds */
	int n_ran[ROUNDS], ran[ROUNDS][COMMAND_SIDES_MAX]; /* sides in the order in which they ran */
	struct reading reading[ROUNDS][COMMAND_SIDES_MAX];
	double mhz[ROUNDS][COMMAND_SIDES_MAX]; /* mean clock of its process; 0: unknown */
	struct msg_device_check device_check;  /* over the rounds that count */
};

int command_open(struct command *m, const struct msg_job *request, struct fw_err *err)
{
	static const enum role roles[COMMAND_SIDES_MAX] = { ROLE_BASE, ROLE_TARGET, ROLE_REFERENCE };

	for (int side = 0; side < COMMAND_SIDES_MAX; side++)
		for (int i = 0; i < request->n_sides; i++)
			for (int k = 0; k < m->bench->n_sides; k++)
				if (request->side[i].role == roles[side] && m->bench->side[k].role == roles[side])
					m->side[side] = &request->side[i];
	if (!m->side[COMMAND_BASE] || !m->side[COMMAND_TARGET])
		return err_set(err, ERR_PROTOCOL, "a comparison needs a base and a target");
	m->n_sides = m->side[COMMAND_REFERENCE] ? COMMAND_SIDES_MAX : COMMAND_REFERENCE;
	return 0;
}

int command_report(struct command *m, int side, const char *step, struct fw_err *err)
{
	struct msg at = { .t = MSG_AT, .u.at = { .run = m->bench->runs, .cell = -1 } };

	at.u.at.role = m->side[side]->role;
	snprintf(at.u.at.step, sizeof at.u.at.step, "%s", step);
	return bench_send(m->bench, &at, err);
}

int command_drop_reference(struct command *m, const char *why, struct fw_err *err)
{
	if (m->n_sides <= COMMAND_REFERENCE)
		return 0;
	m->n_sides = COMMAND_REFERENCE;
	return bench_send_note(m->bench, -1, m->side[COMMAND_REFERENCE]->role, err,
		"the reference commit %.12s of the history is not measured, so this commit has no point in the history: %.280s",
		m->side[COMMAND_REFERENCE]->commit, why);
}

enum { OUTPUT_LINES = 16 };

/* Send the last lines of a failed program as notes, because its message quotes only one. */
static int send_output(struct command *m, int side, const struct output_tail *w, struct fw_err *err)
{
	struct bench *b = m->bench;
	size_t start = w->n, end = w->n;
	char line[360];

	while (end > 0 && isspace((unsigned char)w->text[end - 1]))
		end--;
	start = end;
	for (int n = 0; start > 0 && n < OUTPUT_LINES; n++)
		for (start--; start > 0 && w->text[start - 1] != '\n';)
			start--;
	if (!memchr(w->text + start, '\n', end - start))
		return 0;
	for (size_t at = start, len; at < end; at += len + 1) {
		const char *stop = memchr(w->text + at, '\n', end - at);

		len = stop ? (size_t)(stop - w->text) - at : end - at;
		if (output_tail_print(w->text + at, len, line, sizeof line) > 0 &&
			bench_send_note(b, -1, m->side[side]->role, err, "output: %s", line) != 0)
			return -1;
	}
	return 0;
}

int command_failed(struct command *m, int side, const struct command_failure *problem, struct fw_err *err)
{
	if (side == COMMAND_REFERENCE && command_drop_reference(m, problem->detail, err) != 0)
		return -1;
	if (send_output(m, side, &problem->words, err) != 0)
		return -1;
	return bench_fault(m->bench, -1, m->side[side]->role, problem->failure, err, "%s", problem->detail);
}

int command_timed(struct command *m, int side, int cell, const struct reading *r, const char *absent, struct fw_err *err)
{
	const char *key = m->bench->cells[cell].key, *why = reading_why(r, key);
	const struct reading_row *row = reading_find(r, key);

	if (row && row->n > 0)
		return 1;
	return bench_fault(m->bench, cell, m->side[side]->role, row ? "reported" : absent, err, "%s%s",
		row   ? "the benchmark reports: "
		: why ? "the benchmark has no time for this row: "
		      : "the benchmark wrote no such row",
		why ? why : "");
}

/* Return the k-th side of a round: the second round has the reverse order, so that a drift cancels. */
static int side_at(const struct taken *l, int n, int round, int k)
{
	return (l->first + (round & 1 ? n - 1 - k : k)) % n;
}

static void drop_readings(struct taken *l, int round)
{
	for (int side = 0; side < COMMAND_SIDES_MAX; side++)
		reading_fini(&l->reading[round][side]);
	memset(l->reading[round], 0, sizeof l->reading[round]);
	l->n_ran[round] = 0;
}

/* Run every side once. Returns 1; 0 if base or target failed; -1 on error. */
static int run_sides(struct taken *l, int round, struct fw_err *err)
{
	struct command *m = l->command;
	struct command_failure problem;
	int n = m->n_sides, ran;

	for (int k = 0; k < n; k++) {
		int side = side_at(l, n, round, k);
		struct command_clock clock = { .process = round * n + k };

		if (command_report(m, side, "time", err) < 0)
			return -1;
		ran = command_run_side(m->bench, m->build, m->side[side], m->side[side]->benchmark.gpu ? &clock : NULL,
			&l->reading[round][side], &problem, err);
		l->mhz[round][side] = clock.mhz;
		if (ran < 0 || (ran == 0 && command_failed(m, side, &problem, err) < 0))
			return -1;
		if (ran == 0 && side != COMMAND_REFERENCE)
			return 0;
		l->ran[round][l->n_ran[round]++] = side;
	}
	return 1;
}

/* Run a round between two readings; repeat it while the readings invalidate it. */
static int run_round(struct taken *l, int round, struct fw_err *err)
{
	struct bench *b = l->command->bench;
	bool gpu = l->command->side[COMMAND_BASE]->benchmark.gpu;
	struct msg_device_check device_check, after;
	char why[DEVICE_CHECK_WHY_SIZE];
	int ran;

	for (int pass = 0;; pass++) {
		device_check_unknown(&device_check);
		device_check_unknown(&after);
		if (gpu && health_check_device_check(b, pass, &device_check, err) != 0)
			return -1;
		ran = run_sides(l, round, err);
		if (ran == 1 && gpu && health_check_device_check(b, pass, &after, err) != 0)
			return -1;
		device_check_merge(&device_check, &after);
		device_check.energy_j = -1; /* the energy of whole processes is not that of the timed calls */
		if (ran != 1 || !device_check_discards(&device_check, why) || pass == REDO_MAX ||
			device_check_xid_breaks(device_check.xid) || b->gpu_s >= b->limits.budget_s)
			break;
		drop_readings(l, round);
		l->redo++;
	}
	device_check_merge(&l->device_check, &device_check);
	return ran;
}

/*
 * Return whether the reference commit's row matches the base's: several results with one name can be assigned only if both have
 * the same number of them.
 */
static bool has_time_like(const struct reading *reference, const struct reading *base, const char *key)
{
	const struct reading_row *row = reading_find(reference, key), *like = reading_find(base, key);

	return row && row->n > 0 && (!like || row->twins == like->twins);
}

/* Return the number of sides of a cell: only base and target if the reference commit's row is missing, or it failed earlier. */
static int sides_with(const struct taken *l, const char *key)
{
	bool all = l->command->n_sides == COMMAND_SIDES_MAX;

	for (int round = 0; round < ROUNDS && all; round++)
		all = has_time_like(&l->reading[round][COMMAND_REFERENCE], &l->reading[round][COMMAND_BASE], key);
	return all ? COMMAND_SIDES_MAX : COMMAND_REFERENCE;
}

static void fill_clocks(const struct taken *l, int side, struct msg_cell *c)
{
	for (int round = 0; round < ROUNDS; round++)
		if (l->mhz[round][side] <= 0)
			return;
	c->mhz[side] = mem_alloc(ROUNDS * sizeof(float));
	for (int round = 0; round < ROUNDS; round++)
		c->mhz[side][round] = (float)l->mhz[round][side];
}

/* Return the time of a cell in one process: the median of its calls after the warm-up. */
static float time_of(struct command *m, int cell, const struct reading_row *row)
{
	int cut = 0;
	double ms = row->ms ? transient_median(row->ms, row->n, &cut) : row->median_ms;

	if (m->calls) {
		m->calls[cell].calls += row->n;
		m->calls[cell].cut += cut;
	}
	return (float)ms;
}

/*
 * Choose one statistic for all processes of the run, even if some report a better one. Returns NULL, or the reason why they
 * cannot be compared.
 */
static const char *choose_statistic(struct taken *l, const char *key, int n_sides)
{
	struct reading_row *row[ROUNDS * COMMAND_SIDES_MAX];
	int n = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (int side = 0; side < n_sides; side++) {
			struct reading *r = &l->reading[round][side];

			for (int i = 0; i < r->n_rows; i++)
				if (r->row[i].n > 0 && strcmp(r->row[i].key, key) == 0) {
					row[n++] = &r->row[i];
					break;
				}
		}
	for (int i = 1; i < n; i++)
		if (row[i]->twins != row[0]->twins)
			return "the processes of a run wrote different numbers of results of this name";
	return n == 0 || reading_choose_statistic(row, n)
		       ? NULL
		       : "the processes of a run report no common statistic of this row, such as mean or median";
}

/* Fill in the times of one cell. Returns 1; 0 if a side did not write its row; -1 on error. */
static int fill_record(struct taken *l, int cell, struct msg_cell *c, struct fw_err *err)
{
	struct command *m = l->command;
	struct bench *b = m->bench;
	const char *key = b->cells[cell].key;
	int n = sides_with(l, key), at = 0;

	*c = (struct msg_cell){ .run = b->runs,
		.set = l->set,
		.cell = cell,
		.series = SERIES_PROCESS,
		.n_sides = n,
		.n = ROUNDS,
		.device_check = l->device_check,
		.redo = l->redo };
	for (int side = 0; side < n; side++) {
		c->role[side] = m->side[side]->role;
		c->ms[side] = mem_alloc_zero(ROUNDS, sizeof(float));
		fill_clocks(l, side, c);
	}
	const char *unlike = choose_statistic(l, key, n);

	if (unlike)
		return bench_fault(b, cell, ROLE_DEVICE, "unsure", err, "%s", unlike);
	for (int round = 0; round < ROUNDS; round++) {
		for (int k = 0; k < l->n_ran[round]; k++) {
			int side = l->ran[round][k];
			int timed = side < n ? command_timed(m, side, cell, &l->reading[round][side], "abi", err) : 0;

			if (side >= n)
				continue;
			if (timed != 1)
				return timed;
			c->order[at++] = (char)('A' + side);
			c->ms[side][round] = time_of(m, cell, reading_find(&l->reading[round][side], key));
		}
	}
	return 1;
}

static int add_cell(struct taken *l, int cell, struct fw_err *err)
{
	struct bench *b = l->command->bench;
	struct msg message = { .t = MSG_CELL, .u.cell = mem_alloc(sizeof(struct msg_cell)) };
	char why[DEVICE_CHECK_WHY_SIZE];
	int status = fill_record(l, cell, message.u.cell, err);

	if (status == 1) {
		int added = bench_add(b, message.u.cell, err);

		if (added == 1)
			bench_judge(b, cell);
		else if (added == 0 && device_check_discards(&l->device_check, why))
			added = run_void(b, cell, why, err);
		status = added < 0 ? -1 : bench_send(b, &message, err);
	}
	msg_fini(&message);
	return status < 0 ? -1 : 0;
}

static int finish(struct taken *l, const int *list, int n, struct fw_err *err)
{
	struct bench *b = l->command->bench;

	for (int i = 0; i < n; i++)
		if (add_cell(l, list[i], err) != 0)
			return -1;
	if (health_check_xid(b, l->device_check.xid, err) < 0)
		return -1;
	return l->device_check.foreign > 0 && !b->lost && health_check_wait_idle(b, err) < 0 ? -1 : 0;
}

int command_measure_run(struct command *m, const int *list, int n, int set, struct fw_err *err)
{
	struct bench *b = m->bench;
	uint64_t seed = inputs_mix(b->seed + (uint64_t)++b->runs);
	struct taken l = { .command = m, .set = set, .first = (int)(seed % (uint64_t)m->n_sides) };
	int status = bench_announce(b, list, n, set, seed, err), ran = 1;

	device_check_unknown(&l.device_check);
	for (int round = 0; round < ROUNDS && status == 0 && ran == 1; round++) {
		ran = run_round(&l, round, err);
		status = ran < 0 ? -1 : 0;
	}
	if (status == 0 && ran == 1)
		status = finish(&l, list, n, err);
	for (int round = 0; round < ROUNDS; round++)
		drop_readings(&l, round);
	return status;
}
