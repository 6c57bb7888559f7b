/**
 * check.h - whether the database is damaged, which a large one cannot be asked before the daemon starts.
 *
 * Up to CHECK_HERE_BYTES it is looked at in place, so that nothing is answered from what is damaged; beyond that a child looks, for as
 * long as CHECK_MS, while the daemon works, which ends when damage is found.
 */
#ifndef FLOPWATCHD_CHECK_H
#define FLOPWATCHD_CHECK_H

#include "db/sqlite/db.h"
#include "flopwatchd/runtime/loop.h"

enum { CHECK_MS = 10000, CHECK_HERE_BYTES = 16 << 20 };

struct check;

/** Look now, if it is small enough. *is_done: it was. Err: as db_check. */
int check_here(struct db *db, const char *path, bool *is_done, struct fw_err *err);
/** What to do when it is damaged. */
typedef void check_fn(void *arg, const struct fw_err *damage);
/** Let a child look. Own: check_stop. */
int check_start(struct loop *l, const char *path, check_fn *fn, void *arg, struct check **out, struct fw_err *err);
/** Accepts NULL. */
void check_stop(struct check *c);

/** What the child does. Exit status 0 or 1, with a line on stderr, and its kind on stdout. */
int check_run(const char *path);

#endif
