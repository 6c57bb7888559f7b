/**
 * check.h - the integrity check of the database, which takes too long for a large one at start. Up to CHECK_HERE_BYTES it runs
 * before the start, so that the daemon never serves a damaged database; larger ones are checked by a child for CHECK_MS while
 * the daemon works, which exits if damage is found.
 */
#ifndef FLOPWATCHD_CHECK_H
#define FLOPWATCHD_CHECK_H

#include "db/db.h"
#include "lib/loop.h"

enum { CHECK_MS = 10000, CHECK_HERE_BYTES = 16 << 20 };

struct check;

/** Check now if the database is small enough. *is_done: it was. Err: as db_check. */
int check_here(struct db *db, const char *path, bool *is_done, struct fw_err *err);
/** Called if the database is damaged. */
typedef void check_fn(void *arg, const struct fw_err *damage);
/** Start the check in a child. Own: check_stop. */
int check_start(struct loop *l, const char *path, check_fn *fn, void *arg, struct check **out, struct fw_err *err);
void check_stop(struct check *c);

/** Main function of the child. Returns exit status 0 or 1, with a line on stderr and its kind on stdout. */
int check_run(const char *path);

#endif
