/**
 * device_check_script.h - readings that a test injects for devices sim and cpu, which have no driver.
 *
 * One rule a line, words NAME=VALUE. `at` (time idle health_check clocks; default time), `run`, `cell` and `pass` select when
 * it applies ("2", or "1-3"; missing: always). The others are readings: reasons foreign xid ecc temp_c power_w sm_mhz, and
 * lost=1 for a lost context. No rule changes a time.
 */
#ifndef RUNNER_DEVICE_CHECK_SCRIPT_H
#define RUNNER_DEVICE_CHECK_SCRIPT_H

#include <stdbool.h>

#include "protocol/protocol.h"

enum device_check_at { DEVICE_CHECK_AT_TIME, DEVICE_CHECK_AT_IDLE, DEVICE_CHECK_AT_HEALTH_CHECK, DEVICE_CHECK_AT_CLOCKS };

/** Moment of a reading. `cell` is the job's number; `pass` counts redos from 0, for clocks processes of the run. */
struct device_check_moment {
	enum device_check_at at;
	int process_run, cell, pass;
};

/** Write the readings of every rule that applies into `g`. Returns whether the context is lost. Unknown words are ignored. */
bool device_check_script_apply(const char *script, const struct device_check_moment *when, struct msg_device_check *g);

#endif
