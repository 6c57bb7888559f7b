/**
 * counter.h - counters of each kernel of a call: the call is replayed as often as the counters need, and every kernel in it is a range of its
 * own, in launch order.
 *
 * The caller makes the calls, each from the same state; nothing here saves or restores memory. Kernels run one by one meanwhile, so no time
 * of such a call is a time of anything.
 */
#ifndef RUNNER_COUNTER_COUNTER_H
#define RUNNER_COUNTER_COUNTER_H

#include "runner/counter/schedule.h"

struct counter {
	const struct cupti *cupti;
	struct schedule schedule;
	bool is_initialized;
	void *profiler;
	size_t image_bytes, ranges; /* of a decoded image */
	uint8_t *image, *availability;
	bool is_done; /* every replay was made */
	int made;     /* replays so far */
};

/**
 * Prepare reading `n` metrics of up to `ranges_max` kernels on a context of the driver. `device`: its number there. Own: counter_close, also
 * after -1. Err: ERR_UNSUPPORTED in a sentence for people.
 */
int counter_open(
	struct counter *c, void *context, int device, size_t ranges_max, const char *const *name, size_t n, struct fw_err *err);
/** Begin a replay: the next work on the context is counted. */
int counter_begin(struct counter *c, struct fw_err *err);
/** The work is done and was waited for. Sets `is_done` after the last replay. */
int counter_end(struct counter *c, struct fw_err *err);
/** After the last replay: sets `ranges`. Err: some were lost. */
int counter_decode(struct counter *c, struct fw_err *err);
/** Values of range `i` (of `ranges`), in the order of schedule.name. Shape: value[schedule.n_names]. */
int counter_read(const struct counter *c, size_t i, double *value, struct fw_err *err);
/** A zeroed one is fine. */
void counter_close(struct counter *c);

#endif
