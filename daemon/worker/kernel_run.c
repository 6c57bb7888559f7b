/* kernel_run.c - records of a run, and the side at fault if it ends early. */
#include "worker/internal.h"

#include <math.h>

/* Early ends of runs after which the target is at fault. */
enum { EARLY_ENDS_MAX = 2 };

struct run_state {
	struct bench *bench;
	int run, set;
	int timed, throttled, faults;    /* cells with new timings, with discarded timings; faults reported by the runner */
	bool *seen;                      /* seen[n_cells]: timed or faulted in this run */
	bool foreign;                    /* another process used the device */
	int xid;                         /* reported by the driver; 0 none */
	char why[DEVICE_CHECK_WHY_SIZE]; /* last reason for discarded times */
	int suspect;                     /* cell of a failure of an unknown side; -1: none */
	struct msg_fault suspicion;
};

int run_void(struct bench *b, int cell, const char *reason, struct fw_err *err)
{
	struct bench_cell *c = &b->cell[cell];

	if (c->discarded < DEVICE_CHECK_DISCARDED_MAX)
		return 0;
	if (c->n_runs == 0)
		return bench_fault(b, cell, ROLE_DEVICE, "device", err, "not measured: %s, in %d runs", reason, c->discarded);
	c->open = false;
	return bench_send_note(b, cell, ROLE_DEVICE, err, "not measured: %s, in %d runs; the verdict uses the %d runs before",
		reason, c->discarded, c->n_runs);
}

static int take_timings(struct run_state *l, const struct msg_cell *m, struct fw_err *err)
{
	struct bench *b = l->bench;
	bool decides = bench_decides(b, m), sustained = m->series == SERIES_SUSTAINED;
	char why[DEVICE_CHECK_WHY_SIZE];
	bool disturbed = device_check_discards(&m->device_check, why);
	int added = decides ? bench_add(b, m, err) : sustained ? sustain_add(b, m, err) : 0;

	if (added < 0)
		return -1;
	if (decides && added)
		bench_judge(b, m->cell);
	l->foreign = l->foreign || m->device_check.foreign > 0;
	l->xid = m->device_check.xid ? m->device_check.xid : l->xid;
	if (!decides && !sustained)
		return 0;
	l->seen[m->cell] = true;
	l->timed += added;
	if (!disturbed)
		return 0;
	l->throttled++;
	memcpy(l->why, why, sizeof l->why);
	return decides ? run_void(b, m->cell, why, err) : 0;
}

/* Return whether no note with the same text, except numbers, was sent: a module may leak state in every plan. */
static bool is_new_note(struct bench *b, const struct msg_note *note)
{
	char gist[sizeof b->noted[0]];
	int i;

	snprintf(gist, sizeof gist, "%s %.*s", role_name(note->role), (int)strcspn(note->text, "0123456789"), note->text);
	for (i = 0; i < b->n_noted; i++)
		if (strcmp(b->noted[i], gist) == 0)
			return false;
	if (b->n_noted < BENCH_NOTES_MAX)
		memcpy(b->noted[b->n_noted++], gist, sizeof gist);
	return true;
}

/*
 * Either kernels of both sides were in flight, or the base, which passed its check, fails in a process with the target, which
 * shares its memory and may be the cause.
 */
bool run_suspects(const struct msg_fault *f)
{
	return f->role == ROLE_BASE || (f->role == ROLE_DEVICE && strcmp(f->failure, "device") != 0);
}

/* Reject a side whose typical call is faster than the device can be. Returns 1 after a fault, else 0. */
static int refuse_impossible(struct bench *b, const struct msg_cell *m, struct fw_err *err)
{
	double floor_ms = roofline_floor_ms(&b->device, &b->cells[m->cell]);

	for (int s = 0; s < m->n_sides; s++) {
		double ms = (double)stats_median(m->ms[s], m->n);

		if (ms < floor_ms)
			return bench_fault(b, m->cell, m->role[s], "roofline", err,
				       "a call of %.4g ms: the device cannot do it in less than %.4g ms (%.4g TFLOP/s, %.4g GB/s)",
				       ms, floor_ms, b->device.peak_tflops, b->device.peak_gb_s) != 0
				       ? -1
				       : 1;
	}
	return 0;
}

