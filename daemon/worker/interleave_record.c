/* interleave_record.c - checks of a session's results, and their records. */
#include "worker/internal.h"

enum { LATE_SHARE = 5 /* a cell with more than one late call in this number has no verdict */ };

/*
 * Reject a side. A reference commit is excluded from this cell, or from all cells if it computes in the turns of others.
 */
static enum interleave_result refuse(
	struct command *m, int side, int cell, const char *failure, const char *why, struct fw_err *err)
{
	if (side != COMMAND_REFERENCE)
		return bench_fault(m->bench, cell, m->side[side]->role, failure, err, "%s", why) < 0 ? INTERLEAVE_ERROR
												     : INTERLEAVE_FAULTY;
	return strcmp(failure, "escaped") == 0 && command_drop_reference(m, why, err) != 0 ? INTERLEAVE_ERROR
											   : INTERLEAVE_REFERENCE_FAULTY;
}

/*
 * Handle impossible times of a side in this session. The machine may cause them once; a side with such times in both halves of
 * the runs is rejected.
 */
static enum interleave_result doubt(
	struct command *m, int side, int cell, const char *failure, const char *why, bool is_sure, struct fw_err *err)
{
	if (side == COMMAND_REFERENCE || is_sure)
		return refuse(m, side, cell, failure, why, err);
	return bench_send_note(m->bench, cell, m->side[side]->role, err,
		       "run %d is discarded; a repetition shows whether the machine was the cause: %.300s", m->bench->runs,
		       why) != 0
		       ? INTERLEAVE_ERROR
		       : INTERLEAVE_DISCARDED;
}

/* Check one side for impossible times. Returns INTERLEAVE_ACCEPTED if there are none. */
static enum interleave_result check_side(struct command *m, const struct interleave_session *s, const struct interleave_cell *c,
	int side, const struct interleave_evidence *evidence, char *why, struct fw_err *err)
{
	char now[INTERLEAVE_WHY_SIZE];
	bool overstates = interleave_overstates(&c->seen[side], now);

	for (int other = 0; other < s->n_sides; other++) {
		const char *caught = other != side ? interleave_find_fault(&evidence[side], &evidence[other], why) : NULL;

		if (caught)
			return doubt(m, side, c->cell, caught, why, true, err);
	}
	if (overstates)
		return doubt(m, side, c->cell, "clock", now, false, err);
	for (int other = 0; other < s->n_sides; other++)
		if (other != side && interleave_overlaps(&c->seen[side], &c->seen[other], now))
			return doubt(m, side, c->cell, "escaped", now, false, err);
	return INTERLEAVE_ACCEPTED;
}

_Static_assert((int)INTERLEAVE_WHY_SIZE <= (int)INTERLEAVE_TEXT_SIZE, "the buffer is large enough for both reasons");

enum interleave_result interleave_judge(struct command *m, const struct interleave_session *s, const struct interleave_cell *c,
	struct interleave_evidence *evidence, char *why, struct fw_err *err)
{
	why[0] = '\0';
	if (!m->bench->cell[c->cell].open)
		return INTERLEAVE_FAULTY;
	if (c->failed_side >= 0) {
		memcpy(why, c->detail, sizeof c->detail);
		return refuse(m, c->failed_side, c->cell, c->failure, why, err);
	}
	for (int side = 0; side < s->n_sides; side++)
		interleave_evidence_add(&evidence[side], &c->seen[side]);
	for (int side = 0; side < s->n_sides; side++) {
		enum interleave_result check = check_side(m, s, c, side, evidence, why, err);

		if (check != INTERLEAVE_ACCEPTED)
			return check;
	}
	for (int side = 0; side < s->n_sides; side++)
		interleave_evidence_add_times(&evidence[side], &c->seen[side]);
	if (interleave_gain(&evidence[COMMAND_BASE], &evidence[COMMAND_TARGET], interleave_shown_calls(c), why) ==
		INTERLEAVE_GAIN_MISSING)
		return refuse(m, COMMAND_TARGET, c->cell, "clock", why, err);
	return INTERLEAVE_ACCEPTED;
}

int interleave_shown_calls(const struct interleave_cell *c)
{
	return c->spin_us[COMMAND_BASE] > 0 && c->spin_us[COMMAND_TARGET] > 0 ? 1 : 1 + c->warm;
}

int interleave_judge_late(struct command *m, int cell, const int *calls, const int *late, struct fw_err *err)
{
	int side = late[COMMAND_TARGET] * calls[COMMAND_BASE] > late[COMMAND_BASE] * calls[COMMAND_TARGET] ? COMMAND_TARGET
													   : COMMAND_BASE;

	if (!bench_is_timed(m->bench, cell) || late[side] * LATE_SHARE <= calls[side])
		return 0;
	return bench_fault(m->bench, cell, ROLE_DEVICE, "unsure", err,
		       "could not be primed: %d of %d calls of the %s began before they were queued", late[side], calls[side],
		       role_name(m->side[side]->role)) < 0
		       ? -1
		       : 1;
}

