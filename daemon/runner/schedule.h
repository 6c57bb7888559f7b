/** schedule.h - assignment of counters to replays by CUPTI's host half, which needs no GPU. */
#ifndef RUNNER_SCHEDULE_H
#define RUNNER_SCHEDULE_H

#include "runner/cupti.h"

struct schedule {
	const struct cupti *cupti;
	void *host;
	size_t n_names;
	const char **name; /* name[n_names]: the requested ones that this chip has; texts are the caller's */
	size_t config_bytes;
	uint8_t *config;
	int passes; /* replays of a call */
};

/**
 * Schedule `n` metrics on `chip` ("GH100"), without those that the chip lacks. `availability`: counters of the actual device,
 * NULL for all of its kind. Own: schedule_close, also after -1; `name` must outlive it. Err: ERR_UNSUPPORTED with a message.
 */
int schedule_open(struct schedule *s, const struct cupti *cupti, const char *chip, const uint8_t *availability,
	const char *const *name, size_t n, struct fw_err *err);
void schedule_close(struct schedule *s);

#endif
