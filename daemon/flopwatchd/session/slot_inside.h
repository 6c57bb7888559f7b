/**
 * slot_inside.h - state and functions shared by the files of a slot: slot.c leads a worker from its hello to a running job,
 * slot_end.c ends the job and stores its result, slot_part.c runs a part of a split job, slot_health_check.c checks a device,
 * slot_build.c builds in separate allocations, slot_idle_allocation.c keeps an allocation that fits no job, slot_report.c reports
 * the status.
 */
#ifndef FLOPWATCHD_SESSION_SLOT_INSIDE_H
#define FLOPWATCHD_SESSION_SLOT_INSIDE_H

#include "flopwatchd/session/split_group.h"
#include "flopwatchd/session/progress.h"
#include "flopwatchd/session/session.h"
#include "flopwatchd/session/slot.h"
#include "model/jobstate.h"
#include "db/cached_build.h"

enum phase {
	PHASE_DOWN,    /* waits for its timer, then queries the worker again */
	PHASE_ASKING,  /* a session that only waits for hello */
	PHASE_FREE,    /* has no job; its devices are known, or a scheduler has them */
	PHASE_WAITING, /* a session without allocation; the job is chosen once there is one */
	/* keeps an allocation that fits no job while it requests another: the same device would be granted again */
	PHASE_IDLE_ALLOCATION,
	PHASE_PLANNING,     /* has a job, queries git for its inputs; with an allocation, next to its session */
	PHASE_OPENING,      /* has a plan, waits for the worker's hello */
	PHASE_RUNNING,      /* the worker has the job */
	PHASE_HEALTH_CHECK, /* no job: checks a quarantined device */
	PHASE_JOINING,      /* its part of a job is done, parts of other slots are not */
	PHASE_LEAVING,      /* the job is over, the worker still ends */
	PHASE_STORING       /* has a write that the database did not accept */
};

/* The pending write of PHASE_STORING. */
enum pending_write { PENDING_WRITE_NONE, PENDING_WRITE_RESULT, PENDING_WRITE_MOVE, PENDING_WRITE_RELEASE };

struct slot {
	const struct slot_host *host;
	const struct config_worker *worker;
	int index; /* among the slots of its worker */
	enum phase phase;
	struct msg_hello hello;
	bool has_hello;
	int failures;                    /* of the worker, consecutive */
	int n_full;                      /* consecutive jobs that its disk had no space for */
	char why[400];                   /* the last failure */
	bool is_suspect;                 /* query its devices before the next job */
	int n_backoff;                   /* consecutive allocations that fitted no job */
	int64_t idle_allocation_ns;      /* start of the idle allocation */
	int64_t allocated_ns;            /* start of the allocation */
	struct slot_request request;     /* properties of the requested allocation */
	char wait_id[32], wait_why[300]; /* the scheduler's id and reason */
	int wait_position;

	struct store_job job; /* id 0: none */
	enum jobstate state;
	bool measures; /* measuring has started: the job's time limit counts */
	struct msg_device device;
	int64_t device_id;
	enum { HEALTH_CHECK_NOT_SENT, HEALTH_CHECK_SENT, HEALTH_CHECK_SAID } health_check;
	bool health_check_ok;
	int n_silent; /* consecutive health checks that were sent and not answered */
	char health_check_why[400];
	struct plan plan;
	char repo_path[4096];
	struct progress progress;
	int n_sources; /* of a job with separate builds: sources whose modules the cache should hold */
	struct {
		enum role role;
		char name[STORE_SOURCE_SIZE];
	} source[PROTOCOL_SUBJECTS_MAX];
	struct split_group *split_group; /* led or helped by this slot; NULL none */

	enum pending_write pending_write;
	enum jobstate pending_write_state;
	char pending_write_why[1024];
	struct result *result;

	struct resolve *resolve;
	struct session *session;
	struct loop_source *timer, *job_timer;
};

/* slot_report.c */

