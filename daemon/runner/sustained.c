/* sustained.c - sustained runs by the host's clock. Each begins at the same phase of the power limiter's oscillation. */
#include "runner/internal.h"

#include <math.h>
#include <time.h>

/* ---- meter: Readings of the energy counter. ---- */

#define BETWEEN_US 8e3 /* between two readings: one takes 3 to 7 ms of the host, which has calls to queue */

/* Read the counter, unless the device has none or BETWEEN_US have not passed. */
static void meter_read(struct meter *m, const struct device_ops *ops, struct device *dev)
{
	double now_us = ops->host_us(dev);
	if (!ops->energy_j || (m->last_j >= 0 && now_us < m->read_us + BETWEEN_US))
		return;
	double now_j = ops->energy_j(dev),
	       between_us = (m->read_us + now_us) / 2; /* the counter's step is between two readings */
	if (now_j > m->last_j && m->last_j >= 0) {
		if (m->steps++ == 0) {
			m->first_us = between_us;
			m->first_j = now_j;
		}
		m->end_us = between_us;
		m->end_j = now_j;
	}
	m->last_j = now_j;
	m->read_us = ops->host_us(dev);
}

/* Return the mean power; 0: fewer than two steps were observed. Units: W. */
static double meter_power_w(const struct meter *m)
{
	return m->steps > 1 && m->end_us > m->first_us ? (m->end_j - m->first_j) / (m->end_us - m->first_us) * 1e6 : 0;
}

/* ---- sustained ---- */

enum { REDO_MAX = 3, AHEAD_MIN = 2, FLIGHT = 8 /* slots of unrecorded calls */ };

#define SUSTAINED_US  (SUSTAINED_S * 1e6)
#define WARMUP_US     (SUSTAINED_WARMUP_S * 1e6)
#define INTERLEAVE_US 0.6e6 /* before the first sustained run: an idle GPU starts above its power limit's clock for this time */
#define PACE_MARGIN   1.1   /* factor on the predicted number of calls: a rising clock must not leave the end unrecorded */
#define POLL_NS       500000
#define QUEUE_US      2e4 /* duration of queued calls, by which the sustained run may exceed its end */

/* A call whose result is checked after all sustained runs, so that it does not wait. */
struct checked_call {
	int stretch; /* 0: warm-up, 1: counted calls of its side */
	double at;   /* share of that stretch; 1: its last call */
};
/* Checks of a side: two counted calls at random; one of the warm-up, since energy covers all calls; and the very last. */
enum { CHECKED_CALLS = SPOT_CHECK_LATER_MAX };
#define UNIT 1000000

/* Consecutive calls. Every `stride`-th has its own slot of marks and stamps; 0: none. */
struct run {
	struct meter *meter;                /* NULL: energy is not measured */
	int stride, n_recorded;             /* result: number of recorded calls */
	int calls;                          /* result: all calls */
	int slot[FLIGHT];                   /* slots of the last calls */
	const struct checked_call *checked; /* [CHECKED_CALLS] of this side; NULL: none is watched */
	int stretch;
};

/* Return the number of calls in flight: two hide the host; six of a quarter of a second each would quadruple the run. */
static int calls_ahead(double call_us)
{
	int n = call_us * TIMING_AHEAD > QUEUE_US ? (int)(QUEUE_US / call_us) : TIMING_AHEAD;
	return n < AHEAD_MIN ? AHEAD_MIN : n;
}

static int slot_of(struct run *x, int call)
{
	bool is_recorded = x->stride > 0 && call % x->stride == 0 && x->n_recorded < SUSTAINED_RECORDED_MAX;
	return x->slot[call % FLIGHT] = is_recorded ? FLIGHT + x->n_recorded++ : call % FLIGHT;
}

