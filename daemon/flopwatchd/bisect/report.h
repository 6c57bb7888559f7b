/** report.h - findings in words and as the JSON that alerts and searches keep. */
#ifndef FLOPWATCHD_BISECT_REPORT_H
#define FLOPWATCHD_BISECT_REPORT_H

#include "base/buf.h"
#include "db/store/bisect.h"
#include "db/store/result.h"
#include "flopwatchd/bisect/search.h"

/**
 * Append the array of culprits: {"from","to","commits","skipped","subject","author","confirmed","change_pct","probability",
 * "comparison","cells"}. `commits` is 1 where one commit is named, and then it is `to`; `skipped`: of those between, how many could not be
 * measured.
 */
int bisect_report_json(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, struct buf *out, struct fw_err *err);

/** One line: "89abcdef0123 subject (-3.1 %), named with probability 0.9995; between 0123.. and 4567.. (3 commits, 2 of them not measured)". Shape: out[size]. */
int bisect_report_line(struct db *db, const struct store_bisect *b, const struct bisect_search *s,
	const struct bisect_finding *findings, int n, char *out, size_t size, struct fw_err *err);

/**
 * The same for a comparison whose base is the target's first parent, so that there is nothing to search: `cells_json` are those
 * of its alert. 1 appended, 0 there is something to search, -1.
 */
int bisect_report_only(struct db *db, const struct store_comparison *c, double worst_pct, const char *cells_json, struct buf *out,
	struct fw_err *err);

/**
 * One culprit that the history knows: the loss of `cell` (change_pct of throughput) came after `from_sha`, within `commits` commits
 * up to `to_sha`, `skipped` of which nobody measured. `comparison`: of these two, 0 none.
 */
int bisect_report_range(struct db *db, int64_t repo, const char *from_sha, const char *to_sha, int commits, int skipped,
	double change_pct, int64_t comparison, const char *cell, struct buf *out, struct fw_err *err);

#endif
