/* extra_series.c - passes from an idle stream: whole calls, which decide if the suite requests that, and single phases. */
#include "runner/internal.h"

enum { PHASES = 6 };

#define BETWEEN "between the timed calls: "
#define AFTER   "after the timed calls: "

static int call_pass(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	bool decides = p->how & TIMING_DECIDES;
	struct timing_watch watch;

	timing_choose_watched(t, p->rounds, &watch);
	if (decides)
		runner_device_check(t->runner, t->cell, p->redo, &p->device_check);
	for (int round = 0, calls = 0; round < p->rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = order_side(t->n, t->start, round, k);
			struct side *u = t->side[who];
			struct fw_err err = { 0 };
			bool watched = decides ? timing_is_watched(t, &watch, who, round) : p->how & TIMING_WATCHED;
			if (watched && spot_check_before(t->spot_check, u, f) != 0)
				return -1;
			int later = decides && !watched ? timing_later_before(t, &watch, who, round) : -1;
			if (timing_cold(t, u, f) != 0)
				return -1;
			if (ops->stamp(dev, calls, 0, &err) != 0 || ops->wait(dev, &err) != 0)
				return failure_device(f, t->problem, &err);
			timing_report_at(t, u, "time");
			timing_range(t, u, calls);
			double began = ops->host_us(dev);
			int result = side_bind(u, f);
			if (result == 0)
				result = side_timed(u, f);
			if (result == 0)
				result = side_wait(u, f);
			x->ms[who][round] = timing_at_least((float)((ops->host_us(dev) - began) * 1e-3));
			range_end();
			if (result == 0 && (ops->stamp(dev, calls, 1, &err) != 0 || ops->wait(dev, &err) != 0))
				return failure_device(f, t->problem, &err);
			x->mhz[who][round] = result == 0 ? ops->clock_mhz(dev, calls) : 0;
			if (result == 0 && (watched || later >= 0))
				result = side_behind(u, f);
			if (result == 0 && later >= 0)
				result = timing_later_after(t, u, later, f);
			else if (result == 0)
				result = watched ? timing_finish_watched(t, u, decides ? BETWEEN : AFTER, f)
						 : timing_leave(t, u, f);
			if (result != 0) {
				timing_blame_forger(t, u, f);
				return -1;
			}
		}
	}
	return 0;
}

int timing_call(struct timing *t, int rounds, unsigned how, struct failure *f)
{
	struct timing_pass pass = { .rounds = rounds, .how = how };
	struct msg_cell *m = mem_alloc_zero(1, sizeof *m);
	struct samples *x = mem_alloc_zero(1, sizeof *x);
	int result = -1;

	runner_at(t->runner, t->cell, NULL, "time");
	timing_begin_record(t, m, SERIES_CALL, "", rounds);
	t->spot_check->binds = true;
	if (how & TIMING_DECIDES) {
		if (timing_make_pass(t, call_pass, &pass, x, f) != 0)
			goto out;
		m->redo = pass.redo;
		m->device_check = pass.device_check;
	} else if (call_pass(t, &pass, x, f) != 0) {
		goto out;
	}
	timing_write_series(t, m, x, t->runner->ops->clocks, false);
	result = 0;
out:
	t->spot_check->binds = false;
	free(m);
	free(x);
	return result;
}

/* Times of every phase. Shape: ms[phase bit][side][round]; empty[round] between two marks without work. */
struct phase_times {
	float ms[PHASES][PROTOCOL_SIDES_MAX][PROTOCOL_SAMPLES_MAX];
	float empty[PROTOCOL_SAMPLES_MAX];
};

/*
 * Return whether phase `b` counts in the call's time. A phase that is done once does not count, unless the cell times it: then no
 * other phase counts.
 */
static bool is_timed(const struct side *u, int b)
{
	return (u->phases & u->timed & (1u << b)) != 0;
}

/* Time a round. Marks: two for the empty pair, then PHASES + 1 for each side. */
static int phase_round(struct timing *t, int round, struct phase_times *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };

	if (ops->scrub(dev, &err) != 0 || ops->mark(dev, 0, &err) != 0 || ops->mark(dev, 1, &err) != 0)
		return failure_device(f, t->problem, &err);
	for (int k = 0; k < t->n; k++) {
		int who = order_side(t->n, t->start, round, k), mark = 2 + who * (PHASES + 1);
		struct side *u = t->side[who];
		timing_report_at(t, u, "phase");
		timing_range(t, u, round);
		if (timing_cold(t, u, f) != 0 || side_mark(u, mark, f) != 0)
			return -1;
		for (int b = 0; b < PHASES; b++) {
			if (!is_timed(u, b))
				continue;
			range_phase(problem_phase_name(t->problem, 1u << b));
			int result = side_enqueue(u, 1u << b, f);
			range_end();
			if (result != 0 || side_mark(u, ++mark, f) != 0)
				return -1;
		}
		range_end();
		if (timing_leave(t, u, f) != 0)
			return -1;
	}
	if (ops->wait(dev, &err) != 0)
		return failure_device(f, t->problem, &err);
	x->empty[round] = ops->elapsed_ms(dev, 0, 1);
	for (int who = 0; who < t->n; who++) {
		int mark = 2 + who * (PHASES + 1);
		for (int b = 0; b < PHASES; b++) {
			if (!is_timed(t->side[who], b))
				continue;
			x->ms[b][who][round] = ops->elapsed_ms(dev, mark, mark + 1);
			mark++;
		}
	}
	return 0;
}

static void write_phase(struct timing *t, struct msg_cell *m, struct phase_times *x, int b, int rounds, float empty)
{
	int number[PROTOCOL_SIDES_MAX];
	timing_begin_record(t, m, SERIES_PHASE, problem_phase_name(t->problem, 1u << b), rounds);
	for (int who = 0; who < t->n; who++) {
		number[who] = -1;
		if (!is_timed(t->side[who], b))
			continue;
		int k = number[who] = m->n_sides++;
		m->role[k] = t->side[who]->role;
		m->ms[k] = x->ms[b][who];
		for (int round = 0; round < rounds; round++)
			m->ms[k][round] = timing_at_least(m->ms[k][round] - empty);
	}
	if (m->n_sides == 0)
		return;
	timing_write_order(t, m, number, rounds);
	record_send(t->runner->records, &(struct msg){ .t = MSG_CELL, .u.cell = m });
}

int timing_phase(struct timing *t, int rounds, struct failure *f)
{
	struct msg_cell *m = mem_alloc_zero(1, sizeof *m);
	struct phase_times *x = mem_alloc_zero(1, sizeof *x);
	int result = -1;

	runner_at(t->runner, t->cell, NULL, "phase");
	for (int round = 0; round < rounds; round++)
		if (phase_round(t, round, x, f) != 0)
			goto out;
	float empty = stats_median(x->empty, rounds);
	for (int b = 0; b < PHASES; b++)
		write_phase(t, m, x, b, rounds, empty);
	result = 0;
out:
	free(m);
	free(x);
	return result;
}
