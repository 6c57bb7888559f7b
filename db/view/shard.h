/** shard.h - which part of its suite a comparison is, where the suite is too large for a push. */
#ifndef DB_VIEW_SHARD_H
#define DB_VIEW_SHARD_H

#include "db/sqlite/db.h"

struct view_part {
	int part;     /* 0: what a push measures */
	int parts;    /* at night; 0: the suite is measured whole */
	int cells;    /* of the whole suite */
	int nights;   /* in which all parts are to be measured */
	int measured; /* parts at night that were measured, when this was asked */
};

/** Of a stored comparison; zeros where it has no such suite. */
int view_part(struct db *db, int64_t comparison, struct view_part *out, struct fw_err *err);

#endif
