/* control_queue.c - status of the queue: health, workers, jobs that no worker can run. */
#include "flopwatchd/internal.h"

#include "flopwatchd/schedule/schedule.h"

int control_health(struct control *c, struct fw_err *err)
{
	return queue_health(c->queue, err);
}

void control_workers(const struct control *c, worker_status_fn *each, void *to)
{
	queue_workers(c->queue, each, to);
}

int control_unschedulable(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err)
{
	return queue_unschedulable(c->queue, job, each, to, err);
}
