/** offline.h - devices that are offline or quarantined while jobs wait for them, and alerts about them that are over. Loop only. */
#ifndef DB_OFFLINE_H
#define DB_OFFLINE_H

#include "model/devicestate.h"
#include "db/db.h"

struct find_waiting {
	int64_t device;
	char uuid[129], why[513]; /* why it is in its state */
	int64_t seen_at, jobs;    /* jobs: number of waiting ones */
};

/** Devices without a job and an alert that were not seen since `since`, while older jobs wait for them. Shape: out[max]. */
int find_silent_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err);
/**
 * Quarantined devices for which jobs wait since before `since`, or jobs that no other device can run. Skips devices with an open alert, or
 * with one that a user closed since the quarantine. Shape: out[max].
 */
int find_quarantined_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err);

struct find_offline_over {
	int64_t alert;
	enum devicestate state; /* of the device */
};
/** Alerts of kind device_offline whose device was seen since, or is not in use. Shape: out[max]. */
int find_offline_received(struct db *db, struct find_offline_over *out, int max, int *n, struct fw_err *err);
/** Alerts of kind quarantined whose device is not quarantined any more, or for which no job waits. Shape: out[max]. */
int find_offline_back(struct db *db, struct find_offline_over *out, int max, int *n, struct fw_err *err);

#endif
