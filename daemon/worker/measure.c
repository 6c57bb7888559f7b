/* measure.c - when to launch, what, and who is blamed when a launch does not come back. */
#include "worker/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/inputs.h"
#include "worker/acceptance.h"
#include "worker/runner_child.h"

enum { EMPTY_LAUNCHES_MAX = 3 };

struct launch_state {
	struct bench *bench;
	int launch, set;
	int timed, throttled, faults; /* cells with new timings, with timings left out; faults told by the runner */
	bool *seen;                   /* seen[n_cells]: timed or faulted in this launch */
	int suspect;                  /* cell of a failure that the runner could put on no side; -1 none */
	struct msg_fault suspicion;
};

int measure_next(const struct bench *b, int *list, int *set)
{
	int want, n, i;

	/* the first set first; then confirmations; then width */
	for (want = 1; want <= 2; want++) {
		for (n = 0, i = 0; i < b->n_cells; i++) {
			const struct bench_cell *c = &b->cell[i];

			if (c->open && c->judgement.want_set == want && !(b->quick && c->n_launches > 0))
				list[n++] = i;
		}
		*set = want;
		if (n > 0)
			return n;
	}
	*set = 1;
	for (n = 0, i = 0; i < b->n_cells && !b->quick; i++)
		if (b->cell[i].open && b->cell[i].judgement.want_set == 0 && b->cell[i].judgement.want_precision)
			list[n++] = i;
	return n;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct launch_state *l = arg;
	struct bench *b = l->bench;

	if (m->t == MSG_CELL && strcmp(m->u.cell->series, "device") == 0) {
		int kept = bench_add(b, m->u.cell, err);

		if (kept < 0)
			return -1;
		if (kept)
			bench_judge(b, m->u.cell->cell);
		l->seen[m->u.cell->cell] = true;
		l->timed += kept;
		l->throttled += !kept;
	} else if (m->t == MSG_FAULT && m->u.fault.cell >= 0 && strcmp(m->u.fault.role, "device") == 0 &&
		   strcmp(m->u.fault.failure, "device") != 0 && l->suspect < 0) {
		/* kernels of both sides were in flight: held back until it is known whose it was */
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

/* Something failed while both sides ran: one check of each alone tells whose fault it was. */
static int blame(struct bench *b, int cell, const char *role, const char *what, const char *how, struct fw_err *err)
{
	char failure[16], detail[512], text[512];
	int side[2] = { b->base, b->target }, i, status;

	for (i = 0; i < 2; i++) {
		status = acceptance_solo(b, side[i], cell, failure, detail, err);
		if (status < 0)
			return -1;
		if (status == 1)
			return bench_fault(b, cell, b->subject[side[i]].role, failure, detail, err);
	}
	snprintf(text, sizeof text, "%.400s; alone both sides pass their check", how);
	return bench_fault(b, cell, role, what, text, err);
}

/* After a launch that did not end well, or left cells out. */
static int settle(struct launch_state *l, struct runner_end *end, const int *list, int n, struct fw_err *err)
{
	struct bench *b = l->bench;
	int missing = -1, i;

	if (l->suspect >= 0)
		return blame(b, l->suspect, "device", l->suspicion.failure, l->suspicion.detail, err);
	for (i = 0; i < n; i++)
		if (!l->seen[list[i]] && b->cell[list[i]].open && (missing < 0 || list[i] == end->cell))
			missing = list[i];
	if (missing < 0)
		return 0;
	if (!end->failure[0]) {
		if (l->faults > 0)
			return 0; /* the device was lost on the way; the other cells go into the next launch */
		snprintf(end->failure, sizeof end->failure, "crash");
		snprintf(end->detail, sizeof end->detail, "ended the process (exit 0) before its timings");
	}
	if (strcmp(end->role, "worker") == 0)
		return 0; /* nobody was named: counted as an empty launch */
	if (end->cell >= 0 && end->cell != missing)
		return 0;
	return blame(b, missing, end->role, end->failure, end->detail, err);
}

static int announce(struct bench *b, const struct runner_task *t, struct fw_err *err)
{
	struct msg m = { .t = MSG_LAUNCH };
	int status;

	m.u.launch = calloc(1, sizeof *m.u.launch);
	if (!m.u.launch)
		return err_set(err, ERR_INTERNAL, "out of memory");
	m.u.launch->launch = t->launch;
	m.u.launch->set = t->set;
	m.u.launch->seed = t->seed;
	m.u.launch->n_cells = t->n_cells;
	memcpy(m.u.launch->cell, t->cell, (size_t)t->n_cells * sizeof *t->cell);
	status = bench_send(b, &m, err);
	msg_fini(&m);
	return status;
}

/* One launch. 1 it brought something, 0 nothing, -1 error. `why` keeps the last reason for nothing. */
static int launch(struct bench *b, const int *list, int n, int set, char *why, size_t size, struct fw_err *err)
{
	struct launch_state state = { .bench = b, .launch = ++b->launches, .set = set, .suspect = -1 };
	struct runner_task task = { .mode = "launch",
		.launch = state.launch,
		.set = set,
		.seed = inputs_mix(b->seed + (uint64_t)state.launch),
		.n_cells = n,
		.cell = list,
		.phases = state.launch == 1,
		.calls = state.launch == 1,
		.deadline_s = b->limits.launch_s,
		.record = take_record,
		.arg = &state };
	struct runner_end end;
	int status, i, before = 0, after = 0;

	for (i = 0; i < b->n_subjects; i++)
		if (!b->subject[i].dropped)
			task.subject[task.n_subjects++] = i;
	state.seen = calloc((size_t)b->n_cells, sizeof *state.seen);
	if (!state.seen)
		return err_set(err, ERR_INTERNAL, "out of memory");
	for (i = 0; i < b->n_cells; i++)
		before += b->cell[i].open;
	status = announce(b, &task, err);
	if (status == 0)
		status = runner_child_run(b, &task, &end, err);
	if (status == 0)
		status = settle(&state, &end, list, n, err);
	free(state.seen);
	if (status < 0)
		return -1;
	for (i = 0; i < b->n_cells; i++)
		after += b->cell[i].open;
	snprintf(why, size, "%s",
		end.failure[0]    ? end.detail
		: state.throttled ? "the device was throttled in every launch"
				  : "launches bring no timings");
	return state.timed > 0 || after < before;
}

int measure_run(struct bench *b, struct fw_err *err)
{
	int *list = calloc((size_t)b->n_cells + 1, sizeof *list), n, set, empty = 0, status = 0, i;
	char why[512] = "";

	if (!list)
		return err_set(err, ERR_INTERNAL, "out of memory");
	while (status >= 0 && empty < EMPTY_LAUNCHES_MAX && (n = measure_next(b, list, &set)) > 0) {
		if (b->launches > 0 && b->gpu_s >= b->limits.budget_s)
			break; /* what is open stays undecided, and says so */
		status = launch(b, list, n, set, why, sizeof why, err);
		empty = status == 0 ? empty + 1 : 0;
		for (i = 0; i < n && empty == EMPTY_LAUNCHES_MAX && status >= 0; i++)
			status = bench_fault(b, list[i], "device", "device", why, err);
	}
	free(list);
	return status < 0 ? -1 : 0;
}
