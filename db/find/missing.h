/** missing.h - devices that no worker has any more, and what the daemon asked of them. Loop only; writes inside the caller's transaction. */
#ifndef DB_FIND_MISSING_H
#define DB_FIND_MISSING_H

#include "db/sqlite/db.h"

struct find_missing {
	int64_t class;
	char uuid[64];
};

/** Of which machine, and what its worker says of it. */
struct find_inventory {
	const char *worker, *host;
	const char *named;    /* the uuids of the devices that it has: a JSON array */
	int64_t unseen_since; /* of those that it has on call, which it never names all at once, only what was not seen since then */
};

/**
 * What a worker had in this machine and does not have any more, of devices in order: they are absent from now on. How many, -1.
 * Own: free(*out); it is NULL where there is none, and on -1.
 */
int find_missing_of(struct db *db, const struct find_inventory *has, const char *why, int64_t now_ms, struct find_missing **out,
	struct fw_err *err);
/** Likewise of workers whose names are not among `workers`, a JSON array. */
int find_missing_without(
	struct db *db, const char *workers, const char *why, int64_t now_ms, struct find_missing **out, struct fw_err *err);

/** The first job after `after` that the daemon itself queued for this very device while nothing waited. 1, 0 none, -1. */
int find_missing_job(struct db *db, const char *uuid, int64_t after, int64_t *job, struct fw_err *err);

#endif
