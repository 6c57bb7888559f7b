/**
 * outside.h - the runner's processes as the worker sees them.
 *
 * Branch code can hide processes from its own process, but not from the worker. The list before a module is loaded is compared
 * with the list after a call, while the runner waits.
 */
#ifndef WORKER_OUTSIDE_H
#define WORKER_OUTSIDE_H

#include <sys/types.h>

enum { OUTSIDE_WHY_SIZE = 200, OUTSIDE_PIDS_MAX = 256 };

/** A process, and the seccomp state of its first thread. */
struct outside_process {
	pid_t pid;
	int filters, no_new_privs; /* -1: not shown by the system */
};

/** Starts zeroed. Shape: process[n]. */
struct outside {
	int n;
	struct outside_process *process;
};

/** Record `root` and its descendants. Own: outside_end. */
void outside_begin(struct outside *o, pid_t root);
/**
 * Find processes and system call filters that are new. Returns the failure class, "escaped" or "slowed"; NULL: none, or nothing
 * was recorded. Shape: why[OUTSIDE_WHY_SIZE].
 */
const char *outside_compare(const struct outside *o, pid_t root, char *why);
void outside_end(struct outside *o);

#endif
