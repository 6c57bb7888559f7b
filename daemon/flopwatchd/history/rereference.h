/**
 * rereference.h - replacement of a reference commit from which a series has drifted far. Two very different builds draw
 * different power and disturb each other in one run; so the newest upstream commit is measured against the reference commit
 * with all runs and replaces it. Every later ratio is shifted by the measured ratio and carries its error. An event, never an
 * alert. Inside the judge's transaction.
 */
#ifndef FLOPWATCHD_HISTORY_REREFERENCE_H
#define FLOPWATCHD_HISTORY_REREFERENCE_H

#include "flopwatchd/history/change.h"

#define REREFERENCE_ORIGIN "rereference" /* of the job; its plan runs all runs */

/** Queue the measurement if the newest points of a cell are all far from the reference commit and none was queued recently. */
int rereference_request(const struct trend *t, const struct store_baseline_period *e, const char *key,
	const struct store_series *s, struct fw_err *err);

/** Replace the reference commit by a measured one. If a cell has no ratio, the old one stays, with a line in the log. */
int rereference_take(const struct trend *t, const struct store_job *job, const struct store_comparison *c,
	const struct store_baseline_period *e, struct fw_err *err);

#endif
