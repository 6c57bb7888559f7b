/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_SESSION_INTERNAL_H
#define FLOPWATCHD_SESSION_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/session/session.h"
#include "protocol/protocol.h"

/* ---- executor_inside: State shared by executor.c, slurm.c and pods.c: one list serves all submissions of a worker. ---- */

enum { EXECUTOR_NAME_SIZE = 64 };

struct slurm;
struct pods;

struct executor {
	struct executors *all;
	struct executor *next;
	const struct config_worker *worker;
	const struct executor_hooks *hooks; /* NULL: executor_end was called */
	void *arg;
	char name[EXECUTOR_NAME_SIZE]; /* id of its allocation; "": none */
	bool runs;
	bool is_listed; /* its scheduler has had the request */
	int n_missing;  /* consecutive lists of the scheduler without the request */
	int fd, errors_fd;
	struct connect_line line;        /* of a pod without a process: the other ends of fd and errors_fd */
	struct child *creating, *asking; /* requests about its pod */
	char lost[300];                  /* why it was ended by executor_end_lost; "": it was not */
	char exited[64];                 /* exit of its process, "" for success */
	struct proc process;             /* valid while `child` watches it */
	struct loop_source *waits, *errors, *child, *timer;
};

struct executors {
	struct loop *loop;
	const struct config *config;
	struct executor *first;
	struct slurm *slurm[CONFIG_WAYS_MAX]; /* by the worker's index; NULL: not a Slurm worker */
	struct pods *pods[CONFIG_WAYS_MAX];   /* by the worker's index; NULL: not a Kubernetes worker */
	unsigned n_submitted;
};

/** Whether a submission of worker `w` still waits for its allocation or pod. */
bool executor_waits(const struct executor *e, const struct config_worker *w);
bool executors_have_waiting(const struct executors *x, const struct config_worker *w);
/** The submission with the id of an allocation or pod; NULL none. */
struct executor *executors_find(const struct executors *x, const char *name);
/** Report to all waiting submissions of a worker why they wait, such as a scheduler that does not answer. */
void executors_report(const struct executors *x, const struct config_worker *w, const char *reason);
/**
 * Hash of the daemon (a random number in state_dir/instance) and the worker, the same after a restart, also on another host: the
 * base of the names of its allocations and pods.
 */
void executors_hash(const struct executors *x, const struct config_worker *w, char sum[HASH_HEX]);
/** The pause before the next request to a scheduler after `n_failed` failures in a row, each after the first doubles it up to `most_ms`. */
int64_t executors_pause_ms(int64_t first_ms, int n_failed, int64_t most_ms);
/** Start the worker in the pod of the submission, which runs. */
void executor_start(struct executor *e);
/** Report a line as one of the worker's errors. */
void executor_report_line(struct executor *e, const char *text);
/** Report the end of the submission's process. */
void executor_report_end(struct executor *e);
/** End a submission whose scheduler no longer has its request: report `why` as a line of its errors. */
void executor_end_lost(struct executor *e, const char *why);

/* ---- hello: The check of a worker's hello message. ---- */

enum { HELLO_WHY_SIZE = 2 * READONLY_PATH_SIZE + 160 };

/*
 * ---- slurm ----
 * A worker's Slurm allocations: reason and position of each pending one, and cancellation of those without an owner. The daemon
 * only calls squeue and scancel: it links nothing of Slurm, and every version from 20.11 works. The worker, not Slurm, reports
 * how a job ended.
 */

/** Searches at once and periodically for allocations without an owner, such as those of an earlier daemon. Own: slurm_free. */
void slurm_new(struct executors *x, const struct config_worker *w, struct slurm **out);
void slurm_free(struct slurm *s);

/** Name of submission `n` of this daemon in Slurm. Shape: name[EXECUTOR_NAME_SIZE]. */
void slurm_name(const struct slurm *s, unsigned n, char name[EXECUTOR_NAME_SIZE]);
/** Poll the queue while a submission is pending. */
void slurm_poll(struct slurm *s);
/** Search for allocations without an owner until there is none. */
void slurm_search(struct slurm *s);

