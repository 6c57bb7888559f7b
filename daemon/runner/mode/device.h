/**
 * device.h - modes idle, guard, health check and clocks: questions about the device itself, without any branch code in the process.
 *
 * idle: does another process compute on it? guard: the same and everything else that it says of itself, around times that other
 * programs take. health check: does it still compute what it should, and does one and the same work take
 * one and the same time? Each answers with one `state` record. clocks: which clock does it run at, as long as somebody asks?
 */
#ifndef RUNNER_MODE_DEVICE_H
#define RUNNER_MODE_DEVICE_H

#include "core/protocol/protocol.h"
#include "runner/call/record.h"

/** Modes idle and guard: readings of a device that was not opened, so that this process is not on it. Returns the exit status of the process. */
int mode_look_run(const struct msg_run *run, struct records *records);
/** Open the device, compute something whose result is known, time it against itself. Returns the exit status of the process. */
int mode_health_check_run(const struct msg_run *run, struct records *records);

/**
 * Tell in one record that looks begin, and from then on the clock every 20 ms while something computes, until nobody reads any more or this
 * process is ended. Devices without a driver have one record, with the clock that a test wants to see. Returns the exit status.
 */
int mode_clocks_run(const struct msg_run *run, struct records *records);

#endif
