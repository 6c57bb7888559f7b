/** ancestor.h - the base of a commit on the upstream branch: the newest ancestor whose own loss is known. Reads the database alone. */
#ifndef FLOPWATCHD_PLANNING_ANCESTOR_H
#define FLOPWATCHD_PLANNING_ANCESTOR_H

#include "db/sqlite/db.h"
#include "flopwatchd/job/gitread.h"

struct ancestor_ask {
	int64_t repo;
	const char *branch; /* the upstream branch, percent-encoded */
	const char *target;
	const char *suite; /* that it will be measured with; "" any */
	const char
		*last_judged; /* target of the branch's latest comparison, "" none; another history than `line` is a force-push */
};

struct ancestor {
	char sha[65];
	const char *how; /* first-parent, last-judged, self */
};

/**
 * The newest first parent that is settled (db/store/base.h); after a force-push not newer than the merge-base with the last judged tip, which
 * itself is enough where it or that tip is settled. A commit that nobody could measure is passed over, however many there are:
 * its loss must still be between the base and the next commit that can be measured. Where no first parent in sight is settled, the base that
 * the newest compared one was held against; where none was compared with this suite, whatever is known by another; else the first parent, else
 * the commit itself.
 */
int ancestor_choose(
	struct db *db, const struct ancestor_ask *ask, const struct gitread_base *line, struct ancestor *out, struct fw_err *err);

#endif
