/**
 * slot.h - one job at a time of a configured worker: asks it for its devices, claims a job for one of them, sees it through.
 *
 * A worker has a slot for each of its devices. Where a scheduler has the devices, a slot submits, and chooses its job when there is an
 * allocation: until then the job stays in our queue, and whoever comes meanwhile may go before it.
 *
 * A worker that cannot be reached is asked again with growing pauses, and no job suffers for it; a worker that is lost in
 * the middle of a job costs that job an attempt. A result that cannot be stored is kept and tried again.
 */
#ifndef FLOPWATCHD_DISPATCH_SLOT_H
#define FLOPWATCHD_DISPATCH_SLOT_H

#include "flopwatchd/executor/executor.h"
#include "flopwatchd/runtime/config.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"
#include "flopwatchd/planning/resolve.h"

struct slot;

/** Of one worker: how often in a row its allocations had devices that fit no job that waits, and what follows from that. */
struct backoff {
	int n;
	int64_t until_ns; /* until then nothing is asked for that waited when they were given back; 0 no such pause */
	int64_t newest;   /* the newest job then */
};

/** What a slot needs of the queue. */
struct slot_host {
	struct executors *executors;
	struct loop *loop;
	struct config *config;
	struct txn *txn;
	void *arg;
	/** The slot has become free, or its worker has come or gone. */
	void (*changed)(void *arg);
	/** Whether another slot works on this device. */
	bool (*is_taken)(void *arg, const char *uuid);
	/** Its slots, one after the other; NULL after the last. */
	struct slot *(*nth_slot)(void *arg, int n);
	/** A repository cannot be read now: none of its jobs before the queue has looked again. */
	void (*hold)(void *arg, int64_t repo);
	/** Repositories that are held, as a JSON array of their ids. */
	const char *(*held)(void *arg);
	/** Whether there is room for what a job leaves behind. */
	bool (*has_room)(void *arg);
	struct backoff *backoff; /* of each worker, by its place in the configuration */
};

/** Begin by asking the worker for its devices; `index` among its slots. Own: borrows host and w; NULL without memory. */
struct slot *slot_new(const struct slot_host *host, const struct config_worker *w, int index);
/** One more of the same worker, which knows what the first was told. NULL without memory. */
struct slot *slot_new_concurrent(const struct slot *first, int index);
/** How many slots its worker has work for, by what it last said: one for each device. */
int slot_devices(const struct slot *s);
const struct config_worker *slot_worker(const struct slot *s);

enum slot_wait { SLOT_WAITS_NEVER, SLOT_WAITS_NOT, SLOT_WAITS_JOB, SLOT_WAITS_HEALTH_CHECK, SLOT_HAS_IDLE_ALLOCATION };
/** Whether it waits for an allocation, and what for; NOT: it could; SPARE: it has one that fits nothing that waits. */
enum slot_wait slot_waits(const struct slot *s);
/** What an allocation is asked for as. What it gets is decided when it is there. */
struct slot_request {
	int64_t job; /* 0: a device that is to be tried */
	int priority;
	char node[64]; /* on which it has to be; "" any */
};
/** Ask for an allocation. Err: the worker cannot be started; it is down for a while. */
int slot_submit(struct slot *s, const struct slot_request *request, struct fw_err *err);
/** What a slot that waits was asked for as; may be exchanged for another of the same node. Own: the slot's. */
struct slot_request *slot_request(struct slot *s);
/** Whether its scheduler has looked at it and lets it wait. */
bool slot_is_stuck(const struct slot *s);
/** It need not wait any more. */
void slot_give_up(struct slot *s);
/** Whether a spare allocation was kept for as long as one may be. */
bool slot_idle_allocation_is_old(const struct slot *s);
/** Give a spare allocation back; `in_backoff`: and rest for a while, longer each time (struct vain). */
void slot_give_back(struct slot *s, bool in_backoff);
/** How long to rest after the `n`th time (from 1). Units: ms. */
int64_t slot_backoff_ms(int n);
/** Kills what runs; rows stay as they are. Accepts NULL. */
void slot_free(struct slot *s);

/** Take the next job for one of its devices, if it is free and there is one. Err: the database. */
int slot_claim(struct slot *s, struct fw_err *err);
/** Job at work, 0 none. */
int64_t slot_job(const struct slot *s);
/** Device at work or under trial; "" none. */
const char *slot_device(const struct slot *s);
struct worker_status;
/** How its worker stands. Own: texts point into the slot. */
void slot_tell(const struct slot *s, struct worker_status *out);
/** Whether its worker measures on this kind of device, or may for all that is known yet. */
bool slot_measures(const struct slot *s, enum device_kind kind);
/** Whether anything of it still runs. */
bool slot_is_busy(const struct slot *s);
/** End its job as cancelled. Err: the database. */
int slot_cancel(struct slot *s, const char *why, struct fw_err *err);
/** Give its job back to the queue without counting the attempt, and tell the worker to end. */
void slot_release(struct slot *s, const char *why);
/** The same of a profile, where something that people wait for could have its device. 1 it was given back, 0, -1. */
int slot_make_way(struct slot *s, struct fw_err *err);
/** Its job is over and its worker not yet: it will be free in a moment. */
bool slot_is_leaving(const struct slot *s);
/** slot_release, but only for a job that the worker does not have yet. */
void slot_release_plan(struct slot *s, const char *why);

#endif
