/*
 * check.c - acceptance of results, and of the guarantees that timing relies on.
 *
 * A result is compared with the reference after each of: a plain call; the phases one by one with other bytes in the workspace;
 * a watched call with other inputs, and with another problem of equal size if the family has one, on the same plan. Kernels
 * that passed the plain call have failed each of these and would have been timed wrongly: caches filled by the first call, work
 * in an untimed phase. Calls are long, so the changes are tested together, and one by one only after a failure.
 */
#include "runner/internal.h"

enum { POISON_NAN = 0xff, POISON_PLAIN = 0x2d, WORKSPACE_FIRST = 0xff, WORKSPACE_SECOND = 0xa5, WORKSPACE_THIRD = 0x3c };

/* Products of the second problem's reference: this tests the plan's memory, not the arithmetic. */
#define SECOND_VISITS 2e8

/* The minimum number of positions: this tests whether results are computed, not how exactly. */
#define WATCHED_VISITS 1.0

/* Duration of additional calls that only give times. */
#define MORE_TIMES_US 3e4
enum { MORE_TIMES_MAX = 6 };

/* Outcome of a forward, on which other directions of the case depend. */
struct forward {
	bool known;
	char failure[16]; /* "": accepted */
};

struct checker {
	struct runner *runner;
	struct side *side;
	const char *repeats;                   /* repetition in the current cell: "same", "differs"; "": unknown */
	double alone_ms, alone_mhz;            /* shortest cold call of the current cell; 0: unknown */
	struct msg_work work;                  /* as the side reports it; borrowed */
	struct forward forward[JOB_CELLS_MAX]; /* forward[i] belongs to task->cell[i] */
};

static int64_t taken_bytes(const struct checker *c)
{
	const struct runner *r = c->runner;
	return r->ops->taken_bytes ? r->ops->taken_bytes(r->dev) : -1;
}

/* Report the time of the plan, that of plan, bind and the first call, and the device memory that they take besides their buffers. */
static void report_first(struct checker *c, double plan_ms, double first_ms, int64_t before)
{
	int64_t after = before < 0 ? -1 : taken_bytes(c);
	c->work.plan_ms = plan_ms;
	c->work.first_ms = first_ms;
	if (after >= 0)
		c->work.taken_bytes = after > before ? after - before : 0;
	record_send(c->runner->records, &(struct msg){ .t = MSG_WORK, .u.work = c->work });
}

static void report_work(struct checker *c, int i)
{
	struct side *u = c->side;
	struct mask_counts counts;
	int64_t blocks, kept = problem_kept(u->problem, &blocks, &counts); /* before a module can change the laid data */
	side_count(u);
	struct msg_work m = {
		.cell = c->runner->task->index[i],
		.flops_issued = u->has_work ? u->work.flops_issued : -1,
		.bytes_moved = u->has_work ? u->work.bytes_moved : -1,
		.tiles_total = u->has_work ? u->work.tiles_total : -1,
		.tiles_skipped = u->has_work ? u->work.tiles_skipped : -1,
		.tiles_partial = u->has_work ? u->work.tiles_partial : -1,
		.blocks_kept = u->has_work ? u->work.blocks_kept : -1,
		.workspace_bytes = (int64_t)u->workspace_bytes,
		.persist_bytes = (int64_t)u->persist_bytes,
		.tensor_bytes = problem_tensor_bytes(u->problem),
		.first_ms = -1,
		.taken_bytes = -1,
		.mask_blocks = blocks,
		.mask_kept = kept,
		.mask = counts,
		.phases = u->phases,
		.tunes = (u->provider->flags & FW_TUNES) != 0,
		.tried = u->tried, /* borrowed */
	};
	m.role = u->role;
	snprintf(m.provider, sizeof m.provider, "%s", u->provider->name);
	snprintf(m.config, sizeof m.config, "%s", u->config);
	record_send(c->runner->records, &(struct msg){ .t = MSG_WORK, .u.work = m });
	c->work = m;
}

struct capture {
	struct checker *checker;
	int cell;
	uint32_t phase;
	struct failure *failure;
};

static int capture_enqueue(void *arg, void *stream)
{
	struct capture *c = arg;
	(void)stream; /* side_enqueue uses the same stream */
	return side_enqueue(c->checker->side, c->phase, c->failure);
}

