/** concurrent.h - which devices of a machine may have jobs at the same time, so that these divide its cores and nobody else has a part of them. */
#ifndef FLOPWATCHD_DISPATCH_CONCURRENT_H
#define FLOPWATCHD_DISPATCH_CONCURRENT_H

#include "flopwatchd/dispatch/slot.h"

/**
 * Write into `ask` those beside which the job of `s` may run, with its own: what the configuration lets workers of this machine measure on
 * at once. Of a scheduler's allocation none is named: all that it shows are its own.
 */
void concurrent_find(const struct slot *s, struct msg_job *ask);

#endif
