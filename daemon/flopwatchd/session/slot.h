/**
 * slot.h - one job at a time of a configured worker: queries its devices, claims a job for one of them, runs it to its end. A
 * worker has a slot for each of its devices. With a scheduler, a slot submits a request and chooses its job once it has an
 * allocation: until then the job stays in the queue, and later jobs may precede it. An unreachable worker is retried with
 * growing delays at no cost to any job; a worker that fails in the middle of a job costs that job an attempt. A result that
 * cannot be stored is retried.
 */
#ifndef FLOPWATCHD_SESSION_SLOT_H
#define FLOPWATCHD_SESSION_SLOT_H

#include "flopwatchd/session/executor.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/config/txn.h"
#include "lib/loop.h"
#include "flopwatchd/plan/resolve.h"

struct slot;

/** Of one worker: consecutive allocations whose devices fitted no queued job, and the resulting delay. */
struct backoff {
	int n;
	int64_t until_ns; /* until then, jobs that were queued at the last give-back get no new request; 0: no delay */
	int64_t newest;   /* the newest job at that time */
};

/** Services of the queue for its slots. */
struct slot_host {
	struct executors *executors;
	struct loop *loop;
	struct config *config;
	struct txn *txn;
	void *arg;
	/** The slot became free, or its worker came up or went down. */
	void (*changed)(void *arg);
	/** True if another slot uses this device. */
	bool (*is_taken)(void *arg, const char *uuid);
	/** Slot `n`; NULL after the last. */
	struct slot *(*nth_slot)(void *arg, int n);
	/** A repository cannot be read now: start none of its jobs before the queue retries. */
	void (*hold)(void *arg, int64_t repo);
	/** Held repositories, as a JSON array of ids. */
	const char *(*held)(void *arg);
	/** True if the disk has space for a job's results. */
	bool (*has_room)(void *arg);
	struct backoff *backoff; /* of each worker, by its index in the configuration */
};

/** Create a slot, number `index` of its worker, and query its devices. Own: borrows host and w; NULL without memory. */
struct slot *slot_new(const struct slot_host *host, const struct config_worker *w, int index);
/** Another slot of the same worker; copies the hello of `first`. NULL without memory. */
struct slot *slot_new_concurrent(const struct slot *first, int index);
/** Number of slots that the worker's last hello allows: one for each device. */
int slot_devices(const struct slot *s);
const struct config_worker *slot_worker(const struct slot *s);

enum slot_wait { SLOT_WAITS_NEVER, SLOT_WAITS_NOT, SLOT_WAITS_JOB, SLOT_WAITS_HEALTH_CHECK, SLOT_HAS_IDLE_ALLOCATION };
/** State of its request. NOT: it could request; SLOT_HAS_IDLE_ALLOCATION: its allocation fits no queued job. */
enum slot_wait slot_waits(const struct slot *s);
/** Properties of a requested allocation. The job is chosen once it is granted. */
struct slot_request {
	int64_t job; /* 0: a device for a health check */
	int priority;
	char node[64]; /* required node; "": any */
};
/** Request an allocation. Err: the worker cannot be started; it is down for a while. */
int slot_submit(struct slot *s, const struct slot_request *request, struct fw_err *err);
/** The request of a waiting slot; may be replaced by another for the same node. Own: the slot's. */
struct slot_request *slot_request(struct slot *s);
/** True if the scheduler has seen the request and lets it wait. */
bool slot_is_stuck(const struct slot *s);
/** Withdraw the request. */
void slot_give_up(struct slot *s);
/** True if an idle allocation was held for the longest permitted time. */
bool slot_idle_allocation_is_old(const struct slot *s);
/** Release an idle allocation; `in_backoff`: and delay the next request, longer each time (struct backoff). */
void slot_give_back(struct slot *s, bool in_backoff);
/** Delay after the `n`th time (from 1). Units: ms. */
int64_t slot_backoff_ms(int n);
/** Kill what runs; rows are unchanged. Accepts NULL. */
void slot_free(struct slot *s);

/** Claim the next job for one of its devices, if the slot is free. Err: the database. */
int slot_claim(struct slot *s, struct fw_err *err);
/** Current job, 0 none. */
int64_t slot_job(const struct slot *s);
/** Device of the current job or health check; "" none. */
const char *slot_device(const struct slot *s);
struct worker_status;
/** Status of its worker. Own: texts point into the slot. */
void slot_report(const struct slot *s, struct worker_status *out);
/** True if its worker measures on this kind of device, or may. */
bool slot_measures(const struct slot *s, enum device_kind kind);
/** True if any process or session of it runs. */
bool slot_is_busy(const struct slot *s);
/** Cancel its job. Err: the database. */
int slot_cancel(struct slot *s, const char *why, struct fw_err *err);
/** Return its job to the queue without counting the attempt, and stop the worker. */
void slot_release(struct slot *s, const char *why);
/** Preempt a profile if a job that users wait for could use its device. 1 preempted, 0, -1. */
int slot_make_way(struct slot *s, struct fw_err *err);
/** True if its job is over and its worker is still ending. */
bool slot_is_leaving(const struct slot *s);
/** slot_release for a job that the worker does not have yet. */
void slot_release_plan(struct slot *s, const char *why);

#endif
