/*
 * collect.c - counting and sampling processes. If a process dies, the current cell fails and another process continues with the
 * other cells. Sampling needs the same permissions as counters, so it is tried only for cells with counters; a process that dies
 * or hangs meanwhile does not invalidate them.
 */
#include "worker/internal.h"

#define DEADLINE_S 30.0

struct collection {
	struct buffered *buffered;
	int side, repeat;
	bool counters, samples;
	bool want[EVIDENCE_CELLS_MAX], is_done[EVIDENCE_CELLS_MAX];
	int n_done;
};

double collect_deadline_s(const struct bench *b)
{
	return b->limits.run_s < DEADLINE_S ? b->limits.run_s : DEADLINE_S;
}

static int side_of(const struct collection *t)
{
	return t->side ? t->buffered->bench->target : t->buffered->bench->base;
}

static void set_done(struct collection *t, const struct buffered_cell *c)
{
	t->n_done += !t->is_done[c - t->buffered->cell];
	t->is_done[c - t->buffered->cell] = true;
}

static void set_no_samples(struct collection *t, struct buffered_cell *c, const char *what, const char *why)
{
	snprintf(
		c->stalls_why, sizeof c->stalls_why, "%s: %s%s%.300s", t->side ? "target" : "base", what, *what ? ": " : "", why);
	set_done(t, c);
}

static int take_end(struct collection *t, struct buffered_cell *c, struct msg_profile *m, struct fw_err *err)
{
	struct buffered_process *p = &c->process[t->side][t->repeat];
	struct tried *tried = t->side ? &m->target_tried : &m->base_tried;

	snprintf(p->config, sizeof p->config, "%s", t->side ? m->target_config : m->base_config);
	snprintf(p->tool, sizeof p->tool, "%s", m->tool);
	if (tried->n) {
		tried_fini(&c->tried[t->side]);
		c->tried[t->side] = *tried;
		*tried = (struct tried){ 0 };
	}
	p->is_there = true;
	p->is_counted = t->counters && m->path == EVIDENCE_RANGE;
	p->is_timed = m->path == EVIDENCE_ACTIVITY;
	p->passes = m->passes;
	if (t->counters && !p->is_counted)
		buffered_why(c, "%s", m->why);
	/* the next process must use the configuration that this one found */
	return bench_take_config(t->buffered->bench, side_of(t), c->cell, p->config, m->tunes && p->config[0], err);
}

static void take_fault(struct collection *t, const struct msg_fault *m)
{
	for (int i = 0; i < t->buffered->n; i++) {
		struct buffered_cell *c = &t->buffered->cell[i];

		if (m->cell >= 0 && m->cell != c->cell)
			continue;
		if (t->samples)
			set_no_samples(t, c, m->failure, m->detail);
		else
			buffered_why(c, "%s: %s: %s", role_name(m->role), m->failure, m->detail);
		set_done(t, c);
	}
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct collection *t = arg;
	struct buffered_cell *c;

	if (m->t == MSG_AT || m->t == MSG_NOTE)
		return bench_send(t->buffered->bench, m, err);
	if (m->t == MSG_FAULT) {
		take_fault(t, &m->u.fault);
		return 0;
	}
	if (m->t == MSG_PROFILE) {
		c = buffered_find(t->buffered, m->u.profile.cell);
		if (!c)
			return err_set(err, ERR_PROTOCOL, "the runner sent a profile of another cell");
		c->gpu_s += m->u.profile.gpu_s;
		int result = t->samples ? 0 : take_end(t, c, &m->u.profile, err);

		if (t->samples && m->u.profile.why[0])
			set_no_samples(t, c, "", m->u.profile.why);
		set_done(t, c);
		return result;
	}
	if (m->t == MSG_STALLS && t->samples) {
		c = buffered_find(t->buffered, m->u.stalls.cell);
		return c ? buffered_add_stalls(&c->stalls[t->side], &m->u.stalls, err)
			 : err_set(err, ERR_PROTOCOL, "the runner sent samples of another cell");
	}
	if (m->t != MSG_KERNEL || t->samples)
		return err_set(err, ERR_PROTOCOL, "the runner sent an unexpected record instead of %s",
			t->samples ? "samples" : "kernels");
	c = buffered_find(t->buffered, m->u.kernel.cell);
	if (!c || m->u.kernel.repeat != t->repeat)
		return err_set(err, ERR_PROTOCOL, "the runner sent a kernel of another process");
	bench_code(&t->buffered->bench->side[side_of(t)], m->u.kernel.symbol_sha256, m->u.kernel.sm, m->u.kernel.code_sha256);
	return buffered_kernel(&c->process[t->side][t->repeat], &m->u.kernel, err);
}

