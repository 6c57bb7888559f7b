/**
 * carry_over.h - bring a database of commit 91174416 to the tables of today.
 *
 * Its tables and today's both say version 1, so the text of the schema distinguishes them. A new file beside the old one gets all
 * rows, is checked whole and flushed; then it takes the place of the old one, which stays as PATH.91174416 until somebody removes it. A
 * crash at any moment leaves the old file in its place, and the next start begins again, or the new one.
 */
#ifndef DB_CARRY_OVER_H
#define DB_CARRY_OVER_H

#include "db/db.h"

#define CARRY_OLD_SUFFIX ".91174416"

/** Called before each step, and now and then during a long one: what is being written or done, step `n` of `of`. */
typedef void carry_tell_fn(void *arg, const char *what, int n, int of);

/**
 * Carry over what *db holds, the database at `path` that is opened to be read and that no other process writes to. *db: NULL where it was
 * carried over, and `path` is the new one; the same where its tables are others. Err: ERR_FULL there is not enough space, ERR_UNSUPPORTED
 * PATH.91174416 is another file, ERR_DAMAGED, ERR_IO, ERR_BUSY; the old database is where it was.
 */
int carry_over(struct db **db, const char *path, carry_tell_fn *tell, void *arg, struct fw_err *err);

/** SHA-256 over the tables, indexes and triggers as they were written. Shape: hex[65]. */
int carry_schema_hash(struct db *db, char *hex, struct fw_err *err);

#endif
