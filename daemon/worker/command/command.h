/**
 * command.h - measures two benchmarks that are programs of their own against each other.
 *
 * First each side runs once: that warms caches, shows that both work and which rows they write; those become the cells. Then
 * runs: four processes A B B A, or B A A B by the run's seed, whose medians are two pairs a cell; with a reference commit six, A B C
 * C B A. The noise that
 * counts is the one between processes, and that is what pairs and runs are here. Judged like everything else.
 */
#ifndef WORKER_COMMAND_COMMAND_H
#define WORKER_COMMAND_COMMAND_H

#include "worker/bench/bench.h"
#include "worker/build/build.h"

/** The job measures programs, not modules. */
bool command_is(const struct msg_job *ask);
/** Name for the folders of this worker's sides: build_context.sides. Shape: out[64]. */
void command_sides(char out[64]);
/** Remove folders that workers which are gone have left in the cache. Call under the build lock. */
void command_sweep(const struct cache *cache);
/** Remove this job's folders. */
void command_clear(const struct build_context *c, const struct msg_job *ask);

/**
 * Find the cells and time them until each is decided or the budget is spent. `*cells` become the bench's cells: the caller
 * frees them after the bench. Err: cancelled, or a fault of ours.
 */
int command_measure(
	struct bench *b, const struct build_context *c, const struct msg_job *ask, struct cell **cells, struct fw_err *err);

#endif