/* Whether the budget ends the run before its next cell. The first run is never cut short: every cell needs one. */
static bool is_over_budget(const struct run_state *l, const struct msg *m)
{
	return m->t == MSG_AT && l->run > 1 && strcmp(m->u.at.step, "inputs") == 0 &&
	       l->bench->gpu_s >= l->bench->limits.budget_s;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct run_state *l = arg;
	struct bench *b = l->bench;

	if (is_over_budget(l, m))
		return RUNNER_STOP;
	if (m->t == MSG_NOTE && !is_new_note(b, &m->u.note)) {
		return 0;
	} else if (m->t == MSG_CELL) {
		int impossible = m->u.cell->series == SERIES_DEVICE ? refuse_impossible(b, m->u.cell, err) : 0;

		if (impossible) {
			l->seen[m->u.cell->cell] = true;
			return impossible < 0 ? -1 : 0;
		}
		if (take_timings(l, m->u.cell, err) < 0)
			return -1;
	} else if (m->t == MSG_FAULT && m->u.fault.cell >= 0 && run_suspects(&m->u.fault) && l->suspect < 0) {
		/* sent later, with the side that caused it */
		l->suspect = m->u.fault.cell;
		l->suspicion = m->u.fault;
		l->seen[l->suspect] = true;
		l->faults++;
		return 0;
	} else if (m->t == MSG_FAULT) {
		bench_note(b, m->u.fault.cell, m->u.fault.role, m->u.fault.failure, m->u.fault.detail);
		if (m->u.fault.cell >= 0)
			l->seen[m->u.fault.cell] = true;
		l->faults++;
	}
	return bench_send(b, m, err);
}

/* Check each side alone once. Returns 1 if one failed, which is reported; 0 if both passed; -1 on error. */
static int check_alone(struct bench *b, int cell, struct fw_err *err)
{
	char failure[16], detail[512];
	int side[2] = { b->base, b->target }, i, status;

	for (i = 0; i < 2; i++) {
		status = acceptance_solo(b, side[i], cell, failure, detail, err);
		if (status < 0)
			return -1;
		if (status == 1)
			return bench_fault(b, cell, b->side[side[i]].role, failure, err, "%s", detail) < 0 ? -1 : 1;
	}
	return 0;
}

/* Find the side that caused a failure in a process of both sides, by one check of each side alone. */
static int blame(struct bench *b, int cell, enum role role, const char *what, const char *how, bool was_lost, struct fw_err *err)
{
	int status = check_alone(b, cell, err);

	if (status != 0)
		return status < 0 ? -1 : 0;
	if (was_lost && ++b->cell[cell].discarded < DEVICE_CHECK_DISCARDED_MAX)
		return 0; /* the device works again, and neither side alone makes it fail: the next run decides */
	return bench_fault(b, cell, role, what, err, "%.400s; alone both sides pass their check", how);
}

/* Send a note that a run ended early and is repeated. */
static int note_end(struct bench *b, int cell, const struct runner_end *end, struct fw_err *err)
{
	return bench_send_note(b, cell, ROLE_DEVICE, err, "%s ended early and is repeated: %.300s",
		end->mode == TASK_AUDIT ? "an audit" : "a run", end->detail);
}

int run_blame_end(struct bench *b, int cell, const struct runner_end *end, struct fw_err *err)
{
	char failure[16], detail[512];
	int status = check_alone(b, cell, err);

	if (status != 0)
		return status < 0 ? -1 : 0;
	status = control_run(b, cell, failure, detail, err);
	if (status < 0)
		return -1;
	if (status == 0)
		return bench_fault(b, cell, ROLE_BASE, failure, err, "%s", detail);
	if (++b->cell[cell].ends < EARLY_ENDS_MAX)
		return note_end(b, cell, end, err);
	return bench_fault(b, cell, ROLE_DEVICE, end->failure, err,
		"%s%.300s, in %d processes; alone both sides pass their check, and the base next to a copy of itself is timed",
		end->role == ROLE_BASE ? "base: " : "", end->detail, EARLY_ENDS_MAX);
}

int run_blame(struct bench *b, const struct msg_fault *f, bool was_lost, struct fw_err *err)
{
	char how[512];

	/* otherwise a module could discard chosen runs */
	bool is_sabotage = strcmp(f->failure, "forged") == 0 || strcmp(f->failure, "slowed") == 0;

	snprintf(how, sizeof how, "%s%.500s", f->role == ROLE_BASE ? "base: " : "", f->detail);
	return blame(b, f->cell, ROLE_DEVICE, f->failure, how, was_lost && !is_sabotage, err);
}

