/** unschedulable.h - queued jobs that no worker can run, with the reason. Loop only. */
#ifndef DB_UNSCHEDULABLE_H
#define DB_UNSCHEDULABLE_H

#include "db/db.h"

/** A job that no known device fits, and its request. Texts are valid inside the callback. */
struct find_unschedulable {
	int64_t job;
	const char *kind, *uuid;              /* "" any */
	const char *model, *driver, *toolkit; /* of the requested class; "" any, or unknown */
	const char *down;                     /* a worker that is down and may have the device; "" none */
};
typedef void find_unschedulable_fn(void *arg, const struct find_unschedulable *row);

/**
 * Pass the queued jobs (`job` 0: all, else this one) that no device fits, by id. `devices` is a JSON array of the uuids that
 * workers report, `workers` a JSON array of {"name", "kind" ("" any), "how"}: "starting" may have any device of its kind, "on
 * call" has the devices of its earlier allocations, "down" has none now. Jobs with equal requests are looked up together. Err:
 * the database.
 */
int find_unschedulable(struct db *db, const char *devices, const char *workers, int64_t job, find_unschedulable_fn *each,
	void *arg, struct fw_err *err);

#endif