/** Purpose of its allocations: "build", "measure", "" both. */
const char *slot_aim(const struct slot *s);
/** True if its worker could not be reached at the last attempt. */
bool slot_is_down(const struct slot *s);

/* slot.c */

void slot_set_timer(struct slot *s, int64_t delay_ms, loop_timer_fn *fn);
/** Store why its allocation waits or is of no use, with an event. Err: the database. */
int slot_write_pending(struct slot *s, struct fw_err *err);
/** Drop the last job; the slot is free. */
void slot_go_free(struct slot *s);
/** Start a session with its worker, on `node` if set. Err: it cannot be started. */
int slot_open_session(struct slot *s, const char *node, struct fw_err *err);
/** Find a device of the hello; NULL: none. */
const struct msg_device *slot_find_device(const struct msg_hello *hello, const char *uuid);

/* slot_part.c */

/** Start its part of a split job; job, plan and device are set. Err: its worker cannot be started. */
int slot_open_helper(struct slot *s, struct fw_err *err);
/** Cancel its part of another slot's job. */
void slot_let_go(struct slot *s);
/** Add a measured part to the split job; the last part stores the job. Own: takes `part`. */
void slot_take_part(struct slot *s, struct result *part);

/* slot_health_check.c */

/** Check s->device in the existing session or a new one. */
void slot_begin_health_check(struct slot *s);
/** Send the check; the worker is ready. */
void slot_send_health_check(struct slot *s, const struct msg_hello *hello);
void slot_receive_health_check(struct slot *s, const struct msg_state *state);
/** Set the device's state from the answer; without an answer the check is repeated. */
void slot_end_health_check(struct slot *s, enum session_end how, const char *why);

/* slot_idle_allocation.c */

/** Keep an allocation that fits no queued job. */
void slot_keep_idle_allocation(struct slot *s);
/** Stop its timer: the allocation is checked against the queue, or is gone. */
void slot_stop_idle_allocation(struct slot *s);
/** Restart its timer: it still fits no job. */
void slot_go_on_idle_allocation(struct slot *s);
/** Backoff state of its worker. */
struct backoff *slot_backoff(const struct slot *s);

/* slot_build.c */

/** Claim the next job to build and mark it as sent. 1, 0 none, -1. */
int slot_claim_build(struct slot *s, struct fw_err *err);
/** A builder sent hello: clear the records of builds that other workers made for it. */
void slot_meet_builder(struct slot *s);
/** Store the planned job's sources. True: all are cached, and the job returned to the queue for a device. */
bool slot_has_nothing_to_build(struct slot *s);
/** End a build: the job waits for a device, or ends if a build failed or both are identical. Own: takes `result`. */
void slot_take_builds(struct slot *s, struct result *result);
/** Store the job's cached builds. Err: the database. */
int slot_write_cached(struct slot *s, int64_t now_ms, struct fw_err *err);
/** Before the plan is sent to a measuring worker: note the sources that its cache should hold. */
void slot_note_sources(struct slot *s);
/** The measuring worker reported a build: log one that its cache should have held. */
void slot_receive_build(struct slot *s, const struct msg_build *b);

/* slot_end.c */

/** Set the write that slot_settle has to do. */
void slot_set_pending(struct slot *s, enum pending_write pending_write, enum jobstate state, const char *why);
/** Do the pending write; then the slot is free, or retries later. */
void slot_settle(struct slot *s);
/** End the job without a result. */
void slot_finish_job(struct slot *s, enum pending_write pending_write, enum jobstate_event on, const char *why);
/** Return the job to the queue, or fail it after its last attempt: the job may be what breaks the worker. */
void slot_count_attempt(struct slot *s, const char *why);
/** As slot_count_attempt, and query the worker's devices before its next job. */
void slot_lose_worker(struct slot *s, const char *why);
/** Limit the job to `limit_ms` from now on. */
void slot_limit_job(struct slot *s, int64_t limit_ms);

#endif
