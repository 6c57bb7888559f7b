/** session.h - sessions with workers, from the connection to the end of a job. */
#ifndef FLOPWATCHD_SESSION_SESSION_H
#define FLOPWATCHD_SESSION_SESSION_H

#include <stdbool.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/plan/plan.h"
#include "lib/lib.h"
#include "model/model.h"
#include "protocol/protocol.h"

/*
 * ---- executor ----
 * Submissions of a worker to a machine: pending with a reason, running or ended. A submission may stay pending without a time
 * limit. After executor_end the child gets a request to end and is later killed; if a scheduler has an allocation for it, the
 * daemon searches for that allocation until it is gone.
 */

struct executors; /* of all submissions of a daemon */
struct executor;  /* of one submission */

/** State of a pending submission, in the terms of its scheduler. Texts are valid during the call. */
struct executor_wait {
	const char *id;     /* the scheduler's id; "": none yet */
	const char *reason; /* "Resources", or the error of the query */
	int position;       /* position in the queue, from 1; 0 unknown */
};

struct executor_hooks {
	/** The submission is pending. Called again when the reason changes. */
	void (*pending)(void *arg, const struct executor_wait *wait);
	/** The worker can be connected. May be called before executor_submit returns. Own: the executor owns the descriptor. */
	void (*running)(void *arg, int fd);
	/** One line of the worker's standard error. */
	void (*line_received)(void *arg, char *line);
	/** The process ended: "exit 3", "" for success. Called only if executor_is_process. */
	void (*ended)(void *arg, const char *how);
};

/** Create an executor and cancel allocations of an earlier daemon. Own: borrows l and c. */
struct executors *executors_new(struct loop *l, const struct config *c);
/** Request all running children to end and wait a moment. Accepts NULL. */
void executors_free(struct executors *x);

/** Start the worker or connect to it, on `node` if set. Own: borrows w and hooks until executor_end. Err: no hook was called. */
int executor_submit(struct executors *x, const struct config_worker *w, const char *node, const struct executor_hooks *hooks,
	void *arg, struct executor **out, struct fw_err *err);
/** True if the submission has a process, so that `ended` will be called. */
bool executor_is_process(const struct executor *e);
/** Call no hook from now on, and give the process a moment to end. Accepts NULL. */
void executor_end(struct executor *e);

/*
 * ---- slot ----
 * A slot runs one job at a time of a configured worker: it queries the worker's devices, claims a job for one of them, and runs
 * it to its end. A worker has a slot for each of its devices. With a scheduler, a slot submits a request and chooses its job once
 * it has an allocation: until then the job stays in the queue, and later jobs may precede it. An unreachable worker is retried
 * with growing delays, which affects no job; a worker that fails during a job costs that job an attempt. A result that cannot be
 * stored is retried.
 */

struct slot;

/** Backoff of one worker: consecutive allocations whose devices fitted no queued job, and the resulting delay. */
struct backoff {
	int n;
	int64_t until_ns; /* until then, jobs queued at the last release of an allocation get no new request; 0: no delay */
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
	/** Return slot `n`; NULL after the last one. */
	struct slot *(*nth_slot)(void *arg, int n);
	/** A repository cannot be read now: start none of its jobs before the queue retries. */
	void (*hold)(void *arg, int64_t repo);
	/** Return the unreadable repositories as a JSON array of ids. */
	const char *(*held)(void *arg);
	/** True if the disk has space for a job's results. */
	bool (*has_space)(void *arg);
	/**
	 * True if a profile of higher priority that may use this device is resolved at this moment. The device waits for it, at most
	 * until git's deadline, so that a push that was resolved earlier does not delay the profile of a new alert.
	 * Devices of allocations do not wait.
	 */
	bool (*is_profile_resolved_now)(void *arg, const char *uuid, int priority);
	struct backoff *backoff; /* of each worker, by its index in the configuration */
};

/** Create a slot, number `index` of its worker, and query its devices. Own: borrows host and w; NULL without memory. */
struct slot *slot_new(const struct slot_host *host, const struct config_worker *w, int index);
/** Create another slot of the same worker; copies the hello of `first`. NULL without memory. */
struct slot *slot_new_concurrent(const struct slot *first, int index);
/** Return the number of slots that the worker's last hello allows: one for each device. */
int slot_devices(const struct slot *s);
const struct config_worker *slot_worker(const struct slot *s);

