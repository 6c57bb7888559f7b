/**
 * refusal.h - messages for a job that requests something missing: the setting or file with its line, and a remedy. Measuring
 * something else would give a verdict that was not requested. Pure.
 */
#ifndef FLOPWATCHD_PLAN_REFUSAL_H
#define FLOPWATCHD_PLAN_REFUSAL_H

#include "flopwatchd/config/config.h"
#include "db/job.h"
#include "flopwatchd/watch/gitread.h"
#include "flopwatchd/job/result.h"

enum { REFUSAL_SIZE = 1024 };

/** The branch has no commit that its upstream lacks. */
void refusal_contained(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE]);
/** The branch has no commit in common with its upstream. */
void refusal_unrelated(const struct config_repo *repo, const struct store_job *job, char why[REFUSAL_SIZE]);

/** Position that names suite `name`, as the start of a message; "": a user requested it. */
void refusal_suite_position(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *name,
	char position[REFUSAL_SIZE]);
/**
 * Check that all suites in a commit's own manifest can be measured: each is one of its benchmarks, or a valid suite of its tree
 * (requested as blobs) or installed. `base`: manifest of the base, for a suggestion. Err: ERR_INVALID.
 */
int refusal_of_suites(const struct config *config, const struct gitread_commit *c, const struct manifest *own,
	const struct manifest *base, struct fw_err *err);

/** Check that a manifest has a `build` for the modules that `suite` times. Err: ERR_INVALID, with the suite's position. */
int refusal_of_build(
	const struct config_repo *repo, const struct manifest *m, const char *commit, const char *suite, struct fw_err *err);

/** As above, for a peer. */
void refusal_peer_position(const struct config_repo *repo, const struct manifest *m, const char *commit, const char *provider,
	char position[REFUSAL_SIZE]);

/** Describe a provider that a module lacks, or rows that a benchmark does not write. Returns false without either. */
bool refusal_of_result(const struct result *r, const struct store_job *job, char why[REFUSAL_SIZE]);

#endif