static int handle_end(struct run_state *l, struct runner_end *end, const int *list, int n, struct fw_err *err)
{
	struct bench *b = l->bench;
	int missing = -1, i;

	if (l->suspect >= 0)
		return run_blame(b, &l->suspicion, end->lost, err);
	for (i = 0; i < n; i++)
		if (!l->seen[list[i]] && b->cell[list[i]].open && (missing < 0 || list[i] == end->cell))
			missing = list[i];
	if (missing < 0 || end->stopped)
		return 0;
	if (!end->failure[0] && l->faults > 0)
		return 0; /* the device failed during the run; the next run takes the other cells */
	runner_end_early(end);
	if (end->role == ROLE_WORKER && !end->killed)
		return 0; /* the failure names no side: counts as a run without results */
	if (end->cell >= 0 && end->cell != missing)
		return 0;
	if (end->role == ROLE_BASE || (end->killed && end->role != ROLE_TARGET))
		return run_blame_end(b, missing, end, err);
	if (end->killed && ++b->cell[missing].kills < EARLY_ENDS_MAX)
		return note_end(b, missing, end, err);
	return blame(b, missing, end->role, end->failure, end->detail, false, err);
}

static int test_device(struct run_state *l, const struct runner_end *end, struct fw_err *err)
{
	struct bench *b = l->bench;

	if (health_check_xid(b, l->xid, err) < 0 || health_check_after(b, end, err) < 0)
		return -1;
	return l->foreign && health_check_wait_idle(b, err) < 0 ? -1 : 0;
}

static int start_runner(struct run_state *state, struct runner_task *task, struct runner_end *end, struct fw_err *err)
{
	struct bench *b = state->bench;
	int status = bench_announce(b, task->cell, task->n_cells, task->set, task->seed, err);

	if (status == 0)
		status = runner_child_run(b, task, end, err);
	b->set_begun[task->set] = true;
	if (status == 0)
		status = test_device(state, end, err);
	if (status == 0 && !b->lost)
		status = handle_end(state, end, task->cell, task->n_cells, err);
	return status;
}

/*
 * A phase has an interval only from its second run on, and alerts name only phases with an interval. A sentinel's change has no
 * second set, so if the first run shows a change, the second run also times phases.
 */
static bool wants_phases(const struct bench *b, const struct run_order *o)
{
	if (b->runs == 1 || (o->set == 2 && !b->set_begun[2]))
		return true;
	for (int i = 0; i < o->n && b->runs == 2; i++)
		if (fabs(b->cell[o->cell[i]].found.typical.all.m) > stats_theta(b->cells[o->cell[i]].threshold_pct))
			return true;
	return false;
}

int measure_one_run(struct bench *b, const struct run_order *o, char *why, size_t size, struct fw_err *err)
{
	struct run_state state = { .bench = b, .run = ++b->runs, .set = o->set, .suspect = -1 };
	struct runner_task task = { .mode = TASK_TIME,
		.run = state.run,
		.set = o->set,
		.seed = inputs_mix(b->seed + (uint64_t)state.run),
		.rotation = bench_rotation(b),
		.n_cells = o->n,
		.cell = o->cell,
		.sustained = o->sustained,
		.only_sustained_runs = o->only_sustained_runs,
		.phases = wants_phases(b, o),
		.calls = state.run == 1,
		.deadline_s = b->limits.run_s + sustain_s(o->sustained, o->n),
		.takes_kills = true,
		.record = take_record,
		.arg = &state };
	struct runner_end end = { 0 };
	int status, i, before = 0, after = 0;

	for (i = 0; i < b->n_sides; i++)
		if (!b->side[i].dropped)
			task.side[task.n_sides++] = i;
	state.seen = mem_alloc_zero((size_t)b->n_cells, sizeof *state.seen);
	for (i = 0; i < b->n_cells; i++)
		before += b->cell[i].open;
	status = start_runner(&state, &task, &end, err);
	free(state.seen);
	if (status < 0)
		return -1;
	for (i = 0; i < b->n_cells; i++)
		after += b->cell[i].open;
	snprintf(why, size, "%s", end.failure[0] ? end.detail : state.throttled ? state.why : "runs bring no timings");
	return state.timed > 0 || after < before;
}
