/** submit.h - requests for scheduler allocations, as many as there are jobs for. */
#ifndef FLOPWATCHD_DISPATCH_SUBMIT_H
#define FLOPWATCHD_DISPATCH_SUBMIT_H

#include "flopwatchd/dispatch/slot.h"

/**
 * Let each free slot with a scheduler request an allocation if a job waits for it, and each slot without a waiting job withdraw
 * its request. Err: the database.
 */
int submit_all(const struct slot_host *host, struct fw_err *err);
/** Withdraw all requests and release idle allocations: no job may start. */
void submit_none(const struct slot_host *host);

#endif
