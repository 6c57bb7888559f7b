/** alert_update.h - who hears of a verdict: alerts and their end, events for readers, outbox rows for webhooks. */
#ifndef FLOPWATCHD_VERDICT_ALERT_UPDATE_H
#define FLOPWATCHD_VERDICT_ALERT_UPDATE_H

#include "flopwatchd/alert/alert_cells.h"
#include "flopwatchd/runtime/config.h"
#include "db/store/job.h"
#include "flopwatchd/verdict/judge.h"

/** What a comparison's cells have brought so far. */
struct alert_update {
	int regressions; /* all, those too that were accepted */
	int failures;    /* newly broken cells that failed; others are not believed, and no search can tell where that began */
	struct alert_cells lost, broken, better;
};

void alert_update_init(struct alert_update *n);
void alert_update_fini(struct alert_update *n);
/** Note cell `i` of `r`, judged as `cell`. A loss that a person has accepted is no news. */
int alert_update_cell(struct alert_update *n, struct db *db, const struct result *r, int i, const struct store_comparison *c,
	const struct store_cell *cell, struct fw_err *err);

/**
 * After all cells: with `whole`, open alerts and resolve those that are over; then the event job.done. Alerts of kind broken
 * and vanished are for the upstream branch alone: on another branch a failure is its author's affair. Fills the rest of `out`.
 */
int alert_update_publish(struct db *db, const struct config *config, struct alert_update *n, const struct result *r,
	const struct store_job *job, const struct store_comparison *c, bool whole, int64_t now_ms, struct judge_outcome *out,
	struct fw_err *err);

/** A device was seen in an environment that no comparison had yet: an event, never an alert. */
int alert_update_baseline_period(struct db *db, const struct result *r, int64_t environment, int64_t now_ms, struct fw_err *err);

#endif