static void capture_node(void *arg, const struct device_node *node)
{
	const struct capture *c = arg;
	struct msg_node m = {
		.cell = c->checker->runner->task->index[c->cell],
		.grid = { node->grid[0], node->grid[1], node->grid[2] },
		.block = { node->block[0], node->block[1], node->block[2] },
		.registers = node->registers,
		.local_bytes = node->local_bytes,
		.shared_bytes = node->shared_bytes,
		.sm = node->sm,
	};
	m.role = c->checker->side->role;
	snprintf(m.phase, sizeof m.phase, "%s", problem_phase_name(c->checker->side->problem, c->phase));
	snprintf(m.kernel, sizeof m.kernel, "%s", node->kernel);
	if (node->symbol)
		hash_hex(node->symbol, strlen(node->symbol), m.symbol_sha256);
	record_send(c->checker->runner->records, &(struct msg){ .t = MSG_NODE, .u.node = m });
}

static int capture_phases(struct checker *c, int i, struct failure *f)
{
	struct runner *r = c->runner;
	struct side *u = c->side;
	/* the calls of a provider that synchronises cannot be captured, and are timed differently */
	if (!r->ops->queues || (u->provider->flags & FW_SYNCS))
		return 0;
	for (uint32_t bit = 1; bit < FW_ALL; bit <<= 1) {
		struct failure inner = { 0 };
		struct capture arg = { .checker = c, .cell = i, .phase = bit, .failure = &inner };
		struct fw_err err = { 0 };
		if (!(u->phases & bit) || r->ops->capture(r->dev, capture_enqueue, &arg, capture_node, &arg, &err) == 0)
			continue;
		return failure_set(f, "abi",
			"phase %s cannot be captured into a graph: %.200s%s%.200s; enqueue must neither allocate nor synchronise",
			problem_phase_name(u->problem, bit), err.text, inner.name[0] ? ": " : "", inner.detail);
	}
	return 0;
}

static void note_time(struct checker *c)
{
	const struct runner *r = c->runner;
	double ms = r->ops->work ? 0 : (double)r->ops->elapsed_ms(r->dev, 0, 1);
	if (ms <= 0 || (c->alone_ms > 0 && ms >= c->alone_ms))
		return;
	c->alone_ms = ms;
	c->alone_mhz = r->ops->clocks ? (double)r->ops->clock_mhz(r->dev, 0) : 0;
}

/* Without a clock reading, the shortest of several calls is closest to an undisturbed one. */
static int note_more_times(struct checker *c, const struct side_way *way, struct failure *f)
{
	const struct device_ops *ops = c->runner->ops;
	double until_us = ops->host_us(c->runner->dev) + MORE_TIMES_US;
	for (int i = 0; !ops->clocks && i < MORE_TIMES_MAX && ops->host_us(c->runner->dev) < until_us; i++) {
		if (side_call(c->side, way, f) != 0)
			return -1;
		note_time(c);
	}
	return 0;
}

/* Make a call as in timing: with new inputs, and an immediate check of its outputs. */
static int watched_call(struct checker *c, struct problem *p, double visits, struct failure *f)
{
	struct spot_check w;
	int result = spot_check_open(&w, c->runner, p, SPOT_CHECK_OTHER, visits, f);
	if (result == 0)
		result = spot_check_call(
			&w, c->side, POISON_PLAIN, c->runner->ops->clocks, "with other inputs on the same plan: ", f);
	if (result == 0)
		note_time(c);
	spot_check_close(&w);
	return result;
}

/* Change the data of the problem without a new plan. */
static int change_problem(struct checker *c, struct problem *p, struct failure *f)
{
	struct side *u = c->side;
	struct fw_err err = { 0 };
	if (problem_second(p, &err) != 0)
		return failure_device(f, p, &err);
	if (!p->needs_forward)
		return 0;
	struct side forward = { .module = u->module };
	forward.role = u->role;
	memcpy(forward.provider_name, u->provider_name, sizeof forward.provider_name);
	return forward_run(&forward, p, &(struct forward_check){ .seed = runner_secret(c->runner), .visits = WATCHED_VISITS }, f);
}

/* Make one call on these inputs. `inputs` NULL: the named ones. */
static int call_on(struct checker *c, struct problem *p, struct input_variant *inputs, double visits, const char *with,
	struct accept_result *result, struct failure *f)
{
	const struct side_way way = { .inputs = inputs, .poison = POISON_NAN, .workspace_fill = WORKSPACE_THIRD };
	struct verifier v;
	struct fw_err err = { 0 };
	if (inputs && forward_hold_inputs(p, f) != 0)
		return -1;
	if (inputs && variant_sum(p, inputs, &err) != 0)
		return failure_device(f, p, &err);
	if (side_call(c->side, &way, f) != 0)
		return -1;
	int rc = verifier_open(&v, p, p->cell.direction, runner_secret(c->runner), visits, f);
	if (rc == 0)
		rc = verifier_result(&v, with, result, f);
	verifier_close(&v);
	return rc;
}

