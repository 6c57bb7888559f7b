/* swap.c - a run with the target twice: the second time in the role of the reference commit, with the base's configuration. */
#include "worker/internal.h"

#define DEADLINE_S 60.0

struct swapping {
	struct buffered *buffered;
	bool is_reported[EVIDENCE_CELLS_MAX]; /* the reason of cell[i] was sent */
};

static const char *config_of(const struct buffered_cell *c, int side)
{
	return c->process[side][0].config;
}

static bool is_same_provider(const struct bench *b)
{
	return strcmp(b->side[b->base].provider, b->side[b->target].provider) == 0;
}

static bool differs(const struct buffered_cell *c)
{
	return config_of(c, 0)[0] && config_of(c, 1)[0] && strcmp(config_of(c, 0), config_of(c, 1)) != 0;
}

/* Send the reason why a cell has no counterfactual, once; `cell` -1: all cells. */
static int send_reason(struct swapping *s, int cell, const char *what, const char *why, struct fw_err *err)
{
	struct buffered_cell *c = buffered_find(s->buffered, cell);
	if (c && s->is_reported[c - s->buffered->cell])
		return 0;
	if (c)
		s->is_reported[c - s->buffered->cell] = true;
	return bench_send_note(s->buffered->bench, cell, ROLE_TARGET, err, "%s: %.300s", what, why);
}

static int take_times(struct swapping *s, const struct msg_cell *m, struct fw_err *err)
{
	struct buffered_cell *c = buffered_find(s->buffered, m->cell);
	int base = bench_role(m, ROLE_BASE), target = bench_role(m, ROLE_TARGET), with = bench_role(m, ROLE_REFERENCE);
	char why[DEVICE_CHECK_WHY_SIZE];
	if (!c || m->series != SERIES_DEVICE)
		return 0;
	if (base < 0 || target < 0)
		return err_set(err, ERR_PROTOCOL, "the runner sent timings without both sides");
	if (with < 0) /* the runner reports no reason for an unsupported side */
		return send_reason(
			s, m->cell, "with the base's configuration it cannot be timed", "its provider does not accept it", err);
	if (device_check_discards(&m->device_check, why))
		return send_reason(s, m->cell, "with the base's configuration it was not timed", why, err);
	c->has_swap = true;
	c->swap = (struct msg_counterfactual){ .cell = m->cell,
		.base_ms = (double)stats_median(m->ms[base], m->n),
		.target_ms = (double)stats_median(m->ms[target], m->n),
		.with_ms = (double)stats_median(m->ms[with], m->n) };
	snprintf(c->swap.config, sizeof c->swap.config, "%s", config_of(c, 0));
	return 0;
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct swapping *s = arg;
	if (m->t == MSG_CELL)
		return take_times(s, m->u.cell, err);
	if (m->t == MSG_FAULT)
		return send_reason(
			s, m->u.fault.cell, "with the base's configuration it cannot be timed", m->u.fault.detail, err);
	return m->t == MSG_AT ? bench_send(s->buffered->bench, m, err) : 0;
}

/* Add the target again. Returns its index among the sides, -1 on error. */
static int add_again(struct bench *b, struct fw_err *err)
{
	const struct bench_side *target = &b->side[b->target];
	int fd = fcntl(target->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return err_sys(err, "the target's module");
	return bench_add_side(b, ROLE_REFERENCE, target->provider, target->file, fd, target->sha256, err) != 0 ? -1
													       : b->n_sides - 1;
}

int swap_run(struct buffered *k, struct fw_err *err)
{
	struct bench *b = k->bench;
	int list[EVIDENCE_CELLS_MAX], n = 0, again = -1;
	for (int i = 0; i < k->n; i++)
		if (differs(&k->cell[i]))
			list[n++] = k->cell[i].cell;
	if (n == 0 || b->lost || !is_same_provider(b))
		return 0;
	for (int i = 0; i < b->n_sides; i++)
		if (b->side[i].role == ROLE_REFERENCE)
			again = i;
	if (again < 0)
		again = add_again(b, err);
	if (again < 0)
		return -1;
	for (int i = 0; i < n; i++)
		bench_pin(b, again, list[i], config_of(buffered_find(k, list[i]), 0));
	struct swapping s = { .buffered = k };
	struct runner_task task = { .mode = TASK_TIME,
		.run = 1,
		.set = 1,
		.seed = b->seed,
		.n_sides = 3,
		.side = { b->base, b->target, again },
		.n_cells = n,
		.cell = list,
		.deadline_s = DEADLINE_S,
		.record = take_record,
		.arg = &s };
	struct runner_end end;
	if (runner_child_run(b, &task, &end, err) != 0 || health_check_after(b, &end, err) != 0)
		return -1;
	return end.failure[0] ? bench_send_note(b, -1, ROLE_TARGET, err, "with the base's configuration it was not timed: %.300s",
					end.detail)
			      : 0;
}
