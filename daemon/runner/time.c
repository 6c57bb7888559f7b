/*
 * time.c - a cell in a run: plans in random order, one checked call of each side alone, warm-up, timed passes with watched
 * calls, and a last watched call of each.
 *
 * If base or target fails at a cell, the cell ends for all sides: a time without its partner is useless.
 */
#include "runner/internal.h"

#include "verdict/verdict.h"

/* ---- timing_device: The deciding pass: queued calls, some of them watched, and device readings around them. ---- */

enum { DEVICE_CHECK_BEHIND = 2 }; /* queued calls during a reading */

static int device_pass(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	struct timing_watch watch;
	int last = p->rounds * t->n - 1, behind = last < DEVICE_CHECK_BEHIND ? last : DEVICE_CHECK_BEHIND;
	int calls = 0, device_check_at = t->pair_ms > TIMING_UNSEEN_MS * t->n ? behind : 0;

	if (t->has_opening) {
		p->device_check = t->opening;
		t->has_opening = false;
		device_check_at = -1;
	}

	timing_choose_watched(t, p->rounds, &watch);
	for (int round = 0; round < p->rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = order_side(t->n, t->start, round, k);
			bool watched = timing_is_watched(t, &watch, who, round);
			if (calls == device_check_at)
				runner_device_check(t->runner, t->cell, p->redo, &p->device_check);
			if (calls >= TIMING_AHEAD && ops->wait_mark(dev, 2 * (calls - TIMING_AHEAD) + 1, &err) != 0)
				return failure_device(f, t->problem, &err);
			timing_report_at(t, t->side[who], "time");
			if (watched && spot_check_before(t->spot_check, t->side[who], f) != 0)
				return -1;
			int later = watched ? -1 : timing_later_before(t, &watch, who, round);
			if (timing_one(t, t->side[who], calls, &x->host_us[who][round], f) != 0)
				return -1;
			if (later >= 0 && timing_later_after(t, t->side[who], later, f) != 0)
				return -1;
			if (watched && timing_finish_watched(t, t->side[who], "between the timed calls: ", f) != 0)
				return -1;
			if (watched && ops->queues) /* otherwise the check is a separate step */
				runner_at(t->runner, t->cell, NULL, "time");
		}
	}
	if (ops->wait(dev, &err) != 0)
		return failure_device(f, t->problem, &err);
	calls = 0;
	for (int round = 0; round < p->rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = order_side(t->n, t->start, round, k);
			x->ms[who][round] = timing_at_least(ops->elapsed_ms(dev, 2 * calls, 2 * calls + 1));
			x->mhz[who][round] = ops->clock_mhz(dev, calls);
		}
	}
	return 0;
}

int timing_device(struct timing *t, int rounds, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct timing_pass pass = { .rounds = rounds };
	struct msg_cell *m = mem_alloc_zero(1, sizeof *m);
	struct samples *x = mem_alloc_zero(1, sizeof *x);
	int result = -1;

	timing_begin_record(t, m, SERIES_DEVICE, "", rounds);
	runner_at(t->runner, t->cell, NULL, "time");
	if (timing_make_pass(t, device_pass, &pass, x, f) != 0)
		goto out;
	m->redo = pass.redo;
	m->device_check = pass.device_check;
	timing_write_series(t, m, x, ops->clocks, ops->queues || ops->work); /* without a queue enqueue is the call */
	result = 0;
out:
	free(m);
	free(x);
	return result;
}

/* ---- time ---- */

/* The minimum number of positions: results were accepted before, this finds later changes. */
#define RECHECK_VISITS 1.0
/* Number of each side's calls in a pass whose results are checked later. */
enum { LATER = 2, LATER_IN_SUSTAINED_RUNS = SPOT_CHECK_LATER_MAX };
/* Rounds of the series call and phase: a share of the device series, within limits. */
enum { SIDE_SHARE = 4, SIDE_MIN = 2, SIDE_MAX = 8 };

static bool is_essential(const struct side *u)
{
	return u->role == ROLE_BASE || u->role == ROLE_TARGET;
}

