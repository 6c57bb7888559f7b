/**
 * counter.h - counters of each kernel of a call: the call is replayed as often as the counters need, and every kernel is a
 * range, in launch order.
 *
 * The caller makes the calls, each from the same state; nothing here saves or restores memory. Kernels are serialised
 * meanwhile, so times of such a call are meaningless.
 */
#ifndef RUNNER_COUNTER_H
#define RUNNER_COUNTER_H

#include "runner/schedule.h"

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
 * Prepare to read `n` metrics of up to `ranges_max` kernels on a driver context. `device`: its number there. Own:
 * counter_close, also after -1. Err: ERR_UNSUPPORTED with a message for the user.
 */
int counter_open(
	struct counter *c, void *context, int device, size_t ranges_max, const char *const *name, size_t n, struct fw_err *err);
/** Begin a replay: the next work on the context is counted. */
int counter_begin(struct counter *c, struct fw_err *err);
/** End a replay whose work was waited for. Sets `is_done` after the last one. */
int counter_end(struct counter *c, struct fw_err *err);
/** Decode after the last replay; sets `ranges`. Err: some were lost. */
int counter_decode(struct counter *c, struct fw_err *err);
/** Read the values of range `i` (of `ranges`), in the order of schedule.name. Shape: value[schedule.n_names]. */
int counter_read(const struct counter *c, size_t i, double *value, struct fw_err *err);
void counter_close(struct counter *c);

#endif
