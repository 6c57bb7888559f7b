/** measurement_options.h - how thoroughly a plan is measured: what the job asks for, over the rule and the thresholds of its suite. */
#ifndef FLOPWATCHD_PLANNING_MEASUREMENT_OPTIONS_H
#define FLOPWATCHD_PLANNING_MEASUREMENT_OPTIONS_H

#include <stdbool.h>

#include "db/store/job.h"
#include "flopwatchd/job/plan.h"

/** A profile keeps EVIDENCE_CELLS_MAX cells. Ctx: the plan has its kind, subjects and cells; `is_benchmark` where it is a program of its own. */
void set_measurement_options(struct plan *p, const struct store_job *job, bool is_benchmark);

#endif
