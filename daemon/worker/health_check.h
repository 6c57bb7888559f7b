/** health_check.h - probes of the device itself: whether it works, and whether other processes use it. */
#ifndef WORKER_HEALTH_CHECK_H
#define WORKER_HEALTH_CHECK_H

#include "worker/bench.h"
#include "worker/runner_child.h"

/**
 * Run a small computation with a known result on the device and time it against itself; repeat it twice on failure. Returns 1
 * passed, 0 failed, with the reason in `state`; -1 error.
 */
int health_check_run(struct bench *b, struct msg_state *state, struct fw_err *err);
/**
 * Test the device after a process that may have damaged it. A broken device is reported as a fault of class "lost", closes
 * every cell and sets b->lost: nothing more is timed on it.
 */
int health_check_after(struct bench *b, const struct runner_end *end, struct fw_err *err);
/** Report the device as broken. Ends all work on it. */
int health_check_lost(struct bench *b, const char *why, struct fw_err *err);
/** Report the device as broken if this XID of the driver means broken hardware. 0: none. */
int health_check_xid(struct bench *b, int xid, struct fw_err *err);

/** Return whether the device has readable state. */
bool health_check_can_report(const struct bench *b);
/**
 * Read the device's state from a process that is not on it; unknown where no driver reports. Call before and after times of
 * other programs. `pass`: number of discarded times before. Memory errors count since the last reading.
 */
int health_check_device_check(struct bench *b, int pass, struct msg_device_check *out, struct fw_err *err);
/**
 * Wait until no other process computes on the device, with notes on the progress. Returns 1 free; 0 the limit wait_s ended, and
 * every open cell has its fault; -1 error.
 */
int health_check_wait_idle(struct bench *b, struct fw_err *err);

#endif
