/**
 * guard_script.h - readings that a test wants a launch to see, for devices sim and cpu, which have no driver to ask.
 *
 * One line a rule: words NAME=VALUE; those of `at` (time idle health check clocks; default time), `launch`, `cell` and `pass` say when it
 * holds ("2", or "1-3"; left out: always), the others what is read: reasons foreign xid ecc temp_c power_w sm_mhz, and
 * lost=1, the device's context is gone. No time is ever made up here.
 */
#ifndef RUNNER_DEVICE_GUARD_SCRIPT_H
#define RUNNER_DEVICE_GUARD_SCRIPT_H

#include <stdbool.h>

#include "core/protocol/protocol.h"

enum guard_at { GUARD_AT_TIME, GUARD_AT_IDLE, GUARD_AT_HEALTH_CHECK, GUARD_AT_CLOCKS };

/** When a reading is taken. `cell` is the job's number, `pass` counts redos from 0, for clocks processes of the launch. */
struct guard_moment {
	enum guard_at at;
	int launch, cell, pass;
};

/** Write what every rule that holds says into `g`. Returns whether the context is lost. A word that is none is left out. */
bool guard_script_apply(const char *script, const struct guard_moment *when, struct msg_guard *g);

#endif
