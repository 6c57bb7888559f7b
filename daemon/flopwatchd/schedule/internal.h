/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_SCHEDULE_INTERNAL_H
#define FLOPWATCHD_SCHEDULE_INTERNAL_H

#include "flopwatchd/schedule/schedule.h"
#include "flopwatchd/session/session.h"
#include "model/model.h"

/* ---- submit: Requests for scheduler allocations, as many as there are jobs that need one. ---- */

/** Request allocations for waiting jobs and withdraw requests without a waiting job. Err: the database. */
int submit_all(const struct slot_host *host, struct fw_err *err);
/** Withdraw all requests and release idle allocations: no job may start. */
void submit_none(const struct slot_host *host);

#endif
