/* device.c - the deciding pass: queued calls, some of them watched, and device readings around them. */
#include "runner/internal.h"

#include <stdlib.h>

#include "protocol/protocol.h"

enum { DEVICE_CHECK_BEHIND = 2 }; /* queued calls during a reading */

#define UNSEEN_MS 20 /* a reading takes some 15 ms, which two calls of this length hide */

static int device_pass(struct timing *t, struct timing_pass *p, struct samples *x, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct device *dev = t->runner->dev;
	struct fw_err err = { 0 };
	struct timing_watch watch;
	int calls = 0, device_check_at = t->pair_ms > UNSEEN_MS * t->n ? DEVICE_CHECK_BEHIND : 0;

	timing_choose_watched(t, p->rounds, &watch);
	for (int round = 0; round < p->rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = order_side(t->n, t->start, round, k);
			bool look = timing_is_watched(t, &watch, who, round);
			if (calls == device_check_at)
				runner_device_check(t->runner, t->cell, p->redo, &p->device_check);
			if (calls >= TIMING_AHEAD && ops->wait_mark(dev, 2 * (calls - TIMING_AHEAD) + 1, &err) != 0)
				return failure_device(f, t->problem, &err);
			timing_report_at(t, t->subject[who], "time");
			if (look && spot_check_before(t->spot_check, t->subject[who], f) != 0)
				return -1;
			int later = look ? -1 : timing_later_before(t, &watch, who, round);
			if (timing_one(t, t->subject[who], calls, &x->host_us[who][round], f) != 0)
				return -1;
			if (later >= 0 && timing_later_after(t, t->subject[who], later, f) != 0)
				return -1;
			if (look && timing_look(t, t->subject[who], "between the timed calls: ", f) != 0)
				return -1;
		}
	}
	if (ops->wait(dev, &err) != 0)
		return failure_device(f, t->problem, &err);
	calls = 0;
	for (int round = 0; round < p->rounds; round++) {
		for (int k = 0; k < t->n; k++, calls++) {
			int who = order_side(t->n, t->start, round, k);
			x->ms[who][round] = timing_at_least(ops->elapsed_ms(dev, 2 * calls, 2 * calls + 1));
			x->mhz[who][round] = ops->clock_mhz(dev, calls);
		}
	}
	return 0;
}

int timing_device(struct timing *t, int rounds, struct failure *f)
{
	const struct device_ops *ops = t->runner->ops;
	struct timing_pass pass = { .rounds = rounds };
	struct msg_cell *m = calloc(1, sizeof *m);
	struct samples *x = calloc(1, sizeof *x);
	int result = -1;

	if (!m || !x) {
		failure_set(f, "device", "no memory for samples");
		goto out;
	}
	timing_begin_record(t, m, SERIES_DEVICE, "", rounds);
	runner_at(t->runner, t->cell, NULL, "time");
	if (timing_guarded(t, device_pass, &pass, x, f) != 0)
		goto out;
	m->redo = pass.redo;
	m->device_check = pass.device_check;
	timing_write_series(t, m, x, ops->clocks, ops->queues || ops->work); /* without a queue enqueue is the call */
	result = 0;
out:
	free(m);
	free(x);
	return result;
}