static int wait_for_call(struct timing *t, const struct run *x, int call, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	const int mark = 2 * x->slot[call % FLIGHT] + 1;
	while (x->meter && ops->passed_mark && !ops->passed_mark(dev, mark)) { /* long calls would hide the counter's steps */
		meter_read(x->meter, ops, dev);
		nanosleep(&(struct timespec){ .tv_nsec = POLL_NS }, NULL);
	}
	if (ops->wait_mark(dev, mark, &err) != 0)
		return failure_device(f, t->problem, &err);
	if (x->meter)
		meter_read(x->meter, ops, dev);
	return 0;
}

static double random_share(struct timing *t)
{
	return (double)runner_random(t->runner, UNIT) / UNIT;
}

/* Choose other calls in every pass. Shape: checked[2][CHECKED_CALLS]. */
static void choose_checked_calls(struct timing *t, struct checked_call checked[2][CHECKED_CALLS])
{
	for (int side = 0; t->spot_check->active && side < 2; side++) {
		const struct checked_call chosen[CHECKED_CALLS] = { { .stretch = 1, .at = random_share(t) / 2 },
			{ .stretch = 1, .at = (1 + random_share(t)) / 2 }, { .stretch = 0, .at = random_share(t) },
			{ .stretch = 1, .at = 1 } };
		memcpy(checked[side], chosen, sizeof chosen);
	}
}

/*
 * Check for the next call, which then has the known inputs. `share` of the stretch is over after it; `last`: it is the last
 * one.
 */
static int check_call(struct timing *t, const struct side *u, const struct run *x, double share, bool last)
{
	for (int k = 0; x->checked && k < CHECKED_CALLS; k++)
		if (x->checked[k].stretch == x->stretch && (last || share > x->checked[k].at) &&
			spot_check_later_before(t->spot_check, u, k))
			return k;
	return -1;
}

/* Make calls of one side, two or more in flight, that end nearest to `until_us`; at least one. Returns -1 with `f`. */
static int calls_until(struct timing *t, struct side *u, double until_us, struct run *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	double call_us = t->pair_ms * 1e3 / t->n, from_us = ops->host_us(dev);
	int done = 0, ahead = calls_ahead(call_us), *n = &x->calls;
	*n = 0;
	for (bool last = false; !last; ++*n) {
		float host_us;
		if (*n - done >= ahead && wait_for_call(t, x, done++, f) != 0)
			return -1;
		double ends_us = ops->host_us(dev) + (*n + 1 - done) * call_us; /* of this call */
		last = ends_us + call_us / 2 >= until_us;
		int call = check_call(t, u, x, (ends_us - from_us) / (until_us - from_us), last);
		if (timing_one(t, u, slot_of(x, *n), &host_us, f) != 0)
			return -1;
		if (call >= 0 && timing_later_after(t, u, call, f) != 0)
			return -1;
		if (x->meter)
			meter_read(x->meter, ops, dev);
	}
	while (done < *n)
		if (wait_for_call(t, x, done++, f) != 0)
			return -1;
	return ops->wait(dev, &err) != 0 ? failure_device(f, t->problem, &err) : 0;
}

struct sustained_run {
	struct side *side;
	double until_us;
	const struct checked_call *checked; /* [CHECKED_CALLS] of this side */
};

/* Make one sustained run now; `energy_j`: of a call, warm-up included; 0 unknown. */
static int run_sustained(
	struct timing *t, const struct sustained_run *which, struct sustained_calls *b, double *energy_j, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct meter meter = METER_NEW;
	struct run warmup = { .meter = &meter, .checked = which->checked, .stretch = 0 };
	struct run timed = { .meter = &meter, .checked = which->checked, .stretch = 1 };
	struct side *u = which->side;
	double until_us = which->until_us;
	double began_us = ops->host_us(dev);

	if (calls_until(t, u, until_us - SUSTAINED_US + WARMUP_US, &warmup, f) != 0)
		return -1;
	double warm_us = ops->host_us(dev), pace_us = (warm_us - began_us) / warmup.calls;
	timed.stride = 1 + (int)(fmax(0, until_us - warm_us) / pace_us * PACE_MARGIN / SUSTAINED_RECORDED_MAX);
	if (calls_until(t, u, until_us, &timed, f) != 0)
		return -1;
	double sustained_us = ops->host_us(dev) - began_us;
	b->n = timed.n_recorded;
	for (int i = 0; i < b->n; i++) {
		int slot = FLIGHT + i;
		b->ms[i] = ops->elapsed_ms(dev, 2 * slot, 2 * slot + 1);
		b->mhz[i] = ops->clock_mhz(dev, slot);
	}
	*energy_j = meter_power_w(&meter) * 1e-6 * sustained_us / (warmup.calls + timed.calls);
	return 0;
}