enum slot_wait { SLOT_WAITS_NEVER, SLOT_WAITS_NOT, SLOT_WAITS_JOB, SLOT_WAITS_HEALTH_CHECK, SLOT_HAS_IDLE_ALLOCATION };
/**
 * State of a slot's request. NOT: it could request an allocation; SLOT_HAS_IDLE_ALLOCATION: its allocation fits no queued job.
 */
enum slot_wait slot_waits(const struct slot *s);
/** Properties of a requested allocation. The job is chosen once the allocation is granted. */
struct slot_request {
	int64_t job; /* 0: a device for a health check */
	int priority;
	char node[64]; /* required node; "": any */
};
/** Request an allocation. Err: the worker cannot be started; it is down for a while. */
int slot_submit(struct slot *s, const struct slot_request *request, struct fw_err *err);
/** Return the request of a waiting slot; the caller may replace it by another one for the same node. Own: the slot's. */
struct slot_request *slot_request(struct slot *s);
/** True if the scheduler has received the request and keeps it pending. */
bool slot_is_stuck(const struct slot *s);
/** Withdraw the request. */
void slot_give_up(struct slot *s);
/** True if the slot has had an idle allocation for the longest permitted time. */
bool slot_idle_allocation_is_old(const struct slot *s);
/** Release an idle allocation. `in_backoff`: also delay the next request, longer each time (struct backoff). */
void slot_give_back(struct slot *s, bool in_backoff);
/** Return the delay after the `n`th time (from 1). Units: ms. */
int64_t slot_backoff_ms(int n);
/** Kill running processes; rows are unchanged. Accepts NULL. */
void slot_free(struct slot *s);

/** Claim the next job for one of its devices if the slot is free. Err: the database. */
int slot_claim(struct slot *s, struct fw_err *err);
/** Return the current job, 0 none. */
int64_t slot_job(const struct slot *s);
/** Return the device of the current job or health check; "" none. */
const char *slot_device(const struct slot *s);
struct worker_status;
/** Report the status of its worker. Own: texts belong to the slot. */
void slot_report(const struct slot *s, struct worker_status *out);
/** True if its worker measures on this kind of device, or may do so. */
bool slot_measures(const struct slot *s, enum device_kind kind);
/** True if a process or session of the slot is running. */
bool slot_is_busy(const struct slot *s);
/** Cancel its job. Err: the database. */
int slot_cancel(struct slot *s, const char *why, struct fw_err *err);
/** Return its job to the queue without counting the attempt, and stop the worker. */
void slot_release(struct slot *s, const char *why);
/** Preempt a profile if a job that a client waits for could use its device. Returns 1 preempted, 0, -1. */
int slot_preempt(struct slot *s, struct fw_err *err);
/** True if its job has ended and its worker is still ending. */
bool slot_is_leaving(const struct slot *s);
/** As slot_release, for a job that was not sent to the worker yet. */
void slot_release_plan(struct slot *s, const char *why);

/*
 * ---- build_claims ----
 * Coordination of workers of one kind that build in separate allocations, each with its own cache. A worker measures the jobs it
 * built; the other workers do not build them again.
 */

/** Build a JSON array of ids: begin, add, end. Own: the caller's; free it with buf_fini. */
void build_claims_begin(struct buf *ids);
void build_claims_add(struct buf *ids, int64_t id);
void build_claims_end(struct buf *ids);

/** Add jobs that workers other than `w` built and will measure, up to their number of slots. Err: the database. */
int build_claims_for(const struct slot_host *host, const struct config_worker *w, struct buf *ids, struct fw_err *err);
/** Set *capacity: builds that `w` may still request; if other workers also build, no more than can be measured. Err: the database. */
int build_claims_capacity(const struct slot_host *host, const struct config_worker *w, int *capacity, struct fw_err *err);

/* ---- connect: Connections to workers: a command on this machine, on another host or of a scheduler, or a socket. ---- */

enum { CONNECT_ENV_MAX = 20, CONNECT_ENV_TEXT = 4096 };

struct connection {
	int fd;            /* both directions */
	int errors_fd;     /* standard error, not blocking; -1: a socket worker, which has none here */
	struct proc child; /* pid 0: none */
};

/** Options of an allocation; "": unset. */
struct connect_as {
	const char *name; /* job name, by which the daemon finds the allocation again */
	const char *node; /* required node */
};

/**
 * Start the worker or connect to its socket. The child gets time to end before it is killed, because a scheduler or another host
 * holds resources for it. Own: on 0 the caller closes both descriptors and ends the child; on -1 nothing is open.
 */
