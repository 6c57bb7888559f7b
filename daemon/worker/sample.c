/*
 * sample.c - sampling processes. Sampling needs the same permissions as counters, so it is tried where they were read. A
 * process that dies or hangs here does not invalidate the counters.
 */
#include "worker/internal.h"

struct turn {
	struct buffered *buffered;
	int side;
	bool is_done[EVIDENCE_CELLS_MAX];
	int n_done;
};

static void refuse(struct turn *t, struct buffered_cell *c, const char *what, const char *why)
{
	snprintf(
		c->stalls_why, sizeof c->stalls_why, "%s: %s%s%.300s", t->side ? "target" : "base", what, *what ? ": " : "", why);
	t->n_done += !t->is_done[c - t->buffered->cell];
	t->is_done[c - t->buffered->cell] = true;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct turn *t = arg;
	struct buffered_cell *c;
	switch (m->t) {
	case MSG_STALLS:
		c = buffered_find(t->buffered, m->u.stalls.cell);
		return c ? buffered_add_stalls(&c->stalls[t->side], &m->u.stalls, err)
			 : err_set(err, ERR_PROTOCOL, "the runner sent samples of another cell");
	case MSG_PROFILE:
		c = buffered_find(t->buffered, m->u.profile.cell);
		if (!c)
			return err_set(err, ERR_PROTOCOL, "the runner sent a profile of another cell");
		c->gpu_s += m->u.profile.gpu_s;
		if (m->u.profile.why[0])
			refuse(t, c, "", m->u.profile.why);
		t->n_done += !t->is_done[c - t->buffered->cell];
		t->is_done[c - t->buffered->cell] = true;
		return 0;
	case MSG_FAULT:
		for (int i = 0; i < t->buffered->n; i++)
			if (m->u.fault.cell < 0 || m->u.fault.cell == t->buffered->cell[i].cell)
				refuse(t, &t->buffered->cell[i], m->u.fault.failure, m->u.fault.detail);
		return 0;
	case MSG_AT:
	case MSG_NOTE:
		return bench_send(t->buffered->bench, m, err);
	default:
		return err_set(err, ERR_PROTOCOL, "the runner sent an unexpected record instead of samples");
	}
}

static bool is_wanted(const struct buffered_cell *c)
{
	return buffered_is_counted(c) && c->process[0][0].passes > 0 && !c->is_hung && !c->stalls_why[0];
}

/* The cell without an answer that the process was at, else the first without; NULL: all have one. */
static struct buffered_cell *to_blame(const struct turn *t, const struct runner_end *end, const int *list, int n)
{
	struct buffered_cell *found = NULL;
	for (int i = 0; i < n; i++) {
		struct buffered_cell *c = buffered_find(t->buffered, list[i]);
		if (!t->is_done[c - t->buffered->cell] && (!found || c->cell == end->cell))
			found = c;
	}
	return found;
}

/* Repeat until each wanted cell has its answer; a process that dies loses the cell that it was at. */
static int run_turn(struct turn *t, struct fw_err *err)
{
	struct buffered *k = t->buffered;
	struct bench *b = k->bench;
	for (;;) {
		int list[EVIDENCE_CELLS_MAX], n = 0, before = t->n_done;
		for (int i = 0; i < k->n; i++)
			if (!t->is_done[i] && is_wanted(&k->cell[i]))
				list[n++] = k->cell[i].cell;
		if (n == 0 || b->lost)
			return 0;
		struct runner_task task = { .mode = RUN_PROFILE,
			.seed = b->seed,
			.n_subjects = 1,
			.subject = { t->side ? b->target : b->base },
			.n_cells = n,
			.cell = list,
			.samples = true,
			.deadline_s = collect_deadline_s(b),
			.record = take_record,
			.arg = t };
		struct runner_end end;
		if (runner_child_run(b, &task, &end, err) != 0 || health_check_after(b, &end, err) != 0)
			return -1;
		struct buffered_cell *c = to_blame(t, &end, list, n);
		if (c && (end.failure[0] || t->n_done == before))
			refuse(t, c, end.failure[0] ? end.failure : "crash",
				end.failure[0] ? end.detail : "it ended without a message");
	}
}

int sample_stalls(struct buffered *k, struct fw_err *err)
{
	for (int side = 0; side < BUFFERED_SIDES; side++) {
		struct turn t = { .buffered = k, .side = side };
		if (run_turn(&t, err) != 0)
			return -1;
	}
	/* one side only is no comparison */
	for (int i = 0; i < k->n; i++)
		for (int side = 0; side < BUFFERED_SIDES && k->cell[i].stalls_why[0]; side++)
			buffered_clear_stalls(&k->cell[i].stalls[side]);
	return 0;
}