/* Drop a side that failed. Returns -1 if the cell must end. */
static int drop(struct timing *t, struct side *u, const struct failure *f)
{
	if (is_essential(u) || strcmp(f->name, "unsupported") !=
				       0) /* the check of a reference commit has reported that it does not support the cell */
		runner_fault(t->runner, t->cell, u, f);
	if (t->runner->lost || is_essential(u))
		return -1;
	for (int k = 0; k < t->n; k++) {
		if (t->side[k] != u)
			continue;
		memmove(&t->side[k], &t->side[k + 1], (size_t)(t->n - k - 1) * sizeof t->side[0]);
		t->n--;
		break;
	}
	side_unplan(u);
	return t->n >= 1 ? 0 : -1;
}

static int shuffled(struct timing *t, struct side *out[PROTOCOL_SIDES_MAX])
{
	int order[PROTOCOL_SIDES_MAX];
	runner_shuffle(t->runner, order, t->n);
	for (int k = 0; k < t->n; k++)
		out[k] = t->side[order[k]];
	return t->n;
}

static int plan_all(struct timing *t)
{
	struct side *order[PROTOCOL_SIDES_MAX];
	if (t->problem->needs_forward) {
		const struct forward_check check = { .seed = runner_secret(t->runner), .visits = RECHECK_VISITS };
		struct failure f = { 0 };
		int at = timing_position(t, ROLE_BASE);
		struct side *base = t->side[at < 0 ? 0 : at]; /* all backwards start from its forward */
		runner_at(t->runner, t->cell, base, "forward");
		if (!t->runner->ops->work)
			spot_check_vary(t->runner, t->problem);
		if (forward_run(base, t->problem, &check, &f) != 0) {
			runner_fault(t->runner, t->cell, base, &f);
			return -1;
		}
	}
	int n = shuffled(t, order);
	for (int k = 0; k < n; k++) {
		struct failure f = { 0 };
		runner_at(t->runner, t->cell, order[k], "plan");
		t->runner->held[order[k] - t->runner->side] = 0;
		leaked_state_enter(t->runner);
		runner_pin(t->runner, t->cell, order[k]);
		bool planned =
			side_plan(order[k], t->problem, t->problem->cell.direction, &f) == 0 && side_bind(order[k], &f) == 0;
		planned = leaked_state_leave(t->runner, t->cell, order[k], false, &f) == 0 && planned;
		if (!planned && drop(t, order[k], &f) != 0)
			return -1;
	}
	return 0;
}

/* Call each side alone, so that the cause of a failure is known, and compare its result again. */
static int solo_calls(struct timing *t, const struct verifier *verifier)
{
	struct runner *r = t->runner;
	struct side *order[PROTOCOL_SIDES_MAX];
	int n = shuffled(t, order);
	for (int k = 0; k < n; k++) {
		struct failure f = { 0 };
		struct accept_result result;
		int poison = 1 + (int)runner_random(r, 126), fill = 1 + (int)runner_random(r, 126);
		runner_at(r, t->cell, order[k], "warm");
		leaked_state_enter(r);
		bool called = side_call(order[k], &(struct side_way){ .poison = poison, .workspace_fill = fill }, &f) == 0;
		called = leaked_state_leave(r, t->cell, order[k], false, &f) == 0 && called;
		if (called)
			runner_at(r, t->cell, order[k], "check");
		if ((!called || verifier_result(verifier, "", &result, &f) != 0) && drop(t, order[k], &f) != 0)
			return -1;
		order[k]->pass_time = r->ops->work != NULL;
		t->pair_ms += (double)r->ops->elapsed_ms(r->dev, 0, 1);
	}
	return 0;
}

/* Find the side that wrote outside a buffer: the redzones are repaired, so a second write shows it. */
static void find_writer(struct timing *t, const struct failure *f)
{
	struct runner *r = t->runner;
	for (int k = 0; k < t->n && !f->lost; k++) {
		struct failure again = { 0 };
		if (side_call(t->side[k], &(struct side_way){ .poison = 1 + (int)runner_random(r, 126) }, &again) != 0) {
			runner_fault(r, t->cell, t->side[k], &again);
			return;
		}
	}
	runner_fault(r, t->cell, t->n == 1 ? t->side[0] : NULL, f);
}

