/** executor_inside.h - what the executors know of each other: those that wait for a scheduler are told by one look at its queue. */
#ifndef FLOPWATCHD_EXECUTOR_EXECUTOR_INSIDE_H
#define FLOPWATCHD_EXECUTOR_EXECUTOR_INSIDE_H

#include "flopwatchd/executor/executor.h"

enum { EXECUTOR_NAME_SIZE = 64 };

struct slurm;

struct executor {
	struct executors *all;
	struct executor *next;
	const struct config_worker *worker;
	const struct executor_hooks *hooks; /* NULL: nobody listens */
	void *arg;
	char name[EXECUTOR_NAME_SIZE]; /* of its allocation; "" it has none */
	bool runs;
	int fd, errors_fd;
	struct proc process; /* as long as `child` waits for it */
	struct loop_source *waits, *errors, *child, *timer;
};

struct executors {
	struct loop *loop;
	const struct config *config;
	struct executor *first;
	struct slurm *slurm[CONFIG_WAYS_MAX]; /* by the worker's place; NULL: it is none of Slurm's */
	unsigned n_submitted;
};

#endif
