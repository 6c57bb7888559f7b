/** shard.h - the shard of a comparison with a sharded suite. */
#ifndef DB_SHARD_H
#define DB_SHARD_H

#include "db/db.h"

struct view_part {
	int part;     /* shard; 0: the one of a push */
	int parts;    /* off-peak shards; 0: the suite is not sharded */
	int cells;    /* of the whole suite */
	int nights;   /* nights in which all shards are measured once */
	int measured; /* off-peak shards that were measured so far */
};

/** Of a stored comparison; zeros where its suite is not sharded. */
int view_part(struct db *db, int64_t comparison, struct view_part *out, struct fw_err *err);

#endif
