/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_JOB_INTERNAL_H
#define FLOPWATCHD_JOB_INTERNAL_H

#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/job/job.h"
#include "lib/lib.h"
#include "verdict/verdict.h"

/* ---- cell_metrics: Stored metrics of a cell beyond its verdict: phases, calls, clocks, work, sustained runs. ---- */

enum { METRICS_PHASES_MAX = 32 };

struct phase_metrics {
	char name[128];
	double base_ms, target_ms, change_pct, ci_low_pct, ci_high_pct;
};

struct cell_metrics {
	int n_phases;
	struct phase_metrics phase[METRICS_PHASES_MAX];
	double call_base_us, call_target_us, call_change_pct;
	double enqueue_base_us, enqueue_target_us;
	double clock_base_mhz, clock_target_mhz;
	double error_base, error_target;
	double issued_base, issued_target;
	double bytes_base, bytes_target;
	double workspace_base, workspace_target;
	double kept; /* blocks of a sparse mask, counted by the target */
	double peak_base, peak_target;
	double taken_base, taken_target; /* device memory in addition to that */
	struct sparsity_mask mask;       /* as counted by the runner, equal for both sides */
	struct sparsity_claim claim_base, claim_target;
	double slow_base_pct, slow_target_pct;
	struct {
		double base_ms, target_ms, change_pct, ci_low_pct, ci_high_pct, runs;
		double base_mhz, target_mhz, base_j, target_j;
	} sustained;
};

/** Read the metrics of a cell's row; NAN for missing ones. */
int cell_metrics_read(struct db *db, int64_t cell, struct cell_metrics *out, struct fw_err *err);

/*
 * ---- over_baseline ----
 * The speed of a cell relative to its baseline cell, both timed in the same runs: one ratio for each run, so
 * that effects on a whole run cancel.
 */

struct over_baseline {
	int runs;        /* that timed both; 0: none is stored */
	double speed[2]; /* of base and target, as a factor; NAN without runs */
};

#endif
