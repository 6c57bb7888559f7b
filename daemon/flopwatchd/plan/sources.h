/** sources.h - names of a job's sources, by which a cached build is found if builds run in separate allocations. */
#ifndef FLOPWATCHD_PLAN_SOURCES_H
#define FLOPWATCHD_PLAN_SOURCES_H

#include <stdbool.h>

#include "lib/err.h"
#include "db/cached_build.h"
#include "flopwatchd/job/plan.h"
#include "flopwatchd/config/config.h"

/** True if any worker builds in separate allocations. */
bool sources_matter(const struct config *c);
/** Name subject `i` of a plan. False: a cache cannot hold it: a benchmark, or a module built before. Shape: hex[65]. */
bool sources_name(const struct plan *p, int i, char hex[STORE_SOURCE_SIZE]);
/** Store the names of all subjects as the job's sources. Err: the database. */
int sources_put(struct db *db, int64_t job, const struct plan *p, struct fw_err *err);
/** Toolchain of a worker's builds, from its hello; workers that differ in it share no build. Shape: out[STORE_MADE_BY_SIZE]. */
void sources_made_by(const struct msg_hello *hello, const struct msg_device *d, char *out);

#endif
