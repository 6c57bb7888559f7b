/** mark.h - small drawings inside tables: a sparkline, the runs of a cell one by one. */
#ifndef WEB_HTML_MARK_H
#define WEB_HTML_MARK_H

#include <stdbool.h>

#include "lib/buf.h"

enum { MARK_SPARK_MAX = 60 };
/** A line without axes. Shape: y[n], oldest first, not finite: a gap; is_loss[n] marks points. `label` says it in words. */
void mark_spark(struct buf *out, const double *y, const bool *is_loss, int n, const char *label);

struct mark_run {
	double change_pct, low_pct, high_pct; /* the ends of its 95 % interval NAN: not known */
	int set;                              /* 2: the confirming set, drawn hollow */
	char label[128];                      /* shown on hover */
};
/** One dot a run with its interval, in the order they ran, with 0 and the threshold. `label` says it in words. */
void mark_runs(struct buf *out, const struct mark_run *process_run, int n, double threshold_pct, const char *label);

#endif
