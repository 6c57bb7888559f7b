/**
 * refusal.h - what a job is told that asks for something which is not there: which setting or file names it, at which line, and what
 * to do. To measure something else instead, or nothing, would end in a verdict that nobody asked for. Pure.
 */
#ifndef FLOPWATCHD_PLANNING_REFUSAL_H
#define FLOPWATCHD_PLANNING_REFUSAL_H

#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"
#include "flopwatchd/job/gitread.h"
#include "flopwatchd/job/result.h"

enum { REFUSAL_SIZE = 1024 };

/** The branch holds no commit that its upstream lacks. */
void refusal_contained(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE]);
/** It has no commit in common with its upstream. */
void refusal_unrelated(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE]);

/** Where suite `name` is asked for, as the beginning of a message: in the configuration, or the manifest of `commit`; "" by a person. */
void refusal_suite_place(
	const struct config_repo *repo, const struct manifest *m, const char *commit, const char *name, char place[REFUSAL_SIZE]);
/**
 * Whether all suites that a commit's own manifest names can be measured: a benchmark of it, or a suite without a mistake, of its tree
 * (asked for as blobs) or installed. `base`: what its base names, to guess what was meant. Err: ERR_INVALID.
 */
int refusal_of_suites(const struct config *config, const struct gitread_commit *c, const struct manifest *own,
	const struct manifest *base, struct fw_err *err);

/**
 * Whether a commit's manifest says how the modules are built that `suite`, a suite of modules, times: one with `benchmarks` and no `build` does
 * not. Err: ERR_INVALID, with the place that names the suite.
 */
int refusal_of_build(
	const struct config_repo *repo, const struct manifest *m, const char *commit, const char *suite, struct fw_err *err);

/** Where a peer is named, in the same way. */
void refusal_peer_place(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *provider,
	char place[REFUSAL_SIZE]);

/**
 * What a finished result shows to be missing: a provider that a side's module does not have, rows that a benchmark does not write.
 * Returns whether there is such a thing.
 */
bool refusal_of_result(const struct result *r, const struct store_job *job, char why[REFUSAL_SIZE]);

#endif
