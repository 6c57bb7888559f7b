/*
 * burst.c - four bursts by the host's clock. Of the timed half the last calls are kept, in a ring of marks. The driver's energy counter moves
 * in coarse steps, so power is taken between two of them and energy of a call from power and pace; that scatters, so it is told only where
 * both bursts of a side agree.
 */
#include "runner/timing/burst.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/protocol/guard.h"

enum { BURSTS = 4, KEPT_MAX = 32, REDO_MAX = 3, AHEAD_MIN = 2 };

#define BURST_US 0.4e6
#define SETTLE_US                                                                                                                \
	0.6e6 /* of both sides in turns before the first burst: a GPU that comes from rest runs above its power limit's clock for about so long */
#define ENERGY_AGREES 0.015
#define POLL_NS       500000
#define METER_US      8e3 /* between two readings: one takes 3 to 7 ms of the host, which has calls to queue */
#define QUEUE_US      2e4 /* of calls ahead, which the burst outlasts its end by */

/* One burst, of one side. */
struct burst {
	int calls, kept;
	float ms[KEPT_MAX], mhz[KEPT_MAX]; /* the last `kept` calls, in order */
	double energy_j;                   /* of a call, the settling half included; 0 unknown */
};

/* The energy counter's first and last step that were seen. Begins with last_j = -1. */
struct meter {
	double read_us, last_j, first_us, first_j, end_us, end_j;
	int steps;
};

struct side {
	float ms[2 * KEPT_MAX], mhz[2 * KEPT_MAX];
};

/* A step lies between two readings. `m` NULL: nobody asks. */
static void read_meter(struct timing *t, struct meter *m)
{
	const struct device_ops *ops = t->runner->ops;
	double now_us = ops->host_us(t->runner->dev);
	if (!m || !ops->energy_j || (m->last_j >= 0 && now_us < m->read_us + METER_US))
		return;
	double now_j = ops->energy_j(t->runner->dev), between_us = (m->read_us + now_us) / 2;
	if (now_j > m->last_j && m->last_j >= 0) {
		if (m->steps++ == 0) {
			m->first_us = between_us;
			m->first_j = now_j;
		}
		m->end_us = between_us;
		m->end_j = now_j;
	}
	m->last_j = now_j;
	m->read_us = ops->host_us(t->runner->dev);
}

/* Calls in flight: two hide the host, and six of a quarter of a second each would make the burst four times as long. */
static int calls_ahead(double call_us)
{
	int n = call_us * TIMING_AHEAD > QUEUE_US ? (int)(QUEUE_US / call_us) : TIMING_AHEAD;
	return n < AHEAD_MIN ? AHEAD_MIN : n;
}

static int wait_for_call(struct timing *t, int call, struct meter *meter, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	const int mark = 2 * (call % KEPT_MAX) + 1;
	while (meter && ops->passed_mark && !ops->passed_mark(dev, mark)) { /* long calls would hide when the counter steps */
		read_meter(t, meter);
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	}
	if (ops->wait_mark(dev, mark, &err) != 0)
		return failure_device(f, t->problem, &err);
	read_meter(t, meter);
	return 0;
}

/* Calls of one side, two or more in flight, that end nearest to `until_us`; at least one. Returns how many, -1 with `f`. */
static int calls_until(struct timing *t, struct subject *u, double until_us, struct meter *meter, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	double call_us = t->pair_ms * 1e3 / t->n;
	int n = 0, done = 0, ahead = calls_ahead(call_us);
	for (; n < 1 || ops->host_us(dev) + (n - done + 0.5) * call_us < until_us; n++) {
		float host_us;
		if (n - done >= ahead && wait_for_call(t, done++, meter, f) != 0)
			return -1;
		if (timing_one(t, u, n % KEPT_MAX, &host_us, f) != 0)
			return -1;
		read_meter(t, meter);
	}
	while (done < n)
		if (wait_for_call(t, done++, meter, f) != 0)
			return -1;
	if (ops->wait(dev, &err) != 0)
		return failure_device(f, t->problem, &err);
	return n;
}

static int run_burst(struct timing *t, struct subject *u, struct burst *b, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct meter meter = { .last_j = -1 };
	double began_us = ops->host_us(dev);
	int settling = calls_until(t, u, began_us + BURST_US / 2, &meter, f);

	if (settling < 0)
		return -1;
	b->calls = calls_until(t, u, ops->host_us(dev) + BURST_US / 2, &meter, f);
	if (b->calls < 0)
		return -1;
	double burst_us = ops->host_us(dev) - began_us;
	b->kept = b->calls < KEPT_MAX ? b->calls : KEPT_MAX;
	for (int i = 0; i < b->kept; i++) {
		int slot = (b->calls - b->kept + i) % KEPT_MAX;
		b->ms[i] = ops->elapsed_ms(dev, 2 * slot, 2 * slot + 1);
		b->mhz[i] = ops->clock_mhz(dev, slot);
	}
	b->energy_j = 0;
	if (meter.steps > 1 && meter.end_us > meter.first_us)
		b->energy_j = (meter.end_j - meter.first_j) / (meter.end_us - meter.first_us) * burst_us / (settling + b->calls);
	return 0;
}

