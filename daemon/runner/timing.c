/* timing.c - order of calls, cold calls, warm-up, and records of passes. */
#include "runner/internal.h"

enum {
	REDO_MAX = 3, /* passes discarded because the device was disturbed */
	DRAWS = 8     /* attempts to find an unwatched round */
};

#define LONG_SHARE 0.7   /* of a cell's warm-up: so long a round leaves the device warm after the solo calls, */
#define REST_SHARE 0.25  /* if the rest of the warm-up is less than this share of a round */
#define LEAST_MS   1e-6f /* a time that rounds to zero stays positive */

int timing_position(const struct timing *t, enum role role)
{
	for (int k = 0; k < t->n; k++)
		if (t->side[k]->role == role)
			return k;
	return -1;
}

int timing_rounds(const struct rule *r, double round_ms, int n_sides, const struct device_ops *ops)
{
	int most = DEVICE_MARKS_MAX / (2 * n_sides), n = stats_pairs(r, round_ms * 1e-3, ops->clocks, ops->queues);
	return n > most ? most - most % 4 : n;
}

/* Random, because a branch that can distinguish checked from timed calls can cheat. 0x01..0x7e makes no NaN. */
static int random_byte(struct runner *r)
{
	return 1 + (int)runner_random(r, 126);
}

int timing_cold(struct timing *t, struct side *u, struct failure *f)
{
	struct runner *r = t->runner;
	struct fw_err err = { 0 };

	if ((!u->pass_time && spot_check_set_inputs(t->spot_check, f) != 0) ||
		(u->ahead && side_ahead(u, random_byte(r), f) != 0) ||
		(!u->pass_time && problem_poison(t->problem, random_byte(r), f) != 0))
		return -1;
	return r->ops->scrub(r->dev, &err) == 0 ? 0 : failure_device(f, t->problem, &err);
}

void timing_report_at(struct timing *t, const struct side *u, const char *step)
{
	if (!t->runner->ops->queues && !u->pass_time)
		runner_at(t->runner, t->cell, u, step);
}

void timing_range(const struct timing *t, const struct side *u, int call)
{
	const struct msg_task *task = t->runner->task;
	range_cell(&(struct range_call){ .cell = t->problem->cell.key,
		.role = u->role,
		.run = (uint32_t)task->run,
		.pass = 1,
		.call = (uint32_t)call,
		.seed = task->seed });
}

void timing_blame_forger(struct timing *t, struct side *u, const struct failure *f)
{
	if (strcmp(f->name, "forged") == 0)
		t->culprit = u;
}

int timing_one(struct timing *t, struct side *u, int c, float *host_us, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };

	if (timing_cold(t, u, f) != 0)
		return -1;
	if (ops->stamp(dev, c, 0, &err) != 0 || ops->mark(dev, 2 * c, &err) != 0)
		return failure_device(f, t->problem, &err);
	timing_range(t, u, c);
	double began = ops->host_us(dev);
	int result = side_timed(u, f);
	*host_us = (float)(ops->host_us(dev) - began);
	range_end();
	if (result != 0) {
		timing_blame_forger(t, u, f);
		return -1;
	}
	if (ops->mark(dev, 2 * c + 1, &err) != 0 || ops->stamp(dev, c, 1, &err) != 0)
		return failure_device(f, t->problem, &err);
	return t->spot_check->watching ? side_behind(u, f)
				       : timing_leave(t, u, f); /* outputs of a watched call are checked first */
}

int timing_leave(struct timing *t, struct side *u, struct failure *f)
{
	if (u->pass_time || leaked_state_between(t->runner, t->cell, u, f) == 0)
		return 0;
	t->culprit = u;
	return -1;
}

float timing_at_least(float ms)
{
	return ms > LEAST_MS ? ms : LEAST_MS;
}

/* Read the device for the first pass. Its energy is not that of the timed calls. */
static void read_opening(struct timing *t)
{
	runner_device_check(t->runner, t->cell, 0, &t->opening);
	t->opening.energy_j = -1;
	t->has_opening = true;
}

int timing_warm(struct timing *t, double until_us, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	double want_ms = (until_us - ops->host_us(dev)) * 1e-3;
	if (t->pair_ms > LONG_SHARE * t->runner->task->cell_warm_s * 1e3 && want_ms <= REST_SHARE * t->pair_ms)
		return 0;
	for (int round = 0;; round++) {
		float host_us;
		for (int k = 0; k < t->n; k++) {
			struct side *u = t->side[order_side(t->n, t->start, round, k)];
			timing_report_at(t, u, "warm");
			if (timing_one(t, u, k, &host_us, f) != 0)
				return -1;
		}
		struct fw_err err = { 0 };
		if (ops->wait(dev, &err) != 0)
			return failure_device(f, t->problem, &err);
		t->pair_ms = 0;
		for (int k = 0; k < t->n; k++)
			t->pair_ms += (double)ops->elapsed_ms(dev, 2 * k, 2 * k + 1);
		if (!t->has_opening && !ops->work && t->pair_ms <= TIMING_UNSEEN_MS * t->n)
			read_opening(t); /* the rest of the warm-up follows it */
		else if (ops->host_us(dev) >= until_us)
			return 0;
	}
}