/* Change all inputs, and the forward's results with them. */
static int call_on_all_inputs(
	struct checker *c, struct problem *p, double visits, struct accept_result *result, struct failure *f)
{
	struct input_variant any;
	spot_check_draw(c->runner, p, SPOT_CHECK_OTHER, &any);
	return call_on(c, p, &any, visits, "with other inputs on the same plan: ", result, f);
}

/* Change all inputs except the first, and the forward's results with them. */
static int call_on_other_inputs(
	struct checker *c, struct problem *p, double visits, struct accept_result *result, struct failure *f)
{
	struct input_variant others;
	char names[60], with[120];
	spot_check_draw(c->runner, p, SPOT_CHECK_OTHERS, &others);
	spot_check_names(p, SPOT_CHECK_OTHERS, names, sizeof names);
	snprintf(with, sizeof with, "with other %s on the same plan: ", names[0] ? names : "inputs");
	return call_on(c, p, &others, visits, with, result, f);
}

/* After a failure on another problem: find whether layout data, the first inputs or the other inputs cause it. */
static int name_the_change(
	struct checker *c, struct problem *p, bool second, double visits, struct accept_result *result, struct failure *f)
{
	struct input_variant first;
	struct failure one = { 0 };
	char names[60], with[120];
	spot_check_draw(c->runner, p, SPOT_CHECK_FIRST, &first);
	snprintf(with, sizeof with, "with %s on the same plan: ", second ? p->family->second_words : "");
	if (!second || call_on(c, p, NULL, visits, with, result, &one) == 0) {
		spot_check_names(p, SPOT_CHECK_FIRST, names, sizeof names);
		snprintf(with, sizeof with, "with another %s on the same plan: ", names);
		call_on(c, p, &first, visits, with, result, &one);
	}
	if (!one.name[0])
		call_on_other_inputs(c, p, visits, result, &one);
	if (one.name[0])
		*f = one;
	return -1;
}

/* Change inputs and problem at once, on the same plan; find the cause only after a failure. */
static int other_problem(struct checker *c, struct problem *p, struct accept_result *result, struct failure *f)
{
	bool second = problem_has_second(p);
	double visits = second ? SECOND_VISITS : WATCHED_VISITS;
	if (second && change_problem(c, p, f) != 0)
		return -1;
	int rc = c->runner->ops->work ? call_on_all_inputs(c, p, visits, result, f) : watched_call(c, p, visits, f);
	return rc == 0 || strcmp(f->name, "wrong") != 0 ? rc : name_the_change(c, p, second, visits, result, f);
}

/*
 * Repeat the call on the same inputs with other bytes in the workspace and separate phases. Bitwise equality is reported, not
 * judged.
 */
static int call_again(struct checker *c, struct problem *p, struct failure *f)
{
	struct fw_err err = { 0 };
	const struct side_way again = { .poison = POISON_NAN, .workspace_fill = WORKSPACE_SECOND, .one_by_one = true };
	uint64_t first, second;
	if (problem_outputs_sum(p, &first, &err) != 0)
		return failure_device(f, p, &err);
	if (side_call(c->side, &again, f) != 0)
		return -1;
	if (problem_outputs_sum(p, &second, &err) != 0)
		return failure_device(f, p, &err);
	c->repeats = first == second ? "same" : "differs";
	return 0;
}

/* After a failure of the second call: find whether the workspace or the separate phases cause it. */
static int separate_causes(struct checker *c, struct verifier *v, struct accept_result *result, struct failure *f)
{
	const struct side_way at_once = { .poison = POISON_NAN, .workspace_fill = WORKSPACE_SECOND };
	struct failure whole = { 0 };
	if (strcmp(f->name, "wrong") == 0 &&
		(side_call(c->side, &at_once, &whole) != 0 ||
			verifier_result(v, "with other bytes in its workspace: ", result, &whole) != 0))
		*f = whole;
	return -1;
}

/* Repeat the call under other conditions, which must give the same result. `result`: of the first wrong call. */
static int examine_calls(
	struct checker *c, int i, struct verifier *v, struct problem *p, struct accept_result *result, struct failure *f)
{
	struct accept_result other = { .ok = true };
	if (verifier_result(v, "", result, f) != 0 || call_again(c, p, f) != 0)
		return -1;
	if (verifier_result(v, "with its phases one by one: ", &other, f) != 0) {
		*result = other;
		return separate_causes(c, v, result, f);
	}
	if (capture_phases(c, i, f) != 0 || side_wait(c->side, f) != 0)
		return -1;
	if (other_problem(c, p, &other, f) == 0)
		return 0;
	if (!other.ok)
		*result = other;
	return -1;
}

