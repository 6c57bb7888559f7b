/** suites_asked.h - by which suites a job is to be measured, before and after its manifests are known. Pure. */
#ifndef FLOPWATCHD_PLANNING_SUITES_ASKED_H
#define FLOPWATCHD_PLANNING_SUITES_ASKED_H

#include <stdbool.h>

#include "core/suite/manifest.h"
#include "db/store/job.h"
#include "flopwatchd/runtime/config.h"

enum { SUITES_ASKED_MAX = 8 };
enum suites_side { SUITES_OF_TARGET, SUITES_OF_BASE, SUITES_OF_REFERENCE };

/** Whether a branch's own suites count: it is judged by those of its base; those that it names itself have to be there, too, before they are. */
bool suites_of_target(const struct store_job *job, const struct config_repo *repo);

/**
 * Suites whose files a side is asked for: of the base the job's own, else the configured ones, else those of its manifest `m`. Returns how many.
 * Shape: out[SUITES_ASKED_MAX].
 */
int suites_asked(const struct store_job *job, const struct config_repo *repo, enum suites_side side, const struct manifest *m,
	char out[SUITES_ASKED_MAX][64]);

/** The suite that the commit will be measured with, as far as it is known: which is the base's to say, and the target's mostly agrees. "" unknown. */
const char *suites_likely(const struct store_job *job, const struct config_repo *repo, const struct manifest *target);

#endif
