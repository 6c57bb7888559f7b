/** sqlite.h - connection and statements of db.c; the only header that includes the one of SQLite. */
#ifndef DB_SQLITE_H
#define DB_SQLITE_H

#include <sqlite3.h>

#include "db/db.h"

enum { STATEMENT_BUCKETS = 128, VALUE_MAX_BYTES = 16 << 20, BUSY_HURRIED_MS = 200, PARAMETERS_MAX = 64 };

struct stmt {
	struct db *db;
	sqlite3_stmt *handle;
	const char *text; /* the caller's pointer: the key */
	const char *file;
	int line;
	const char *unknown; /* the first name bound that is no parameter; NULL: none */
	int bind_rc;         /* result code of the first bind that failed */
	bool only_reads;
	struct stmt *next;
};

struct db {
	sqlite3 *handle;
	struct stmt *bucket[STATEMENT_BUCKETS];
	bool rollback_failed;   /* for want of memory: the next transaction tries it again */
	const char *begin_file; /* of the open transaction */
	int begin_line;
	bool is_hurried, is_held;  /* db_hurry was called; another process holds the lock */
	bool has_outer, is_inside; /* db_outer_begin was called; a transaction is open inside of it */
	void *attached;            /* db_attach */
	void (*drop)(void *what);
};

/** The error of a result code; `handle` may be NULL. */
enum err_code db_code_of(sqlite3 *handle, int rc);
/** Advice to append to a message; "" none. */
const char *db_advice(enum err_code code);
/** Set `err` from SQLite's message for `rc` and the source position of the statement. Returns -1. */
int db_fail(struct db *db, int rc, const char *file, int line, struct fw_err *err);

/** Check that the file was not deleted or replaced: SQLite would go on writing into it. Err: ERR_IO it was. */
int db_check_position(struct db *db, struct fw_err *err);

#endif
