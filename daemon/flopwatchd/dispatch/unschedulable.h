/** unschedulable.h - jobs that wait for a device which no worker has: nobody would ever see them move. */
#ifndef FLOPWATCHD_DISPATCH_UNSCHEDULABLE_H
#define FLOPWATCHD_DISPATCH_UNSCHEDULABLE_H

#include "core/ask/worker.h"
#include "flopwatchd/dispatch/slot.h"

/** Each queued job (`job` 0: of all) that none of the host's slots has a device for, with a line that says what it waits for and what to do. */
int unschedulable_each(const struct slot_host *host, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);

#endif
