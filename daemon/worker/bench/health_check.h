/**
 * health_check.h - questions about the device itself: does it still work, and is anybody else on it?
 */
#ifndef WORKER_BENCH_HEALTH_CHECK_H
#define WORKER_BENCH_HEALTH_CHECK_H

#include "worker/bench/bench.h"
#include "worker/bench/runner_child.h"

/**
 * Let the device do something small whose result is known, and time it against itself; twice more when it fails. 1 it passed,
 * 0 it did not, with the reason in `state`; -1 error.
 */
int health_check_run(struct bench *b, struct msg_state *state, struct fw_err *err);
/**
 * After a process ended: where the device may have been hurt, try it. One that stays broken is reported as a fault of class
 * "lost", closes every cell and sets b->lost: nothing is timed on it any more.
 */
int health_check_after(struct bench *b, const struct runner_end *end, struct fw_err *err);
/** Tell that the device is broken. Ends all work on it. */
int health_check_lost(struct bench *b, const char *why, struct fw_err *err);
/** The driver reported this XID: where it means broken hardware, tell. 0 none. */
int health_check_xid(struct bench *b, int xid, struct fw_err *err);

/** Whether the device says anything of itself. */
bool health_check_can_tell(const struct bench *b);
/**
 * What the device says of itself now, from a process that is not on it; nothing known where nobody can tell. To be read before and after
 * times that other programs take, `pass` times of which were void before. Memory errors are those since the reading before.
 */
int health_check_device_check(struct bench *b, int pass, struct msg_device_check *out, struct fw_err *err);
/**
 * Wait until no other process computes on the device, telling so in notes. 1 it is free, 0 the limit wait_s ran out: every open
 * cell has its fault then; -1 error.
 */
int health_check_wait_idle(struct bench *b, struct fw_err *err);

#endif
