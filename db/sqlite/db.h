/**
 * db.h - the only door to SQLite (sqlite3.h is included in inside.h alone).
 *
 * One connection, one writer. WAL, synchronous FULL, foreign keys on: what a transaction committed survives kill -9 and a
 * power cut. Statements are prepared from constant text and values are bound by name; there is no way to run SQL built at
 * run time. Every failure carries the statement's place in the source.
 */
#ifndef DB_SQLITE_DB_H
#define DB_SQLITE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { DB_SHRINK_PAGES = 512 };

struct db;
struct stmt;

/** Open or create. `read_only` opens query_only. Err: ERR_BUSY another daemon has it, ERR_IO, ERR_FULL, ERR_INVALID not our file. */
int db_open(const char *path, bool read_only, struct db **out, struct fw_err *err);
/** An empty database in memory, of no file, to try scripts on. */
int db_open_scratch(struct db **out, struct fw_err *err);
/**
 * From now on a write does not wait long for another process that holds the lock, and those after it not at all until it is free: whoever
 * serves others has no time for it. Err of such a write: ERR_BUSY.
 */
void db_hurry(struct db *db);
/** Finalises all statements; accepts NULL. */
void db_close(struct db *db);

/** BEGIN IMMEDIATE / COMMIT / ROLLBACK; they do not nest, but inside db_outer_begin. A failed commit has rolled back. */
#define db_begin(db, err) db_begin_at(db, __FILE__, __LINE__, err)
int db_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
int db_commit(struct db *db, struct fw_err *err);
/** Does nothing outside a transaction. */
void db_rollback(struct db *db);

/**
 * What is read from here to db_look_end is one state of the database, and is locked once instead of once a statement. Nothing may be
 * written in between.
 */
#define db_look_begin(db, err) db_look_begin_at(db, __FILE__, __LINE__, err)
int db_look_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
void db_look_end(struct db *db);

/**
 * A transaction around others: what is begun inside becomes part of it, so that it is stored with what comes after, or not at all. One at a
 * time; db_outer_end(keep) commits or rolls all of it back. Err: nothing was stored.
 */
#define db_outer_begin(db, err) db_outer_begin_at(db, __FILE__, __LINE__, err)
int db_outer_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
int db_outer_end(struct db *db, bool keep, struct fw_err *err);
bool db_in_outer(const struct db *db);

/** Whether a transaction is open. A write that met a full disk may have rolled it back already. */
bool db_in_transaction(const struct db *db);

/**
 * Take the cached statement for constant text `sql`, reset and with nothing bound. Own: the db's; valid until the same line
 * takes it again, so a loop over its rows must not call itself. NULL and `err` when it does not prepare.
 *
 * All stmt_* functions accept NULL: those that return a result then return -1, with the error that `err` has from here. So a caller binds
 * and steps without a check in between.
 */
#define db_stmt(db, sql, err) db_stmt_at(db, __FILE__, __LINE__, sql, err)
struct stmt *db_stmt_at(struct db *db, const char *file, int line, const char *sql, struct fw_err *err);

/**
 * db_stmt(sql), with a value for every parameter: db_query(db, err, "... WHERE id = :id AND name = :name", "id=%ld name=%s", id, name).
 * The compiler checks the values against the conversions: %ld int64_t, %d int, bool, enum, %f double (not finite: NULL), %s text (NULL:
 * NULL), %.*s an int length and a text. Texts are copied. A parameter that is unknown, missing or given twice, and any other conversion:
 * NULL and `err`.
 */
#define db_query(db, err, ...) db_query_at(db, __FILE__, __LINE__, err, __VA_ARGS__)
struct stmt *db_query_at(struct db *db, const char *file, int line, struct fw_err *err, const char *sql, const char *binds, ...)
	__attribute__((format(printf, 6, 7)));
/** Run db_query's statement, which gives no rows, to its end. */
#define db_exec(db, err, ...) stmt_run(db_query(db, err, __VA_ARGS__), err)

/*
 * Bind by name (":id"). Texts and blobs are copied. stmt_step reports the first failure: an unknown name, memory, a value that is too long.
 */
