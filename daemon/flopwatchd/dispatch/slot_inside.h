/**
 * slot_inside.h - what the files of a slot share. slot.c leads a worker from its first word to a job at work, slot_end.c ends the job and
 * writes what came of it, slot_part.c shares a job with other slots, slot_health_check.c tries a device, slot_build.c builds alone, slot_idle_allocation.c has
 * a device that nothing wants.
 */
#ifndef FLOPWATCHD_DISPATCH_SLOT_INSIDE_H
#define FLOPWATCHD_DISPATCH_SLOT_INSIDE_H

#include "flopwatchd/dispatch/split_group.h"
#include "flopwatchd/dispatch/progress.h"
#include "flopwatchd/dispatch/session.h"
#include "flopwatchd/dispatch/slot.h"
#include "core/state/jobstate.h"
#include "db/cached_build/cached_build.h"

enum phase {
	PHASE_DOWN,    /* waits for its timer, then asks again */
	PHASE_ASKING,  /* a session that only says hello */
	PHASE_FREE,    /* knows its devices, or that a scheduler has them; has no job */
	PHASE_WAITING, /* a session that waits for its allocation; a job is chosen when that is there */
	PHASE_IDLE_ALLOCATION, /* an allocation that fits no job, kept while another is asked for: else the same device would come again */
	PHASE_PLANNING,     /* has a job, asks git for its inputs; where there is an allocation, beside its session */
	PHASE_OPENING,      /* has a plan, waits for the worker's hello */
	PHASE_RUNNING,      /* the worker has the job */
	PHASE_HEALTH_CHECK, /* no job: a device that was quarantined is tried */
	PHASE_JOINING,      /* its part of a job is done, those of others are not */
	PHASE_LEAVING,      /* the job is over for us, the worker not yet */
	PHASE_STORING       /* owes the database something that it did not take */
};

/* What is still to be written about the job when PHASE_STORING. */
enum pending_write { PENDING_WRITE_NONE, PENDING_WRITE_RESULT, PENDING_WRITE_MOVE, PENDING_WRITE_RELEASE };

struct slot {
	const struct slot_host *host;
	const struct config_worker *worker;
	int index; /* among those of its worker */
	enum phase phase;
	struct msg_hello hello;
	bool has_hello;
	int failures;                    /* of the worker, in a row */
	int n_full;                      /* jobs in a row for which its disk had no room */
	char why[400];                   /* the last one */
	bool is_suspect;                 /* ask it again before it gets another job */
	int n_backoff;                   /* its last allocation fitted no job: how many in a row did not; 0 it did */
	int64_t idle_allocation_ns;      /* since when it has the spare one */
	int64_t allocated_ns;            /* since when it has its allocation */
	struct slot_request request;     /* what the allocation is asked for as */
	char wait_id[32], wait_why[300]; /* what the allocation waits for */
	int wait_place;

	struct store_job job; /* id 0: none */
	enum jobstate state;
	bool measures; /* the job's time limit counts from then on */
	struct msg_device device;
	int64_t device_id;
	enum { HEALTH_CHECK_NOT_SENT, HEALTH_CHECK_SENT, HEALTH_CHECK_SAID } health_check;
	bool health_check_ok;
	int n_silent; /* health checks in a row that were sent and had no answer */
	char health_check_why[400];
	struct plan plan;
	char repo_path[4096];
	struct progress progress;
	int n_sources; /* of the job, where its builds are apart: what is to be there already */
	struct {
		enum role role;
		char name[STORE_SOURCE_SIZE];
	} source[PROTOCOL_SUBJECTS_MAX];
	struct split_group *split_group; /* that it leads, or helps; NULL none */

	enum pending_write pending_write;
	enum jobstate pending_write_state;
	char pending_write_why[1024];
	struct result *result;

	struct resolve *resolve;
	struct session *session;
	struct loop_source *timer, *job_timer;
};

/* slot_tell.c */

