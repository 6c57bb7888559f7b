/** internal.h - what the files of this folder share. */
#ifndef FLOPWATCHD_SESSION_INTERNAL_H
#define FLOPWATCHD_SESSION_INTERNAL_H

#include <stdbool.h>

#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/session/session.h"
#include "protocol/protocol.h"

/* ---- executor_inside: State shared by executor.c and slurm.c: one squeue query serves all pending submissions. ---- */

enum { EXECUTOR_NAME_SIZE = 64 };

struct slurm;

struct executor {
	struct executors *all;
	struct executor *next;
	const struct config_worker *worker;
	const struct executor_hooks *hooks; /* NULL: executor_end was called */
	void *arg;
	char name[EXECUTOR_NAME_SIZE]; /* id of its allocation; "": none */
	bool runs;
	int fd, errors_fd;
	struct proc process; /* valid while `child` watches it */
	struct loop_source *waits, *errors, *child, *timer;
};

struct executors {
	struct loop *loop;
	const struct config *config;
	struct executor *first;
	struct slurm *slurm[CONFIG_WAYS_MAX]; /* by the worker's index; NULL: not a Slurm worker */
	unsigned n_submitted;
};

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
void slurm_look(struct slurm *s);
/** Search for allocations without an owner until there is none. */
void slurm_search(struct slurm *s);

/** One line of squeue in the format of slurm.c. Texts point into the line. */
struct slurm_row {
	const char *id, *state, *reason, *name;
};
/** Split a line. Returns false if it has another format. */
bool slurm_row_read(char *line, struct slurm_row *out);

/* ---- split_group_inside: State and functions of split_group.c. ---- */

enum { AGAIN_MAX = 2 }; /* rounds of repeated cells: one round may show that more cells must be repeated */

struct split_group_part {
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
	int n_parts, n_done;
	struct split_group_part part[2 * PLAN_PARTS_MAX + AGAIN_MAX];
};

/** Find a free device of the slot that is in state ok, of the leader's class, and that no job waits for. Returns 1, 0, -1. */
int split_group_could_help(struct slot *s, const struct slot *leader, struct msg_device *device, int64_t *id, struct fw_err *err);
/** Take that device of the slot for the leader's job. */
void split_group_recruit(
	struct slot *s, const struct slot *leader, struct split_group *c, const struct msg_device *device, int64_t device_id);
/** Make the plan of a partition. Own: plan_fini. */
void split_group_plan(const struct split_group *c, const struct plan *whole, const struct share *s, struct plan *out);
/** Log the cells and devices of the partitions from `first` on. */
int split_group_log_parts(
	const struct split_group *c, const struct slot *leader, const char *what, int first, struct fw_err *err);

#endif
