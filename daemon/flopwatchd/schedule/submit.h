/** submit.h - requests for scheduler allocations, as many as there are jobs for. */
#ifndef FLOPWATCHD_SCHEDULE_SUBMIT_H
#define FLOPWATCHD_SCHEDULE_SUBMIT_H

#include "flopwatchd/session/slot.h"

/** Request allocations for waiting jobs and withdraw requests without one. Err: the database. */
int submit_all(const struct slot_host *host, struct fw_err *err);
/** Withdraw all requests and release idle allocations: no job may start. */
void submit_none(const struct slot_host *host);

#endif
