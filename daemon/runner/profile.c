/*
 * profile.c - single calls, each from the same state: inputs restored, outputs poisoned, the cache displaced. The GPU counts
 * some metrics in each until all are counted; counted range i is kernel i of the call.
 */
#include "runner/internal.h"

enum { EXTRA_RANGES = 16, PHASES = 16, PHASE_CALLS = 5 };
_Static_assert(FW_ALL < 1 << PHASES, "each phase has an index");

/* The replays of longer calls only count what needs few replays. */
#define LONG_CALL_MS 300.0

struct profiled {
	struct runner *runner;
	struct side *side;
	struct problem *problem;
	int i; /* index of the cell in the task */
	struct launched kernels;
	struct msg_profile about;
	double call_ms;
	bool is_timed; /* at least one kernel */
};

/* Make the first call, uncounted, which loads code and shows the length of a call. */
static int warm(struct profiled *p, struct failure *f)
{
	struct runner *r = p->runner;
	struct side *u = p->side;

	runner_at(r, p->i, u, "warm");
	if (prepare_call(r, u, f) != 0 || side_mark(u, 0, f) != 0 || side_timed(u, f) != 0 || side_mark(u, 1, f) != 0 ||
		side_wait(u, f) != 0)
		return -1;
	p->call_ms = (double)r->ops->elapsed_ms(r->dev, 0, 1);
	return 0;
}

/* Assign the values of `c` to kernels. The driver may run copies and fills as kernels, which then are counted. */
static int give_values(struct profiled *p, const struct counter *c, struct fw_err *err)
{
	struct launched *l = &p->kernels;
	bool with_others = c->ranges == (size_t)l->n;
	double *value = mem_alloc_zero(c->schedule.n_names + 1, sizeof *value);
	int result = 0;
	size_t range = 0;
	if (!with_others && c->ranges != (size_t)l->n_kernels)
		result = err_set(err, ERR_UNSUPPORTED,
			"the GPU counted %zu kernels, but the call runs %d: the counts cannot be assigned", c->ranges,
			l->n_kernels);
	for (int k = 0; result == 0 && k < l->n; k++) {
		struct msg_kernel *node = &l->node[k];
		if (!with_others && !l->is_kernel[k])
			continue;
		result = counter_read(c, range++, value, err);
		node->value = result == 0 ? mem_alloc_zero(c->schedule.n_names + 1, sizeof *node->value) : NULL;
		for (size_t m = 0; node->value && m < c->schedule.n_names; m++) {
			struct evidence_value *v = &node->value[node->n_values++];
			snprintf(v->metric, sizeof v->metric, "%s", c->schedule.name[m]);
			v->value = value[m];
			if (strcmp(v->metric, "gpu__time_duration.sum") == 0)
				node->ms = value[m] * 1e-6;
		}
	}
	free(value);
	return result;
}

/* Count by replays of the call. Returns -1 with `f` if the call failed, with `err` if its counters could not be read. */
static int replay(struct profiled *p, struct counter *c, struct fw_err *err, struct failure *f)
{
	while (!c->is_done) {
		if (prepare_call(p->runner, p->side, f) != 0)
			return -1;
		runner_at(p->runner, p->i, p->side, "count");
		if (counter_begin(c, err) != 0)
			return -1;
		if (side_timed(p->side, f) != 0 || side_wait(p->side, f) != 0)
			return -1;
		if (counter_end(c, err) != 0)
			return -1;
	}
	return counter_decode(c, err) == 0 ? give_values(p, c, err) : -1;
}

