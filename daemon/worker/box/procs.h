/**
 * procs.h - every process that descends from this one, by reading /proc.
 *
 * A process group does not hold what calls setsid, and RLIMIT_NPROC does not bind root: counting descendants finds a fork
 * bomb, killing descendants leaves nothing behind. procs_adopt makes orphans ours, so that none escapes the count.
 */
#ifndef WORKER_BOX_PROCS_H
#define WORKER_BOX_PROCS_H

#include <sys/types.h>

/** Orphaned descendants become children of this process from now on. */
void procs_adopt(void);
/** Number of living descendants; -1 when /proc cannot be read. */
int procs_count(void);
/** Living processes that `root` and what descends from it are now. Shape: out[max]. Returns their number, at most max. */
int procs_below(pid_t root, pid_t *out, int max);
/** As procs_count; more than `many` get the lowest priority, so that who watches them is not the one that waits. */
int procs_count_or_yield(int many);
/** Processes that one build may run at once: as many as a parallel one needs here, and no more than this machine bears. */
int procs_of_a_build(void);
/** Threads of the whole machine, from one small file: cheap enough to ask 100 times a second. -1 unknown. */
int procs_threads(void);
/** SIGKILL all descendants until none is left, and reap them. After procs_adopt. Gives up after 3 s. Returns how many are left at least. */
int procs_end_all(void);

#endif
