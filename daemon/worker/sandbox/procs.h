/**
 * procs.h - all descendants of this process, found in /proc.
 *
 * A process group does not contain processes that call setsid, and RLIMIT_NPROC does not limit root. Counting descendants finds
 * a fork bomb; killing descendants leaves no process. procs_adopt makes orphans our children, so that none escapes the count.
 */
#ifndef WORKER_SANDBOX_PROCS_H
#define WORKER_SANDBOX_PROCS_H

#include <sys/types.h>

void procs_adopt(void);
/** Return the number of living descendants; -1 if /proc cannot be read. */
int procs_count(void);
/** List `root` and its living descendants. Shape: out[max]. Returns their number, at most max. */
int procs_below(pid_t root, pid_t *out, int max);
/** Count as procs_count does; give more than `many` the lowest priority, so that the watching process does not starve. */
int procs_count_or_yield(int many);
/**
 * Return the number of processes that one build may run at once: enough for a parallel build, and no more than this machine can
 * carry.
 */
int procs_of_a_build(void);
/** Return the number of threads on the machine, from one small file: cheap enough for 100 calls a second. -1 unknown. */
int procs_threads(void);
/** Kill and reap all descendants, at most 3 s. Requires procs_adopt. Returns the least number that is left. */
int procs_end_all(void);

#endif