/* Watch each side once more: changes by unwatched passes show here. */
static void check_last_calls(struct timing *t)
{
	struct runner *r = t->runner;
	struct side *order[PROTOCOL_SIDES_MAX];
	int n = shuffled(t, order);
	for (int k = 0; k < n && t->spot_check->active; k++) {
		struct failure f = { 0 };
		runner_at(r, t->cell, order[k], "check");
		if (spot_check_call(
			    t->spot_check, order[k], 1 + (int)runner_random(r, 126), true, "after the timed calls: ", &f) == 0 &&
			timing_leave(t, order[k], &f) == 0)
			continue;
		if (t->spot_check->is_ambiguous)
			find_writer(t, &f);
		else
			runner_fault(r, t->cell, t->spot_check->unnamed && t->n > 1 ? NULL : order[k], &f);
		return;
	}
}

/* Assign a failure of an interleaved pass: with a queue the runner detects it later. */
static void report_pass_failure(struct timing *t, struct failure *f)
{
	const struct runner *r = t->runner;
	const struct side *who = t->culprit;
	if (t->spot_check->is_ambiguous) {
		find_writer(t, f);
		return;
	}
	for (int k = 0; !who && !t->spot_check->unnamed && k < t->n; k++)
		if (t->n == 1 || (!r->ops->queues && r->at_role == t->side[k]->role))
			who = t->side[k];
	runner_fault(t->runner, t->cell, who, f);
}

static int side_rounds(int rounds)
{
	int n = rounds / SIDE_SHARE;
	return n < SIDE_MIN ? SIDE_MIN : n > SIDE_MAX ? SIDE_MAX : n;
}

struct extra_series {
	bool decides; /* the series call decides, in full */
	enum sustained_order sustained;
	bool calls, phases;
	bool long_call;
};

static void plan_extra_series(const struct timing *t, int rounds, struct extra_series *a)
{
	const struct msg_task *task = t->runner->task;
	bool pass = !task->only_sustained_runs;
	a->sustained = task->sustained ? task->sustained[t->cell] : SUSTAINED_NONE;
	a->decides = pass && task->cell[t->cell].decide == SERIES_CALL;
	a->calls = pass && task->calls && !a->decides;
	a->phases = pass && task->phases;
	a->long_call = t->runner->ops->clocks && side_rounds(rounds) < FLAG_CALL_PAIRS_MIN;
}

/*
 * Time the extra series. The deciding one comes last, and with it the last check of each side. Rounds too few for a warning
 * are reduced to one, which is then the last check.
 */
static int time_extra_series(struct timing *t, const struct extra_series *a, int rounds, bool *checks_last, struct failure *f)
{
	int few = a->long_call ? 1 : side_rounds(rounds);
	if (a->calls && !a->long_call && timing_call(t, few, 0, f) != 0)
		return -1;
	if (a->phases && timing_phase(t, few, f) != 0)
		return -1;
	*checks_last = *checks_last || a->decides || (a->calls && a->long_call);
	if (a->decides)
		return timing_call(t, rounds, TIMING_DECIDES, f);
	return a->calls && a->long_call ? timing_call(t, few, TIMING_WATCHED, f) : 0;
}

static int time_passes(struct timing *t, double busy_since_us, bool *checks_last, struct failure *f)
{
	const struct runner *r = t->runner;
	int rounds = timing_rounds(&r->task->rule, t->pair_ms, t->n, r->ops);
	struct extra_series a;
	plan_extra_series(t, rounds, &a);
	*checks_last = !r->task->only_sustained_runs && !a.decides && !a.calls && !a.phases && a.sustained == SUSTAINED_NONE;
	if (!r->task->only_sustained_runs) {
		if (timing_device(t, rounds, f) != 0)
			return -1;
		busy_since_us = r->ops->host_us(r->dev); /* the references of the last checks left the device idle */
	}
	/* while the device is warm: the extra series leave it idle between calls */
	if (a.sustained != SUSTAINED_NONE && sustained_run(t, a.sustained == SUSTAINED_TARGET_FIRST, busy_since_us, f) != 0)
		return -1;
	return time_extra_series(t, &a, rounds, checks_last, f);
}

