/** inside.h - what the parts of db.h share, and the only header that knows SQLite. */
#ifndef DB_SQLITE_INSIDE_H
#define DB_SQLITE_INSIDE_H

#include <sqlite3.h>

#include "db/sqlite/db.h"

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
	const char *begin_file; /* of the open transaction */
	int begin_line;
	bool is_hurried, is_held;  /* db_hurry was called; another process holds the lock */
	bool has_outer, is_inside; /* db_outer_begin was called; a transaction is open inside of it */
	void *kept;                /* db_keep */
	void (*drop)(void *what);
};

/** Which error a result code is; `handle` may be NULL. */
enum err_code db_code_of(sqlite3 *handle, int rc);
/** What a person can do about it; "" when the message says enough. */
const char *db_advice(enum err_code code);
/** -1 with what SQLite says of `rc`, and the place of the statement. */
int db_fail(struct db *db, int rc, const char *file, int line, struct fw_err *err);

/** SQLite would write on into a file that has no name any more. Err: ERR_IO it has none. */
int db_check_place(struct db *db, struct fw_err *err);

#endif
