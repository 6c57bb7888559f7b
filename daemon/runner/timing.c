/* timing.c - the loops between two marks, and the records they end in. */
#include "runner/timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/guard.h"
#include "runner/range.h"

enum {
	REDO_MAX = 3, /* passes thrown away because the device was disturbed */
	PHASES = 6
};

#define LONG_SHARE 0.7   /* of a cell's warm-up: a round that takes as long leaves it warm after the solo calls */
#define LEAST_MS   1e-6f /* a time that rounds to nothing is still a time */

/* One series being collected. Shape: [subject][round]. */
struct samples {
	int n;
	float ms[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float mhz[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float host_us[PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
};

int timing_turn(int n, int start, int round, int k)
{
	int place = round & 1 ? n - 1 - k : k;
	return (start + (round >> 1) + place) % n;
}

int timing_rounds(const struct rule *r, double round_ms, int n_subjects, bool clocked)
{
	int most = DEVICE_MARKS_MAX / (2 * n_subjects), n = stats_pairs(r, round_ms * 1e-3, clocked);
	return n > most ? most - most % 4 : n;
}

/* A branch that can tell checked from timed calls can cheat: all calls get random bytes. 0x01..0x7e makes no NaN. */
static int random_byte(struct runner *r)
{
	return 1 + (int)runner_random(r, 126);
}

/* Everything of a call before its time begins. A subject that only lets time pass touches no buffer. */
static int make_cold(struct timing *t, const struct subject *u, struct fw_err *err)
{
	struct runner *r = t->runner;
	if (!u->pass_time && (problem_restore(t->problem, err) != 0 || problem_poison(t->problem, random_byte(r), err) != 0))
		return -1;
	if (r->ops->scrub(r->dev, err) != 0)
		return -1;
	return u->pass_time ? 0 : witness_twist(t->witness, err);
}

/* The rounds in which a subject's call is watched: one in each half of the pass, perhaps the last one, too. */
struct watched {
	int round[PROTOCOL_SUBJECTS_MAX][2], last;
};

static void choose_watched(struct timing *t, int rounds, bool last, struct watched *w)
{
	for (int k = 0; t->witness->active && k < t->n; k++)
		for (int half = 0; half < 2; half++)
			w->round[k][half] = half * (rounds / 2) + (int)runner_random(t->runner, (uint32_t)(rounds - rounds / 2));
	w->last = last ? rounds - 1 : -1;
}

static bool is_watched(const struct timing *t, const struct watched *w, int who, int round)
{
	return t->witness->active && (round == w->round[who][0] || round == w->round[who][1] || round == w->last);
}

/* Where a call dies at once, say so before each; on a queue it would only cost time and blame the wrong one. */
static void say_at(struct timing *t, const struct subject *u, const char *step)
{
	if (!t->runner->ops->queues && !u->pass_time)
		runner_at(t->runner, t->cell, u, step);
}

static int device_says(struct timing *t, const struct fw_err *err, struct failure *f)
{
	return failure_device(f, t->problem, err);
}

int timing_one(struct timing *t, struct subject *u, int c, float *host_us, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };

	if (make_cold(t, u, &err) != 0 || ops->stamp(dev, c, 0, &err) != 0 || ops->mark(dev, 2 * c, &err) != 0)
		return device_says(t, &err, f);
	range_push(t->problem->cell.key, u->role, "all");
	double began = ops->host_us(dev);
	int rc = subject_enqueue(u, FW_ALL, f);
	*host_us = (float)(ops->host_us(dev) - began);
	range_pop();
	if (rc != 0)
		return -1;
	if (ops->mark(dev, 2 * c + 1, &err) != 0 || ops->stamp(dev, c, 1, &err) != 0)
		return device_says(t, &err, f);
	return 0;
}

float timing_at_least(float ms)
{
	return ms > LEAST_MS ? ms : LEAST_MS;
}

int timing_warm(struct timing *t, double until_us, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	double want_ms = (until_us - ops->host_us(dev)) * 1e-3;
	if (t->pair_ms > LONG_SHARE * t->runner->run->cell_warm_s * 1e3 && want_ms <= 0)
		return 0;
	for (int round = 0;; round++) {
		float host_us;
		for (int k = 0; k < t->n; k++) {
			struct subject *u = t->subject[timing_turn(t->n, t->start, round, k)];
			say_at(t, u, "warm");
			if (timing_one(t, u, k, &host_us, f) != 0)
				return -1;
		}
		struct fw_err err = { 0 };
		if (ops->wait(dev, &err) != 0)
			return device_says(t, &err, f);
		t->pair_ms = 0;
		for (int k = 0; k < t->n; k++)
			t->pair_ms += (double)ops->elapsed_ms(dev, 2 * k, 2 * k + 1);
		if (ops->host_us(dev) >= until_us)
			return 0;
	}
}

void timing_begin_record(const struct timing *t, struct msg_cell *m, const char *series, const char *phase, int rounds)
{
	const struct msg_run *run = t->runner->run;
	memset(m, 0, sizeof(*m));
	m->launch = run->launch;
	m->set = run->set;
	m->cell = run->index[t->cell];
	snprintf(m->series, sizeof(m->series), "%s", series);
	snprintf(m->phase, sizeof(m->phase), "%s", phase);
	memcpy(m->input_sha256, t->problem->input_sha256, sizeof(m->input_sha256));
	m->n = rounds;
	guard_unknown(&m->guard);
}

/* Letters of m->order: subjects of the record, in its own numbering. `number[r]` -1: subject r is not in it. */
static void write_order(const struct timing *t, struct msg_cell *m, const int *number, int rounds)
{
	size_t at = 0;
	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < t->n; k++) {
			int who = number[timing_turn(t->n, t->start, round, k)];
			if (who >= 0 && at + 1 < sizeof(m->order))
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
	return failure_set(f, "crash", "the device's context is gone");
}

static void write_series(struct timing *t, struct msg_cell *m, struct samples *x, bool mhz, bool host_us)
{
	int number[PROTOCOL_SUBJECTS_MAX];
	m->n_subjects = t->n;
	for (int k = 0; k < t->n; k++) {
		number[k] = k;
		memcpy(m->role[k], t->subject[k]->role, sizeof(m->role[k]));
		m->ms[k] = x->ms[k];
		m->mhz[k] = mhz ? x->mhz[k] : NULL;
		m->host_us[k] = host_us ? x->host_us[k] : NULL;
	}
	write_order(t, m, number, m->n);
	record_cell(t->runner->records, m);
}

static int look_after(struct timing *t, struct subject *u, const char *when, struct failure *f)
{
	if (witness_after(t->witness, u, when, f) == 0)
		return 0;
	t->culprit = u;
	return -1;
}

static int device_pass(struct timing *t, int rounds, bool last, struct samples *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	struct watched watched;
	int calls = 0;

	choose_watched(t, rounds, last, &watched);
	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = timing_turn(t->n, t->start, round, k);
			bool look = is_watched(t, &watched, who, round);
			if (calls >= TIMING_AHEAD && ops->wait_mark(dev, 2 * (calls - TIMING_AHEAD) + 1, &err) != 0)
				return device_says(t, &err, f);
			say_at(t, t->subject[who], "time");
			if (look && witness_before(t->witness, t->subject[who], f) != 0)
				return -1;
			if (timing_one(t, t->subject[who], calls, &x->host_us[who][round], f) != 0)
				return -1;
			if (look && look_after(t, t->subject[who], "between the timed calls: ", f) != 0)
				return -1;
		}
	}
	if (ops->wait(dev, &err) != 0)
		return device_says(t, &err, f);
	calls = 0;
	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = timing_turn(t->n, t->start, round, k);
			x->ms[who][round] = timing_at_least(ops->elapsed_ms(dev, 2 * calls, 2 * calls + 1));
			x->mhz[who][round] = ops->clock_mhz(dev, calls);
		}
	}
	return 0;
}

