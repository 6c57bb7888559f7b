/**
 * outside.h - the processes of a runner, seen by the worker: what code of a branch cannot hide by what it does to its own process. They are taken
 * down before a module is loaded, and compared when a call is done and the runner waits.
 */
#ifndef WORKER_BENCH_OUTSIDE_H
#define WORKER_BENCH_OUTSIDE_H

#include <sys/types.h>

enum { OUTSIDE_WHY_SIZE = 200, OUTSIDE_PIDS_MAX = 256 };

/** A process, and what its first thread may do. */
struct outside_process {
	pid_t pid;
	int filters, no_new_privs; /* -1: the system does not show it */
};

/** Starts zeroed. Shape: process[n]. */
struct outside {
	int n;
	struct outside_process *process;
};

/** Take down `root` and what descends from it. Own: outside_end. */
void outside_begin(struct outside *o, pid_t root);
/**
 * Look for processes that were not there, and for filters of system calls that were not. Returns the class of the failure, "escaped" or "slowed";
 * NULL: nothing, or nothing was taken down. Shape: why[OUTSIDE_WHY_SIZE].
 */
const char *outside_compare(const struct outside *o, pid_t root, char *why);
void outside_end(struct outside *o);

#endif
