/**
 * command.h - comparison of two benchmark programs.
 *
 * First each side runs once: this warms caches, tests both, and lists their rows, which become the cells. Runs follow: four
 * processes A B B A, or B A A B, by the run's seed, whose medians are two pairs a cell; with a reference commit six, A B C C B
 * A. Noise between processes decides here, so pairs and runs are made of processes. Verdicts follow the usual rules.
 */
#ifndef WORKER_COMMAND_H
#define WORKER_COMMAND_H

#include "worker/bench.h"
#include "worker/sandbox/build.h"

bool command_is(const struct msg_job *request);
/** Return a name for the folders of this worker's sides: build_context.sides. Shape: out[64]. */
void command_sides(char out[64]);
/** Remove folders of workers that are gone from the cache. Call under the build lock. */
void command_sweep(const struct cache *cache);
void command_clear(const struct build_context *c, const struct msg_job *request);

/**
 * Find the cells and time them until each is decided or the budget is spent. `*cells` become the bench's cells: the caller
 * frees them after the bench. Err: cancelled, or an error of the worker.
 */
int command_measure(
	struct bench *b, const struct build_context *c, const struct msg_job *request, struct cell **cells, struct fw_err *err);

#endif