int interleave_judge_gain(struct command *m, int cell, const struct interleave_evidence *evidence, int calls, struct fw_err *err)
{
	char why[INTERLEAVE_WHY_SIZE];

	if (!bench_is_timed(m->bench, cell) || bench_verdict(m->bench, cell) != VERDICT_IMPROVEMENT ||
		interleave_gain(&evidence[COMMAND_BASE], &evidence[COMMAND_TARGET], calls, why) == INTERLEAVE_GAIN_NONE)
		return 0;
	return bench_fault(m->bench, cell, ROLE_DEVICE, "unsure", err,
		"%s: on this machine, with so few turns, neither a gain nor false timing can be shown", why);
}

static bool all_reported(const float *v, int n)
{
	for (int i = 0; i < n; i++)
		if (v[i] <= 0)
			return false;
	return true;
}

static float *copy(const float *v, int n)
{
	size_t bytes = (size_t)n * sizeof *v;

	return memcpy(mem_alloc(bytes), v, bytes);
}

static struct msg *new_record(
	const struct command *m, const struct interleave_cell *c, enum series series, int n_sides, int set, int n)
{
	struct msg *message = mem_alloc_zero(1, sizeof *message);

	message->t = MSG_CELL;
	message->u.cell = mem_alloc(sizeof *message->u.cell);
	*message->u.cell = (struct msg_cell){ .run = m->bench->runs, .set = set, .cell = c->cell, .n_sides = n_sides, .n = n };
	message->u.cell->series = series;
	for (int side = 0; side < n_sides; side++)
		message->u.cell->role[side] = m->side[side]->role;
	return message;
}

static void drop_record(struct msg *message)
{
	msg_fini(message);
	free(message);
}

/* Fill the columns of one side. Clocks or host times count only if all calls report them. */
static void fill(struct msg_cell *r, int side, const float *ms, const float *mhz, bool clocks, const float *host_us, bool hosts)
{
	r->ms[side] = copy(ms, r->n);
	r->mhz[side] = clocks ? copy(mhz, r->n) : NULL;
	r->host_us[side] = hosts ? copy(host_us, r->n) : NULL;
}

static int record_pairs(struct command *m, const struct interleave_session *s, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, int redo, struct fw_err *err)
{
	struct msg *message = new_record(m, c, SERIES_PROCESS, s->n_sides, set, c->n);
	struct bench *b = m->bench;
	char why[DEVICE_CHECK_WHY_SIZE];
	bool clocks = true, hosts = true;
	int at = 0;

	for (int side = 0; side < s->n_sides; side++) {
		clocks = clocks && all_reported(c->mhz[side], c->n);
		hosts = hosts && all_reported(c->host_us[side], c->n);
	}
	for (int side = 0; side < s->n_sides; side++)
		fill(message->u.cell, side, c->ms[side], c->mhz[side], clocks, c->host_us[side], hosts);
	message->u.cell->device_check = *device_check;
	message->u.cell->redo = redo + c->cut + c->late_pairs;
	for (int pair = 0; pair < c->n; pair++)
		for (int k = 0; k < s->n_sides; k++)
			message->u.cell->order[at++] = (char)('A' + interleave_session_side(s, pair, k));
	int added = bench_add(b, message->u.cell, err);

	if (added == 1)
		bench_judge(b, c->cell);
	else if (added == 0 && device_check_discards(device_check, why))
		added = run_void(b, c->cell, why, err);
	int status = added < 0 ? -1 : bench_send(b, message, err);

	drop_record(message);
	return status;
}

static int record_sustained_runs(struct command *m, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, struct fw_err *err)
{
	struct msg *message = new_record(m, c, SERIES_SUSTAINED, COMMAND_REFERENCE, set, c->n_sustained);
	bool clocks = all_reported(c->sustained_calls[0].mhz, c->n_sustained) &&
		      all_reported(c->sustained_calls[1].mhz, c->n_sustained);

	for (int side = 0; side < COMMAND_REFERENCE; side++)
		fill(message->u.cell, side, c->sustained_calls[side].ms, c->sustained_calls[side].mhz, clocks, NULL, false);
	message->u.cell->device_check = *device_check;
	sustained_write_order(c->n_sustained, c->sustained == SUSTAINED_TARGET_FIRST, message->u.cell->order);
	int status = sustain_add(m->bench, message->u.cell, err) < 0 ? -1 : bench_send(m->bench, message, err);

	drop_record(message);
	return status;
}

int interleave_record(struct command *m, const struct interleave_session *s, const struct interleave_cell *c, int set,
	const struct msg_device_check *device_check, int redo, struct fw_err *err)
{
	if (c->n > 0 && record_pairs(m, s, c, set, device_check, redo, err) < 0)
		return -1;
	return c->n_sustained > 0 ? record_sustained_runs(m, c, set, device_check, err) : 0;
}

