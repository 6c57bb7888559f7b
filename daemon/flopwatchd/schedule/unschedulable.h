/** unschedulable.h - queued jobs that no worker can run, with the reason. */
#ifndef FLOPWATCHD_SCHEDULE_UNSCHEDULABLE_H
#define FLOPWATCHD_SCHEDULE_UNSCHEDULABLE_H

#include "model/worker.h"
#include "flopwatchd/session/slot.h"

/** Report each queued job (`job` 0: any) that no slot of the host has a device for, with the device it waits for and a remedy. */
int unschedulable_each(const struct slot_host *host, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err);

#endif
