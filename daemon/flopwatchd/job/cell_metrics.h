/** imported_results.h - stored metrics of a cell beyond its verdict: phases, calls, clocks, work, sustained runs. */
#ifndef FLOPWATCHD_JOB_CELL_METRICS_H
#define FLOPWATCHD_JOB_CELL_METRICS_H

#include <stdint.h>

#include "lib/jsonw.h"
#include "verdict/sparsity.h"
#include "db/db.h"

enum { FIGURES_PHASES_MAX = 32 };

struct figures_phase {
	char name[128];
	double base_ms, target_ms, change_pct, ci_low_pct, ci_high_pct;
};

struct figures {
	int n_phases;
	struct figures_phase phase[FIGURES_PHASES_MAX];
	double call_base_us, call_target_us, call_change_pct;
	double enqueue_base_us, enqueue_target_us;
	double clock_base_mhz, clock_target_mhz;
	double error_base, error_target;
	double issued_base, issued_target;
	double bytes_base, bytes_target;
	double workspace_base, workspace_target;
	double kept; /* blocks of a sparse mask, counted by the target */
	double peak_base, peak_target;
	double taken_base, taken_target; /* device memory beyond that */
	struct sparsity_mask mask;       /* as counted by the runner, equal for both sides */
	struct sparsity_claim claim_base, claim_target;
	double slow_base_pct, slow_target_pct;
	struct {
		double base_ms, target_ms, change_pct, ci_low_pct, ci_high_pct, runs;
		double base_mhz, target_mhz, base_j, target_j;
	} sustained;
};

/** Read the metrics of a cell's row; NAN for missing ones. */
int figures_read(struct db *db, int64_t cell, struct figures *out, struct fw_err *err);
/** Write members into the open object. `flops`: useful FLOPs of a call, NAN unknown. */
void figures_write(struct jsonw *j, const struct figures *f, double flops);

#endif
