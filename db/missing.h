/**
 * missing.h - devices that no worker has any more, and the daemon's own jobs for them. Loop only; writes inside the caller's
 * transaction.
 */
#ifndef DB_MISSING_H
#define DB_MISSING_H

#include "db/db.h"

struct find_missing {
	int64_t class;
	char uuid[64];
};

/** Devices that a worker reports for a machine. */
struct find_inventory {
	const char *worker, *host;
	const char *named;    /* uuids of the devices, a JSON array */
	int64_t unseen_since; /* devices on call, which are never reported together, count as missing if not seen since then */
};

/**
 * Set state absent for devices in state ok that a worker had in this machine and does not report any more. How many, -1. Own: free(*out);
 * NULL where there is none, and on -1.
 */
int find_missing_of(struct db *db, const struct find_inventory *has, const char *why, int64_t now_ms, struct find_missing **out,
	struct fw_err *err);
/** The same for devices of workers whose names are not in `workers`, a JSON array. */
int find_missing_without(
	struct db *db, const char *workers, const char *why, int64_t now_ms, struct find_missing **out, struct fw_err *err);

/** The first queued job after `after` of origin idle for this device. 1, 0 none, -1. */
int find_missing_job(struct db *db, const char *uuid, int64_t after, int64_t *job, struct fw_err *err);

#endif
