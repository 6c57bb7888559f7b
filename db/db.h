/**
 * db.h - the only interface to SQLite (sqlite3.h is included in inside.h alone).
 *
 * One connection, one writer. WAL, synchronous FULL, foreign keys on: a committed transaction survives kill -9 and a power cut. Statements
 * are prepared from constant text and values are bound by name; SQL is never built at run time. Every error has the source position of its
 * statement.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"

enum { DB_SHRINK_PAGES = 512 };

struct db;
struct stmt;

/** Open or create. `read_only` opens query_only. Err: ERR_BUSY another daemon uses it, ERR_IO, ERR_FULL, ERR_INVALID not our file. */
int db_open(const char *path, bool read_only, struct db **out, struct fw_err *err);
/** An empty database in memory, to test scripts. */
int db_open_scratch(struct db **out, struct fw_err *err);
/**
 * From now on a write waits only BUSY_HURRIED_MS for the lock of another process, and later writes not at all until it is free, so that the
 * daemon's loop goes on. Err of such a write: ERR_BUSY.
 */
void db_hurry(struct db *db);
/** Finalises all statements; accepts NULL. */
void db_close(struct db *db);

/** BEGIN IMMEDIATE / COMMIT / ROLLBACK; they nest only inside db_outer_begin. A failed commit has rolled back. */
#define db_begin(db, err) db_begin_at(db, __FILE__, __LINE__, err)
int db_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
int db_commit(struct db *db, struct fw_err *err);
/** Does nothing outside a transaction. */
void db_rollback(struct db *db);

/**
 * Read transaction until db_look_end: all reads see one state of the database and take one lock instead of one a statement. Writes are not
 * allowed in between.
 */
#define db_look_begin(db, err) db_look_begin_at(db, __FILE__, __LINE__, err)
int db_look_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
void db_look_end(struct db *db);

/**
 * An outer transaction: transactions inside are savepoints of it, so that all are stored together or not at all. One at a time;
 * db_outer_end commits (`keep`) or rolls back. Err: nothing was stored.
 */
#define db_outer_begin(db, err) db_outer_begin_at(db, __FILE__, __LINE__, err)
int db_outer_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
int db_outer_end(struct db *db, bool keep, struct fw_err *err);
bool db_in_outer(const struct db *db);

/** Whether a transaction is open. A write that failed on a full disk may have rolled it back. */
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
 * NULL), %.*s an int length and a text, %p%zu a blob and its length. Texts are copied. A parameter that is unknown, missing or given twice, and any other conversion:
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
/** stmt_run of an INSERT of one row; sets *id (NULL: ignored). */
int stmt_insert(struct stmt *s, int64_t *id, struct fw_err *err);
/** stmt_run; *n counts the changed rows. */
int stmt_run_count(struct stmt *s, int *n, struct fw_err *err);
/** Whether there is a row, and its first column: 1, 0 none (the output is unchanged), -1. The statement is reset. */
int stmt_any(struct stmt *s, struct fw_err *err);
int stmt_first_int(struct stmt *s, int64_t *v, struct fw_err *err);
int stmt_first_text(struct stmt *s, char *out, size_t size, struct fw_err *err); /* cut to fit */
/** Append the first column of the first row. 1, 0 none, -1; ERR_FULL it does not fit into `out`. The statement is reset. */
int stmt_first_bytes(struct stmt *s, struct buf *out, struct fw_err *err);
/** Read the first columns of at most `max` rows. Shape: ids[max]. Returns how many, -1. The statement is reset. */
int stmt_ids(struct stmt *s, int64_t *ids, int max, struct fw_err *err);
/** Require a row: maps the result 1 of a step to 0, and 0 to -1 with ERR_NOT_FOUND and this message. */
int stmt_require(int result, struct fw_err *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** End reading before the last row. */
void stmt_reset(struct stmt *s);

/* Columns of the current row, by number. Texts and blobs are valid until the next step or reset. NULL reads 0, NAN, "". */
int64_t row_int(struct stmt *s, int column);
double row_double(struct stmt *s, int column);
const char *row_text(struct stmt *s, int column);
const void *row_blob(struct stmt *s, int column, size_t *len);
bool row_is_null(struct stmt *s, int column);
/** Copy a text, cut to fit. */
void row_copy(struct stmt *s, int column, char *out, size_t size);

/** Absolute path of the database's folder. Shape: out[size]; cut to fit. */
void db_folder(struct db *db, char *out, size_t size);
/** Attach one object to this connection, such as a cache. `drop` frees it when another one (or NULL) replaces it, and in db_close. */
void db_keep(struct db *db, void *what, void (*drop)(void *what));
/** The attached object; NULL: none. */
void *db_kept(const struct db *db);
/** Rows that the latest statement changed. */
int db_changes(struct db *db);
/** Rows written through this connection so far. */
int64_t db_written(struct db *db);
/** Test whether the file is writable: writes an unchanged value. */
int db_try_write(struct db *db, struct fw_err *err);
/**
 * Copy the whole database to `path`: written to PATH.part, flushed, then renamed. Other connections may read and write meanwhile.
 * Ctx: slow, never on the daemon's loop. Err: ERR_IO, ERR_FULL, ERR_CONFLICT another backup to the same path is running.
 */
int db_backup(struct db *db, const char *path, struct fw_err *err);
/** Remove the incomplete file of a killed db_backup to `path`. */
void db_backup_discard(const char *path);
/** Get the stored schema version, 0 in a new file; set it (migrations only). */
int db_version(struct db *db, int *version, struct fw_err *err);
int db_set_version(struct db *db, int version, struct fw_err *err);
/** Return up to DB_SHRINK_PAGES free pages to the file system where a tenth of the file is free. 1 call again, 0 done, -1. */
int db_shrink(struct db *db, struct fw_err *err);
/** Run a whole script of statements (migrations only). */
int db_script(struct db *db, const char *sql, struct fw_err *err);
/** Pass the query plan of every cached statement, one step a call. For tests: no statement may scan a large table. */
int db_explain(struct db *db, void (*each)(void *arg, const char *sql, const char *step), void *arg, struct fw_err *err);
/** Steps of SQLite's virtual machine over all cached statements. For tests: they must not grow with the history. */
int64_t db_steps(struct db *db);
/** SQLite's integrity check of the whole file and of all references. Err: ERR_DAMAGED with the first finding. */
int db_check(struct db *db, struct fw_err *err);
/** db_check for at most `ms`. Err: ERR_TIMEOUT no finding so far. */
int db_check_within(struct db *db, int64_t ms, struct fw_err *err);

#endif