int connect_worker(const struct config *c, const struct config_worker *w, const struct connect_as *as, struct connection *out,
	struct fw_err *err);

/** The worker's ends of a connection: its input and output, and its errors. -1: closed. */
struct connect_line {
	int both, errors;
};

/** Open a connection whose process connect_start starts later. Own: the caller closes both ends. Err: nothing is open. */
int connect_open(const struct config_worker *w, struct connection *out, struct connect_line *line, struct fw_err *err);
/** Start the worker at its ends of a connection, which stay open. Err: it cannot be started. */
int connect_start(const struct config *c, const struct config_worker *w, const struct connect_as *as,
	const struct connect_line *line, struct proc *out, struct fw_err *err);
/** Close the worker's ends here. */
void connect_close(struct connect_line *line);

/** Set the environment variables of a worker; it gets no others. Shape: env[CONNECT_ENV_MAX], text[CONNECT_ENV_MAX]. */
void connect_environment(const char *env[CONNECT_ENV_MAX], char (*text)[CONNECT_ENV_TEXT]);

/* ---- pod_manifest: The manifest of a Kubernetes worker's pod. ---- */

/**
 * Append the manifest of a pod in JSON: the template with the daemon's settings. `owner`: value of the label by which the daemon
 * finds its pods; `node`: the name of the node that it requires, "" any. Err: ERR_INVALID the template is no pod in JSON.
 */
int pods_manifest(const struct config_kubernetes *k, const char *owner, const char *name, const char *node, struct buf *out,
	struct fw_err *err);

/*
 * ---- progress ----
 * Log lines and progress of a running job, collected from its worker's messages and written at most twice a
 * second. They serve users only, so a failed write is dropped.
 */

struct progress {
	struct loop *loop;
	struct txn *txn;
	struct store_job job; /* id 0: none */
	int n_cells, n_sides;
	char (*key)[CASE_KEY_SIZE];    /* key[n_cells] */
	int n_checked, run, set, cell; /* cell -1: none */
	int n_open;                    /* cells of the run; the others are decided */
	double budget_s;               /* of the device, of all runs; 0 unknown */
	enum role role;
	char step[16];
	char note[400];   /* last note about the device in this step, such as a wait for other processes; "": none */
	struct buf lines; /* pending lines, each ends with '\n' */
	bool is_dirty;
	struct loop_source *timer;
};

void progress_init(struct progress *c, struct loop *l, struct txn *txn);
/** Start a job; lines may be added from now on. */
void progress_for(struct progress *c, const struct store_job *job);
/** Set the job's cells. Call it again before each further set of runs, with the cells of that set. */
void progress_begin(struct progress *c, const struct msg_job *request);
/** Update log and progress from a message. */
void progress_receive(struct progress *c, const struct msg *m);
/** Write pending lines now. */
void progress_flush(struct progress *c);
/** Write pending lines and drop the job; no effect without a job. */
void progress_end(struct progress *c);

/*
 * ---- session ----
 * One session with one worker: hello, a job, its trees, its messages, done. The worker is a child or the peer of a Unix socket;
 * both have one descriptor here. A worker is never trusted: the session checks its messages against the request and sends only
 * trees that the job names. A minute without a message, an unexpected message or an early end fail the session.
 */

struct session;

enum session_end {
	SESSION_DONE,      /* the worker sent done: `result` is complete */
	SESSION_LOST,      /* the worker ended, stalled or sent an invalid message; `why` in one line */
	SESSION_CANCELLED, /* session_cancel was called */
	SESSION_STARVED,   /* a tree cannot be packed now; neither worker nor job is at fault */
	SESSION_REFUSED,   /* the job's trees can never be packed */
};

struct session_hooks {
	/** The start is pending, without a time limit. May be NULL. */
	void (*pending)(void *arg, const struct executor_wait *wait);
	/** The worker is ready, also after session_stay: respond with session_send or session_cancel, now or later. */
	void (*hello)(void *arg, const struct msg_hello *hello);
	/** Called for every message about the job, before the result gets it. */
	void (*message)(void *arg, const struct msg *m);
	/**
	 * The last call, never made inside another one; the session is freed afterwards. Own: `result` (NULL unless done) is the
	 * callee's.
	 */
	void (*end)(void *arg, enum session_end how, struct result *result, const char *why);
};

/**
 * Start the worker or connect to it, on `node` if set. Own: borrows all arguments. Err: neither is possible; no hook is called.
 */
