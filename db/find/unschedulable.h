/** unschedulable.h - queued jobs for which there is no device, whatever state devices are in. Loop only. */
#ifndef DB_FIND_UNSCHEDULABLE_H
#define DB_FIND_UNSCHEDULABLE_H

#include "db/sqlite/db.h"

/** A job that would wait for ever as things stand, and what it wants. Texts are valid inside the callback. */
struct find_unschedulable {
	int64_t job;
	const char *kind, *uuid;              /* "" any */
	const char *model, *driver, *toolkit; /* of the class that it wants; "" any, or not known */
	const char *down;                     /* a worker that may have what it wants and is down; "" none */
};
typedef void find_unschedulable_fn(void *arg, const struct find_unschedulable *row);

/**
 * Tell queued jobs, `job` 0: all, by their number, that no device may have, by `devices`, a JSON array of the uuids that workers
 * say they have, and by `workers`, a JSON array of {"name", "kind" ("" any), "how"}: "starting" may have anything of its kind, "on
 * call" has what a scheduler gave it once, "down" has nothing now. Jobs that want the same are looked up together.
 * Err: the database.
 */
int find_unschedulable(struct db *db, const char *devices, const char *workers, int64_t job, find_unschedulable_fn *each,
	void *arg, struct fw_err *err);

#endif