static int send_work(struct command *m, int side, int cell, const struct interleave_reported *reported, struct fw_err *err)
{
	struct msg work = { .t = MSG_WORK,
		.u.work = { .cell = cell,
			.first_ms = -1, /* a compiler cache may shorten the first call of one side */
			.taken_bytes = -1,
			.flops_issued = reported->flops > 0 ? reported->flops : -1,
			.bytes_moved = reported->bytes > 0 ? reported->bytes : -1,
			.workspace_bytes = reported->memory_bytes > 0 ? (int64_t)reported->memory_bytes : -1 } };

	work.u.work.role = m->side[side]->role;
	snprintf(work.u.work.config, sizeof work.u.work.config, "%s", reported->config);
	return bench_send(m->bench, &work, err);
}

static int send_output_note(struct command *m, int cell, const struct interleave_reported *base,
	const struct interleave_reported *target, struct fw_err *err)
{
	if (!base->output[0] || !target->output[0] || strcmp(base->output, target->output) == 0)
		return 0;
	return bench_send_note(m->bench, cell, ROLE_NONE, err, "the output differs: %s of the base, %s of the target",
		base->output, target->output);
}

/*
 * Report a change of the first call, which includes compilation or tuning and is in no pair. It is noisy, so only changes by a
 * factor of two are reported, and none of a commit against itself.
 */
static int send_first_call_note(struct command *m, int cell, const struct interleave_reported *base,
	const struct interleave_reported *target, struct fw_err *err)
{
	if (m->bench->selfcheck || base->first_ms <= 0 || target->first_ms <= 0 ||
		(target->first_ms < 2 * base->first_ms && base->first_ms < 2 * target->first_ms))
		return 0;
	return bench_send_note(m->bench, cell, ROLE_NONE, err, "the first call takes %.4g ms, that of the base %.4g ms",
		target->first_ms, base->first_ms);
}

/* Report calls that could not be primed, so that their times include waits of the device for the host. */
static int send_unprimed_notes(struct command *m, int cell, const struct interleave_reported *const *reported, struct fw_err *err)
{
	const struct interleave_reported *base = reported[COMMAND_BASE], *target = reported[COMMAND_TARGET];
	int result = 0;

	if (base && target && base->unprimed[0] && strcmp(base->unprimed, target->unprimed) == 0)
		return bench_send_note(m->bench, cell, ROLE_NONE, err, "not primed: %s", base->unprimed);
	for (int side = 0; side < COMMAND_REFERENCE && result == 0; side++)
		if (reported[side] && reported[side]->unprimed[0])
			result = bench_send_note(
				m->bench, cell, m->side[side]->role, err, "not primed: %s", reported[side]->unprimed);
	return result;
}

void interleave_kernels_add(struct interleave_kernels *k, struct reported_kernels *from)
{
	if (from->n == 0)
		return;
	if (k->processes++ == 0) {
		k->list = *from;
		*from = (struct reported_kernels){ 0 };
		return;
	}
	k->unlike += !reported_kernels_equal(&k->list, from);
	reported_kernels_fini(from);
}

int interleave_report_kernels(struct command *m, int side, int cell, const struct interleave_kernels *k, struct fw_err *err)
{
	const struct interleave_reported *listed = interleave_list_find(&m->list[side], m->bench->cells[cell].key);
	struct msg kernels = { .t = MSG_REPORTED_KERNELS,
		.u.reported_kernels = { .cell = cell,
			.role = m->side[side]->role,
			.processes = k->processes,
			.unlike = k->unlike,
			.list = k->list } };

	if (k->processes == 0 && listed)
		kernels.u.reported_kernels.list = listed->kernels;
	return kernels.u.reported_kernels.list.n > 0 ? bench_send(m->bench, &kernels, err) : 0;
}

int interleave_report_lists(struct command *m, struct fw_err *err)
{
	struct bench *b = m->bench;

	for (int cell = 0; cell < b->n_cells; cell++) {
		const struct interleave_reported *reported[COMMAND_SIDES_MAX] = { NULL };

		for (int side = 0; side < m->n_sides; side++) {
			reported[side] = interleave_list_find(&m->list[side], b->cells[cell].key);
			if (side < COMMAND_REFERENCE && reported[side] && reported[side]->ms > 0 &&
				send_work(m, side, cell, reported[side], err) < 0)
				return -1;
		}
		if (send_unprimed_notes(m, cell, reported, err) != 0)
			return -1;
		if (reported[COMMAND_BASE] && reported[COMMAND_TARGET] &&
			(send_output_note(m, cell, reported[COMMAND_BASE], reported[COMMAND_TARGET], err) != 0 ||
				send_first_call_note(m, cell, reported[COMMAND_BASE], reported[COMMAND_TARGET], err) != 0))
			return -1;
	}
	return 0;
}