/* Energy of a call from two bursts; 0 where one is not known or they do not agree. */
static double agreed_energy(double a, double b)
{
	return a > 0 && b > 0 && fabs(log(a / b)) < ENERGY_AGREES ? (a + b) / 2 : 0;
}

/* Bursts 0 and 3 belong to side `first`, 1 and 2 to the other: equally many of the last calls of each. Returns samples a side. */
static int gather(const struct burst b[BURSTS], int first, struct side side[2], double energy_j[2])
{
	const int of[2][2] = { { first ? 1 : 0, first ? 2 : 3 }, { first ? 0 : 1, first ? 3 : 2 } };
	int n = KEPT_MAX;
	for (int i = 0; i < BURSTS; i++)
		n = b[i].kept < n ? b[i].kept : n;
	for (int s = 0; s < 2; s++) {
		for (int h = 0; h < 2; h++) {
			const struct burst *from = &b[of[s][h]];
			memcpy(side[s].ms + h * n, from->ms + from->kept - n, (size_t)n * sizeof(float));
			memcpy(side[s].mhz + h * n, from->mhz + from->kept - n, (size_t)n * sizeof(float));
		}
		energy_j[s] = agreed_energy(b[of[s][0]].energy_j, b[of[s][1]].energy_j);
	}
	return 2 * n;
}

static void write_record(struct timing *t, struct msg_cell *m, int first, struct side side[2], const double energy_j[2])
{
	static const enum role role[] = { ROLE_BASE, ROLE_TARGET };
	int n = m->n;
	m->n_subjects = 2;
	for (int s = 0; s < 2; s++) {
		m->role[s] = role[s];
		for (int i = 0; i < n; i++)
			side[s].ms[i] = timing_at_least(side[s].ms[i]);
		m->ms[s] = side[s].ms;
		m->mhz[s] = t->runner->ops->clocks ? side[s].mhz : NULL;
		m->energy_j[s] = energy_j[s];
	}
	for (int i = 0; i < 2 * n; i++)
		m->order[i] = (i < n / 2 || i >= n / 2 + n) == (first == 0) ? 'A' : 'B';
	m->order[2 * n] = '\0';
	record_cell(t->runner->records, m);
}

/* Both sides in turns, untimed, until `until_us`, when the clock has come down to what the power limit allows. */
static int settle(struct timing *t, struct subject *const side[2], double until_us, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	for (int i = 0; ops->host_us(t->runner->dev) < until_us; i ^= 1)
		if (calls_until(t, side[i], fmin(until_us, ops->host_us(t->runner->dev) + SETTLE_US / 6), NULL, f) < 0)
			return -1;
	return 0;
}

static struct subject *with_role(struct timing *t, enum role role)
{
	for (int k = 0; k < t->n; k++)
		if (t->subject[k]->role == role)
			return t->subject[k];
	return NULL;
}

int burst_run(struct timing *t, double busy_since_us, struct failure *f)
{
	struct subject *base = with_role(t, ROLE_BASE), *target = with_role(t, ROLE_TARGET);
	struct msg_guard guard;
	struct msg_cell *m = calloc(1, sizeof *m);
	struct burst *b = calloc(BURSTS, sizeof *b);
	struct side *side = calloc(2, sizeof *side);
	double energy_j[2];
	int result = -1;

	if (!m || !b || !side || !base || !target) {
		failure_set(f, "device", base && target ? "no memory for samples" : "bursts need a base and a target");
		goto out;
	}
	struct subject *const sides[2] = { base, target };
	int first = (int)runner_random(t->runner, 2); /* whoever comes first may find the device cooler */
	struct subject *const order[BURSTS] = { sides[first], sides[!first], sides[!first], sides[first] };
	runner_at(t->runner, t->cell, NULL, "time");
	int redo = 0;
	for (bool again = true; again; redo += again) {
		struct msg_guard after;
		char why[GUARD_WHY_SIZE];
		runner_guard(t->runner, t->cell, redo, &guard);
		if (settle(t, sides, busy_since_us + SETTLE_US, f) != 0)
			goto out;
		for (int i = 0; i < BURSTS; i++)
			if (run_burst(t, order[i], &b[i], f) != 0)
				goto out;
		runner_guard(t->runner, t->cell, redo, &after);
		guard_merge(&guard, &after);
		if (timing_lost(t, f) != 0)
			goto out;
		again = guard_discards(&guard, why) && redo < REDO_MAX;
		busy_since_us = t->runner->ops->host_us(t->runner->dev);
	}
	timing_begin_record(t, m, SERIES_SUSTAINED, "", gather(b, first, side, energy_j));
	m->redo = redo;
	m->guard = guard;
	write_record(t, m, first, side, energy_j);
	result = 0;
out:
	free(m);
	free(b);
	free(side);
	return result;
}
