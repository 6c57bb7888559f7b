/**
 * device.h - modes idle, device_check, health_check and clocks: probes of the device without branch code in the process.
 *
 * idle: does another process compute on it? device_check: the same and all other readings, around times of other programs.
 * health_check: does it compute correctly, and does equal work take equal time? Each answers with one `state` record. clocks:
 * its clock, as long as the reader listens.
 */
#ifndef RUNNER_MODE_DEVICE_H
#define RUNNER_MODE_DEVICE_H

#include "protocol/protocol.h"
#include "runner/record.h"

/**
 * Modes idle and device_check: read a device that is not opened, so that this process is not on it. Returns the exit status of
 * the process.
 */
int mode_look_run(const struct msg_run *run, struct records *records);
/** Open the device, compute a known result, time the device against itself. Returns the exit status of the process. */
int mode_health_check_run(const struct msg_run *run, struct records *records);

/**
 * Write one record at the start, then the clock every 20 ms under load, until the reader is gone or this process is ended.
 * Devices without a driver have one record, with the clock that a test injects. Returns the exit status.
 */
int mode_clocks_run(const struct msg_run *run, struct records *records);

#endif
