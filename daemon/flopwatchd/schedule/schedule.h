/** schedule.h - choose the next job and its device. */
#ifndef FLOPWATCHD_SCHEDULE_SCHEDULE_H
#define FLOPWATCHD_SCHEDULE_SCHEDULE_H

#include "flopwatchd/config/config.h"
#include "lib/lib.h"

/*
 * ---- queue ----
 * The job queue: resolves new jobs, assigns them to free workers, ends those that need no worker. Every step is
 * stored first, so that a restart resumes where it stopped.
 */

struct queue;

/** Start. `on_event(arg)` (may be NULL) is called after transactions that may have written events. Own: borrows l, c, db. */
int queue_start(struct loop *l, struct config *c, struct db *db, void (*on_event)(void *arg), void *arg, struct queue **out,
	struct fw_err *err);
/** Call it when jobs were added or a device may have become available. */
void queue_wake(struct queue *q);
/** Cancel an open job. Err: ERR_NOT_FOUND, ERR_CONFLICT it has ended already. */
int queue_cancel(struct queue *q, int64_t job, const char *why, struct fw_err *err);
/**
 * Cancel git work before repositories change: planned jobs return to queued, running ones continue. queue_wake resumes the work.
 */
void queue_forget_plans(struct queue *q);
/** Return running jobs to the queue without counting the attempt, stop the workers, start no job. `done(arg)`: all have ended. */
void queue_drain(struct queue *q, void (*done)(void *arg), void *arg);
/** Kill all running work; accepts NULL. */
void queue_stop(struct queue *q);
/** 0, or -1 and the reason why results cannot be stored. */
int queue_health(struct queue *q, struct fw_err *err);
struct worker_status;
/** Report the status of each worker. */
void queue_workers(const struct queue *q, void (*each)(void *to, const struct worker_status *worker), void *to);
/** Report each queued job (`job` 0: any) that no worker has a device for, with the reason; documented in queue.c. */
int queue_unschedulable(
	const struct queue *q, int64_t job, void (*each)(void *to, int64_t job, const char *why), void *to, struct fw_err *err);
/** True if any worker measures on this kind of device, or may do so: a job for another kind would wait forever. */
bool queue_measures(const struct queue *q, enum device_kind kind);
struct txn *queue_txn(struct queue *q);

#endif
