/** schedule.h - which counters are read in which replay: CUPTI's host half, which needs no GPU. */
#ifndef RUNNER_COUNTER_SCHEDULE_H
#define RUNNER_COUNTER_SCHEDULE_H

#include "runner/counter/cupti.h"

struct schedule {
	const struct cupti *cupti;
	void *host;
	size_t n_names;
	const char **name; /* name[n_names]: those of the asked ones that this chip has; texts are the caller's */
	size_t config_bytes;
	uint8_t *config;
	int passes; /* replays of a call */
};

/**
 * Schedule `n` metrics on `chip` ("GH100"); those that the chip does not have are left out. `availability`: what the device at hand offers,
 * NULL for all that its kind has. Own: schedule_close, also after -1; `name` has to outlive it. Err: ERR_UNSUPPORTED in a sentence.
 */
int schedule_open(struct schedule *s, const struct cupti *cupti, const char *chip, const uint8_t *availability,
	const char *const *name, size_t n, struct fw_err *err);
/** A zeroed one is fine. */
void schedule_close(struct schedule *s);

#endif