/** What its allocations are for: "build", "measure", "" both. */
const char *slot_aim(const struct slot *s);
/** Its worker could not be reached, and has not been since. */
bool slot_is_down(const struct slot *s);

/* slot.c */

void slot_set_timer(struct slot *s, int64_t delay_ms, loop_timer_fn *fn);
/** Why its allocation waits, or is of no use, is an event. Err: the database. */
int slot_write_pending(struct slot *s, struct fw_err *err);
/** Nothing is left of the last job. */
void slot_go_free(struct slot *s);
/** A session with its worker, on `node` where one is named. Err: it cannot be started. */
int slot_open_session(struct slot *s, const char *node, struct fw_err *err);
/** NULL: the worker does not have it. */
const struct msg_device *slot_find_device(const struct msg_hello *hello, const char *uuid);

/* slot_part.c */

/** Begin with its part of a split group's job: job, plan and device are set. Err: its worker cannot be started. */
int slot_open_helper(struct slot *s, struct fw_err *err);
/** Its part of another slot's job is not wanted any more. */
void slot_let_go(struct slot *s);
/** Its part of the split group's job has been measured; with the last one the job is stored. Own: takes `part`. */
void slot_take_part(struct slot *s, struct result *part);

/* slot_health_check.c */

/** Try s->device, with the session that there is or with a new one. */
void slot_begin_health_check(struct slot *s);
/** The worker is ready for it. */
void slot_send_health_check(struct slot *s, const struct msg_hello *hello);
void slot_hear_health_check(struct slot *s, const struct msg_state *state);
/** Its answer is the device's new state; without one the device is tried again. */
void slot_end_health_check(struct slot *s, enum session_end how, const char *why);

/* slot_idle_allocation.c */

/** Keep the allocation, which fits nothing that waits. */
void slot_keep_idle_allocation(struct slot *s);
/** It is looked whether it fits something now, or it has gone: until slot_go_on_idle_allocation nothing counts how long it is kept. */
void slot_stop_idle_allocation(struct slot *s);
/** It still fits nothing. */
void slot_go_on_idle_allocation(struct slot *s);
/** How many allocations of its worker in a row fitted nothing. */
struct backoff *slot_backoff(const struct slot *s);

/* slot_build.c */

/** The next job that it is to build, marked as sent. 1, 0 none, -1. */
int slot_claim_build(struct slot *s, struct fw_err *err);
/** A worker that only builds has said hello: of what others have built for it nothing counts any more. */
void slot_meet_builder(struct slot *s);
/** The plan is there: write what the job is built from. True: nothing is to be built, and the job is given back for a device. */
bool slot_has_nothing_to_build(struct slot *s);
/** Its builds are done: the job is given back for a device, or, where one failed or both are equal, is over. Own: takes `result`. */
void slot_take_builds(struct slot *s, struct result *result);
/** With the job: what was built is kept. Err: the database. */
int slot_write_cached(struct slot *s, int64_t now_ms, struct fw_err *err);
/** Before the plan is sent to a worker that measures: what its cache is believed to hold. */
void slot_note_sources(struct slot *s);
/** Such a worker told of a build: say so where it is one that should have been there. */
void slot_hear_build(struct slot *s, const struct msg_build *b);

/* slot_end.c */

/** What slot_settle has to write. */
void slot_set_pending(struct slot *s, enum pending_write pending_write, enum jobstate state, const char *why);
/** Write what is owed; the slot is free afterwards, or tries again in a while. */
void slot_settle(struct slot *s);
/** The job is over without a result. */
void slot_finish_job(struct slot *s, enum pending_write pending_write, enum jobstate_event on, const char *why);
/** Back to the queue, but for the last time some time: the job may be what breaks us. */
void slot_count_attempt(struct slot *s, const char *why);
/** The same, of a worker that is asked again before it gets another job. */
void slot_lose_worker(struct slot *s, const char *why);
/** From now on the job may take so much longer. */
void slot_limit_job(struct slot *s, int64_t limit_ms);

#endif