int session_open(struct executors *x, struct loop *l, const struct config *c, const struct config_worker *w, const char *node,
	const struct session_hooks *hooks, void *arg, struct session **out, struct fw_err *err);
/**
 * Send the job after hello; the caller fills in job, attempt, nonce, seed and device. `device` describes request.device. Own:
 * takes over the plan's contents. Err: the job does not fit into a line.
 */
int session_send(
	struct session *s, struct plan *plan, const char *repo_path, const struct msg_device *device, struct fw_err *err);
/** Request a health check instead of a job. The worker responds with one MSG_STATE and ends. Err: not ready. */
int session_health_check(struct session *s, const char *uuid, struct fw_err *err);
/**
 * Request the worker to end its job and wait for another one. A second hello follows, or the end of the session if the worker
 * cannot do so or takes too long. False: the worker has no job, or is ending.
 */
bool session_stay(struct session *s);
/** True if the session has ended but the hook was not called yet. */
bool session_is_ending(const struct session *s);
/** As above, with a complete result, which the hook gets within seconds. */
bool session_is_done(const struct session *s);
/** Request the worker to end; send SIGTERM after 5 s and SIGKILL 5 s later. No effect if it is already ending. */
void session_cancel(struct session *s);
/** End the worker at once, without a hook. Must not be called from a hook. Accepts NULL. */
void session_close(struct session *s);

/*
 * ---- split_group ----
 * A job that several slots measure at once, each with a device of one class. Either its cells are partitioned, with all pairs of
 * a cell on one device, or a second device confirms its regressions. The slot that has the job leads: only that slot changes the
 * job's row, reports progress and stores the result. The other slots lend their device; a failure of one of them fails the job.
 */

struct slot;
struct split_group;

/**
 * If the configuration allows it and no other job waits for the devices: partition the leader's plan, which is ready, over its
 * device and those of free slots of the same class. The leader's plan becomes that of its partition. Err: no memory, the
 * database; the plan is unchanged.
 */
int split_group_gather(struct slot *leader, struct fw_err *err);
/** True if the slot lends its device to another slot's job. */
bool split_group_is_helper(const struct slot *s);
/** True if another device may measure the slot's partition: there is no other partition whose class it would have to match. */
bool split_group_may_rebind(const struct slot *s);
/** Update the slot's partition after it got another device. No effect without a split group. */
void split_group_rebind(struct slot *s);
/** Check that the devices of all partitions are still of one class after a worker's hello. Err: they are not; the database. */
int split_group_fits(const struct slot *s, struct fw_err *err);
/** Return the slot that has the job: the slot itself, unless it is a helper. */
struct slot *split_group_leader(struct slot *s);
/** Add a finished partition; a helper is free then. Own: takes `partition`. Err: it does not fit. */
int split_group_take(struct slot *s, struct result *partition, struct fw_err *err);
/** Start a confirming set, or return the whole result (else NULL), which becomes the caller's. Err: as split_group_gather. */
int split_group_continue(struct slot *leader, struct result **whole, struct fw_err *err);
/** End the job: helpers are free, or will be when their workers have ended. No effect without a split group. */
void split_group_dismiss(struct slot *leader);
/** Remove the slot, leader or helper. */
void split_group_forget(struct slot *s);

/*
 * ---- slot_inside ----
 * State and functions shared by the files of a slot. slot.c leads a worker from its hello to a running job, runs a partition of a
 * split job and checks a device; slot_end.c ends the job and stores its result; slot_build.c builds in separate allocations;
 * slot_idle_allocation.c retains an allocation that fits no job; slot_report.c reports the status.
 */

enum phase {
	PHASE_DOWN,     /* waits for its timer, then queries the worker again */
	PHASE_QUERYING, /* has a session that only waits for hello */
	PHASE_FREE,     /* has no job; its devices are known, or a scheduler has them */
	PHASE_WAITING,  /* has a session without an allocation; the job is chosen once there is one */
	/* retains an allocation that fits no job while it requests another: the scheduler would grant the same device again */
	PHASE_IDLE_ALLOCATION,
	PHASE_PLANNING,     /* has a job and queries git for its inputs; with an allocation, next to its session */
	PHASE_OPENING,      /* has a plan, waits for the worker's hello */
	PHASE_RUNNING,      /* the worker has the job */
	PHASE_HEALTH_CHECK, /* no job: checks a quarantined device */
	PHASE_JOINING,      /* its partition of a job is done, those of other slots are not */
	PHASE_LEAVING,      /* the job has ended, the worker is still ending */
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
	int n_full;                      /* consecutive jobs for which its disk had no space */
	char why[400];                   /* the last failure */
	bool is_suspect;                 /* query its devices before the next job */
	int n_backoff;                   /* consecutive allocations that fitted no job */
	int64_t idle_allocation_ns;      /* start of the idle allocation */
	int64_t allocated_ns;            /* start of the allocation */
	struct slot_request request;     /* properties of the requested allocation */
	char wait_id[64], wait_why[300]; /* the scheduler's id and reason */
	int wait_position;

