/**
 * rereference.h - a nearer reference commit for a series that has drifted far from the one it has. Two builds that differ much draw different power
 * and are poor neighbours in one run; so main's newest commit is measured against the reference commit with all runs, takes its place, and
 * every later ratio is moved by what was measured and carries its error. An event, never an alert. Inside the judge's transaction.
 */
#ifndef FLOPWATCHD_HISTORY_REREFERENCE_H
#define FLOPWATCHD_HISTORY_REREFERENCE_H

#include "flopwatchd/history/change.h"

#define REREFERENCE_ORIGIN "rereference" /* of the job; its plan runs all runs */

/** Ask for it where the newest points of a cell are all far from the reference commit, and nobody did lately. */
int rereference_ask(const struct trend *t, const struct store_baseline_period *e, const char *key, const struct store_series *s,
	struct fw_err *err);

/** Take what such a job has measured. Its ratios are stored; a cell without one leaves the reference commit as it is, with a line in the job's log. */
int rereference_take(const struct trend *t, const struct store_job *job, const struct store_comparison *c,
	const struct store_baseline_period *e, struct fw_err *err);

#endif
