/** judge_costs.h - increases that no time shows: spills, launches, memory, work and error. Events, never alerts. */
#ifndef FLOPWATCHD_RECORD_JUDGE_COSTS_H
#define FLOPWATCHD_RECORD_JUDGE_COSTS_H

#include "db/job.h"
#include "db/result.h"
#include "flopwatchd/job/result.h"

/**
 * For each kind of cost that grew in some cell, send one event "cost.up" {"what","unit","comparison",
 * "repo","branch","target","cells":[{"cell","base","target"}]}: local_bytes (stack and spills, summed over a call's kernels),
 * launches, workspace_bytes, flops_issued (relative to useful ones, over 0.1 %), error_ratio (over 10 %), unrepeatable (1: two
 * calls on the same inputs give different bits, those of the base do not).
 */
int judge_costs(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison, int64_t now_ms,
	struct fw_err *err);

#endif