	struct store_job job; /* id 0: none */
	enum jobstate state;
	bool measures; /* measuring has started: the job's time limit applies */
	struct msg_device device;
	int64_t device_id;
	enum { HEALTH_CHECK_NOT_SENT, HEALTH_CHECK_SENT, HEALTH_CHECK_ANSWERED } health_check;
	bool health_check_ok;
	int n_unanswered; /* consecutive health checks that were sent and got no response */
	char health_check_why[400];
	struct plan plan;
	char repo_path[4096];
	struct progress progress;
	int n_sources; /* of a job with separate builds: sources whose modules the cache should have */
	struct {
		enum role role;
		char name[STORE_SOURCE_SIZE];
	} source[PROTOCOL_SIDES_MAX];
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

/** Return the purpose of its allocations: "build", "measure", "" both. */
const char *slot_purpose(const struct slot *s);
/** True if its worker could not be reached at the last attempt. */
bool slot_is_down(const struct slot *s);

/* slot.c */

void slot_set_timer(struct slot *s, int64_t delay_ms, loop_timer_fn *fn);
/** Store why its allocation waits or is of no use, with an event. Err: the database. */
int slot_write_pending(struct slot *s, struct fw_err *err);
/** Drop the last job; the slot is free then. */
void slot_go_free(struct slot *s);
/** Start a session with its worker, on `node` if set. Err: it cannot be started. */
int slot_open_session(struct slot *s, const char *node, struct fw_err *err);
/** Find a device in the hello; NULL: none. */
const struct msg_device *slot_find_device(const struct msg_hello *hello, const char *uuid);

/* slot.c */

/** Start its partition of a split job; job, plan and device are set. Err: its worker cannot be started. */
int slot_open_helper(struct slot *s, struct fw_err *err);
/** Cancel its partition of another slot's job. */
void slot_cancel_partition(struct slot *s);

/* slot.c */

/* slot_idle_allocation.c */

/** Retain an allocation that fits no queued job. */
void slot_keep_idle_allocation(struct slot *s);
/** Stop its timer: the allocation is checked against the queue, or is gone. */
void slot_stop_idle_allocation(struct slot *s);
/** Restart its timer: the allocation still fits no job. */
void slot_restart_idle_allocation(struct slot *s);
/** Return the backoff state of its worker. */
struct backoff *slot_backoff(const struct slot *s);

/* slot_build.c */

/** Claim the next job to build and mark it as sent. Returns 1, 0 none, -1. */
int slot_claim_build(struct slot *s, struct fw_err *err);
/** A builder sent hello: clear the records of builds that other workers made for it. */
void slot_clear_builds(struct slot *s);
/** End a build: the job waits for a device, or ends if a build failed or both builds are identical. Own: takes `result`. */
void slot_take_builds(struct slot *s, struct result *result);
/** Store the job's cached builds. Err: the database. */
int slot_write_cached(struct slot *s, int64_t now_ms, struct fw_err *err);
/** Before the plan is sent to a measuring worker: record the sources that its cache should have. */
void slot_note_sources(struct slot *s);
/** The measuring worker reported a build: log it if its cache should have had the module. */
void slot_receive_build(struct slot *s, const struct msg_build *b);

/* slot_end.c */

/** Set the write that slot_flush does. */
void slot_set_pending(struct slot *s, enum pending_write pending_write, enum jobstate state, const char *why);
/** Do the pending write; the slot is free after a success and retries later after a failure. */
void slot_flush(struct slot *s);
/** End the job without a result. */
void slot_finish_job(struct slot *s, enum pending_write pending_write, enum jobstate_event on, const char *why);
/** Return the job to the queue, or fail it after its last attempt: the job may break the worker. */
void slot_count_attempt(struct slot *s, const char *why);
/** As slot_count_attempt; also query the worker's devices before its next job. */
void slot_lose_worker(struct slot *s, const char *why);
/** Limit the job to `limit_ms` from now on. */
void slot_limit_job(struct slot *s, int64_t limit_ms);

#endif
