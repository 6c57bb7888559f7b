/*
 * audit.c - batches of calls for the supervisor's clock, which branch code cannot reach.
 *
 * The runner makes calls as in the deciding series. A long and a short batch differ only in calls: pipes, wake-ups and waits are
 * in both. Sizes are random, so no call can know that it is the last of its batch, whose result is checked.
 */
#include "runner/internal.h"

enum { CALLS_MAX = 256, LONG = 3 };

#define BATCH_MS      10.0 /* length of a short batch */
#define AUDIT_VISITS  1.0  /* minimum number of positions, as in the acceptance check */
#define POISON_ANY(r) (1 + (int)runner_random((r), 126))

struct audited {
	struct side *side;
	int calls; /* calls of a short batch */
};

static int wait_for_go(struct failure *f)
{
	char go;
	ssize_t n;
	do
		n = read(MODE_AUDIT_GO_FD, &go, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : failure_set(f, "device", "the supervisor of the audit has ended");
}

/* Enqueue the timed part of a call, as in the deciding series. */
static int timed_part(struct runner *r, int i, struct side *u, struct failure *f)
{
	bool whole = r->task->cell[i].decide == SERIES_CALL;
	if (whole && (side_wait(u, f) != 0 || side_bind(u, f) != 0))
		return -1;
	if (side_timed(u, f) != 0)
		return -1;
	return whole ? side_wait(u, f) : 0;
}

static int batch(struct runner *r, int i, struct spot_check *w, struct audited *a, int calls, struct failure *f)
{
	struct msg_audit m = { .cell = r->task->index[i], .calls = calls };
	struct accept_result result;
	struct fw_err err = { 0 };
	m.role = a->side->role; // prepared before: NOLINT(clang-analyzer-core.NullDereference)
	if (problem_restore(w->problem, f) != 0 || problem_poison(w->problem, POISON_ANY(r), f) != 0)
		return -1;
	if (r->ops->wait(r->dev, &err) != 0)
		return failure_device(f, w->problem, &err);
	runner_at(r, i, a->side, "time");
	record_send(r->records, &(struct msg){ .t = MSG_AUDIT, .u.audit = m });
	if (wait_for_go(f) != 0 || side_mark(a->side, 0, f) != 0)
		return -1;
	for (int c = 0; c < calls; c++) {
		w->watching = c + 1 == calls;
		if (spot_check_set_inputs(w, f) != 0 || side_ahead(a->side, POISON_ANY(r), f) != 0 ||
			timed_part(r, i, a->side, f) != 0 || side_behind(a->side, f) != 0)
			return -1;
	}
	w->watching = false;
	if (side_mark(a->side, 1, f) != 0 || side_wait(a->side, f) != 0)
		return -1;
	m.done = true;
	m.ms = (double)r->ops->elapsed_ms(r->dev, 0, 1);
	record_send(r->records, &(struct msg){ .t = MSG_AUDIT, .u.audit = m });
	if (leaked_state_between(r, i, a->side, f) != 0)
		return -1;
	return verifier_result(&w->verifier, "in the audit: ", &result, f);
}

static int prepare(struct runner *r, int i, struct spot_check *w, struct audited *a, struct failure *f)
{
	struct problem *p = w->problem;
	runner_at(r, i, a->side, "plan");
	runner_pin(r, i, a->side);
	if (side_plan(a->side, p, p->cell.direction, f) != 0 || side_bind(a->side, f) != 0)
		return -1;
	runner_at(r, i, a->side, "warm");
	if (spot_check_call(w, a->side, POISON_ANY(r), false, "in the audit: ", f) != 0 || problem_restore(p, f) != 0 ||
		side_ahead(a->side, POISON_ANY(r), f) != 0 || side_mark(a->side, 0, f) != 0 ||
		timed_part(r, i, a->side, f) != 0 || side_mark(a->side, 1, f) != 0 || side_wait(a->side, f) != 0)
		return -1;
	double ms = (double)r->ops->elapsed_ms(r->dev, 0, 1);
	a->calls = ms * CALLS_MAX > BATCH_MS ? (int)(BATCH_MS / ms) : CALLS_MAX;
	a->calls = a->calls < 1 ? 1 : a->calls;
	return 0;
}

static struct side *base_of(struct runner *r)
{
	for (int k = 0; k < r->n_sides; k++)
		if (r->side[k].role == ROLE_BASE)
			return &r->side[k];
	return &r->side[0];
}

static int measure(struct runner *r, int i, struct problem *p, struct side **who, struct failure *f)
{
	struct audited a[PROTOCOL_SIDES_MAX] = { 0 };
	struct spot_check w = { 0 };
	int result = 0;
	leaked_state_enter(r);
	*who = base_of(r);
	if (p->needs_forward)
		result = forward_run(*who, p, &(struct forward_check){ .seed = runner_secret(r), .visits = AUDIT_VISITS }, f);
	if (result == 0)
		*who = NULL;
	if (result == 0) /* SPOT_CHECK_FIRST: copies of inputs are in the timed batches */
		result = spot_check_open(&w, r, p, SPOT_CHECK_FIRST, AUDIT_VISITS, f);
	for (int k = 0; result == 0 && k < r->n_sides; k++) {
		a[k] = (struct audited){ .side = *who = &r->side[k] };
		result = prepare(r, i, &w, &a[k], f);
	}
	if (w.unnamed)
		*who = NULL;
	for (int pair = 0; result == 0 && pair < MODE_AUDIT_PAIRS; pair++) {
		for (int half = 0; half < 2; half++) {
			for (int k = 0; result == 0 && k < r->n_sides; k++) {
				struct audited *at = &a[pair % 2 ? r->n_sides - 1 - k : k];
				int calls = at->calls * (half == pair % 2 ? 1 : LONG);
				*who = at->side;
				result = batch(r, i, &w, at, calls + (int)runner_random(r, (uint32_t)(at->calls / 4 + 1)), f);
			}
		}
	}
	spot_check_close(&w);
	return result;
}

int mode_audit_run(struct runner *r)
{
	for (int k = 0; k < r->n_sides; k++)
		if (!r->side[k].loaded)
			return 0; /* the fault record has been written */
	for (int i = 0; i < r->task->n_cells && !r->lost && !r->records->failed; i++) {
		struct problem problem;
		struct side *who = NULL;
		struct failure f = { 0 };
		struct fw_err err = { 0 };
		if (problem_open(&problem, r->ops, r->dev, &r->task->cell[i], &err) != 0)
			runner_error(r, i, &err);
		else if (measure(r, i, &problem, &who, &f) != 0)
			runner_fault(r, i, who, &f);
		if (r->lost)
			break;
		for (int k = 0; k < r->n_sides; k++)
			side_unplan(&r->side[k]);
		problem_close(&problem);
	}
	return r->lost ? RUNNER_LOST : r->records->failed ? RUNNER_ERROR : 0;
}
