/** offline.h - devices that jobs wait for and that do not answer, and the alerts about them that are over. Loop only. */
#ifndef DB_FIND_OFFLINE_H
#define DB_FIND_OFFLINE_H

#include "core/state/devicestate.h"
#include "db/sqlite/db.h"

struct find_waiting {
	int64_t device;
	char uuid[129], why[513]; /* why it is in its state */
	int64_t seen_at, jobs;    /* that wait for it */
};

/** Devices that said nothing since `since` and have no job, while jobs wait since before; without an alert. Shape: out[max]. */
int find_silent_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err);
/**
 * Devices that are quarantined while jobs wait for them: since before `since`, or no other device can take them. Not what a person has
 * answered since it was quarantined. Shape: out[max].
 */
int find_quarantined_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err);

struct find_offline_over {
	int64_t alert;
	enum devicestate state; /* of the device */
};
/** Alerts about silent devices that were heard since, or that are not in use. Shape: out[max]. */
int find_offline_heard(struct db *db, struct find_offline_over *out, int max, int *n, struct fw_err *err);
/** Alerts about quarantined devices that are back, or for which nothing waits any more. Shape: out[max]. */
int find_offline_back(struct db *db, struct find_offline_over *out, int max, int *n, struct fw_err *err);

#endif