/* Record the end of a process without all answers for its current cell, or for the first cell without an answer. */
static void note_end(struct collection *t, const struct runner_end *end, const int *list, int n)
{
	bool named = end->failure[0], hung = strcmp(end->failure, "timeout") == 0;
	struct buffered_cell *c = NULL;

	for (int i = 0; i < n; i++) {
		struct buffered_cell *one = buffered_find(t->buffered, list[i]);

		if (!t->is_done[one - t->buffered->cell] && (!c || one->cell == end->cell))
			c = one;
	}
	if (!c)
		return;
	set_done(t, c);
	if (t->samples) {
		set_no_samples(t, c, named ? end->failure : "crash", named ? end->detail : "ended without a message");
		return;
	}
	buffered_why(c, "%s: %s%s%s", role_name(end->role), named ? end->failure : "crash", named ? ": " : "",
		named ? end->detail : " without a message");
	if (hung && t->counters) {
		c->is_hung = true;
		buffered_why(c, "kernels that wait for each other cannot be counted: counting runs them one by one");
	}
	buffered_clear(&c->process[t->side][t->repeat]);
}

/* Repeat until each wanted cell has its answer. */
static int collect_cells(struct collection *t, struct fw_err *err)
{
	struct bench *b = t->buffered->bench;

	for (;;) {
		int list[EVIDENCE_CELLS_MAX], n = 0, before = t->n_done;
		struct runner_task task = { .mode = TASK_PROFILE,
			.seed = b->seed,
			.n_sides = 1,
			.side = { side_of(t) },
			.cell = list,
			.repeat = t->repeat,
			.counters = t->counters,
			.samples = t->samples,
			.deadline_s = collect_deadline_s(b),
			.record = take_record,
			.arg = t };
		struct runner_end end;

		for (int i = 0; i < t->buffered->n; i++)
			if (t->want[i] && !t->is_done[i])
				list[n++] = t->buffered->cell[i].cell;
		task.n_cells = n;
		if (n == 0 || b->lost)
			return 0;
		if (runner_child_run(b, &task, &end, err) != 0 || health_check_after(b, &end, err) != 0)
			return -1;
		if (end.failure[0] || t->n_done == before)
			note_end(t, &end, list, n);
	}
}

int collect_counters(struct buffered *k, struct fw_err *err)
{
	static const struct {
		int side, repeat;
	} order[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	bool counted[EVIDENCE_CELLS_MAX];

	memset(counted, true, sizeof counted);
	for (size_t o = 0; o < sizeof order / sizeof order[0]; o++) {
		struct collection t = { .buffered = k, .side = order[o].side, .repeat = order[o].repeat, .counters = true };

		memcpy(t.want, counted, sizeof counted);
		if (collect_cells(&t, err) != 0)
			return -1;
		for (int i = 0; i < k->n; i++)
			counted[i] = counted[i] && k->cell[i].process[t.side][t.repeat].is_counted;
	}
	return 0;
}

int collect_kernels(struct buffered *k, int repeat, struct fw_err *err)
{
	for (int side = 0; side < BUFFERED_SIDES; side++) {
		struct collection t = { .buffered = k, .side = repeat ? !side : side, .repeat = repeat };

		for (int i = 0; i < k->n; i++) {
			struct buffered_process *p = &k->cell[i].process[t.side][repeat];

			t.want[i] = !buffered_is_counted(&k->cell[i]) && (!p->is_there || p->is_counted);
			if (t.want[i])
				buffered_clear(p); /* counters of a single process are useless */
		}
		if (collect_cells(&t, err) != 0)
			return -1;
	}
	return 0;
}

int collect_stalls(struct buffered *k, struct fw_err *err)
{
	for (int side = 0; side < BUFFERED_SIDES; side++) {
		struct collection t = { .buffered = k, .side = side, .samples = true };

		for (int i = 0; i < k->n; i++) {
			const struct buffered_cell *c = &k->cell[i];

			t.want[i] = buffered_is_counted(c) && c->process[0][0].passes > 0 && !c->is_hung && !c->stalls_why[0];
		}
		if (collect_cells(&t, err) != 0)
			return -1;
	}
	/* samples of one side only are useless */
	for (int i = 0; i < k->n; i++)
		for (int side = 0; side < BUFFERED_SIDES && k->cell[i].stalls_why[0]; side++)
			buffered_clear_stalls(&k->cell[i].stalls[side]);
	return 0;
}
