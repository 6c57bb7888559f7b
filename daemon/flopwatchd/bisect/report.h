/** report.h - findings of a search as text, and as JSON for alerts and searches. */
#ifndef FLOPWATCHD_BISECT_REPORT_H
#define FLOPWATCHD_BISECT_REPORT_H

#include "lib/buf.h"
#include "db/bisect.h"
#include "db/result.h"
#include "flopwatchd/bisect/search.h"

/**
 * Append the array of culprits: {"from","to","commits","skipped","subject","author","confirmed","change_pct","probability",
 * "comparison","cells"}. `commits` is 1 if one commit is named, `to`; `skipped` counts the commits between that could not be
 * measured.
 */
int bisect_report_json(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, struct buf *out, struct fw_err *err);

/**
 * Write one line: "89abcdef0123 subject (-3.1 %), named with probability 0.9995; between 0123.. and 4567.. (3 commits, 2 of
 * them not measured)". Shape: out[size].
 */
int bisect_report_line(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, char *out, size_t size, struct fw_err *err);

/**
 * Append the culprit of a comparison whose base is the target's first parent, which needs no search. `cells_json`: the cells of
 * its alert. 1 appended, 0 a search is needed, -1.
 */
int bisect_report_only(struct db *db, const struct store_comparison *c, double worst_pct, const char *cells_json, struct buf *out,
	struct fw_err *err);

/**
 * Append one culprit from the history: the loss of `cell` (change_pct of throughput) came after `from_sha`, within `commits`
 * commits up to `to_sha`, `skipped` of which were not measured. `comparison`: of these two, 0 none.
 */
int bisect_report_range(struct db *db, int64_t repo, const char *from_sha, const char *to_sha, int commits, int skipped,
	double change_pct, int64_t comparison, const char *cell, struct buf *out, struct fw_err *err);

#endif