int timing_device(struct timing *t, int rounds, bool last, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct msg_guard before, after;
	char why[GUARD_WHY_SIZE];
	struct msg_cell *m = calloc(1, sizeof(*m));
	struct samples *x = calloc(1, sizeof(*x));
	int rc = -1;

	if (!m || !x) {
		failure_set(f, "device", "no memory for samples");
		goto out;
	}
	timing_begin_record(t, m, "device", "", rounds);
	runner_at(t->runner, t->cell, NULL, "time");
	for (m->redo = 0;; m->redo++) {
		runner_guard(t->runner, t->cell, m->redo, &before);
		if (device_pass(t, rounds, last, x, f) != 0)
			goto out;
		runner_guard(t->runner, t->cell, m->redo, &after);
		guard_merge(&before, &after);
		if (timing_lost(t, f) != 0)
			goto out;
		if (!guard_discards(&before, why) || m->redo >= REDO_MAX)
			break;
	}
	m->guard = before;
	write_series(t, m, x, ops->clocks, ops->queues || ops->work); /* without a queue enqueue is the call */
	rc = 0;
out:
	free(m);
	free(x);
	return rc;
}

static int call_pass(struct timing *t, int rounds, bool watched, struct samples *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;

	for (int round = 0; round < rounds; round++) {
		for (int k = 0; k < t->n; k++) {
			int who = timing_turn(t->n, t->start, round, k);
			struct subject *u = t->subject[who];
			struct fw_err err = { 0 };
			if (watched && witness_before(t->witness, u, f) != 0)
				return -1;
			if (make_cold(t, u, &err) != 0 || ops->wait(dev, &err) != 0)
				return device_says(t, &err, f);
			say_at(t, u, "time");
			range_push(t->problem->cell.key, u->role, "call");
			double began = ops->host_us(dev);
			int rc = subject_bind(u, f);
			if (rc == 0)
				rc = subject_enqueue(u, FW_ALL, f);
			if (rc == 0)
				rc = subject_wait(u, f);
			x->ms[who][round] = timing_at_least((float)((ops->host_us(dev) - began) * 1e-3));
			range_pop();
			if (rc != 0 || (watched && look_after(t, u, "after the timed calls: ", f) != 0))
				return -1;
		}
	}
	return 0;
}