/** One line of squeue in the format of slurm.c. Texts point into the line. */
struct slurm_row {
	const char *id, *state, *reason, *name;
};
/** Split a line. Returns false if it has another format. */
bool slurm_row_read(char *line, struct slurm_row *out);

/*
 * ---- pods ----
 * The pods of a Kubernetes worker, by kubectl: creation, reason of each waiting pod, and deletion of those without an owner. A
 * worker runs in its pod by `kubectl exec`, whose input and output are the protocol; unlike `attach`, it loses no output before
 * it is connected.
 */

/** Searches at once and periodically for pods without an owner, such as those of an earlier daemon. Own: pods_free. */
void pods_new(struct executors *x, const struct config_worker *w, struct pods **out);
/** Accepts NULL. */
void pods_free(struct pods *s);
/** Delete all its pods and wait a moment for the answer; the loop no longer runs. */
void pods_delete_all(struct pods *s);

/** Name of the pod of submission `n` of this daemon. Shape: name[EXECUTOR_NAME_SIZE]. */
void pods_name(const struct pods *s, unsigned n, char name[EXECUTOR_NAME_SIZE]);
/** Create the submission's pod, on `node` if set. Err: the template, or kubectl cannot be started. */
int pods_create(struct pods *s, struct executor *e, const char *node, struct fw_err *err);
/** Poll the list while a submission waits. */
void pods_poll(struct pods *s);
/** Search for pods without an owner until there is none. */
void pods_search(struct pods *s);
/** The worker's process ended: request the reason, report it with executor_report_line, and call executor_report_end. */
int pods_query_reason(struct pods *s, struct executor *e, struct fw_err *err);

#define PODS_OWNER_LABEL "flopwatch-owner"
#define PODS_CONTAINER   "worker" /* name of the worker's container */

/** Shell commands that run the words after them in a pod; the pod ends with them. */
extern const char PODS_RUN[];

enum pod_step { POD_WAITS, POD_RUNS, POD_ENDED /* or its container cannot start */ };

/** One pod of a list. `name` points into the item. */
struct pod {
	const char *name;
	enum pod_step step;
	bool is_leaving; /* it is being deleted */
	char reason[300];
};
/** Read an item of a list of pods. Returns false if it has no name. */
bool pod_read(const json_t *item, struct pod *out);

/* ---- split_group_inside: State and functions of split_group.c. ---- */

enum { AGAIN_MAX = 2 }; /* rounds of repeated cells: one round may show that more cells must be repeated */

struct split_group_partition {
	struct slot *slot; /* NULL: done, or removed */
	int64_t device_id;
	struct share share; /* owns its cells */
	bool is_done;
};

struct split_group {
	struct result *whole; /* the joined results so far, with the whole plan */
	bool confirms;        /* another device runs the second set */
	int n_again;          /* rounds of repeated cells */
	int n_first;          /* partitions of the first set, 0: not complete; later partitions confirm */
	int n_partitions, n_done;
	struct split_group_partition partition[2 * PLAN_PARTITIONS_MAX + AGAIN_MAX];
};

/** Find a free device of the slot that is in state ok, of the leader's class, and that no job waits for. Returns 1, 0, -1. */
int split_group_could_help(struct slot *s, const struct slot *leader, struct msg_device *device, int64_t *id, struct fw_err *err);
/** Take that device of the slot for the leader's job. */
void split_group_recruit(
	struct slot *s, const struct slot *leader, struct split_group *c, const struct msg_device *device, int64_t device_id);
/** Make the plan of a partition. Own: plan_fini. */
void split_group_plan(const struct split_group *c, const struct plan *whole, const struct share *s, struct plan *out);
/** Log the cells and devices of the partitions from `first` on. */
int split_group_log_partitions(
	const struct split_group *c, const struct slot *leader, const char *what, int first, struct fw_err *err);

#endif