static void choose_order(struct timing *t)
{
	struct runner *r = t->runner;
	int base = timing_position(t, ROLE_BASE), target = timing_position(t, ROLE_TARGET);
	int rotation = r->task->rotation ? r->task->rotation + r->task->index[t->cell] : (int)runner_random(r, ORDER_ROTATIONS);

	t->start = base < 0 || target < 0 ? (t->n > 1 ? rotation % t->n : 0) : order_first(t->n, base, target, rotation);
}

static void time_cell(struct timing *t, const struct verifier *verifier, double warm_s)
{
	struct runner *r = t->runner;
	struct failure f = { 0 };
	bool checks_last = false;

	double until_us = r->ops->host_us(r->dev) + warm_s * 1e6;
	if (solo_calls(t, verifier) != 0)
		return;
	choose_order(t);
	leaked_state_enter(r);
	runner_at(r, t->cell, NULL, "warm");
	double busy_since_us = r->ops->host_us(r->dev);
	if (timing_warm(t, until_us, &f) != 0 || time_passes(t, busy_since_us, &checks_last, &f) != 0)
		report_pass_failure(t, &f);
	else if (!checks_last)
		check_last_calls(t);
}

/* Open the references, computed from inputs as accepted, whatever plan and bind changed. */
static int open_references(struct timing *t, struct verifier *verifier, struct failure *f)
{
	struct problem *p = t->problem;
	runner_at(t->runner, t->cell, NULL, "reference");
	if (spot_check_open(t->spot_check, t->runner, p, SPOT_CHECK_ANY, RECHECK_VISITS, f) != 0)
		return -1;
	spot_check_make_later(t->spot_check, t->runner->task->sustained && t->runner->task->sustained[t->cell] != SUSTAINED_NONE
						     ? LATER_IN_SUSTAINED_RUNS
						     : LATER);
	if (problem_restore(p, f) != 0)
		return -1;
	return verifier_open(verifier, p, p->cell.direction, runner_secret(t->runner), RECHECK_VISITS, f);
}

static void run_cell(struct runner *r, int i, double warm_s)
{
	struct problem problem;
	struct fw_err err = { 0 };
	struct spot_check spot_check = { 0 };
	struct timing t = { .runner = r, .problem = &problem, .cell = i, .spot_check = &spot_check };
	struct verifier verifier = { 0 };

	runner_at(r, i, NULL, "inputs");
	for (int k = 0; k < r->n_sides; k++)
		t.side[t.n++] = &r->side[k];
	if (problem_open(&problem, r->ops, r->dev, &r->task->cell[i], &err) != 0) {
		runner_error(r, i, &err);
	} else if (plan_all(&t) == 0) {
		struct failure f = { 0 };
		if (open_references(&t, &verifier, &f) != 0)
			runner_fault(r, i, NULL, &f);
		else
			time_cell(&t, &verifier, warm_s);
		verifier_close(&verifier);
	}
	if (r->lost)
		return;
	runner_at(r, i, NULL, "end");
	if (r->ops->wait(r->dev, &err) != 0) { /* an aborted pass may have queued calls */
		r->lost = true;
		return;
	}
	spot_check_close(&spot_check);
	for (int k = 0; k < r->n_sides; k++) {
		struct failure f = { 0 };
		leaked_state_enter(r);
		side_unplan(&r->side[k]);
		if (leaked_state_leave(r, i, &r->side[k], true, &f) != 0)
			runner_fault(r, i, &r->side[k], &f);
	}
	problem_close(&problem);
}

int mode_time_run(struct runner *r)
{
	const struct msg_task *task = r->task;
	int order[JOB_CELLS_MAX];

	for (int k = 0; k < r->n_sides; k++)
		if (!r->side[k].loaded)
			return 0; /* the fault record has been written */
	runner_shuffle(r, order, task->n_cells);
	for (int i = 0; i < task->n_cells && !r->lost && !r->records->failed; i++)
		run_cell(r, order[i], i == 0 && task->warm_s > task->cell_warm_s ? task->warm_s : task->cell_warm_s);
	return r->lost ? RUNNER_LOST : r->records->failed ? RUNNER_ERROR : 0;
}
