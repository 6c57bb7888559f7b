/** concurrent.h - devices of a machine that may have jobs at the same time and therefore divide its cores. */
#ifndef FLOPWATCHD_SESSION_CONCURRENT_H
#define FLOPWATCHD_SESSION_CONCURRENT_H

#include "flopwatchd/session/slot.h"

/**
 * Write into `ask` the devices that may have jobs next to that of `s`, including its own: those that workers of this machine
 * may use by the configuration. None for a scheduler's allocation, whose devices are all its own.
 */
void concurrent_find(const struct slot *s, struct msg_job *request);

#endif
