/** measurement_options.h - measurement options of a plan: the job's requests override the rule and thresholds of its suite. */
#ifndef FLOPWATCHD_PLAN_MEASUREMENT_OPTIONS_H
#define FLOPWATCHD_PLAN_MEASUREMENT_OPTIONS_H

#include <stdbool.h>

#include "db/job.h"
#include "flopwatchd/job/plan.h"

/** Apply a job's options to a plan with kind, subjects and cells. A profile keeps EVIDENCE_CELLS_MAX cells. */
void set_measurement_options(struct plan *p, const struct store_job *job, bool is_benchmark);

#endif
