/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_RECORD_INTERNAL_H
#define FLOPWATCHD_RECORD_INTERNAL_H

#include "db/db.h"
#include "flopwatchd/alert/alert.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"
#include "flopwatchd/record/record.h"
#include "profile/profile.h"

/* ---- costs: Costs of both sides of a cell besides time, by kind. ---- */

/** The judgement of a cell's time. */
struct cost_cell {
	enum verdict verdict;
	int flags;
	bool is_fault; /* the target fails, or makes its times invalid */
};

/**
 * Of each kind of cost that grew in some cell, store the cells for the comparison's JSON ([{"what","unit","cells"}]), send one
 * event "cost.up" and, unless its limit is off or users accepted that growth, open an alert of kind cost; then resolve the
 * branch's alerts of that kind that are over. Shape: judged[n_cells].
 */
int judge_costs(struct db *db, const struct config *config, const struct result *r, const struct cost_cell *judged,
	const struct store_job *job, const struct store_comparison *c, bool is_upstream, int64_t now_ms, struct fw_err *err);

/* ---- cost_why: Why a cost grew, from configurations, kernels and steps that the runner recorded. Pure. ---- */

enum { COST_WHY_SIZE = 512 };

/**
 * Write the most direct difference between both sides' calls of a cell: "the plan takes 2.1 s instead of 90 ms", "a call also
 * launches zero (fill)"; "" if the records have none, as on a device that has no kernels. Shape: out[COST_WHY_SIZE].
 */
void cost_why(const struct result *r, enum cost c, int cell, char out[COST_WHY_SIZE]);

/* ---- alert_update: Consequences of a verdict: alerts opened and resolved, events, notifications of webhooks. ---- */

/** Cells of a comparison that may change alerts. */
struct alert_update {
	int regressions; /* all, including accepted ones */
	int failures;    /* newly failing cells; rejected ones do not count, since a bisect cannot find where they began */
	struct alert_cells lost, broken, better;
	struct cost_cell *judged; /* judged[n_cells] of the result; NULL: no cell was added */
};

void alert_update_init(struct alert_update *update);
void alert_update_fini(struct alert_update *update);
/** Add cell `i` of `r`, judged as `cell`. A regression that a user accepted does not count. */
int alert_update_cell(struct alert_update *update, struct db *db, const struct result *r, int i, const struct store_comparison *c,
	const struct store_cell *cell, struct fw_err *err);

/**
 * After all cells: with `whole`, open alerts and resolve those that have ended; then send the event job.done. Alerts of kind
 * failing and missing are for the upstream branch alone: on another branch they concern only its author. Fills the rest of `out`.
 */
int alert_update_publish(struct db *db, const struct config *config, struct alert_update *update, const struct result *r,
	const struct store_job *job, const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/** Send the event of a device in an environment that no comparison had yet; never an alert. */
int alert_update_baseline_period(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err);

/* ---- diagnostics: Ptxas diagnostics of one side's build that are missing from the other's. ---- */

enum { DIAGNOSTICS_MAX = 64 }; /* of one profile */

struct diagnostics {
	size_t n;
	struct ptxas_change *change;
};

/* ---- profile_causes: Causes of a profiled cell, computed by daemon/profile from its evidence and times, and stored. ---- */

/** Store causes of cell `i` as rows of profile cell `row`. `timed` NULL: not compared, the kernels' times count. */
int profile_causes(struct db *db, const struct result *r, int i, const struct store_cell *timed,
	const struct diagnostics *changes, int64_t row, struct fw_err *err);

/* ---- profile_times: The slowdown of a profiled cell, and the shares of clock and host in it, before any counter. Pure. ---- */

/**
 * Fill base_ms, target_ms, noise_ms, clock_ms and host_ms of `e`, whose kernels are set. Source: the compared cell, else (NULL,
 * or without times) its kernels; 0 without times in both. If whole calls decided, a slowdown that their kernels do not show is
 * the host's, unless it is within the difference of two processes of one side. Units: ms.
 */
void profile_times(const struct store_cell *timed, struct cause_evidence *e);

#endif
