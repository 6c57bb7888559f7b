/** facts.h - numbers and texts of a cell beyond its verdict: phases, calls, clocks, checks, work, graph nodes. */
#ifndef FLOPWATCHD_JOB_FACTS_H
#define FLOPWATCHD_JOB_FACTS_H

#include "db/db.h"
#include "flopwatchd/job/cell.h"
#include "flopwatchd/job/result.h"

/**
 * Store metrics and artifacts of cell `i` of the result for row `cell`. Names: "phase.<phase>.base_ms", ".target_ms",
 * ".change_pct"; "call.base_us"; "enqueue.base_us"; "clock.base_mhz"; "sustained.base_ms"; "energy.base_j"; "base.error_ratio";
 * "base.flops_issued" and the other counts of work. Artifacts: "nodes" (all graph nodes of both sides) and "nodes_changed"
 * (their numbers, and the kernels whose shape or registers differ). Inside the caller's transaction.
 */
int judge_facts(struct db *db, const struct result *r, int i, int64_t cell, struct fw_err *err);

/** Store "sustained.change_pct", ".ci_low_pct", ".ci_high_pct", ".runs", "slow_calls.base_pct". After each judgement. */
int judge_facts_timed(struct db *db, int64_t cell, const struct judge_timed *t, struct fw_err *err);

#endif
