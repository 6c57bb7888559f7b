/** alert_update.h - consequences of a verdict: alerts opened and resolved, events, notifications of webhooks. */
#ifndef FLOPWATCHD_RECORD_ALERT_UPDATE_H
#define FLOPWATCHD_RECORD_ALERT_UPDATE_H

#include "flopwatchd/alert/alert_cells.h"
#include "flopwatchd/config/config.h"
#include "db/job.h"
#include "flopwatchd/record/judge.h"

/** Cells of a comparison that may change alerts. */
struct alert_update {
	int regressions; /* all, including accepted ones */
	int failures;    /* newly failing cells; rejected ones do not count, since a search cannot find where they began */
	struct alert_cells lost, broken, better;
};

void alert_update_init(struct alert_update *n);
void alert_update_fini(struct alert_update *n);
/** Add cell `i` of `r`, judged as `cell`. A loss that a user accepted does not count. */
int alert_update_cell(struct alert_update *n, struct db *db, const struct result *r, int i, const struct store_comparison *c,
	const struct store_cell *cell, struct fw_err *err);

/**
 * After all cells: with `whole`, open alerts and resolve those that are over; then send the event job.done. Alerts of kind
 * failing and missing are for the upstream branch alone: on another branch they concern only its author. Fills the rest of
 * `out`.
 */
int alert_update_publish(struct db *db, const struct config *config, struct alert_update *n, const struct result *r,
	const struct store_job *job, const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/** Send the event of a device in an environment that no comparison had yet; never an alert. */
int alert_update_baseline_period(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err);

#endif
