/** submit.h - the allocations that schedulers are asked for, as many as there are jobs for. */
#ifndef FLOPWATCHD_DISPATCH_SUBMIT_H
#define FLOPWATCHD_DISPATCH_SUBMIT_H

#include "flopwatchd/dispatch/slot.h"

/** Have each slot of the host that is free and asks a scheduler do so where a job waits for it, and one give up that waits for none. Err: the database. */
int submit_all(const struct slot_host *host, struct fw_err *err);
/** Have all that wait give up, and give back what none has a use for: no job may begin. */
void submit_none(const struct slot_host *host);

#endif