static int count(struct profiled *p, struct fw_err *err, struct failure *f)
{
	struct runner *r = p->runner;
	struct counter c = { 0 };
	int driver_index = 0;
	if (!r->ops->context)
		return err_set(err, ERR_UNSUPPORTED, "device %s has no counters", device_kind_name(r->ops->kind));
	if (p->kernels.n == 0)
		return err_set(err, ERR_UNSUPPORTED, "the call runs no kernel");
	if (p->kernels.is_cut)
		return err_set(err, ERR_UNSUPPORTED, "the call runs more than %d kernels", EVIDENCE_KERNELS_MAX);
	void *context = r->ops->context(r->dev, &driver_index);
	if (!context)
		return err_set(err, ERR_UNSUPPORTED, "the driver does not give its context");
	runner_at(r, p->i, p->side, "count");
	int n = p->call_ms > LONG_CALL_MS ? METRICS_BASIC : METRICS;
	int result = counter_open(&c, context, driver_index, (size_t)p->kernels.n + EXTRA_RANGES, metric_names, (size_t)n, err);
	if (result == 0)
		result = replay(p, &c, err, f);
	if (c.cupti)
		cupti_name(c.cupti, p->about.tool, sizeof p->about.tool);
	p->about.passes = result == 0 ? c.made : 0;
	if (!f->lost) /* a failed context returns nothing */
		counter_close(&c);
	return result;
}

/* Find the only node of a phase; NULL: several, or none. */
static struct msg_kernel *only_kernel(struct launched *l, const char *phase)
{
	struct msg_kernel *found = NULL;
	for (int k = 0; k < l->n; k++) {
		if (strcmp(l->node[k].phase, phase) != 0)
			continue;
		if (found || !l->is_kernel[k])
			return NULL;
		found = &l->node[k];
	}
	return found;
}

/* Without a tracer: time each phase, and so the kernel that is alone in it. */
static int time_phases(struct profiled *p, struct failure *f)
{
	const struct device_ops *ops = p->runner->ops;
	struct device *dev = p->runner->dev;
	float ms[PHASES][PHASE_CALLS];
	for (int call = 0; call < PHASE_CALLS; call++) {
		int mark = 0;
		if (prepare_call(p->runner, p->side, f) != 0)
			return -1;
		runner_at(p->runner, p->i, p->side, "phase");
		if (side_mark(p->side, mark, f) != 0)
			return -1;
		for (uint32_t bit = 1; bit < FW_ALL; bit <<= 1) {
			if (!(p->side->phases & p->side->timed & bit))
				continue;
			if (side_enqueue(p->side, bit, f) != 0 || side_mark(p->side, ++mark, f) != 0)
				return -1;
		}
		if (side_wait(p->side, f) != 0)
			return -1;
		for (int m = 0; m < mark; m++)
			ms[m][call] = ops->elapsed_ms(dev, m, m + 1);
	}
	int m = 0;
	for (uint32_t bit = 1; bit < FW_ALL; bit <<= 1) {
		if (!(p->side->phases & p->side->timed & bit))
			continue;
		struct msg_kernel *alone = only_kernel(&p->kernels, problem_phase_name(p->problem, bit));
		if (alone) {
			alone->ms = stats_median(ms[m], PHASE_CALLS);
			p->is_timed = true;
		}
		m++;
	}
	return 0;
}

/* Without counters: time each kernel, or at least those that are alone in their phase. */
static int time_kernels(struct profiled *p, struct failure *f)
{
	struct fw_err untraced = { 0 };
	if (kerneltimes_take(p->runner, p->i, p->side, &p->kernels, f, &untraced) == 0) {
		p->is_timed = true;
		return 0;
	}
	return f->name[0] ? -1 : time_phases(p, f);
}

static void forget_counters(struct launched *l)
{
	for (int k = 0; k < l->n; k++) {
		l->node[k].n_values = 0;
		l->node[k].ms = -1;
	}
}

static void report(struct profiled *p, const char *why)
{
	struct runner *r = p->runner;
	bool is_counted = p->about.passes > 0;
	for (int k = 0; k < p->kernels.n; k++)
		record_send(r->records, &(struct msg){ .t = MSG_KERNEL, .u.kernel = p->kernels.node[k] });
	p->about.path = is_counted ? EVIDENCE_RANGE : p->is_timed ? EVIDENCE_ACTIVITY : EVIDENCE_CODE;
	snprintf(p->about.why, sizeof p->about.why, "%.399s", is_counted ? "" : why);
	record_send(r->records, &(struct msg){ .t = MSG_PROFILE, .u.profile = p->about });
}

