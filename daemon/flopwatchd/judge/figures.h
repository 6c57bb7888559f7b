/** figures.h - what was measured of a cell beside what its verdict stands on: phases, calls, clocks, work, sustained runs; as its JSON has them. */
#ifndef FLOPWATCHD_JUDGE_FIGURES_H
#define FLOPWATCHD_JUDGE_FIGURES_H

#include <stdint.h>

#include "base/jsonw.h"
#include "core/verdict/sparsity.h"
#include "db/sqlite/db.h"

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
	double kept; /* blocks of a sparse mask, as the target counted them */
	double peak_base, peak_target;
	double taken_base, taken_target; /* beside that, of the device */
	struct sparsity_mask mask;       /* as the runner counted it, the same of both sides */
	struct sparsity_claim claim_base, claim_target;
	double slow_base_pct, slow_target_pct;
	struct {
		double base_ms, target_ms, change_pct, ci_low_pct, ci_high_pct, runs;
		double base_mhz, target_mhz, base_j, target_j;
	} sustained;
};

/** From the metrics of a cell's row; NAN where there is none. */
int figures_read(struct db *db, int64_t cell, struct figures *out, struct fw_err *err);
/** Members of the object that is open. `flops` useful of a call, NAN unknown. */
void figures_write(struct jsonw *j, const struct figures *f, double flops);

#endif