void timing_begin_record(const struct timing *t, struct msg_cell *m, enum series series, const char *phase, int rounds)
{
	const struct msg_task *task = t->runner->task;
	memset(m, 0, sizeof *m);
	m->run = task->run;
	m->set = task->set;
	m->cell = task->index[t->cell];
	m->series = series;
	snprintf(m->phase, sizeof m->phase, "%s", phase);
	memcpy(m->input_sha256, t->problem->input_sha256, sizeof m->input_sha256);
	m->n = rounds;
	device_check_unknown(&m->device_check);
}

void timing_write_order(const struct timing *t, struct msg_cell *m, const int *number, int rounds)
{
	size_t at = 0;
	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < t->n; k++) {
			int who = number[order_side(t->n, t->start, round, k)];
			if (who >= 0 && at + 1 < sizeof m->order)
				m->order[at++] = (char)('A' + who);
		}
	}
	m->order[at] = '\0';
}

int timing_lost(struct timing *t, struct failure *f)
{
	if (!t->runner->lost)
		return 0;
	f->lost = true;
	return failure_set(f, "crash", "the device's context was destroyed");
}

int timing_make_pass(struct timing *t, timing_pass_fn *run, struct timing_pass *p, struct samples *x, struct failure *f)
{
	struct msg_device_check after;
	char why[DEVICE_CHECK_WHY_SIZE];
	for (p->redo = 0;; p->redo++) {
		if (run(t, p, x, f) != 0)
			return -1;
		runner_device_check(t->runner, t->cell, p->redo, &after);
		device_check_merge(&p->device_check, &after);
		if (timing_lost(t, f) != 0 || timing_later_check(t, f) != 0)
			return -1;
		if (!device_check_discards(&p->device_check, why) || p->redo >= REDO_MAX)
			return 0;
	}
}

void timing_write_series(struct timing *t, struct msg_cell *m, struct samples *x, bool mhz, bool host_us)
{
	int number[PROTOCOL_SIDES_MAX];
	m->n_sides = t->n;
	for (int k = 0; k < t->n; k++) {
		number[k] = k;
		m->role[k] = t->side[k]->role;
		m->ms[k] = x->ms[k];
		m->mhz[k] = mhz ? x->mhz[k] : NULL;
		m->host_us[k] = host_us ? x->host_us[k] : NULL;
	}
	timing_write_order(t, m, number, m->n);
	record_send(t->runner->records, &(struct msg){ .t = MSG_CELL, .u.cell = m });
}

/* Find an unwatched round among `n` from `first` on; -1 if chance finds none. */
static int other_round(struct timing *t, const struct timing_watch *w, int who, int first, int n)
{
	for (int i = 0; i < DRAWS; i++) {
		int round = first + (int)runner_random(t->runner, (uint32_t)n);
		if (!timing_is_watched(t, w, who, round))
			return round;
	}
	return -1;
}

/*
 * Watched calls have equal inputs, so of two calls, which would be all, the first is copied with any inputs. Returns false if no
 * memory is left for the copy.
 */
static bool copy_first(const struct timing *t, struct timing_watch *out, int who)
{
	const struct spot_check_later *later = t->spot_check->later[t->side[who] - t->runner->side];
	int any = later[0].is_any ? 0 : 1;

	if (!later[any].has_space || !later[any].is_any)
		return false;
	out->round[who][0] = out->round[who][1] = out->last;
	out->later[who][any] = 0;
	out->later[who][1 - any] = -1;
	return true;
}

void timing_choose_watched(struct timing *t, int rounds, struct timing_watch *out)
{
	out->last = rounds - 1;
	for (int k = 0; t->spot_check->active && k < t->n; k++)
		for (int half = 0; half < 2; half++)
			out->round[k][half] =
				half * (rounds / 2) + (int)runner_random(t->runner, (uint32_t)(rounds - rounds / 2));
	for (int k = 0; t->spot_check->active && k < t->n; k++) {
		if (rounds == 2 && copy_first(t, out, k))
			continue;
		for (int half = 0; half < 2; half++)
			out->later[k][half] = other_round(t, out, k, half * (rounds / 2), rounds - rounds / 2);
	}
}

int timing_later_before(struct timing *t, const struct timing_watch *w, int who, int round)
{
	for (int k = 0; t->spot_check->active && k < 2; k++)
		if (round == w->later[who][k] && spot_check_later_before(t->spot_check, t->side[who], k))
			return k;
	return -1;
}

int timing_later_after(struct timing *t, struct side *u, int k, struct failure *f)
{
	return spot_check_later_after(t->spot_check, u, k, f) == 0 ? timing_leave(t, u, f) : -1;
}

int timing_later_check(struct timing *t, struct failure *f)
{
	for (int k = 0; k < t->n; k++) {
		if (spot_check_later_check(t->spot_check, t->side[k], "between the timed calls: ", f) == 0)
			continue;
		t->culprit = t->spot_check->unnamed ? NULL : t->side[k];
		return -1;
	}
	return 0;
}

bool timing_is_watched(const struct timing *t, const struct timing_watch *w, int who, int round)
{
	return t->spot_check->active && (round == w->round[who][0] || round == w->round[who][1] || round == w->last);
}

int timing_finish_watched(struct timing *t, struct side *u, const char *when, struct failure *f)
{
	if (spot_check_after(t->spot_check, u, when, f) == 0)
		return timing_leave(t, u, f);
	t->culprit = u;
	return -1;
}
