/**
 * device_check_script.h - readings that a test wants a run to see, for devices sim and cpu, which have no driver to ask.
 *
 * One line a rule: words NAME=VALUE; those of `at` (time idle health check clocks; default time), `run`, `cell` and `pass` say when it
 * holds ("2", or "1-3"; left out: always), the others what is read: reasons foreign xid ecc temp_c power_w sm_mhz, and
 * lost=1, the device's context is gone. No time is ever made up here.
 */
#ifndef RUNNER_DEVICE_DEVICE_CHECK_SCRIPT_H
#define RUNNER_DEVICE_DEVICE_CHECK_SCRIPT_H

#include <stdbool.h>

#include "core/protocol/protocol.h"

enum device_check_at { DEVICE_CHECK_AT_TIME, DEVICE_CHECK_AT_IDLE, DEVICE_CHECK_AT_HEALTH_CHECK, DEVICE_CHECK_AT_CLOCKS };

/** When a reading is taken. `cell` is the job's number, `pass` counts redos from 0, for clocks processes of the run. */
struct device_check_moment {
	enum device_check_at at;
	int process_run, cell, pass;
};

/** Write what every rule that holds says into `g`. Returns whether the context is lost. A word that is none is left out. */
bool device_check_script_apply(const char *script, const struct device_check_moment *when, struct msg_device_check *g);

#endif
