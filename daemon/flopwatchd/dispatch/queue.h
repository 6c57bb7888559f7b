/**
 * queue.h - moves jobs: resolves new ones, gives the next to a free worker, ends those that need no worker.
 *
 * Whatever it does is in the database first, so that a daemon that dies at any moment finds its place again.
 */
#ifndef FLOPWATCHD_DISPATCH_QUEUE_H
#define FLOPWATCHD_DISPATCH_QUEUE_H

#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"

struct queue;

/** Begin. `on_event(arg)` (may be NULL) is called after transactions that may have written events. Own: borrows l, c, db. */
int queue_start(struct loop *l, struct config *c, struct db *db, void (*on_event)(void *arg), void *arg, struct queue **out,
	struct fw_err *err);
/** There may be new jobs, or a device may have come back. */
void queue_wake(struct queue *q);
/** End an open job as cancelled. Err: ERR_NOT_FOUND, ERR_CONFLICT it has ended already. */
int queue_cancel(struct queue *q, int64_t job, const char *why, struct fw_err *err);
/**
 * Before the configuration's repositories change: forget all work in git. Jobs that were being planned go back to queued;
 * jobs that a worker has go on. queue_wake picks them up again.
 */
void queue_forget_plans(struct queue *q);
/** Give running jobs back uncounted, tell the workers to end, take no more; `done(arg)` when all have ended. */
void queue_drain(struct queue *q, void (*done)(void *arg), void *arg);
/** Kill what still runs; accepts NULL. */
void queue_stop(struct queue *q);
/** 0, or -1 with why results cannot be stored. */
int queue_health(struct queue *q, struct fw_err *err);
struct worker_status;
/** Each worker as it stands. */
void queue_workers(const struct queue *q, void (*each)(void *to, const struct worker_status *worker), void *to);
/** Each queued job (`job` 0: of all) that no worker has a device for, with a line about it: see unschedulable.h. */
int queue_unschedulable(
	const struct queue *q, int64_t job, void (*each)(void *to, int64_t job, const char *why), void *to, struct fw_err *err);
/** Whether any worker measures on this kind of device, or may for all that is known yet: a job for another would wait for ever. */
bool queue_measures(const struct queue *q, enum device_kind kind);
struct txn *queue_txn(struct queue *q);

#endif