static int examine(struct checker *c, int i, struct problem *p, struct accept_result *result, struct failure *f)
{
	const struct side_way plain = { .poison = POISON_NAN, .workspace_fill = WORKSPACE_FIRST, .cold = c->runner->ops->clocks };
	struct side *u = c->side;
	struct verifier v;

	runner_at(c->runner, i, u, "plan");
	runner_pin(c->runner, i, u);
	if (problem_poison(p, POISON_PLAIN, f) != 0) /* unwritten buffers may take no memory yet */
		return -1;
	int64_t before = taken_bytes(c);
	int64_t begin_ns = clock_mono_ns();
	if (side_plan(u, p, p->cell.direction, f) != 0)
		return -1;
	if ((u->provider->flags & FW_TUNES) && side_plan_again(u, f) != 0)
		return -1;
	double plan_ms = 1e-6 * (double)(clock_mono_ns() - begin_ns);
	report_work(c, i);
	runner_at(c->runner, i, u, "check");
	if (side_bind(u, f) != 0 || side_call(u, &plain, f) != 0)
		return -1;
	note_time(c);
	report_first(c, plan_ms, 1e-6 * (double)(clock_mono_ns() - begin_ns), before);
	runner_at(c->runner, i, u, "reference");
	/* draw the positions only after the call */
	int rc = verifier_open(&v, p, p->cell.direction, runner_secret(c->runner), 0, f);
	runner_at(c->runner, i, u, "check");
	if (rc == 0)
		rc = examine_calls(c, i, &v, p, result, f);
	if (rc == 0)
		rc = note_more_times(c, &plain, f);
	verifier_close(&v);
	return rc;
}

/* Compute the module's forward results, which some directions need, and check them. */
static int prepare_forward(struct checker *c, int i, struct problem *p, struct failure *f)
{
	struct runner *r = c->runner;
	const struct forward *forward = NULL;
	for (int k = 0; k < r->task->n_cells; k++)
		if (c->forward[k].known && strcmp(r->task->cell[k].case_key, p->cell.case_key) == 0)
			forward = &c->forward[k];
	if (forward && forward->failure[0])
		return failure_set(f, forward->failure, "%s starts from the forward's result, which was not accepted",
			direction_name(p->cell.direction));
	runner_at(r, i, c->side, "forward");
	spot_check_vary(r, p);
	/* the module may compute other forward results for another direction */
	const struct forward_check check = { .seed = runner_secret(r), .visits = forward ? WATCHED_VISITS : 0 };
	return forward_run(c->side, p, &check, f);
}

static void check_cell(struct checker *c, int i)
{
	struct runner *r = c->runner;
	const struct cell *cell = &r->task->cell[i];
	struct msg_check m = { .cell = r->task->index[i] };
	struct accept_result result = { .error_ratio = -1 };
	struct failure f = { 0 };
	struct fw_err err = { 0 };
	struct problem p;

	c->repeats = "";
	c->alone_ms = c->alone_mhz = 0;
	m.role = c->side->role;
	runner_at(r, i, c->side, "inputs");
	int rc = problem_open(&p, r->ops, r->dev, cell, &err);
	if (rc != 0) {
		problem_close(&p);
		runner_error(r, i, &err);
		return;
	}
	if (p.needs_forward)
		rc = prepare_forward(c, i, &p, &f);
	if (rc == 0)
		rc = examine(c, i, &p, &result, &f);
	if (cell->direction == DIRECTION_FORWARD) {
		c->forward[i].known = true;
		memcpy(c->forward[i].failure, f.name, sizeof f.name);
	}
	memcpy(m.input_sha256, p.input_sha256, sizeof m.input_sha256);
	if (strcmp(f.name, "device") == 0 || f.by == ROLE_DEVICE) {
		runner_fault(r, i, NULL, &f);
	} else {
		m.ok = rc == 0;
		m.error_ratio = result.error_ratio;
		m.alone_ms = rc == 0 ? c->alone_ms : 0;
		m.alone_mhz = rc == 0 ? c->alone_mhz : 0;
		snprintf(m.repeats, sizeof m.repeats, "%s", rc == 0 ? c->repeats : "");
		snprintf(m.failure, sizeof m.failure, "%s", f.name);
		snprintf(m.detail, sizeof m.detail, "%s", rc != 0 ? f.detail : result.detail);
		record_send(r->records, &(struct msg){ .t = MSG_CHECK, .u.check = m });
		r->lost = r->lost || f.lost;
	}
	if (!r->lost) {
		side_unplan(c->side);
		problem_close(&p);
	}
}

int mode_check_run(struct runner *r)
{
	for (int k = 0; k < r->n_sides; k++) {
		struct checker c = { .runner = r, .side = &r->side[k] };
		for (int i = 0; c.side->loaded && i < r->task->n_cells && !r->lost; i++)
			check_cell(&c, i);
	}
	return r->lost ? RUNNER_LOST : r->records->failed ? RUNNER_ERROR : 0;
}
