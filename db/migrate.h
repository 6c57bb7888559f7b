/**
 * migrate.h - upgrade of a database to the schema of this program.
 *
 * The scripts of db/migrations are part of the program, numbered from 1. user_version is the number of the last one applied; each
 * missing one runs in a separate transaction together with the new number, so a crash leaves a whole version.
 */
#ifndef DB_MIGRATE_H
#define DB_MIGRATE_H

#include "db/db.h"

struct migration {
	int version;
	const char *name;
	const char *start, *end; /* the script's bytes; no NUL at the end */
};

/**
 * Err: ERR_UNSUPPORTED the database is newer than this program (nothing is written), or lacks a column of its version, because a program
 * between releases wrote it; else the error of a script.
 */
int migrate(struct db *db, struct fw_err *err);

/** The same with another list, ascending from 1 without gaps. */
int migrate_list(struct db *db, const struct migration *list, int n, struct fw_err *err);

/**
 * Refuse what migrate() refuses, without a write: opening a copy that is not in WAL mode to write changes it already. Err: as migrate().
 */
int migrate_check(struct db *db, struct fw_err *err);

/** Version 1 alone, in an empty database. */
int migrate_first(struct db *db, struct fw_err *err);

/** Version that migrate() upgrades to. */
int migrate_latest(void);

#endif
