/* collect.c - counting processes. One that dies loses the cell that it died in, and is started again for the others. */
#include "worker/internal.h"

#define DEADLINE_S 30.0

struct turn {
	struct buffered *buffered;
	int side, repeat;
	bool counters;
	bool is_done[EVIDENCE_CELLS_MAX];
	int n_done;
};

double collect_deadline_s(const struct bench *b)
{
	return b->limits.run_s < DEADLINE_S ? b->limits.run_s : DEADLINE_S;
}

static int subject_of(const struct bench *b, int side)
{
	return side ? b->target : b->base;
}

static void take_end(struct turn *t, struct buffered_cell *c, struct msg_profile *m)
{
	struct bench *b = t->buffered->bench;
	struct buffered_process *p = &c->process[t->side][t->repeat];
	snprintf(p->config, sizeof p->config, "%s", t->side ? m->target_config : m->base_config);
	snprintf(p->tool, sizeof p->tool, "%s", m->tool);
	struct tried *tried = t->side ? &m->target_tried : &m->base_tried;
	if (tried->n) {
		tried_fini(&c->tried[t->side]);
		c->tried[t->side] = *tried;
		*tried = (struct tried){ 0 };
	}
	p->is_there = true;
	p->is_counted = t->counters && m->path == EVIDENCE_RANGE;
	p->is_timed = m->path == EVIDENCE_ACTIVITY;
	p->passes = m->passes;
	c->gpu_s += m->gpu_s;
	if (t->counters && !p->is_counted)
		buffered_why(c, "%s", m->why);
	t->is_done[c - t->buffered->cell] = true;
	t->n_done++;
	/* the next process must run the configuration that this one found */
	if (m->tunes && p->config[0])
		bench_pin(b, subject_of(b, t->side), c->cell, p->config);
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct turn *t = arg;
	struct bench *b = t->buffered->bench;
	struct buffered_cell *c;
	switch (m->t) {
	case MSG_KERNEL:
		c = buffered_find(t->buffered, m->u.kernel.cell);
		if (!c || m->u.kernel.repeat != t->repeat)
			return err_set(err, ERR_PROTOCOL, "the runner sent a kernel of another process");
		bench_code(
			&b->subject[subject_of(b, t->side)], m->u.kernel.symbol_sha256, m->u.kernel.sm, m->u.kernel.code_sha256);
		return buffered_kernel(&c->process[t->side][t->repeat], &m->u.kernel, err);
	case MSG_PROFILE:
		c = buffered_find(t->buffered, m->u.profile.cell);
		if (!c)
			return err_set(err, ERR_PROTOCOL, "the runner sent a profile of another cell");
		take_end(t, c, &m->u.profile);
		return 0;
	case MSG_FAULT:
		for (int i = 0; i < t->buffered->n; i++) {
			c = &t->buffered->cell[i];
			if (m->u.fault.cell >= 0 && m->u.fault.cell != c->cell)
				continue;
			buffered_why(c, "%s: %s: %s", role_name(m->u.fault.role), m->u.fault.failure, m->u.fault.detail);
			t->n_done += !t->is_done[i];
			t->is_done[i] = true;
		}
		return 0;
	case MSG_AT:
	case MSG_NOTE:
		return bench_send(b, m, err);
	default:
		return err_set(err, ERR_PROTOCOL, "the runner sent an unexpected record instead of kernels");
	}
}

/* The process ended before a cell's answer: blame the cell that it was at, else the first without an answer. */
static void blame(struct turn *t, const struct runner_end *end, const int *list, int n)
{
	struct buffered *k = t->buffered;
	struct buffered_cell *c = buffered_find(k, list[0]);
	for (int i = 0; i < n; i++)
		if (list[i] == end->cell)
			c = buffered_find(k, list[i]);
	bool hung = strcmp(end->failure, "timeout") == 0;
	buffered_why(c, "%s: %s%s%s", role_name(end->role), end->failure[0] ? end->failure : "crash", end->failure[0] ? ": " : "",
		end->failure[0] ? end->detail : " without a message");
	c->is_hung = c->is_hung || (hung && t->counters);
	if (hung && t->counters)
		buffered_why(c, "kernels that wait for each other cannot be counted: counting runs them one by one");
	buffered_clear(&c->process[t->side][t->repeat]);
	t->is_done[c - k->cell] = true;
	t->n_done++;
}

/* Repeat until each wanted cell has its answer. Shape: want[n]. */
static int run_turn(struct turn *t, const bool *want, struct fw_err *err)
{
	struct buffered *k = t->buffered;
	for (;;) {
		int list[EVIDENCE_CELLS_MAX], n = 0, before = t->n_done;
		for (int i = 0; i < k->n; i++)
			if (want[i] && !t->is_done[i])
				list[n++] = k->cell[i].cell;
		if (n == 0 || k->bench->lost)
			return 0;
		struct runner_task task = { .mode = RUN_PROFILE,
			.seed = k->bench->seed,
			.n_subjects = 1,
			.subject = { subject_of(k->bench, t->side) },
			.n_cells = n,
			.cell = list,
			.repeat = t->repeat,
			.counters = t->counters,
			.deadline_s = collect_deadline_s(k->bench),
			.record = take_record,
			.arg = t };
		struct runner_end end;
		if (runner_child_run(k->bench, &task, &end, err) != 0 || health_check_after(k->bench, &end, err) != 0)
			return -1;
		if (end.failure[0] || t->n_done == before) {
			bool any_left = false;
			for (int i = 0; i < n; i++)
				any_left = any_left || !t->is_done[buffered_find(k, list[i]) - k->cell];
			if (any_left)
				blame(t, &end, list, n);
		}
	}
}

int collect_counters(struct buffered *k, struct fw_err *err)
{
	static const struct {
		int side, repeat;
	} order[] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
	bool want[EVIDENCE_CELLS_MAX];
	for (int i = 0; i < k->n; i++)
		want[i] = true;
	for (size_t o = 0; o < sizeof order / sizeof order[0]; o++) {
		struct turn t = { .buffered = k, .side = order[o].side, .repeat = order[o].repeat, .counters = true };
		if (run_turn(&t, want, err) != 0)
			return -1;
		for (int i = 0; i < k->n; i++)
			want[i] = want[i] && k->cell[i].process[t.side][t.repeat].is_counted;
	}
	return 0;
}

int collect_kernels(struct buffered *k, int repeat, struct fw_err *err)
{
	for (int side = 0; side < BUFFERED_SIDES; side++) {
		struct turn t = { .buffered = k, .side = repeat ? !side : side, .repeat = repeat };
		bool want[EVIDENCE_CELLS_MAX];
		for (int i = 0; i < k->n; i++) {
			struct buffered_cell *c = &k->cell[i];
			struct buffered_process *p = &c->process[t.side][repeat];
			want[i] = !buffered_is_counted(c) && (!p->is_there || p->is_counted);
			if (want[i])
				buffered_clear(p); /* counted here but not in another process: no comparison */
		}
		if (run_turn(&t, want, err) != 0)
			return -1;
	}
	return 0;
}
