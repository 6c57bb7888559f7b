/** sources.h - what a job's sides are built from, as names by which a build is found again where builds have allocations of their own. */
#ifndef FLOPWATCHD_PLANNING_SOURCES_H
#define FLOPWATCHD_PLANNING_SOURCES_H

#include <stdbool.h>

#include "base/err.h"
#include "db/cached_build/cached_build.h"
#include "flopwatchd/job/plan.h"
#include "flopwatchd/runtime/config.h"

/** Whether any worker has its builds apart, so that somebody asks. */
bool sources_matter(const struct config *c);
/** Name subject `i` of a plan. False: there is nothing that a cache could keep of it: a program of its own, or a module that was built before. Shape: hex[65]. */
bool sources_name(const struct plan *p, int i, char hex[STORE_SOURCE_SIZE]);
/** Write those of all subjects as what the job is built from. Err: the database. */
int sources_put(struct db *db, int64_t job, const struct plan *p, struct fw_err *err);
/** What the builds of a worker are made by, as it said hello: two that differ in it share no build. Shape: out[STORE_MADE_BY_SIZE]. */
void sources_made_by(const struct msg_hello *hello, const struct msg_device *d, char *out);

#endif
