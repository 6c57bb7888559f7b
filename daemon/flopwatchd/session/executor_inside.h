/** executor_inside.h - state shared by executor.c and slurm.c: one squeue query serves all pending submissions. */
#ifndef FLOPWATCHD_SESSION_EXECUTOR_INSIDE_H
#define FLOPWATCHD_SESSION_EXECUTOR_INSIDE_H

#include "flopwatchd/session/executor.h"

enum { EXECUTOR_NAME_SIZE = 64 };

struct slurm;

struct executor {
	struct executors *all;
	struct executor *next;
	const struct config_worker *worker;
	const struct executor_hooks *hooks; /* NULL: executor_end was called */
	void *arg;
	char name[EXECUTOR_NAME_SIZE]; /* of its allocation; "": none */
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

#endif