int timing_call(struct timing *t, int rounds, bool watched, struct failure *f)
{
	struct msg_cell *m = calloc(1, sizeof(*m));
	struct samples *x = calloc(1, sizeof(*x));
	int rc = -1;

	if (!m || !x) {
		failure_set(f, "device", "no memory for samples");
		goto out;
	}
	runner_at(t->runner, t->cell, NULL, "time");
	if (call_pass(t, rounds, watched, x, f) != 0)
		goto out;
	timing_begin_record(t, m, "call", "", rounds);
	write_series(t, m, x, false, false);
	rc = 0;
out:
	free(m);
	free(x);
	return rc;
}

/* Times of every phase. Shape: ms[phase bit][subject][round]; empty[round] between two marks with nothing between them. */
struct phase_times {
	float ms[PHASES][PROTOCOL_SUBJECTS_MAX][PROTOCOL_SAMPLES_MAX];
	float empty[PROTOCOL_SAMPLES_MAX];
};

/* Marks of a round: two for the empty pair, then PHASES + 1 for each subject. */
static int phase_round(struct timing *t, int round, struct phase_times *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };

	if (ops->scrub(dev, &err) != 0 || ops->mark(dev, 0, &err) != 0 || ops->mark(dev, 1, &err) != 0)
		return device_says(t, &err, f);
	for (int k = 0; k < t->n; k++) {
		int who = timing_turn(t->n, t->start, round, k), mark = 2 + who * (PHASES + 1);
		struct subject *u = t->subject[who];
		say_at(t, u, "phase");
		if (make_cold(t, u, &err) != 0 || ops->mark(dev, mark, &err) != 0)
			return device_says(t, &err, f);
		for (int b = 0; b < PHASES; b++) {
			if (!(u->phases & (1u << b)))
				continue;
			range_push(t->problem->cell.key, u->role, subject_phase_name(1u << b));
			int rc = subject_enqueue(u, 1u << b, f);
			range_pop();
			if (rc != 0)
				return -1;
			if (ops->mark(dev, ++mark, &err) != 0)
				return device_says(t, &err, f);
		}
	}
	if (ops->wait(dev, &err) != 0)
		return device_says(t, &err, f);
	x->empty[round] = ops->elapsed_ms(dev, 0, 1);
	for (int who = 0; who < t->n; who++) {
		int mark = 2 + who * (PHASES + 1);
		for (int b = 0; b < PHASES; b++) {
			if (!(t->subject[who]->phases & (1u << b)))
				continue;
			x->ms[b][who][round] = ops->elapsed_ms(dev, mark, mark + 1);
			mark++;
		}
	}
	return 0;
}

static void write_phase(struct timing *t, struct msg_cell *m, struct phase_times *x, int b, int rounds, float empty)
{
	int number[PROTOCOL_SUBJECTS_MAX];
	timing_begin_record(t, m, "phase", subject_phase_name(1u << b), rounds);
	for (int who = 0; who < t->n; who++) {
		number[who] = -1;
		if (!(t->subject[who]->phases & (1u << b)))
			continue;
		int k = number[who] = m->n_subjects++;
		memcpy(m->role[k], t->subject[who]->role, sizeof(m->role[k]));
		m->ms[k] = x->ms[b][who];
		for (int round = 0; round < rounds; round++)
			m->ms[k][round] = timing_at_least(m->ms[k][round] - empty);
	}
	if (m->n_subjects == 0)
		return;
	write_order(t, m, number, rounds);
	record_cell(t->runner->records, m);
}

int timing_phase(struct timing *t, int rounds, struct failure *f)
{
	struct msg_cell *m = calloc(1, sizeof(*m));
	struct phase_times *x = calloc(1, sizeof(*x));
	int rc = -1;

	if (!m || !x) {
		failure_set(f, "device", "no memory for samples");
		goto out;
	}
	runner_at(t->runner, t->cell, NULL, "phase");
	for (int round = 0; round < rounds; round++)
		if (phase_round(t, round, x, f) != 0)
			goto out;
	float empty = stats_median(x->empty, rounds);
	for (int b = 0; b < PHASES; b++)
		write_phase(t, m, x, b, rounds, empty);
	rc = 0;
out:
	free(m);
	free(x);
	return rc;
}