static void write_record(
	struct timing *t, struct msg_cell *m, int first, struct sustained_calls side[2], const double energy_j[2])
{
	static const enum role role[] = { ROLE_BASE, ROLE_TARGET };
	int n = m->n;
	m->n_sides = 2;
	for (int s = 0; s < 2; s++) {
		m->role[s] = role[s];
		for (int i = 0; i < n; i++)
			side[s].ms[i] = timing_at_least(side[s].ms[i]);
		m->ms[s] = side[s].ms;
		m->mhz[s] = t->runner->ops->clocks ? side[s].mhz : NULL;
		m->energy_j[s] = energy_j[s];
	}
	sustained_write_order(n, first, m->order);
	record_send(t->runner->records, &(struct msg){ .t = MSG_CELL, .u.cell = m });
}

/* Run both sides interleaved and untimed until `until_us`, when the clock has dropped to the power limit. */
static int run_interleaved(struct timing *t, struct side *const side[2], double until_us, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	for (int i = 0; ops->host_us(t->runner->dev) < until_us; i ^= 1) {
		struct run untimed = { 0 };
		if (calls_until(t, side[i], fmin(until_us, ops->host_us(t->runner->dev) + INTERLEAVE_US / 6), &untimed, f) != 0)
			return -1;
	}
	return 0;
}

int sustained_run(struct timing *t, bool target_first, double busy_since_us, struct failure *f)
{
	int base = timing_position(t, ROLE_BASE), target = timing_position(t, ROLE_TARGET);
	struct msg_device_check device_check;
	struct msg_cell *m = mem_alloc_zero(1, sizeof *m);
	struct sustained_calls *side = mem_alloc_zero(2, sizeof *side);
	struct checked_call checked[2][CHECKED_CALLS] = { 0 };
	double energy_j[2] = { 0 };
	int result = -1;

	if (base < 0 || target < 0) {
		failure_set(f, "device", "sustained runs need a base and a target");
		goto out;
	}
	struct side *const sides[2] = { t->side[base], t->side[target] };
	runner_at(t->runner, t->cell, NULL, "sustained");
	int redo = 0;
	for (bool again = true; again; redo += again) {
		struct msg_device_check after;
		char why[DEVICE_CHECK_WHY_SIZE];
		runner_device_check(t->runner, t->cell, redo, &device_check);
		if (run_interleaved(t, sides, busy_since_us + INTERLEAVE_US, f) != 0)
			goto out;
		double began_us = t->runner->ops->host_us(t->runner->dev);
		choose_checked_calls(t, checked);
		for (int i = 0; i < 2; i++) {
			int s = i ^ target_first;
			const struct sustained_run which = {
				.side = sides[s], .until_us = began_us + (i + 1) * SUSTAINED_US, .checked = checked[s]
			};
			if (run_sustained(t, &which, &side[s], &energy_j[s], f) != 0)
				goto out;
		}
		runner_device_check(t->runner, t->cell, redo, &after);
		device_check_merge(&device_check, &after);
		if (timing_lost(t, f) != 0 || timing_later_check(t, f) != 0)
			goto out;
		again = device_check_discards(&device_check, why) && redo < REDO_MAX;
		busy_since_us = t->runner->ops->host_us(t->runner->dev);
	}
	timing_begin_record(t, m, SERIES_SUSTAINED, "", sustained_gather(side));
	m->redo = redo;
	m->device_check = device_check;
	write_record(t, m, target_first, side, energy_j);
	result = 0;
out:
	free(m);
	free(side);
	return result;
}
