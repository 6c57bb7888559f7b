/** suites_requested.h - the suites of a job, before and after its manifests are known. Pure. */
#ifndef FLOPWATCHD_PLAN_SUITES_REQUESTED_H
#define FLOPWATCHD_PLAN_SUITES_REQUESTED_H

#include <stdbool.h>

#include "model/manifest.h"
#include "db/job.h"
#include "flopwatchd/config/config.h"

enum { SUITES_REQUESTED_MAX = 8 };
enum suites_side { SUITES_OF_TARGET, SUITES_OF_BASE, SUITES_OF_REFERENCE };

/** True if the branch's own suites are checked: its base's suites judge it, but those it names must exist before they apply. */
bool suites_of_target(const struct store_job *job, const struct config_repo *repo);

/**
 * List suites whose files are needed of a side: for the base the job's, else the configured ones, else those of its manifest
 * `m`. Returns their number. Shape: out[SUITES_REQUESTED_MAX].
 */
int suites_requested(const struct store_job *job, const struct config_repo *repo, enum suites_side side, const struct manifest *m,
	char out[SUITES_REQUESTED_MAX][64]);

/** The probable suite of the commit: the base decides, and the target mostly agrees. "" unknown. */
const char *suites_likely(const struct store_job *job, const struct config_repo *repo, const struct manifest *target);

#endif
