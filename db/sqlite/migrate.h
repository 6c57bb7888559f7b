/**
 * migrate.h - bring a database to the schema this program knows.
 *
 * The scripts of db/migrations are inside the program, numbered from 1. user_version says how many were applied; each
 * missing one runs in a transaction of its own together with the new number, so a crash leaves a whole version.
 */
#ifndef DB_SQLITE_MIGRATE_H
#define DB_SQLITE_MIGRATE_H

#include "db/sqlite/db.h"

struct migration {
	int version;
	const char *name;
	const char *start, *end; /* the script's bytes; no NUL at the end */
};

/**
 * Err: ERR_UNSUPPORTED the database is newer than this program (nothing is touched), or lacks a column that its version has, as one does that was
 * written between releases; else what a script met.
 */
int migrate(struct db *db, struct fw_err *err);

/** The same with a list of one's own, ascending from 1 without gaps. */
int migrate_list(struct db *db, const struct migration *list, int n, struct fw_err *err);

/**
 * Refuse what migrate() would refuse, without a write: opening a copy that is in no WAL mode to write changes it already. Err: as migrate().
 */
int migrate_look(struct db *db, struct fw_err *err);

/** Version 1 alone, in an empty database. */
int migrate_first(struct db *db, struct fw_err *err);

/** Version that migrate() arrives at. */
int migrate_latest(void);

#endif
