/**
 * reanchor.h - a nearer anchor for a series that has drifted far from the one it has. Two builds that differ much draw different power
 * and are poor neighbours in one launch; so main's newest commit is measured against the anchor with all launches, takes its place, and
 * every later ratio is moved by what was measured and carries its error. An event, never an alert. Inside the judge's transaction.
 */
#ifndef FLOPWATCHD_HISTORY_REANCHOR_H
#define FLOPWATCHD_HISTORY_REANCHOR_H

#include "flopwatchd/history/change.h"

#define REANCHOR_ORIGIN "reanchor" /* of the job; its plan runs all launches */

/** Ask for it where the newest points of a cell are all far from the anchor, and nobody did lately. */
int reanchor_ask(
	const struct trend *t, const struct store_epoch *e, const char *key, const struct store_series *s, struct fw_err *err);

/** Take what such a job has measured. Its ratios are stored; a cell without one leaves the anchor as it is, with a line in the job's log. */
int reanchor_take(const struct trend *t, const struct store_job *job, const struct store_comparison *c,
	const struct store_epoch *e, struct fw_err *err);

#endif
