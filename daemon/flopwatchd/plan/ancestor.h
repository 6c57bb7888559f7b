/** ancestor.h - base of an upstream commit: its newest ancestor whose own loss is known. Reads only the database. */
#ifndef FLOPWATCHD_PLAN_ANCESTOR_H
#define FLOPWATCHD_PLAN_ANCESTOR_H

#include "db/db.h"
#include "flopwatchd/watch/gitread.h"

struct ancestor_request {
	int64_t repo;
	const char *branch; /* the upstream branch, percent-encoded */
	const char *target;
	const char *suite; /* suite of the measurement; "": any */
	const char
		/* target of the branch's latest comparison, "" none; if `line` does not hold it, the branch was force-pushed */
		*last_judged;
};

struct ancestor {
	char sha[65];
	const char *how; /* first-parent, last-judged, self */
};

/**
 * Choose the newest first parent that is settled (db/base.h); after a force-push none newer than the merge-base with the
 * last judged tip, which itself is enough if it or that tip is settled. Commits that could not be measured are skipped, however
 * many: their loss must stay between the base and the next measurable commit. Without a settled first parent: the base of the
 * newest compared one; without a comparison by this suite: the result for another suite; else the first parent, else the commit
 * itself.
 */
int ancestor_choose(struct db *db, const struct ancestor_request *request, const struct gitread_base *line, struct ancestor *out,
	struct fw_err *err);

#endif