void stmt_int(struct stmt *s, const char *name, int64_t v);
void stmt_double(struct stmt *s, const char *name, double v);                /* not finite: NULL */
void stmt_text(struct stmt *s, const char *name, const char *v);             /* NULL: NULL */
void stmt_part(struct stmt *s, const char *name, const char *v, size_t len); /* the first `len` bytes */
void stmt_blob(struct stmt *s, const char *name, const void *v, size_t len); /* NULL: NULL */
void stmt_int_or_null(struct stmt *s, const char *name, int64_t v);          /* 0, no row and no time: NULL */

/** 1 a row, 0 done (the statement is reset), -1 error. */
int stmt_step(struct stmt *s, struct fw_err *err);
/** Step a statement that gives no rows to its end. */
int stmt_run(struct stmt *s, struct fw_err *err);
/** stmt_run of an INSERT of one row; *id is the row's (NULL: not asked for). */
int stmt_insert(struct stmt *s, int64_t *id, struct fw_err *err);
/** stmt_run; *n counts the rows that were changed. */
int stmt_run_count(struct stmt *s, int *n, struct fw_err *err);
/** Whether there is a row, and what its first column holds: 1, 0 none (the place is left as it was), -1. The statement is reset. */
int stmt_any(struct stmt *s, struct fw_err *err);
int stmt_first_int(struct stmt *s, int64_t *v, struct fw_err *err);
int stmt_first_text(struct stmt *s, char *out, size_t size, struct fw_err *err); /* cut to fit */
/** Give up reading before the last row. */
void stmt_reset(struct stmt *s);

/* Columns of the current row, by number. Texts and blobs are valid until the next step or reset. NULL reads 0, NAN, "". */
int64_t row_int(struct stmt *s, int column);
double row_double(struct stmt *s, int column);
const char *row_text(struct stmt *s, int column);
const void *row_blob(struct stmt *s, int column, size_t *len);
bool row_is_null(struct stmt *s, int column);
/** Copy a text, cut to fit. */
void row_copy(struct stmt *s, int column, char *out, size_t size);

/** The folder that the database lies in, absolute. Shape: out[size]; cut to fit. */
void db_folder(struct db *db, char *out, size_t size);
/**
 * Keep something beside this connection for who reads it, one thing at a time: `drop` frees it when another (or NULL) takes its place, and
 * in db_close.
 */
void db_keep(struct db *db, void *what, void (*drop)(void *what));
/** What is kept; NULL: nothing. */
void *db_kept(const struct db *db);
/** Rows that the latest statement changed. */
int db_changes(struct db *db);
/** Rows written through this connection so far. */
int64_t db_written(struct db *db);
/** Write something, what is there already, to see whether it can be done. */
int db_try_write(struct db *db, struct fw_err *err);
/**
 * Copy the whole database, as it is now, to `path`: at PATH.part first, flushed, then renamed. Other connections read and write
 * meanwhile. Ctx: takes as long as the disk does, so never on the daemon's loop. Err: ERR_IO, ERR_FULL, ERR_CONFLICT another one is being
 * made to the same place.
 */
int db_backup(struct db *db, const char *path, struct fw_err *err);
/** Remove what a db_backup to `path` left that was killed. */
void db_backup_discard(const char *path);
/** Schema version as stored, 0 in a new file; and set it (migrations only). */
int db_version(struct db *db, int *version, struct fw_err *err);
int db_set_version(struct db *db, int version, struct fw_err *err);
/** Give up to DB_SHRINK_PAGES free pages back to the file system where a tenth of the file is free. 1 more could go, 0 done, -1. */
int db_shrink(struct db *db, struct fw_err *err);
/** Run a whole script of statements (migrations only). */
int db_script(struct db *db, const char *sql, struct fw_err *err);
/** Tell the query plan of every statement taken so far, one step a call. For tests: nothing may read a large table whole. */
int db_explain(struct db *db, void (*each)(void *arg, const char *sql, const char *step), void *arg, struct fw_err *err);
/** How many steps SQLite's machine took for all of them. For tests: what must not grow with the history does not. */
int64_t db_steps(struct db *db);
/** SQLite's own check of the whole file, and of all references. Err: ERR_DAMAGED with the first finding. */
int db_check(struct db *db, struct fw_err *err);
/** As much of db_check as `ms` allow. Err: ERR_TIMEOUT nothing was found so far. */
int db_check_within(struct db *db, int64_t ms, struct fw_err *err);

#endif