/* Sample stalls instead of counters and kernels, which another process provides. */
static int sample_cell(struct profiled *p, bool is_listed, struct fw_err *err, struct failure *f)
{
	struct runner *r = p->runner;
	const struct stalls_call call = {
		.runner = r, .side = p->side, .i = p->i, .kernels = &p->kernels, .call_ms = p->call_ms
	};
	if (is_listed && stalls_take(&call, f, err) != 0 && f->name[0])
		return -1;
	p->about.path = EVIDENCE_CODE;
	snprintf(p->about.why, sizeof p->about.why, "%.399s", err->text);
	return 0;
}

static int profile_cell(struct profiled *p, struct failure *f)
{
	struct runner *r = p->runner;
	struct side *u = p->side;
	struct fw_err err = { 0 };
	double from_us = r->ops->host_us(r->dev);
	runner_at(r, p->i, u, "plan");
	u->pin = NULL;
	if (p->problem->needs_forward && forward_run(u, p->problem, NULL, f) != 0)
		return -1;
	runner_pin(r, p->i, u);
	if (side_plan(u, p->problem, p->problem->cell.direction, f) != 0 || side_bind(u, f) != 0)
		return -1;
	p->about.tunes = (u->provider->flags & FW_TUNES) != 0;
	snprintf(u->role == ROLE_BASE ? p->about.base_config : p->about.target_config, sizeof p->about.base_config, "%s",
		u->config);
	*(u->role == ROLE_BASE ? &p->about.base_tried : &p->about.target_tried) = u->tried; /* borrowed */
	u->pass_time = r->ops->work != NULL;
	if (warm(p, f) != 0)
		return -1;
	bool is_listed = launched_list(&p->kernels, r, p->i, u, &err) == 0;
	if (r->task->samples) {
		if (sample_cell(p, is_listed, &err, f) != 0)
			return -1;
		p->about.gpu_s = (r->ops->host_us(r->dev) - from_us) * 1e-6;
		record_send(r->records, &(struct msg){ .t = MSG_PROFILE, .u.profile = p->about });
		return 0;
	}
	if (is_listed && r->task->counters && count(p, &err, f) != 0 && f->name[0])
		return -1;
	if (is_listed && !r->task->counters)
		err_set(&err, ERR_UNSUPPORTED, "counters were not requested");
	if (p->about.passes == 0)
		forget_counters(&p->kernels);
	if (is_listed && p->about.passes == 0 && r->ops->queues && time_kernels(p, f) != 0)
		return -1;
	p->about.gpu_s = (r->ops->host_us(r->dev) - from_us) * 1e-6;
	report(p, err.text);
	return 0;
}

int mode_profile_run(struct runner *r)
{
	if (r->n_sides != 1 || !r->side[0].loaded)
		return 0; /* the fault record has been written */
	for (int i = 0; i < r->task->n_cells && !r->lost && !r->records->failed; i++) {
		struct problem problem;
		struct profiled p = {
			.runner = r, .side = &r->side[0], .problem = &problem, .i = i, .about = { .cell = r->task->index[i] }
		};
		struct failure f = { 0 };
		struct fw_err err = { 0 };
		if (problem_open(&problem, r->ops, r->dev, &r->task->cell[i], &err) != 0)
			runner_error(r, i, &err);
		else if (profile_cell(&p, &f) != 0)
			runner_fault(r, i, p.side, &f);
		launched_free(&p.kernels);
		if (r->lost)
			break;
		side_unplan(p.side);
		problem_close(&problem);
	}
	return r->lost ? RUNNER_LOST : r->records->failed ? RUNNER_ERROR : 0;
}
