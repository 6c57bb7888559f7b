/**
 * db.h - the store: the interface to SQLite, and the queries, one file for each group of tables.
 *
 * Functions that return int return 0, or -1 with `err`. "1, 0, -1" in a comment means: 1 if there is such a row or the answer is
 * yes, 0 if not, -1 with `err`. A single error code, such as "ERR_NOT_FOUND.", is the error if the row does not exist. "Loop
 * only": only on the thread of the daemon's event loop, which owns the writing connection. A view calls `each` once for each row;
 * texts of a row are valid only inside that call.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"
#include "model/model.h"
#include "profile/profile.h"
#include "protocol/protocol.h"
#include "stats/stats.h"
#include "verdict/verdict.h"

/*
 * ---- db ----
 * The interface to SQLite; only db/sqlite.h includes sqlite3.h.
 *
 * One process writes, through one connection. With WAL, synchronous FULL and foreign keys, a committed transaction survives kill
 * -9 and a power failure. Statements are prepared from constant text and values are bound by name; SQL is never built at run
 * time. Every error has the source position of its statement.
 */

enum { DB_SHRINK_PAGES = 512 }; /* pages that one call of db_shrink returns */

struct db;
struct stmt;

/**
 * Open a database, or create it. `read_only`: writes fail (query_only). Own: db_close. Err: ERR_BUSY if another daemon uses it,
 * ERR_IO, ERR_FULL, ERR_INVALID if the file is not a database of flopwatch.
 */
int db_open(const char *path, bool read_only, struct db **out, struct fw_err *err);
/** Open an empty database in memory, for tests of scripts. Own: db_close. */
int db_open_scratch(struct db **out, struct fw_err *err);
/**
 * Let a write wait only BUSY_HURRIED_MS for the lock of another process, and later writes not at all until the lock is free, so
 * that the daemon's loop does not block. Such a write fails with ERR_BUSY.
 */
void db_hurry(struct db *db);
/** Finalise all statements and close the connection. Accepts NULL. */
void db_close(struct db *db);

/** Begin a transaction (IMMEDIATE). Transactions nest only inside db_outer_begin. */
#define db_begin(db, err) db_begin_at(db, __FILE__, __LINE__, err)
int db_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
/** Commit. After a failure the transaction is rolled back. */
int db_commit(struct db *db, struct fw_err *err);
/** Roll back. Does nothing outside a transaction. */
void db_rollback(struct db *db);

/**
 * Begin a read transaction, until db_snapshot_end: all reads see one state of the database, and take one lock instead of one for
 * each statement. Writes are not allowed meanwhile.
 */
#define db_snapshot_begin(db, err) db_snapshot_begin_at(db, __FILE__, __LINE__, err)
int db_snapshot_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
void db_snapshot_end(struct db *db);

/**
 * Begin an outer transaction: transactions inside become its savepoints, so that all are stored together or none is. Outer
 * transactions do not nest. db_outer_end commits if `is_done`, else rolls back; after its failure nothing is stored.
 */
#define db_outer_begin(db, err) db_outer_begin_at(db, __FILE__, __LINE__, err)
int db_outer_begin_at(struct db *db, const char *file, int line, struct fw_err *err);
int db_outer_end(struct db *db, bool is_done, struct fw_err *err);
/** Return whether an outer transaction is open. */
bool db_in_outer(const struct db *db);

/** Return whether a transaction is open. A write that fails on a full disk may roll it back. */
bool db_in_transaction(const struct db *db);

/**
 * Get the cached statement of this source line for the constant text `sql`, reset and with nothing bound. Own: the db's; valid
 * until the same line gets it again, so code in a loop over its rows must not run this line. Err: NULL if it cannot be prepared.
 *
 * All stmt_* functions accept NULL: they then return -1 and leave the error in `err`. So a caller can bind and step without a
 * check in between.
 */
#define db_stmt(db, sql, err) db_stmt_at(db, __FILE__, __LINE__, sql, err)
struct stmt *db_stmt_at(struct db *db, const char *file, int line, const char *sql, struct fw_err *err);

/**
 * Get a statement as db_stmt and bind a value to every parameter: db_query(db, err, "... WHERE id = :id AND name = :name",
 * "id=%ld name=%s", id, name). The compiler checks the values against the conversions: %ld int64_t (`name?=%ld`: 0, no row or no
 * time, becomes NULL), %d int, bool, enum, %f double (not finite: NULL), %s text (NULL: NULL), %.*s an int length and a text,
 * %p%zu a blob and its length. Texts are copied. Err: NULL for a parameter that is unknown, missing or named twice, and for
 * another conversion.
 */
#define db_query(db, err, ...) db_query_at(db, __FILE__, __LINE__, err, __VA_ARGS__)
struct stmt *db_query_at(struct db *db, const char *file, int line, struct fw_err *err, const char *sql, const char *binds, ...)
	__attribute__((format(printf, 6, 7)));
/* Each calls db_query, then the stmt_ function of its name; db_exec calls stmt_run, db_first stmt_first with (variable, ...). */
#define db_exec(db, err, ...)                  stmt_run(db_query(db, err, __VA_ARGS__), err)
#define db_any(db, err, ...)                   stmt_any(db_query(db, err, __VA_ARGS__), err)
#define db_insert(db, id, err, ...)            stmt_insert(db_query(db, err, __VA_ARGS__), id, err)
#define db_run_count(db, n, err, ...)          stmt_run_count(db_query(db, err, __VA_ARGS__), n, err)
#define db_ids(db, ids, max, err, ...)         stmt_ids(db_query(db, err, __VA_ARGS__), ids, max, err)
#define db_first_int(db, v, err, ...)          stmt_first_int(db_query(db, err, __VA_ARGS__), v, err)
#define db_first_text(db, out, size, err, ...) stmt_first_text(db_query(db, err, __VA_ARGS__), out, size, err)
#define db_first(db, err, variables, ...)      stmt_first_columns(db_query(db, err, __VA_ARGS__), COLUMN_LIST variables, err)

/**
 * Bind further values as db_query; other parameters keep their values. Returns `s`; NULL with `err` if `s` is NULL or a value was
 * not bound.
 */
struct stmt *stmt_bind(struct stmt *s, struct fw_err *err, const char *binds, ...) __attribute__((format(printf, 3, 4)));

/*
 * Bind one value by name (":id"). Texts are copied. stmt_step reports the first failure: an unknown name, out of memory, a value
 * that is too long.
 */
void stmt_int(struct stmt *s, const char *name, int64_t v);
void stmt_text(struct stmt *s, const char *name, const char *v); /* NULL: NULL */

/** Step to the next row. Returns 1; 0 after the last row, and the statement is reset; -1 on error. */
int stmt_step(struct stmt *s, struct fw_err *err);
/** Run a statement that has no rows. */
int stmt_run(struct stmt *s, struct fw_err *err);
/** Run an INSERT of one row; `*id` receives its rowid (NULL: ignored). */
int stmt_insert(struct stmt *s, int64_t *id, struct fw_err *err);
/** Run a statement that has no rows; `*n` receives the number of changed rows. */
int stmt_run_count(struct stmt *s, int *n, struct fw_err *err);
/** Return whether there is a row: 1, 0, -1. The statement is reset. */
int stmt_any(struct stmt *s, struct fw_err *err);
/**
 * Read the first column of the first row. Returns 1; 0 if there is no row, and the output is unchanged; -1. The statement is
 * reset.
 */
int stmt_first_int(struct stmt *s, int64_t *v, struct fw_err *err);
int stmt_first_text(struct stmt *s, char *out, size_t size, struct fw_err *err); /* cut to fit */
/** Append the first column of the first row. 1, 0, -1. The statement is reset. Err: ERR_FULL if it does not fit into `out`. */
int stmt_first_bytes(struct stmt *s, struct buf *out, struct fw_err *err);
/** Read the first column of at most `max` rows. Returns their number, or -1. The statement is reset. Shape: ids[max]. */
int stmt_ids(struct stmt *s, int64_t *ids, int max, struct fw_err *err);
/** Require a row: map a result of stmt_step or stmt_first, 1 to 0, and 0 to -1 with ERR_NOT_FOUND and this message. */
int stmt_require(int result, struct fw_err *err, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Accept that there is no row: map the results 1 and 0 to 0. */
static inline int stmt_optional(int result)
{
	return result < 0 ? -1 : 0;
}
/** Stop reading before the last row. */
void stmt_reset(struct stmt *s);

/** A variable that receives a column of a row. */
struct column {
	enum {
		COLUMN_END,
		COLUMN_INT64,
		COLUMN_INT,
		COLUMN_BOOL,
		COLUMN_DOUBLE,
		COLUMN_BORROWED,
		COLUMN_COPY,
		COLUMN_NAME,
		COLUMN_SKIP,
		COLUMN_OTHER
	} type;
	void *to;
	size_t size;
	unsigned (*from_name)(const char *name);
};
/** The variable `x` of an enum whose name is stored; `from` converts the name. */
#define COLUMN_NAMED(x, from) ((struct column){ COLUMN_NAME, &(x), sizeof(unsigned), from })
/** A column that is not read. */
#define COLUMN_UNUSED ((struct column){ COLUMN_SKIP, NULL, 0, NULL })
#define COLUMN(x)                                                                                                                \
	{ .type = _Generic(&(x), int64_t *: COLUMN_INT64, uint64_t *: COLUMN_INT64, int *: COLUMN_INT, bool *: COLUMN_BOOL,          \
		double *: COLUMN_DOUBLE, const char **: COLUMN_BORROWED, char(*)[sizeof(x)]: COLUMN_COPY, struct column *: COLUMN_OTHER),           \
		.to = (void *)&(x), .size = sizeof(x) },
/* COLUMN_LIST(a, b, ...) is the list COLUMN(a) COLUMN(b) ..., of at most 64 variables. */
#define COLUMN_LIST(...)         ((const struct column[]){ COLUMN_LIST_AGAIN(COLUMN_LIST_NEXT(__VA_ARGS__)){ 0 } })
#define COLUMN_LIST_AGAIN(...)   COLUMN_LIST_AGAIN4(COLUMN_LIST_AGAIN4(COLUMN_LIST_AGAIN4(COLUMN_LIST_AGAIN4(__VA_ARGS__))))
#define COLUMN_LIST_AGAIN4(...)  COLUMN_LIST_AGAIN16(COLUMN_LIST_AGAIN16(COLUMN_LIST_AGAIN16(COLUMN_LIST_AGAIN16(__VA_ARGS__))))
#define COLUMN_LIST_AGAIN16(...) COLUMN_LIST_AGAIN64(COLUMN_LIST_AGAIN64(COLUMN_LIST_AGAIN64(COLUMN_LIST_AGAIN64(__VA_ARGS__))))
#define COLUMN_LIST_AGAIN64(...) __VA_ARGS__
#define COLUMN_LIST_NEXT(x, ...) COLUMN(x) __VA_OPT__(COLUMN_LIST_REST COLUMN_LIST_PARENTHESES(__VA_ARGS__))
#define COLUMN_LIST_REST()       COLUMN_LIST_NEXT
#define COLUMN_LIST_PARENTHESES  ()

/**
 * Read the first columns of the current row into variables of their types: int64_t, int, bool, double, const char * (valid until
 * the next step or reset), char[] (cut to fit), COLUMN_NAMED. NULL reads 0, NAN, "".
 */
#define row_read(s, ...) row_read_columns(s, COLUMN_LIST(__VA_ARGS__))
void row_read_columns(struct stmt *s, const struct column *columns);
/** Step to the next row and read it as row_read. Returns as stmt_step. */
#define stmt_next(s, err, ...) stmt_next_columns(s, COLUMN_LIST(__VA_ARGS__), err)
int stmt_next_columns(struct stmt *s, const struct column *columns, struct fw_err *err);
/** For each row, read it as stmt_next, then evaluate `call`, such as each(arg, &row). Returns 0 or -1. */
#define stmt_each(s, err, call, ...)                                                                                             \
	({                                                                                                                       \
		struct stmt *stmt_each_of = s;                                                                                   \
		int stmt_each_result;                                                                                            \
		while ((stmt_each_result = stmt_next(stmt_each_of, err, __VA_ARGS__)) == 1)                                      \
			call;                                                                                                    \
		stmt_each_result;                                                                                                \
	})
/** Read the first row and reset the statement, so do not read into const char *. 1, 0 (the variables are unchanged), -1. */
#define stmt_first(s, err, ...) stmt_first_columns(s, COLUMN_LIST(__VA_ARGS__), err)
int stmt_first_columns(struct stmt *s, const struct column *columns, struct fw_err *err);

/* Columns of the current row, by number. Texts and blobs are valid until the next step or reset. NULL reads 0, NAN, "". */
int64_t row_int(struct stmt *s, int column);
double row_double(struct stmt *s, int column);
const char *row_text(struct stmt *s, int column);
const void *row_blob(struct stmt *s, int column, size_t *len);
bool row_is_null(struct stmt *s, int column);
/** Copy a text, cut to fit. */
void row_copy(struct stmt *s, int column, char *out, size_t size);

/** Write the absolute path of the database's folder, cut to fit. Shape: out[size]. */
void db_folder(struct db *db, char *out, size_t size);
/**
 * Attach one object to this connection, such as a cache. Own: `drop` frees it when another one or NULL replaces it, and in
 * db_close.
 */
void db_attach(struct db *db, void *what, void (*drop)(void *what));
/** Return the attached object; NULL: none. */
void *db_attached(const struct db *db);
/** Return the number of rows that the last statement changed. */
int db_changes(struct db *db);
/** Return the number of rows that were written through this connection so far. */
int64_t db_written(struct db *db);
/** Test whether the file can be written, by writing an unchanged value. */
int db_try_write(struct db *db, struct fw_err *err);
/**
 * Copy the whole database to `path`: write PATH.part, flush it, and rename it. Other connections may read and write meanwhile.
 * This is slow, so never call it on the daemon's loop. Err: ERR_IO, ERR_FULL, ERR_CONFLICT if another backup to the same path is
 * running.
 */
int db_backup(struct db *db, const char *path, struct fw_err *err);
/** Remove the incomplete file of a killed db_backup to `path`. */
void db_backup_discard(const char *path);
/** Read the schema version; 0 in a new file. */
int db_version(struct db *db, int *version, struct fw_err *err);
/** Set the schema version; only migrations call this. */
int db_set_version(struct db *db, int version, struct fw_err *err);
/**
 * If a tenth of the file is free, return up to DB_SHRINK_PAGES pages to the file system. Returns 1 to call it again, 0 if done,
 * -1.
 */
int db_shrink(struct db *db, struct fw_err *err);
/** Run a script of several statements; only migrations call this. */
int db_script(struct db *db, const char *sql, struct fw_err *err);
/** Call `each` for each step of the query plan of every cached statement. For tests: no statement may scan a large table. */
int db_explain(struct db *db, void (*each)(void *arg, const char *sql, const char *step), void *arg, struct fw_err *err);
/**
 * Return the number of steps of SQLite's virtual machine over all cached statements. For tests: it must not grow with the
 * history.
 */
int64_t db_steps(struct db *db);
/** Check the integrity of the whole file and of all references. Err: ERR_DAMAGED with the first finding. */
int db_check(struct db *db, struct fw_err *err);
/** Check as db_check, for at most `ms`. Err: ERR_TIMEOUT without a finding so far. */
int db_check_within(struct db *db, int64_t ms, struct fw_err *err);

/*
 * ---- accepted ----
 * Accepted regressions: in which cells of which comparisons they are accepted, too.
 *
 * An accepted alert covers a cell of a comparison of two commits (not of toolchains or providers) if the target contains the
 * commit and the base does not (commit_range; a later push, a merge or a fast-forward of any branch), or if the comparison has
 * the alert's two commits or two builds with the same inputs or modules. The commit is the culprit that a bisect found for the
 * cell, else the alert's. A slowdown is covered up to the accepted one plus the threshold and two standard errors; between the
 * alert's own two commits or builds, on a device of the same class, any slowdown is. Loop only.
 */

/** Add commits to those that `target` contains and `base` does not. Shape: shas[n]. */
int store_range_put(
	struct db *db, int64_t repo, const char *base, const char *target, const char (*shas)[65], int n, struct fw_err *err);
/** Return whether any commit of the range is stored. 1, 0, -1. */
int store_range_known(struct db *db, int64_t repo, const char *base, const char *target, struct fw_err *err);

/** Return whether an accepted alert covers this cell, a stored regression of the comparison. 1, 0, -1. */
int store_accepted_cell(struct db *db, int64_t comparison, const char *key, struct fw_err *err);

/**
 * Find the accepted alert that covers this cell in the newest comparison of this commit of the upstream branch `branch`; *alert
 * 0: none.
 */
int store_accepted_step(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, const char *key,
	int64_t *alert, struct fw_err *err);

struct store_accepted {
	/* regressed cells that are covered, and that are not; both 0: the repository has no accepted regression */
	int covered, lost;
	enum verdict verdict; /* of the cells that are not covered; VERDICT_ACCEPTED where no worse one remains */
	int64_t alert;        /* the newest alert that covers a cell; 0: none */
	char who[128], why[256];
};
/** Read the acceptance of a comparison whose verdict is regression. */
int store_accepted_of(struct db *db, int64_t comparison, struct store_accepted *out, struct fw_err *err);

/**
 * Find comparisons of branches, the newest of each commit and suite, in which this alert covers a regression, so that their
 * status changes. Oldest first. Shape: ids[max], the newest where there are more. Returns n, -1.
 */
int store_accepted_comparisons(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err);
/** Open and acknowledged regression alerts of which `alert` covers every cell. Shape: ids[max]. Returns n, -1. */
int store_accepted_alerts(struct db *db, int64_t alert, int64_t *ids, int max, struct fw_err *err);

/* ---- retry: Automatic retries of jobs, at most one per job. Loop only; writes inside the caller's transaction. ---- */

/** Count the cells of a comparison that are undecided because of noise alone. */
int store_retry_count_noisy(struct db *db, int64_t comparison, int64_t *n, struct fw_err *err);
/** Schedule a retry of a job at `at`, unless it is a retry itself. *n: 1, or 0 it is one. */
int store_retry_schedule(struct db *db, int64_t job, int64_t at, int *n, struct fw_err *err);
/** Find a job whose retry is due, or that ended in the future because the clock was set back. 1, 0, -1. */
int store_retry_due(struct db *db, int64_t now_ms, int64_t *job, struct fw_err *err);
/** Find the job with the earliest scheduled retry, due or not. 1, 0, -1. */
int store_retry_next(struct db *db, int64_t *job, struct fw_err *err);
/**
 * Return whether the retry is still useful: the commit is the tip of its branch, the comparison is undecided, and no later job
 * measures the same. 1, 0, -1.
 */
int store_retry_is_useful(struct db *db, int64_t job, struct fw_err *err);
/** Clear a scheduled retry: job `by` is the retry; 0: it is not needed any more. */
int store_retry_clear(struct db *db, int64_t job, int64_t by, struct fw_err *err);

/*
 * ---- alert ----
 * Alerts as rows. Loop only; inside the caller's transaction.
 *
 * One per (repository, target commit, kind), with the cells of all suites. Kind environment: one per reported change, since
 * drivers and compilers change while the commit stays. Devices: one open alert at a time. Accepted and invalid alerts are never
 * changed, so a further regression of the commit opens a separate alert. The daemon's alert.c opens and ends alerts together with
 * their notifications.
 */

enum { STORE_ALERT_RECOVER_MAX = 64, STORE_ALERT_CELLS_MAX = 1000 };

struct store_alert {
	int64_t id, repo, device, comparison; /* 0: none */
	enum alertkind kind;
	enum alertstate state; /* set by opening */
	char branch[1024], target_sha[65];
	const char *changed;          /* of kind environment: environment_change.changed; NULL: "" */
	const char *title;            /* NULL: "" */
	const char *cells_json;       /* array of {"cell","suite","change_pct","borderline",...}; without "suite": of any suite */
	const char *groups_json;      /* array of {"family","direction","phase","kernel","cells","worst_pct"}; NULL: [] */
	const char *culprits_json;    /* as in the table, where known when the alert opens; NULL: unknown */
	double worst_pct;             /* NAN: none */
	int n_old_cells, n_new_cells; /* set by opening: cells that stay from before; cells that are new */
};

/**
 * Open the alert of (repo, target, kind, changed), or of the device. The comparison of an open or acknowledged one does not
 * change; it gets the cells of `a` and retains the cells that a's comparison did not measure (other suites) or that the history
 * added. A resolved one opens again, with the cells of `a` alone. Cells that a user accepted or called invalid for this commit
 * are left out; where no other cell remains, `a` gets id and state of that alert and nothing is written. Only the first
 * STORE_ALERT_CELLS_MAX cells are stored, which bounds the size of notifications; the comparisons have all of them. Without a
 * title the stored one does not change. Sets id, state, n_old_cells and n_new_cells of `a`, writes an alert_event for a change of
 * state and for new cells. `is_new`: the alert was not open before this call.
 */
int store_alert_open(struct db *db, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/** Append the cells of an alert to `out`, as JSON. ERR_NOT_FOUND. */
int store_alert_cells(struct db *db, int64_t id, struct buf *out, struct fw_err *err);
/** Update title, groups and worst change of an alert with cells of several comparisons. An empty title leaves the stored one. */
int store_alert_describe(
	struct db *db, int64_t id, const char *title, const char *groups_json, double worst_pct, struct fw_err *err);
/** A cell of an open or acknowledged alert, and the alert's other cells. */
struct store_alert_reported {
	int64_t id;
	double change_pct; /* of the cell; NAN: the alert does not contain it */
	double others_pct; /* the worst change of the other cells; NAN: none */
	bool is_full;      /* it has STORE_ALERT_CELLS_MAX cells */
	/* culprit range of the cell; "": unknown */
	char from[65], to[65];
	int commits, skipped;
	double range_pct; /* change over the range; NAN: unknown, or the range is shared with other cells */
};
/** Read a cell of the alert of a's commit and kind. 1, 0, -1. */
int store_alert_reported(struct db *db, const struct store_alert *a, const char *suite, const char *cell,
	struct store_alert_reported *out, struct fw_err *err);
/** Find the open or acknowledged alert of this commit and kind; 0: none. */
int store_alert_live(struct db *db, int64_t repo, const char *target_sha, enum alertkind kind, int64_t *id, struct fw_err *err);

/**
 * Change state with who and why: open to acknowledged, accepted, resolved, invalid; acknowledged to the latter three.
 * Err: ERR_NOT_FOUND; ERR_CONFLICT another step, ERR_INVALID no reason where one is due (accepted, invalid).
 */
int store_alert_change(struct db *db, int64_t id, enum alertstate state, const char *who, const char *reason, int64_t now_ms,
	struct fw_err *err);

/**
 * Set the culprits, as JSON, of the cells that they name; the culprits of other cells do not change, and equal ranges are merged.
 * Writes an alert_event with `reason`.
 */
int store_alert_culprits(
	struct db *db, int64_t id, const char *culprits_json, const char *reason, int64_t now_ms, struct fw_err *err);

/**
 * Open and acknowledged alerts of the comparison's branch that are over, by the latest verdict of each of their cells: in this
 * comparison, or in the branch's last one of the cell's suite.
 * - regression: not slower any more. Where the comparison's base is older than the alert's commit, a cell that is not slower than
 *   the base is enough; where the base contains the alert's commit, the significant changes since then must compensate the
 *   regression. Alerts that the history opened, and cells that it added, do not end here.
 * - failing: no cell failed. missing: every cell is measured again.
 *
 * Shape: ids[STORE_ALERT_RECOVER_MAX]; the next call returns further ones.
 */
int store_alert_recovered(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err);

/**
 * Append the culprits (JSON as in the table) of the newest live regression of an older tip of this comparison's branch, if they
 * explain the cells of `cells_json` (as in an alert) here too: it was measured against the same base, this comparison's target
 * contains the older tip (commit_range), one commit is the culprit of each cell, and no cell became slower since by more than its
 * threshold. 1, 0 without culprits, -1.
 */
int store_alert_inherited_culprits(
	struct db *db, int64_t comparison, const char *cells_json, struct buf *out, struct fw_err *err);

/**
 * Open and acknowledged regressions of older tips of this comparison's branch, measured against the same base, once every suite
 * of their cells was compared for the newer tip, whose alert then replaces them. Shape as above.
 */
int store_alert_older_tips(struct db *db, int64_t comparison, int64_t *ids, int *n, struct fw_err *err);

/**
 * Return whether an open, acknowledged or accepted alert of `kind` about another commit than `target_sha` already contains this
 * failing (or missing) cell of the branch. An accepted one counts only until a later comparison of the branch measures the cell
 * without a failure; a failure after that is a new one. 1, 0, -1.
 */
int store_alert_covers(struct db *db, int64_t repo, const char *branch, enum alertkind kind, const char *suite, const char *cell,
	const char *target_sha, struct fw_err *err);

/** An alert of kind cost; `changed` is the cost's name. */
struct store_cost_alert {
	int64_t id, comparison;
	enum alertstate state;
	const char *branch, *target_sha, *changed, *cells_json;
};
typedef void store_cost_alert_fn(void *arg, const struct store_cost_alert *row);
/** Call `each` for alerts of kind cost of a repository that are open, acknowledged or accepted, oldest first. */
int store_cost_alerts(struct db *db, int64_t repo, store_cost_alert_fn *each, void *arg, struct fw_err *err);
/** Replace the cells and the title of an alert of kind cost. */
int store_cost_alert_cells(struct db *db, int64_t id, const char *cells_json, const char *title, struct fw_err *err);

/** Return whether a user called the alert invalid. 1, 0 (also where there is no such alert), -1. */
int store_alert_is_invalid(struct db *db, int64_t id, struct fw_err *err);
/**
 * Find the commit of the newest open or acknowledged drift alert with this cell. Alerts that a user closed do not count: a later
 * slowdown is not part of them. 1, 0, -1. Shape: sha[65].
 */
int store_alert_open_drift(struct db *db, int64_t repo, const char *cell, char *sha, struct fw_err *err);

/* ---- answer: Responses to POSTs with an Idempotency-Key, stored for a day. Loop only. ---- */

struct store_answer {
	int status;
	char fingerprint[65]; /* SHA-256 of token and request */
	char location[256];
};

/** Find a response, and append its body to `body`. 1, 0, -1. */
int store_answer_find(struct db *db, const char *key, struct store_answer *out, struct buf *body, struct fw_err *err);
/** Store a response, and delete those older than a day. */
int store_answer_put(struct db *db, const char *key, const struct store_answer *answer, const struct buf *body, int64_t now_ms,
	struct fw_err *err);

/*
 * ---- archive ----
 * Append-only monthly files of compressed frames. Only archive.c includes zstd.h.
 *
 * FOLDER/2026-10.zst begins with a skippable frame that identifies the file; archive_append writes the frames after it, with a
 * checksum, so that `zstd -t` can read the file. The caller stores the position of each frame. Complete frames after the last
 * stored position are not removed, since an older or newer database may refer to them; an incomplete frame of a killed writer is.
 * The code is independent of SQLite and of the content of frames.
 */

enum { ARCHIVE_MONTH_SIZE = 8, ARCHIVE_FRAME_MAX_BYTES = 272 << 20, ARCHIVE_HEAD_BYTES = 64 };

struct archive_position {
	char month[ARCHIVE_MONTH_SIZE]; /* "2026-10" */
	int64_t offset, bytes;          /* of the frame in the month's file */
};

/** Write the month of a time, in UTC. Units: `at_ms` as clock_utc_ms. Shape: month[ARCHIVE_MONTH_SIZE]. */
void archive_month(int64_t at_ms, char *month);
/** Return whether `name` is that of a month's file; `month` receives the month. Shape: month[ARCHIVE_MONTH_SIZE]. */
bool archive_month_of(const char *name, char *month);
/** Write the path FOLDER/MONTH.zst. Shape: path[size]. Err: ERR_INVALID if `month` is not a month, or the path is too long. */
int archive_path(const char *folder, const char *month, char *path, size_t size, struct fw_err *err);

/**
 * Compress `data`, append it as a frame to the file of position->month, and flush it to the disk. `end`: end of the last stored
 * frame; 0: none. Sets position->offset and ->bytes. After a failure the file has its former length, or an incomplete frame,
 * which the next call removes. Err: ERR_NOT_FOUND if the file is missing, ERR_INVALID if it is shorter than `end`, ERR_FULL,
 * ERR_IO.
 */
int archive_append(
	const char *folder, int64_t end, const void *data, size_t len, struct archive_position *position, struct fw_err *err);
/**
 * Append the content of a frame to `out`. Err: ERR_NOT_FOUND if the file is missing, ERR_INVALID if it is damaged; both name the
 * file.
 */
int archive_read(const char *folder, const struct archive_position *position, struct buf *out, struct fw_err *err);
/** Return the number of frames that this thread has read. */
int64_t archive_reads(void);
/** Check that the file exists and that its last stored frame is complete. Err: as archive_read. */
int archive_check(const char *folder, const struct archive_position *last, struct fw_err *err);
/**
 * Read the mark that distinguishes this file from that of another daemon for the same month. Shape: mark[17]. Err: as
 * archive_read.
 */
int archive_mark(const char *folder, const char *month, char *mark, struct fw_err *err);

/*
 * ---- archived ----
 * Times of single calls in the monthly files of the archive.
 *
 * A comparison's times are in the table `sample`, or in one frame of samples/MONTH.zst at the position in the table `archived`,
 * or they are deleted. MONTH is the month in which the comparison finished. The estimates of runs remain in `sample`.
 */

/** Columns of `sample` in a frame, in this order. */
enum archived_times { ARCHIVED_MS, ARCHIVED_MHZ, ARCHIVED_HOST_US, ARCHIVED_TIMES };

/**
 * Write the archive's folder: "samples" in the folder of the database. Shape: folder[size]. Err: ERR_INVALID if its path is too
 * long.
 */
int archived_folder(struct db *db, char *folder, size_t size, struct fw_err *err);
/**
 * Archive the times of the oldest comparison that finished before `before` and has its times in the database; `*n` is 0 if there
 * is none, else 1. The frame is flushed to the disk before the rows change. Call inside a transaction. Err: as archive_append;
 * nothing has changed.
 */
int archived_move(struct db *db, int64_t before, int *n, struct fw_err *err);

/** Archived times of one comparison. */
struct archived {
	int n_rows;
	struct archived_row *row;
	struct buf rows, floats;
	bool is_cached; /* the cache of archived_read_begin owns it */
};

/**
 * Cache the last unpacked frame of this connection until archived_read_end, so that the frame of a comparison is unpacked once
 * for all of its cells. Calls do not nest.
 */
void archived_read_begin(struct db *db);
void archived_read_end(struct db *db);

/**
 * Read the archived times of the comparison of `cell`. 1, 0, -1. Own: archived_fini, also after an error, and before the next
 * read. Err: as archive_read.
 */
int archived_read(struct db *db, int64_t cell, struct archived *out, struct fw_err *err);
void archived_fini(struct archived *a);
/** Return the `*n` values of one row of `sample`; NULL: none. Own: `a`'s. */
const float *archived_values(
	const struct archived *a, int64_t cell, int64_t run, int64_t kind, enum archived_times which, int *n);

typedef void archived_fn(void *arg, const struct archive_position *last);
/** Call `each` for each month, the oldest first, with the position of its last frame, which its file must contain. */
int archived_each(struct db *db, archived_fn *each, void *arg, struct fw_err *err);
/**
 * Delete the rows of the oldest month before the month `before`; `month` receives its name. `*n` is 0 if there is none, else 1.
 * The caller removes the file after the commit. Shape: month[ARCHIVE_MONTH_SIZE].
 */
int archived_forget(struct db *db, const char *before, char *month, int *n, struct fw_err *err);
/** Find a file of a month before `before` that has no rows; `month` receives the month. 1, 0, -1. */
int archived_stray(struct db *db, const char *before, char *month, struct fw_err *err);

/* ---- base: Whether a commit of the upstream branch can be the base of later commits. Loop only; reads only. ---- */

enum store_base_state {
	STORE_BASE_UNKNOWN, /* never compared, or only by jobs without a verdict of the commit (quick, some cells, given base) */
	STORE_BASE_OPEN,    /* compared, with cells whose verdict is open */
	STORE_BASE_COMPLETE /* no cell is open: later commits can be compared with it */
};

/** Number of consecutive undecided comparisons after which a cell counts as complete although it probably changed. */
enum { STORE_BASE_TRIES = 6 };

struct store_base {
	enum store_base_state state;
	char base_sha[65]; /* base of its comparison; "": none */
	int undecided;     /* timed cells of its comparison that are undecided */
	int slower;        /* of these, cells that are probably slower */
};

/**
 * Determine the state of a commit as a base. `suite`: only for this one; "": for any.
 *
 * A commit is complete if one whole comparison on this branch left no cell open. A cell is open if it failed, was rejected or was
 * not measured. An unmeasured cell stays open until a user accepts the alert of kind failing. A cell whose base failed is not
 * open: this commit is its first usable base. Of a commit measured against itself only failures of the target count.
 *
 * A timed cell that is undecided is open while the automatic retry of its comparison is due or unfinished, and while it probably
 * changed (0 is not in its interval), because another measurement against the same base may show that. The latter ends after
 * STORE_BASE_TRIES comparisons of the cell in a row. Any other undecided cell is not open: noise hides as much of it in each
 * comparison with the old base, which would only prevent newer bases for all other cells. Its slowdown stays in the history,
 * since its ratio to the reference commit is stored whatever its verdict.
 */
int store_base_get(struct db *db, int64_t repo, const char *branch, const char *sha, const char *suite, struct store_base *out,
	struct fw_err *err);
/** Read the target of the branch's latest comparison that did not fail, other than `but`; "": none. Shape: sha[65]. */
int store_base_last(struct db *db, int64_t repo, const char *branch, const char *but, char *sha, struct fw_err *err);

/** Change of one cell in an earlier commit of the branch against the same base. */
struct store_base_reported {
	double m; /* log ratio of its time to the base's by pairs, positive slower; 0: not significant, or no such commit */
	double decided_m; /* log ratio that the verdict is based on */
	char sha[65];     /* of the commit; "": none */
};
enum { STORE_BASE_COMPARISONS_MAX = 64 };
/**
 * Find the change of a cell that the newest earlier commit of the branch already had against the same base.
 *
 * Several commits are compared with one base where the commits between were open or came during the measurement. The change of
 * this cell in the newest earlier commit was reported already, so only the difference is new. Of the branch the
 * STORE_BASE_COMPARISONS_MAX whole comparisons of the same suite before `comparison` are searched. Err: -1.
 */
int store_base_reported(struct db *db, int64_t comparison, const char *key, struct store_base_reported *out, struct fw_err *err);

/*
 * ---- baseline_period ----
 * Baseline periods, the first-parent history of the upstream branch, and ratios of commits to the reference
 * commit. Loop only; writes inside the caller's transaction.
 */

enum { STORE_LINE_COMMITS_MAX = 2000 };

struct store_baseline_period {
	int64_t id, repo, environment;
	char suite[64], reference_sha[65];
	char first_sha[65]; /* its first reference commit, which ratios are relative to */
	double held_mhz;    /* clock that held times are scaled to; NAN: unknown */
	int64_t started_at;
};

/** Find the baseline period of a repository in an environment. 1, 0, -1. */
int store_baseline_period_find(
	struct db *db, int64_t repo, int64_t environment, struct store_baseline_period *out, struct fw_err *err);
int store_baseline_period_get(struct db *db, int64_t id, struct store_baseline_period *out, struct fw_err *err);
/**
 * Read the reference commit of a suite's newest baseline period on the device's class, else on another class of the same model;
 * "": none. Shape: sha[65].
 */
int store_baseline_period_reference(
	struct db *db, int64_t repo, const char *suite, int64_t device, char *sha, struct fw_err *err);
/** Insert with reference_sha as its first reference commit. Sets e->id. */
int store_baseline_period_insert(struct db *db, struct store_baseline_period *e, struct fw_err *err);
/** Set held_mhz. */
int store_baseline_period_clock(struct db *db, int64_t id, double held_mhz, struct fw_err *err);

/** Replace the current reference commit. */
int store_baseline_period_rereference(struct db *db, int64_t id, const char *reference_sha, struct fw_err *err);

/** A later reference commit relative to the first one of its baseline period, in one cell. */
struct store_chain {
	int64_t baseline_period, comparison;
	const char *reference_sha, *key;
	double x, se; /* log ratio of times, and its standard error */
};
int store_chain_insert(struct db *db, const struct store_chain *c, struct fw_err *err);
/**
 * Read the log ratio of `reference_sha` to the first reference commit; of the first one `x` and `se` are 0. 1, 0 if it was never
 * a reference commit of this cell, -1.
 */
int store_chain_get(struct db *db, const struct store_baseline_period *e, const char *reference_sha, const char *key, double *x,
	double *se, struct fw_err *err);
/** Return whether a commit is or was the reference commit of a baseline period. 1, 0, -1. */
int store_baseline_period_has_reference(
	struct db *db, const struct store_baseline_period *e, const char *sha, struct fw_err *err);

/**
 * Store the upstream branch: sha[n], newest first, each the first parent of the one before. New commits get positions after all
 * stored ones; stored commits after the last common one that are not in the list are dropped. `is_cut`: the list ends before the
 * first commit, so stored commits are not dropped where it has none of them.
 */
int store_upstream_put(struct db *db, int64_t repo, const char (*sha)[65], int n, bool is_cut, struct fw_err *err);
/** Read the position of a commit on the upstream branch; 0 not on it. */
int store_upstream_position(struct db *db, int64_t repo, const char *sha, int64_t *position, struct fw_err *err);
/**
 * Find the middle one of the commits strictly between two positions without a result of cell `key` in this period and without
 * another comparison that measured the cell or tried to; failed ones count, quick ones and imported ones do not. Shape: sha[65].
 * 1, 0, -1.
 */
int store_upstream_unmeasured(struct db *db, const struct store_baseline_period *e, const char *key, int64_t after,
	int64_t before, char *sha, struct fw_err *err);

struct store_ratio {
	int64_t baseline_period, comparison;
	const char *key, *target_sha;
	double x, se; /* log ratio of times, target over reference commit, and its standard error */
};
int store_ratio_insert(struct db *db, const struct store_ratio *r, struct fw_err *err);
/** Read the ratio of a cell in one comparison. 1, 0, -1. */
int store_ratio_of(
	struct db *db, int64_t baseline_period, const char *key, int64_t comparison, double *x, double *se, struct fw_err *err);

/** A cell's newest points along the upstream branch, oldest first; the median of a commit measured several times. */
struct store_series {
	int n;
	struct store_series_point {
		char sha[65];
		int64_t position;
	} point[CHANGEPOINT_POINTS_MAX];
	double x[CHANGEPOINT_POINTS_MAX];
	int measured[CHANGEPOINT_POINTS_MAX]; /* number of measurements */
};
/** Read a cell's series from position `from` on, of at most the last STORE_LINE_COMMITS_MAX commits. */
int store_series(struct db *db, const struct store_baseline_period *e, const char *key, int64_t from, struct store_series *out,
	struct fw_err *err);
/** Count the commits of the baseline period with a point for this cell. */
int store_series_count(struct db *db, int64_t baseline_period, const char *key, int *n, struct fw_err *err);

struct store_baseline_period_device {
	int64_t class, last_reference_at; /* last measurement of the repository's reference commit; 0: never */
	char uuid[64];
	bool is_outlier, is_alone; /* deviates from its class; is the only device of its class */
};
/**
 * List the devices in state ok of classes that measured a repository. Returns their number, or -1. Own: free(*out), which is NULL
 * if there are none, and after -1.
 */
int store_baseline_period_devices(struct db *db, int64_t repo, struct store_baseline_period_device **out, struct fw_err *err);
/** Find the newest baseline period of a repository on this class. 1, 0, -1. */
int store_baseline_period_of_class(
	struct db *db, int64_t repo, int64_t class, struct store_baseline_period *out, struct fw_err *err);

/* ---- list: Lists of words: rows in the database, a text with single spaces in memory. ---- */

/** Store each word of `text` as a row. `insert` has the parameters :owner, :n (from 0) and :word; NULL: as stmt_run(NULL). */
int list_put(struct stmt *insert, int64_t owner, const char *text, struct fw_err *err);

/** SQL expression: the words of one owner as text. `table` has the key (owner, n). */
#define LIST_TEXT(table, owner, id)                                                                                              \
	"coalesce((SELECT group_concat(word, ' ') FROM (SELECT word FROM " table " WHERE " owner " = " id " ORDER BY "           \
	"n)), '')"

/* ---- job: The queue: jobs, their states and logs. All calls: loop only; writes inside the caller's transaction. ---- */

enum { STORE_JOB_CELLS_SIZE = 4096, STORE_JOB_NAME_SIZE = 256 };

/** SQL condition: a job counts for its commit's verdict. It is a whole comparison against a base that the rules chose. */
#define STORE_JOB_COUNTS "kind IN ('compare', 'selfcheck') AND base_how <> 'given' AND quick = 0 AND NOT some_cells "

/* ---- SQL shared by statements about the queue, for `job AS j` ---- */

/* One index lookup; NULL (never served) sorts before every time. */
#define STORE_JOB_BRANCH_SERVED                                                                                                  \
	"(SELECT max(started_at) FROM job AS served WHERE served.repo = j.repo AND served.branch = j.branch)"

/*
 * Branches of a repository take turns by the later of queueing and last service. Every other turn of a repository goes to its
 * newest branch that was not served since it was queued, so that one push does not wait for a thousand earlier ones.
 */
#define STORE_JOB_FIRST                                                                                                          \
	"ORDER BY j.priority DESC, (SELECT max(started_at) FROM job AS served WHERE served.repo = j.repo), CASE WHEN "           \
	"(SELECT jobs_started FROM repo AS mine WHERE mine.id = j.repo) % 2 = 1 AND coalesce(" STORE_JOB_BRANCH_SERVED           \
	", 0) < j.queued_at THEN -j.id ELSE max(j.queued_at, coalesce(" STORE_JOB_BRANCH_SERVED ", 0)) END, j.id "

/* Cells and peers of a job as text. */
#define STORE_JOB_CELLS LIST_TEXT("job_cell", "job", "j.id")
#define STORE_JOB_PEERS LIST_TEXT("job_peer", "job", "j.id")

#define STORE_JOB_RESOLVED "EXISTS (SELECT 1 FROM job_plan p WHERE p.job = j.id) "

/* All sources of the resolved job are recorded in the cache of worker :cache. */
#define STORE_JOB_CACHED                                                                                                         \
	"(NOT EXISTS (SELECT 1 FROM job_source s WHERE s.job = j.id AND NOT EXISTS (SELECT 1 FROM cached_build k WHERE "         \
	"k.worker = :cache AND k.source = s.source))) "

struct store_job {
	int64_t id, repo, device, comparison; /* 0: none */
	char repo_name[128];
	char branch[1024];                                                     /* percent-encoded; "": none */
	char base_name[STORE_JOB_NAME_SIZE], target_name[STORE_JOB_NAME_SIZE]; /* as the user named the sides; "": not named */
	char target_sha[65], base_sha[65];
	enum jobkind kind;
	char base_how[16], suite[64], origin[16];
	enum device_kind device_kind; /* requested kind */
	char base_provider[PEERS_PROVIDER_SIZE],
		target_provider[PEERS_PROVIDER_SIZE];       /* requested provider; "": the module's default */
	char base_config[160], target_config[160];          /* requested configuration; "": the provider chooses */
	struct toolchain_override base_tools, target_tools; /* empty: the worker's own */
	char peers[512];                                    /* of the base's manifest, as model/peers.c writes them */
	char cells_glob[STORE_JOB_CELLS_SIZE];              /* globs separated by spaces; "": all cells */
	char device_uuid[64];                               /* requested device; "": any */
	int64_t device_class;                               /* requested class; 0: any */
	double threshold_pct;                               /* overrides the suite's; not above 0: the suite's */
	int64_t plan;                                       /* first job of the same request; 0: the request named this suite */
	enum jobstate state;
	char state_why[512];
	char nonce[33];
	int shard;              /* shard of its suite; 0 the one of a push */
	bool quick, every_cell; /* every_cell: profile all cells instead of three */
	int priority, attempt;
	int64_t queued_at, started_at, ended_at;
};

/** Insert a queued job; sets id, queued_at and state. One without a suite starts a plan: `plan` is its id. */
int store_job_insert(struct db *db, struct store_job *j, int64_t now_ms, struct fw_err *err);
int store_job_get(struct db *db, int64_t id, struct store_job *out, struct fw_err *err);
/**
 * Add a cell to a queued job with the repository, commits, kind, suite, device class and queued_at of `j` whose list has space
 * for the key. Its threshold becomes the lower of both. 1 and j->id, 0 there is no such job, -1.
 */
int store_job_add_cell(struct db *db, struct store_job *j, const char *key, struct fw_err *err);
/**
 * Supersede the queued jobs of origin push and retry that are older than `newer` and have its repository, branch and suite but
 * another target; an unresolved suite counts as equal. *n counts them.
 */
int store_job_supersede(struct db *db, int64_t newer, int64_t now_ms, int *n, struct fw_err *err);
/** End the queued jobs of origin push and retry of a deleted branch in `state` with `why`. *n counts them. */
int store_job_drop(struct db *db, int64_t repo, const char *branch, enum jobstate state, const char *why, int64_t now_ms, int *n,
	struct fw_err *err);
/** Read the number of queued jobs. */
int store_job_waiting(struct db *db, int64_t *n, struct fw_err *err);
/**
 * Return whether a plan of all suites exists for a commit of a branch, with a job that is open or done for each of them. 1, 0,
 * -1.
 */
int store_job_planned(struct db *db, int64_t repo, const char *target_sha, struct fw_err *err);
/**
 * Return whether another job that counts measures the target of `like` for its branch with `suite`: an open one, or, for a push,
 * a done one. 1, 0, -1.
 */
int store_job_covers(struct db *db, const struct store_job *like, const char *suite, struct fw_err *err);
/**
 * Find the next queued and resolved job for a device: highest priority, then the least recently served repository; of its
 * branches alternately the least recently queued or served one and the newest one. Skips jobs that request another kind, class or
 * device, jobs that do not name this device while it deviates from its class and another one fits, and repositories in `held`, a
 * JSON array of ids. 1, 0 none, -1.
 */
int store_job_next(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, struct store_job *out,
	struct fw_err *err);
/**
 * Find the next job as store_job_next, among those whose modules are all in the cache of worker `cache` (db/cached_build.c); "":
 * all jobs.
 */
int store_job_next_cached(struct db *db, enum device_kind kind, const char *device_uuid, const char *held, const char *cache,
	struct store_job *out, struct fw_err *err);
/**
 * Return whether a job may run on this device by kind, class and deviation from the class; the state of the device is ignored. 1,
 * 0, -1.
 */
int store_job_fits(struct db *db, int64_t job, enum device_kind kind, const char *device_uuid, struct fw_err *err);
/** Return whether a job runs on this device, or a queued one may run on it. 1, 0, -1. */
int store_job_needs_device(struct db *db, const char *device_uuid, struct fw_err *err);
/** Return whether no device of a class is idle: each has a job, or a queued job may run on them. 1, 0, -1. */
int store_job_class_is_busy(struct db *db, int64_t device_class, struct fw_err *err);
/** Position of the round robin over unresolved jobs; zeros at the beginning. */
struct store_job_round_robin {
	int64_t repo;      /* of the previous job */
	bool takes_newest; /* in this round over the repositories */
};
/**
 * Find the next queued job that has no plan and is not in `besides`, a JSON array of ids. By priority; then
 * repositories in turn, and of each alternately its oldest and its newest job. Advances `turn`. 1, 0, -1.
 */
int store_job_next_unresolved(
	struct db *db, struct store_job_round_robin *turn, const char *besides, struct store_job *out, struct fw_err *err);
int store_job_resolve(struct db *db, int64_t id, const char *base_sha, const char *how, enum jobkind kind, const char *suite,
	struct fw_err *err);

/** Format of a stored plan; increase it when a daemon cannot read the plans of the previous one. */
enum { STORE_PLAN_FORMAT = 1 };
/** Content of a job's plan. Own: the caller's buffers. */
struct store_plan {
	char suite_origin[256], provider_position[1024];
	struct buf *sides, *suite_text; /* suite_text empty: an installed suite */
};
/** Store the plan of a queued job, or replace an earlier one; from now on the job is resolved. */
int store_plan_put(struct db *db, int64_t job, const struct store_plan *p, struct fw_err *err);
/** Read it; appends to the buffers. Err: ERR_NOT_FOUND the job has none. */
int store_plan_get(struct db *db, int64_t job, struct store_plan *p, struct fw_err *err);
/** Return whether queued pushes of a commit have priority 0. Err: the database. */
int store_job_is_plain(struct db *db, int64_t repo, const char *target_sha, bool *is_plain, struct fw_err *err);
/** Raise the queued pushes of a commit from priority 0. */
int store_job_raise(struct db *db, int64_t repo, const char *target_sha, int priority, struct fw_err *err);
/** queued -> assigned: attempt + 1, nonce, device (0: none), started_at. Err: ERR_CONFLICT it is not queued any more. */
int store_job_assign(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err);
/** Do the same, and count a turn of the job's repository. */
int store_job_send(struct db *db, int64_t id, int64_t device, const char *nonce, int64_t now_ms, struct fw_err *err);
/** Change the device of an assigned job. Err: ERR_CONFLICT it is not assigned any more. */
int store_job_bind(struct db *db, int64_t id, int64_t device, struct fw_err *err);
/** Move to another state; a final one sets ended_at. Err: ERR_CONFLICT it has ended already. */
int store_job_state(struct db *db, int64_t id, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err);
int store_job_progress(struct db *db, int64_t id, const char *progress_json, struct fw_err *err);
/** Move an open job to done. Err: ERR_CONFLICT it has ended already. */
int store_job_done(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** Times that the daemon may be killed or crash while a job runs before that job is suspected as the cause. */
enum { STORE_JOB_DAEMON_ENDS_MAX = 20 };
/**
 * At the daemon's start: jobs in assigned..measuring return to queued, and the attempt does not count, since neither worker nor
 * job ended it; the STORE_JOB_DAEMON_ENDS_MAX-th time they fail as "interrupted". Plans in another format are deleted, and their
 * jobs resolved again.
 */
int store_job_recover(struct db *db, int64_t now_ms, int *requeued, int *failed, struct fw_err *err);
int store_job_log(struct db *db, int64_t id, int64_t now_ms, const char *line, struct fw_err *err);
/** How the line begins that the log has of a job without a usable base; the reason follows. */
#define STORE_JOB_ALONE "measured against itself, because "
enum { STORE_JOB_ALONE_SIZE = 512 };
/** Read why a job has no usable base; "": its log has no such line. Shape: why[STORE_JOB_ALONE_SIZE]. */
int store_job_alone(struct db *db, int64_t id, char *why, struct fw_err *err);
/** Store an event `kind` with {"job","repo","branch","commit"}, "state" unless it is JOBSTATE_N, and "why" unless it is NULL. */
int store_job_report(struct db *db, const struct store_job *job, const char *kind, enum jobstate state, const char *why,
	int64_t now_ms, struct fw_err *err);
/** Store an event "job.state" and, with a reason, a log line. */
int store_job_report_state(
	struct db *db, const struct store_job *job, enum jobstate state, const char *why, int64_t now_ms, struct fw_err *err);

/** Store the id of a received webhook. 1 new, 0 seen before, -1. */
int store_notification(struct db *db, const char *id, int64_t now_ms, struct fw_err *err);

/** Delete the id of a webhook, so that it counts as new again. */
int store_notification_delete(struct db *db, const char *id, struct fw_err *err);

/** Delete ids of webhooks before `before`, and of later ones all but the last `newest`; at most `limit`. *n counts them. */
int store_notification_prune(struct db *db, int64_t before, int newest, int limit, int *n, struct fw_err *err);

/** Return a job to queued, as if it was never assigned. Err: ERR_CONFLICT it has ended already. */
int store_job_release(struct db *db, int64_t id, const char *why, struct fw_err *err);
int store_job_nonce(struct db *db, int64_t id, const char *nonce, struct fw_err *err);
/** Find the comparison of a commit's import with this nonce. 1, 0, -1. */
int store_job_imported(
	struct db *db, int64_t repo, const char *target_sha, const char *nonce, int64_t *comparison, struct fw_err *err);

/* ---- bisect: Bisects as rows. Loop only; writes inside the caller's transaction. ---- */

struct store_bisect {
	int64_t id, repo, alert, comparison, job; /* 0: none */
	char repo_name[128], origin[8], goal[16]; /* goal: regression failing; "" until both ends are measured */
	char branch[BRANCH_KEY_MAX];              /* of its alert, else one that contains the bad end; "": unknown. Not stored. */
	char who[64];                             /* user who requested it, "": unknown or an alert */
	char good_sha[65], bad_sha[65], suite[64], verdict[16];
	enum device_kind device_kind;
	char cells[STORE_JOB_CELLS_SIZE]; /* globs; once the goal is known, keys */
	char state[16], state_why[512];
	int n_jobs, commits;       /* commits after the good end, 0: not listed yet */
	const char *culprits_json; /* inside the callback of a view; else NULL */
	int64_t created_at, ended_at;
};

/** Insert in state listing; sets b->id. */
int store_bisect_insert(struct db *db, struct store_bisect *b, int64_t now_ms, struct fw_err *err);
/** Read one row. ERR_NOT_FOUND. */
int store_bisect_get(struct db *db, int64_t id, struct store_bisect *out, struct fw_err *err);
/** Find the oldest open bisect with an id above `after_id`. 1, 0, -1. */
int store_bisect_next_open(struct db *db, int64_t after_id, struct store_bisect *out, struct fw_err *err);
/** Set the state; a final one (done failed cancelled) sets ended_at. Err: ERR_CONFLICT if it has ended already. */
int store_bisect_state(struct db *db, int64_t id, const char *state, const char *why, int64_t now_ms, struct fw_err *err);
/** Store the result of comparing both ends: goal, cells, verdict, comparison and suite of `b`. */
int store_bisect_goal(struct db *db, const struct store_bisect *b, struct fw_err *err);
int store_bisect_culprits(struct db *db, int64_t id, const char *culprits_json, struct fw_err *err);
/** Commit number `n`; 0 is the good end. */
int store_bisect_commit(struct db *db, int64_t id, int n, const char *sha, struct fw_err *err);
/** Read the number of the bad end. ERR_NOT_FOUND. */
int store_bisect_last(struct db *db, int64_t id, int *n, struct fw_err *err);
/** Read the hash of commit number `n`. Shape: sha[65]. ERR_NOT_FOUND. */
int store_bisect_sha(struct db *db, int64_t id, int n, char *sha, struct fw_err *err);
/** Store the job that the bisect waits for, which compares these two commits. */
int store_bisect_wait(struct db *db, int64_t id, int64_t job, int base_n, int target_n, struct fw_err *err);

/** A measured cell of two commits. */
struct store_bisect_point {
	int base_n, target_n;
	int64_t comparison;
	const char *key;
	enum verdict verdict;
	double m, se, change_pct, threshold_pct;
};
typedef void store_bisect_point_fn(void *arg, const struct store_bisect_point *p);
/**
 * Call `each` for every measurement of two of the bisect's commits by their default provider, of any origin; the latest of a pair
 * comes last.
 */
int store_bisect_points(struct db *db, const struct store_bisect *b, store_bisect_point_fn *each, void *arg, struct fw_err *err);
/** Jobs of the bisect that have ended, with their cells. */
typedef void store_bisect_job_fn(void *arg, int base_n, int target_n, const char *cells);
int store_bisect_ended_jobs(struct db *db, int64_t id, store_bisect_job_fn *each, void *arg, struct fw_err *err);
/** Call `each` for cells of a comparison; base_n and target_n are 0. */
int store_bisect_cells(struct db *db, int64_t comparison, store_bisect_point_fn *each, void *arg, struct fw_err *err);

/* ---- views ------------------------------------------------------------------------------------------------------------- */

typedef void view_bisect_fn(void *arg, const struct store_bisect *row);
/** Call `each` for all rows, the newest first, from below `before` (0: the newest). */
int view_bisects(struct db *db, int64_t before, int limit, view_bisect_fn *each, void *arg, struct fw_err *err);
/** Call `each` for one row. ERR_NOT_FOUND. */
int view_bisect(struct db *db, int64_t id, view_bisect_fn *each, void *arg, struct fw_err *err);
typedef void view_bisect_commit_fn(void *arg, int n, const char *sha, const char *subject);
/** Call `each` for the commits of a bisect from the good end on; none before they are listed. `subject` "": unknown. */
int view_bisect_commits(struct db *db, int64_t id, view_bisect_commit_fn *each, void *arg, struct fw_err *err);

/*
 * ---- branch ----
 * State of branches. The rules of comparison.c hold: texts of a row are valid inside the callback only, absent numbers are NAN,
 * absent ids and times 0.
 */

struct view_branch {
	int64_t id;
	const char *repo, *name, *display, *commit, *subject, *author; /* name percent-encoded, display UTF-8 */
	bool watched, gone;
	int64_t seen_at;
	int64_t job;                      /* an open one of the tip, else the latest of the branch; 0: none */
	enum jobstate job_state;          /* JOBSTATE_N: no job */
	const char *job_progress;         /* JSON, "": none yet */
	const struct commit_verdict *tip; /* verdict of the tip */
	/* fields below: of the tip once it has a verdict, else of the newest push with a verdict */
	const char *compared; /* commit; "": none */
	const struct commit_verdict *judged;
	enum verdict verdict; /* its verdict */
	const char *suite;    /* that decides it, "": none */
	int64_t comparison;   /* that decides it, 0: none */
	double worst_pct;    /* largest slowdown of the regressions of any suite; without one the lowest change of a timed cell */
	double best_pct;     /* of an improvement the highest; NAN: it is none */
	int64_t finished_at; /* last of its comparisons */
};
typedef void view_branch_fn(void *arg, const struct view_branch *row);
/** Filters for the rows of a repository. */
struct view_branch_filter {
	int64_t repo;
	const char *name;    /* branch name, percent-encoded; NULL or "": all */
	const char *display; /* matches display names where no branch has `name`; NULL or "": not used */
	bool watched;        /* only watched branches */
	bool strict;         /* ignore accepted alerts */
	int64_t after;       /* id of the last row of the previous page; 0: from the first */
	int limit;
};
/** Call `each` for branches that are not gone, by name. */
int view_branches(struct db *db, const struct view_branch_filter *f, view_branch_fn *each, void *arg, struct fw_err *err);
/** Find the repository of a row. ERR_NOT_FOUND. */
int view_branch_repo(struct db *db, int64_t id, int64_t *repo, struct fw_err *err);

typedef void view_branch_name_fn(void *arg, const char *name, const char *display, const char *subject);
/** Call `each` for names of branches and subjects of their tips only; at most `limit`. */
int view_branch_names(struct db *db, int64_t repo, int limit, view_branch_name_fn *each, void *arg, struct fw_err *err);

typedef void view_suite_fn(void *arg, const char *suite);
/**
 * Call `each` for suites of the comparisons of a branch's tip, or of its newest measured push, in the order of the plan; else the
 * suite of the branch's newest comparison of any kind.
 */
int view_branch_suites(struct db *db, const char *repo, const char *branch, view_suite_fn *each, void *arg, struct fw_err *err);

/*
 * ---- cached_build ----
 * Builds in the cache that a worker's allocations share, where builds run in separate allocations: decides which
 * jobs need a build and which only a device. All calls: loop only; writes inside the caller's transaction.
 */

enum { STORE_SOURCE_SIZE = 65, STORE_MADE_BY_SIZE = 512 };

enum store_cached_build_which {
	STORE_CACHED_BUILD_ANY,    /* any job */
	STORE_CACHED_BUILD_THERE,  /* jobs whose sources are all cached */
	STORE_CACHED_BUILD_MISSING /* jobs whose sources are not all cached */
};

/** Filters of store_job_positions. */
struct store_cached_build_request {
	enum device_kind kind;
	const char *worker;
	const char *held;    /* repositories to skip, a JSON array of ids */
	const char *besides; /* jobs to skip, a JSON array of ids */
	enum store_cached_build_which which;
	int64_t after; /* jobs up to this id are skipped; 0: none */
};

struct store_job_position {
	int64_t id;
	int priority;
	char host[64]; /* machine of the requested device; "": any */
};

/**
 * Find the first `most` requested jobs that the worker can run, in the order of store_job_next; jobs for a device that it never
 * had are skipped. Shape: out[most]; *n counts them.
 */
int store_job_positions(struct db *db, const struct store_cached_build_request *request, int most, struct store_job_position *out,
	int *n, struct fw_err *err);

/** Read the id of the newest job; 0: none. */
int store_job_newest(struct db *db, int64_t *id, struct fw_err *err);

/** Store all sources of a job. Shape: source[n]. */
int store_cached_build_plan(struct db *db, int64_t job, const char (*source)[STORE_SOURCE_SIZE], int n, struct fw_err *err);
/**
 * queued -> assigned, to be built: attempt + 1, nonce; no device, and it does not count as a turn of its branch. Err:
 * ERR_CONFLICT it is not queued any more.
 */
int store_cached_build_send(struct db *db, int64_t job, const char *nonce, int64_t now_ms, struct fw_err *err);
/** Add a source that was built or found in the cache; deletes the least recently used rows beyond the size of a cache. */
int store_cached_build_put(
	struct db *db, const char *worker, const char *source, const char *made_by, int64_t now_ms, struct fw_err *err);
/** Read the toolchain that built a cached source. 1, 0 not cached, -1. Shape: made_by[STORE_MADE_BY_SIZE]. */
int store_cached_build_get(struct db *db, const char *worker, const char *source, char *made_by, struct fw_err *err);
/** Delete a source that the cache does not have; `source` "": all. */
int store_cached_build_forget(struct db *db, const char *worker, const char *source, struct fw_err *err);
/** Delete sources that another toolchain than `made_by` built. */
int store_cached_build_only(struct db *db, const char *worker, const char *made_by, struct fw_err *err);

/*
 * ---- calibration ----
 * Noise of cells and devices, from comparisons of equal builds. Loop only; writes inside the caller's transaction.
 */

/** Noise of a cell in one comparison of equal builds. */
struct store_noise {
	int64_t comparison, repo, environment;
	const char *key; /* of the cell */
	struct calibration shown;
	bool is_itself, is_alarm; /* compared a module with itself; its verdict was regression */
	int64_t at;
};
/** Insert a row, and delete all but the newest CALIBRATION_PARTS_MAX rows of the cell. */
int store_noise_add(struct db *db, const struct store_noise *s, struct fw_err *err);
/** Read the noise of a cell pooled over the rows that are not expired at `now_ms`; zeros: no rows. */
int store_noise_get(struct db *db, int64_t repo, int64_t environment, const char *key, int64_t now_ms, struct calibration *out,
	struct fw_err *err);
/**
 * Delete the noise of a repository's cells that match `globs` (suite.c; "": all), on the class of a device (uuid; "": all). *n:
 * cells.
 */
int store_noise_forget(struct db *db, int64_t repo, const char *device_uuid, const char *globs, int *n, struct fw_err *err);

/** Find the newest environment of a suite with the device's current class; 0: none. */
int store_calibration_environment(struct db *db, int64_t device, const char *suite_sha, int64_t *environment, struct fw_err *err);

/** Read the time of the latest calibration job of this repository on this device; 0: never. */
int store_calibration_requested(struct db *db, int64_t repo, const char *device_uuid, int64_t *at, struct fw_err *err);

/* ---- views ------------------------------------------------------------------------------------------------------------ */

/** Comparisons of equal builds on a device, and the false alarms among them. */
struct view_false_alarms {
	int comparisons, alarms;
	double upper_pct; /* 95 % upper bound of the share of alarms; NAN: no comparisons */
	int64_t last_at;  /* 0: never */
};
int view_false_alarms(struct db *db, int64_t device, struct view_false_alarms *out, struct fw_err *err);

/** Calibration of a cell at one time, and the values that a comparison at that time would use. */
struct view_calibration {
	const char *repo, *suite, *model, *cell;
	int64_t class;                 /* of devices of that model */
	int comparisons, alarms, runs; /* of equal builds; regressions among them; runs of all */
	double tau0_pct;               /* noise between runs that the rule uses; NAN: too few runs */
	double mde_pct;                /* minimum detectable slowdown of a full set of runs */
	bool underpowered;
	int64_t updated_at; /* newest comparison */
};
typedef void view_calibration_fn(void *arg, const struct view_calibration *row);
/**
 * Call `each` for cells of the newest environments, by repository, class and key. `repo` (name) and `device` (uuid: that of its
 * class) NULL or "": all.
 */
int view_calibrations(struct db *db, const char *repo, const char *device, int64_t now_ms, view_calibration_fn *each, void *arg,
	struct fw_err *err);

/** How many cells of the class of a device (uuid) are calibrated, and how many of them are underpowered. */
struct view_calibrated {
	int cells, underpowered;
};
int view_calibrated(struct db *db, const char *device, int64_t now_ms, struct view_calibrated *out, struct fw_err *err);

/*
 * ---- carry_over ----
 * Convert a database of commit 91174416 to the current tables.
 *
 * Both schemas have version 1, so the text of the schema distinguishes them. A new file next to the old one gets all rows, is
 * checked completely and flushed; then it replaces the old one, which stays as PATH.91174416 until a user removes it. After a
 * crash at any moment PATH is either the old file, and the next start begins again, or the new one.
 */

#define CARRY_OLD_SUFFIX ".91174416"

/**
 * Called before each step, and periodically during a long one. `what`: the table that is written, or the action; step `n` of
 * `of`.
 */
typedef void carry_step_fn(void *arg, const char *what, int n, int of);

/**
 * Convert *db, the database at `path`, which is open read-only and which no other process writes. *db becomes NULL where it was
 * converted, and `path` is the new one; it is unchanged where its tables are not those of 91174416. Err: ERR_FULL there is not
 * enough space, ERR_UNSUPPORTED PATH.91174416 is another file, ERR_DAMAGED, ERR_IO, ERR_BUSY; the old database is then still at
 * `path`.
 */
int carry_over(struct db **db, const char *path, carry_step_fn *report, void *arg, struct fw_err *err);

/** Compute the SHA-256 of the CREATE statements of tables, indexes and triggers. Shape: hex[65]. */
int carry_schema_hash(struct db *db, char *hex, struct fw_err *err);

/* ---- page: Filters, cursor and limit of lists. ---- */

/* A client requests up to VIEW_LIMIT_MAX rows; a view returns one more, which shows whether others follow. */
enum { VIEW_LIMIT_DEFAULT = 50, VIEW_LIMIT_MAX = 500, VIEW_ROWS_MAX = VIEW_LIMIT_MAX + 1, VIEW_HISTORY_MAX = 10000 };

/** Whether a filter is set: neither NULL nor "". */
static inline bool store_page_given(const char *text)
{
	return text && text[0];
}

/** Exclusive upper bound of ids from a cursor; 0 and less: no bound. */
static inline int64_t store_page_before(int64_t before)
{
	return before > 0 ? before : INT64_MAX;
}

static inline int store_page_size(int limit, int most)
{
	return limit <= 0 ? VIEW_LIMIT_DEFAULT : limit < most ? limit : most;
}

enum { STORE_NAME_SIZE = 48 };

/** Write an object as pages do: "J32" for a job, "C32" for a comparison, "A3" for an alert, "bisect 7" for others. */
void store_name(const char *what, int64_t id, char out[STORE_NAME_SIZE]);
/** Map the number of rows of one id (-1 error) to 0 or -1. Err: ERR_NOT_FOUND. */
int store_page_require_row(int found, const char *what, int64_t id, struct fw_err *err);

/*
 * ---- live ----
 * Views of changing rows: alerts, jobs with their logs, devices, events, counts.
 *
 * The rules of comparison.c hold: texts of a row are valid inside the callback only, a callback must not start the same view
 * again, lists come newest first from below `before` (0: from the newest), absent numbers are NAN, absent ids and times 0.
 */

/* ---- alerts ----------------------------------------------------------------------------------------------------------- */

struct view_alert {
	int64_t id, comparison, bisect; /* bisect: the latest one for its culprits, 0: none */
	enum alertkind kind;
	enum alertstate state;
	const char *title, *device;         /* device: uuid, of alerts about a device */
	const char *changed;                /* of kind cost its name, of kind environment what changed */
	const char *repo, *branch, *target; /* "" where it is about a device */
	const char *subject, *author, *cells_json, *groups_json, *culprits_json;
	double worst_pct;
	int64_t opened_at, changed_at;
};
typedef void view_alert_fn(void *arg, const struct view_alert *row);
/** Call `each` for alerts, the newest first, from below `before` (0: the newest). `state` NULL or "": all. */
int view_alerts(struct db *db, const char *state, int64_t before, int limit, view_alert_fn *each, void *arg, struct fw_err *err);
/** Call `each` for one row. ERR_NOT_FOUND. */
int view_alert(struct db *db, int64_t id, view_alert_fn *each, void *arg, struct fw_err *err);
/**
 * Call `each` for the alert of a commit, if there is one: an open or acknowledged one, else the newest; none of its environment.
 */
int view_alert_of(struct db *db, const char *repo, const char *target, view_alert_fn *each, void *arg, struct fw_err *err);

/**
 * Open alerts of a repository (its name) and a branch (its key), NULL: all. The one with the largest slowdown, then the newest;
 * *n counts all of them.
 */
int view_alarms(struct db *db, const char *repo, const char *branch, int limit, view_alert_fn *each, void *arg, int *n,
	struct fw_err *err);

/** The largest slowdown of a branch among its live alerts. */
struct view_slow_branch {
	int64_t alert;
	enum alertstate state;
	double worst_pct;
	const char *repo, *branch, *target; /* name and key; the commit since which it is slower */
};
typedef void view_slow_branch_fn(void *arg, const struct view_slow_branch *row);
/** Each branch with a live alert of slower cells, by repository and branch (as strcmp). */
int view_slow_branches(struct db *db, view_slow_branch_fn *each, void *arg, struct fw_err *err);

/** Count the alerts in state open. */
int view_alerts_open(struct db *db, int *n, struct fw_err *err);

struct view_alert_event {
	int64_t at;
	enum alertstate state;
	const char *who, *reason;
};
typedef void view_alert_event_fn(void *arg, const struct view_alert_event *row);
/** Call `each` for all rows, the oldest first. */
int view_alert_events(struct db *db, int64_t alert, view_alert_event_fn *each, void *arg, struct fw_err *err);

/* ---- jobs, devices, events -------------------------------------------------------------------------------------------- */

struct view_job {
	int64_t id, comparison;
	enum jobkind kind;
	enum jobstate state;
	enum verdict verdict; /* of its comparison */
	const char *repo, *branch, *target, *subject, *base, *base_how, *suite, *device_kind, *cells_glob, *origin;
	const char *state_why, *progress, *device;   /* device: uuid */
	const char *base_provider, *target_provider; /* requested provider; "": the module's default */
	const char *base_config, *target_config;     /* requested configuration; "": the provider chooses */
	const char *base_toolchain, *target_toolchain, *base_flags,
		*target_flags; /* of the build; "": the worker's own compilers, no flags */
	/** Names of the sides as requested, of a merge-base the name of its branch; "": not named. */
	const char *base_name, *target_name;
	bool quick;
	int priority, attempt;
	int64_t queued_at, started_at, ended_at;
	int64_t again_at; /* time of its automatic retry; 0: none */
	int64_t again_of; /* job that this one retries; 0: none */
};
typedef void view_job_fn(void *arg, const struct view_job *row);
/**
 * Call `each` for jobs, the newest first, from below `before` (0: the newest). `state` "open": all states before the end; NULL or
 * "": all.
 */
int view_jobs(struct db *db, const char *state, int64_t before, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Call `each` for jobs that a worker has. */
int view_running(struct db *db, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Call `each` for jobs that ended since `since`, the newest end first. */
int view_jobs_ended(struct db *db, int64_t since, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/**
 * Call `each` for queued jobs in the order of service if no other arrives: by priority; repositories take turns, and of each
 * alternately the oldest and the newest branch. Which devices fit is ignored.
 */
int view_waiting(struct db *db, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Call `each` for jobs of a commit (whole sha), newest first. */
int view_jobs_of(struct db *db, int64_t repo, const char *target, int limit, view_job_fn *each, void *arg, struct fw_err *err);
/** Call `each` for one row. ERR_NOT_FOUND. */
int view_job(struct db *db, int64_t id, view_job_fn *each, void *arg, struct fw_err *err);

typedef void view_log_fn(void *arg, int64_t id, int64_t at, const char *line);
/** Call `each` for lines of a job's log with ids above `after`, oldest first. */
int view_log(struct db *db, int64_t job, int64_t after, int limit, view_log_fn *each, void *arg, struct fw_err *err);

struct view_device {
	int64_t id, seen_at;
	enum devicestate state;
	const char *uuid, *kind, *name, *state_why, *driver, *toolkit, *cudnn, *info_json;
	int64_t class;               /* shares queue, calibration and history */
	const char *model, *outlier; /* of the class; how the device deviates from it, "" it does not */
	int64_t job;                 /* running on it, 0: none */
};
typedef void view_device_fn(void *arg, const struct view_device *row);
int view_devices(struct db *db, view_device_fn *each, void *arg, struct fw_err *err);

typedef void view_event_fn(void *arg, int64_t id, int64_t at, const char *kind, const char *payload_json);
/** Call `each` for events with ids above `after`, oldest first. */
int view_events(struct db *db, int64_t after, int limit, view_event_fn *each, void *arg, struct fw_err *err);
/** Read the ids of the oldest and the newest stored event, 0: none. */
int view_event_ends(struct db *db, int64_t *first, int64_t *last, struct fw_err *err);

/* ---- counts for /metrics ---------------------------------------------------------------------------------------------- */

typedef void view_count_fn(void *arg, const char *what, const char *label, int64_t n);
/**
 * Call `each` for all counts. `what` is "comparisons", by verdict, or "jobs", "alerts", "notifications", "repos", "devices", by
 * state.
 */
int view_counts(struct db *db, view_count_fn *each, void *arg, struct fw_err *err);

/*
 * ---- comparison ----
 * Views for API and pages: rows as structs, passed to a callback one by one. Views of final rows are here; those of changing
 * rows (jobs, alerts, devices, events) are in view_live.c.
 *
 * Texts in a row are valid inside the callback only. A callback must not start the same view again (other views are fine).
 * Lists come newest first; `before` is the last id the reader has (0: from the newest) and `limit` at most VIEW_ROWS_MAX.
 * Absent numbers are NAN, absent times and ids 0, absent texts "". Loop only; no call needs a transaction.
 */

/** Return useful FLOPs / time; NAN if either is unknown. Units: TFLOP/s. */
double view_tflops(double flops, double ms);

/* ---- repositories, commits --------------------------------------------------------------------------------- */

struct view_repo {
	int64_t id;
	const char *name, *url, *upstream, *state, *error;
	bool is_local;
	int64_t fetched_at;
	int branches, open_alerts; /* branches that are watched and not gone; alerts open or acknowledged */
};
typedef void view_repo_fn(void *arg, const struct view_repo *row);
/** Call `each` for all rows, by name. */
int view_repos(struct db *db, view_repo_fn *each, void *arg, struct fw_err *err);
/** Read the id of a repository by name. ERR_NOT_FOUND. */
int view_repo_id(struct db *db, const char *name, int64_t *id, struct fw_err *err);

struct view_commit {
	int64_t repo_id;
	const char *repo, *sha, *tree, *first_parent, *author, *subject;
	int64_t committed_at;
};
typedef void view_commit_fn(void *arg, const struct view_commit *row);
/** Call `each` for commits of all repositories whose sha begins with `prefix` (lower-case hex; else none); at most `limit`. */
int view_commits(struct db *db, const char *prefix, int limit, view_commit_fn *each, void *arg, struct fw_err *err);

/* ---- comparisons ------------------------------------------------------------------------------------------------------ */

struct view_comparison {
	int64_t id, job;
	enum jobkind kind;
	enum verdict verdict;
	const char *repo, *branch, *suite, *base, *base_how, *target, *subject, *author; /* both of the target */
	const char *identical_by, *device, *etag;
	int cells, regressions, runs;
	double worst_pct; /* largest slowdown of its regressions; without one the lowest change of a timed cell */
	const char *worst_cell;
	double best_pct; /* highest change, where the verdict is improvement; else NAN */
	const char *best_cell;
	double gpu_s, wall_s;
	int64_t finished_at;
};
typedef void view_comparison_fn(void *arg, const struct view_comparison *row);

/** Filters; NULL or "" takes any. A branch needs its repo. `target` is a whole sha and needs its repo. */
struct view_filter {
	const char *repo, *branch, *verdict, *target;
	bool has_regressions; /* any cell is a regression, whatever the verdict; not together with verdict or target */
	int64_t before;
	int limit;
};
/**
 * Call `each` for the matching comparisons. An unknown repo has no rows. Err: ERR_INVALID for an unsupported combination of
 * filters.
 */
int view_comparisons(struct db *db, const struct view_filter *f, view_comparison_fn *each, void *arg, struct fw_err *err);
/** Call `each` for one row. ERR_NOT_FOUND. */
int view_comparison(struct db *db, int64_t id, view_comparison_fn *each, void *arg, struct fw_err *err);
/** Find the stored body and its ETag. Shape: etag[65]. ERR_NOT_FOUND. */
int view_body(struct db *db, int64_t id, struct buf *body, char *etag, struct fw_err *err);
/** Read the ETag and the length of the body, without the body. Shape: etag[65]. Units: *len in bytes. ERR_NOT_FOUND. */
int view_body_tag(struct db *db, int64_t id, size_t *len, char *etag, struct fw_err *err);
/**
 * Find the latest comparison of two commits (whole shas) with a suite, not of kind peer, config or environment. Only if no
 * comparison of the pair has all cells of a suite: the latest of the others (quick, some cells, a step of a bisect, a provider or
 * toolchain). `suite` NULL or "": the latest of each suite, of these the one with the worst verdict. ERR_NOT_FOUND.
 */
int view_compare(struct db *db, const char *repo, const char *base, const char *target, const char *suite, int64_t *id,
	struct fw_err *err);

typedef void view_metric_fn(void *arg, const char *name, const char *unit, double value);
/** Call `each` for metrics of a cell in the order of insertion. */
int view_metrics(struct db *db, int64_t cell, view_metric_fn *each, void *arg, struct fw_err *err);
/** Append the bytes of an artifact to `out`. ERR_NOT_FOUND. */
int view_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, struct buf *out, struct fw_err *err);

/** Append the folders of modules of a device's worker, as protocol_put_location writes them. ERR_NOT_FOUND: never reported. */
int view_location(struct db *db, const char *device_uuid, struct buf *out, struct fw_err *err);
/** Find the suite of a comparison, which never changes. 1, 0 no such comparison, -1. */
int view_suite(struct db *db, int64_t comparison, int64_t *suite, struct fw_err *err);
/** Append the text of a comparison's suite. ERR_NOT_FOUND. */
int view_suite_text(struct db *db, int64_t comparison, struct buf *out, struct fw_err *err);

struct view_suite_version {
	const char *name, *origin, *sha; /* origin: "installed", or repository and commit */
};
typedef void view_suite_version_fn(void *arg, const struct view_suite_version *row);
/** Call `each` for the newest version of each suite that was measured, by name. */
int view_suite_versions(struct db *db, view_suite_version_fn *each, void *arg, struct fw_err *err);

struct view_environment {
	int64_t id, first_at;
	const char *hash, *uuid, *kind, *name, *driver, *toolkit, *cudnn, *timing, *isolation, *suite_sha;
	double power_limit_w, peak_gb_s; /* peak_gb_s: of the device's memory; NAN: unknown */
};
typedef void view_environment_fn(void *arg, const struct view_environment *row);
/** Call `each` for the environment and device of a comparison. ERR_NOT_FOUND if nothing ran. */
int view_environment(struct db *db, int64_t comparison, view_environment_fn *each, void *arg, struct fw_err *err);

struct view_build {
	int64_t id;
	const char *inputs_hash, *toolchain, *device_kind, *module_sha, *state, *detail;
	int exit_status, exit_signal;
	int64_t duration_ms, built_at;
	const void *log;
	size_t log_len; /* bytes, not necessarily text */
};
typedef void view_build_fn(void *arg, const struct view_build *row);
/**
 * Call `each` for the build of one side of a comparison. `side`: "base" or "target". ERR_NOT_FOUND if that side was not built.
 */
int view_build(struct db *db, int64_t comparison, const char *side, view_build_fn *each, void *arg, struct fw_err *err);

/*
 * ---- cell ----
 * Views for single pages: neighbours of a comparison, a branch's cells over its last comparisons, a cell's runs, typical
 * durations of jobs, device checks.
 *
 * The rules of comparison.c hold: texts of a row are valid inside the callback only, absent numbers are NAN, absent ids 0.
 */

/** The newest open job that measures the sides of a comparison again. `job` 0: none. */
struct view_repeat {
	int64_t job;
	enum jobstate state;
};
int view_repeat(struct db *db, int64_t comparison, struct view_repeat *out, struct fw_err *err);

/** Neighbours of a comparison, which may change after it finished. Ids 0 and texts "": none. */
struct view_around {
	char etag[65];
	enum verdict verdict, previous_verdict; /* the latter of `previous` */
	int64_t previous, next;                 /* of its branch and suite; `previous` is of the push before */
	char previous_base[65], previous_target[65], previous_baseline_period[65], previous_etag[65];
	int64_t alert; /* of its target: as view_alert_of; of a comparison of environments its own; 0 of one with a peer */
	enum alertstate alert_state; /* of `alert` */
	bool is_accepted;            /* users accepted every regression of it */
	enum verdict effective;      /* if so, the verdict of store_accepted_of */
	struct view_repeat repeat;
	char branch[BRANCH_KEY_MAX]; /* of the comparison, else one that contains its target; "": unknown */
};
/** Read the neighbours of a comparison. ERR_NOT_FOUND. */
int view_around(struct db *db, int64_t comparison, struct view_around *out, struct fw_err *err);

typedef void view_cell_change_fn(void *arg, const char *key, double change_pct);
/** Call `each` for the change of every cell of a comparison, unordered. */
int view_cell_changes(struct db *db, int64_t comparison, view_cell_change_fn *each, void *arg, struct fw_err *err);

/** Find a cell's row by its key. ERR_NOT_FOUND. */
int view_cell_id(struct db *db, int64_t comparison, const char *key, int64_t *id, struct fw_err *err);

typedef void view_info_fn(void *arg, const char *info_json);
/** Call `each` for the JSON of a device's properties; no call for an unknown device. */
int view_device_info(struct db *db, const char *uuid, view_info_fn *each, void *arg, struct fw_err *err);

struct view_grid {
	int64_t comparison;
	enum verdict verdict;
	const char *target, *subject, *key, *group, *title, *direction;
	int64_t size;
	double tflops, target_median_ms, change_pct;
};
typedef void view_grid_fn(void *arg, const struct view_grid *row);
/**
 * Call `each` for cells of the last `n` comparisons of a branch with a suite, newest comparison first, each in the order of its
 * suite. n <= 100.
 */
int view_grid(struct db *db, const char *repo, const char *branch, const char *suite, int n, view_grid_fn *each, void *arg,
	struct fw_err *err);

struct view_run {
	int run, set, pairs;
	double change_pct;           /* of throughput, at equal clocks */
	double low_pct, high_pct;    /* 95 % interval of change_pct, from the noise of its pairs; NAN: unknown */
	double base_mhz, target_mhz; /* means over the run's calls; NAN: unknown */
	const char *order;           /* of the calls, "ABBA..." */
};
typedef void view_run_fn(void *arg, const struct view_run *row);
/** Call `each` for runs of a cell's deciding series, in order. */
int view_runs(struct db *db, int64_t cell, view_run_fn *each, void *arg, struct fw_err *err);
/** Return whether a second set of fresh runs timed the cell. 1, 0, -1. */
int view_confirmed(struct db *db, int64_t cell, struct fw_err *err);
/** Read the number of timed pairs of whole calls of a cell over all runs. */
int view_call_pairs(struct db *db, int64_t cell, int64_t *pairs, struct fw_err *err);

/**
 * Read the median duration of the last 20 finished jobs of this suite, kind and kind of device ("": any) among the newest 5,000
 * jobs. Units: s; 0: unknown.
 */
int view_usual_s(
	struct db *db, const char *suite, enum jobkind kind, const char *device_kind, double *usual_s, struct fw_err *err);

/** Append the JSON of the device's newest device check during a measurement; nothing where there is none. */
int view_last_device_check(struct db *db, int64_t device, struct buf *device_check_json, struct fw_err *err);

typedef void view_cell_key_fn(void *arg, const char *key);
/**
 * Call `each` for cell keys of a branch's newest comparison with each suite, or each shard of a sharded suite; branch NULL or "":
 * of any branch.
 */
int view_cell_keys(struct db *db, const char *repo, const char *branch, view_cell_key_fn *each, void *arg, struct fw_err *err);

/*
 * ---- change ----
 * Change points of the history, from candidate to confirmed. Loop only; writes inside the caller's transaction.
 */

struct store_change {
	int64_t id, repo, baseline_period, comparison, alert; /* comparison, alert 0: none yet */
	int64_t job;                                          /* its latest job; 0: none */
	char key[160], kind[8], origin[12];                   /* kind: step drift; origin: comparison series */
	char before_sha[65], commit_sha[65];                  /* last commit of the old level, first of the new one */
	double step;                                          /* log ratio of times, positive = slower */
	double change_pct;                                    /* the step as a change of throughput; not stored */
	double level;                                         /* of the series before it; drift: expected level; NAN: unknown */
	char state[12];                                       /* candidate placing confirmed dropped */
	int tried, points;
	int64_t found_at, decided_at, ended_at; /* ended: later commits compensated it; 0: not ended */
};

enum { STORE_EXPLAINED_MAX = 64 }; /* earlier steps beyond these are part of the first sum */

/** Expected log ratio of a cell to the first reference commit of its baseline period, cumulated along the upstream branch. */
struct store_explained {
	int n;
	struct {
		int64_t position;
		double x; /* log ratio from this position on */
	} at[STORE_EXPLAINED_MAX];
	int64_t answered; /* position at which the newest drift in it was reported; 0: none */
};

/** Insert a row; sets c->id. */
int store_change_insert(struct db *db, struct store_change *c, struct fw_err *err);

/** Update all columns but repository, baseline period, cell, kind, origin and found_at. */
int store_change_update(struct db *db, const struct store_change *c, struct fw_err *err);

/** Return whether this cell has an open step (candidate or placing). 1, 0, -1. */
int store_change_is_open(struct db *db, int64_t baseline_period, const char *key, struct fw_err *err);
/** Find an open change point without an open job, with an id above `after`. 1, 0, -1. */
int store_change_orphan(struct db *db, int64_t after, struct store_change *out, struct fw_err *err);
/** Find an open change point that waits for this job, with an id above `after`. 1, 0, -1. */
int store_change_of_job(struct db *db, int64_t job, int64_t after, struct store_change *out, struct fw_err *err);
/** Read the position of the newest confirmed step of this cell; 0: none. */
int store_change_from(struct db *db, int64_t baseline_period, const char *key, int64_t *position, struct fw_err *err);
/**
 * Read the positions at which the level before a change point begins (0: start of the branch) and the level after it ends (0: no
 * later confirmed step).
 */
int store_change_segment(struct db *db, const struct store_change *change, int64_t *from, int64_t *to, struct fw_err *err);
/**
 * Find confirmed steps after the first reference commit, and drift that a user closed (accepted, invalid, or resolved while it
 * lasted), in the order of commits; the sum is never below 0. An ended slowdown does not count, unless another step compensated
 * it that counts, too. Change points of earlier baseline periods of the same suite and model of device count.
 */
int store_change_explained(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_explained *out, struct fw_err *err);
/** Return the expected log ratio at this position; INT64_MAX: of the newest commit. */
double store_explained_at(const struct store_explained *x, int64_t position);
/** Find steps of this cell at or after position `from` that were dropped because no direct comparison confirmed them. */
int store_change_past(
	struct db *db, int64_t baseline_period, const char *key, int64_t from, struct candidate_past *out, struct fw_err *err);
/** Find reported drift of this cell, on this suite and device, that continues and that no user closed. 1, 0, -1. */
int store_change_drift(
	struct db *db, const struct store_baseline_period *e, const char *key, struct store_change *out, struct fw_err *err);
/** Find a confirmed slowdown of this cell, on this suite and device, that has not ended, with an id above `after`. 1, 0, -1. */
int store_change_lasting(struct db *db, const struct store_baseline_period *e, const char *key, int64_t after,
	struct store_change *out, struct fw_err *err);
/**
 * Return whether an alert is over: all its change points ended, and no comparison opened it (store_alert_recovered ends those).
 * 1, 0, -1.
 */
int store_change_alert_over(struct db *db, int64_t alert, struct fw_err *err);

/* ---- clock_set: Correction of stored times after the machine's clock was set. Writes inside the caller's transaction. ---- */

/**
 * Shift times as the clock was shifted, so that ages and pauses stay the same: of open jobs, retries, notifications, sessions
 * (which end at most `session_ms` from now), devices, webhooks and idempotency keys. Times of ended jobs and of alerts shift only
 * where they are in the future now, since scheduling reads them. Times of comparisons do not shift.
 * Units: by_ms is the change of the clock, negative when it was set back; now_ms is its time now.
 */
int store_clock_set(struct db *db, int64_t by_ms, int64_t session_ms, int64_t now_ms, struct fw_err *err);

/**
 * Find out by how much the newest time of a job or device is after `now_ms`: above 0 if the clock was set back while no daemon
 * ran.
 */
int store_clock_ahead(struct db *db, int64_t now_ms, int64_t *ahead_ms, struct fw_err *err);

/*
 * ---- commit ----
 * Verdicts of commits and branches: reads the jobs that count and passes them to verdict/commit_verdict.c.
 *
 * Only jobs of kind compare and selfcheck count; not quick ones, ones of some cells, and ones with a given base. Own: each `out`
 * is the caller's, also after an error: commit_verdict_fini. Loop only.
 */

/**
 * Read the verdict of a commit by whole sha, from the jobs of `branch` (NULL or "": of any branch). Where it has none, from the
 * jobs of any branch, then from those requested for the commit without a branch. Without any job n is 0.
 */
int store_commit_verdict(
	struct db *db, int64_t repo, const char *sha, const char *branch, struct commit_verdict *out, struct fw_err *err);
/** Read the verdict from all jobs of a request whose first is `job`, or from `job` alone. Jobs of every kind count. */
int store_commit_plan(struct db *db, int64_t job, struct commit_verdict *out, struct fw_err *err);
/**
 * Read the verdict of the newest push of a branch before `tip` that was measured whole or has a regression; else of the newest
 * with any job. `sha` is "" where there is none. Shape: sha[65].
 */
int store_commit_before(struct db *db, int64_t repo, const char *branch, const char *tip, char *sha, struct commit_verdict *out,
	struct fw_err *err);

struct store_commit_found {
	int n; /* matching commits, at most 2 */
	int64_t repo;
	char repo_name[128], sha[65]; /* of the first */
};
/** Find the targets of jobs and tips of branches whose sha begins with `prefix` (hex). `repo` NULL or "": in every repository. */
int store_commit_find(struct db *db, const char *repo, const char *prefix, struct store_commit_found *out, struct fw_err *err);

/** Find a commit as store_commit_find, in one repository. 1, 0, -1. Shape: sha[65]. Err: ERR_CONFLICT if several match. */
int store_commit_abbreviated(struct db *db, int64_t repo, const char *prefix, char *sha, struct fw_err *err);

/*
 * ---- device ----
 * Classes of devices, which share queue, calibration and history, and the throttling of each device. Loop only; writes
 * inside the caller's transaction.
 */

enum { STORE_MODEL_SIZE = 160 };

/** Find the class of a device, or insert it. */
int store_class_put(struct db *db, const struct msg_device *d, int64_t *id, struct fw_err *err);
/** Find the class of an environment; 0: no such environment. */
int store_class_of_environment(struct db *db, int64_t environment, int64_t *id, struct fw_err *err);
/** Return whether another device of its class is in state ok and does not deviate from the class. 1, 0, -1. */
int store_class_has_other(struct db *db, int64_t device, struct fw_err *err);
/** Return whether a device has the class and the cuDNN of another, and does not deviate from the class. 1, 0, -1. */
int store_class_same(struct db *db, int64_t device, int64_t other, struct fw_err *err);
/** Read the model of a class; "": no such class. Shape: model[STORE_MODEL_SIZE]. */
int store_class_model(struct db *db, int64_t id, char *model, struct fw_err *err);

/** Time of the reference commit of a baseline period on a device in one cell. */
struct store_reference_time {
	int64_t device, baseline_period, comparison;
	const char *key;
	double ln_ms; /* of the first reference commit, at the baseline period's clock */
};
/** Insert, or replace the earlier time. */
int store_reference_time_put(struct db *db, const struct store_reference_time *t, struct fw_err *err);
typedef void store_reference_time_fn(void *arg, const struct store_reference_time *t);
/** Call `each` for times of the devices that are in a class now, cell by cell. */
int store_reference_times(struct db *db, int64_t class, store_reference_time_fn *each, void *arg, struct fw_err *err);

struct store_class_device {
	int64_t id;
	char uuid[64], outlier[256];
	enum devicestate state;
	int alarms,
		of_itself; /* false alarms and comparisons among its newest STORE_CLASS_COMPARISONS_MAX comparisons of equal builds */
};
enum { STORE_CLASS_COMPARISONS_MAX = 3, STORE_CLASS_DEVICES_MAX = 512 };
/** List the devices that are in a class now, without absent ones. Returns their number, or -1. Own: free(*out). */
int store_class_devices(struct db *db, int64_t class, struct store_class_device **out, struct fw_err *err);
/** Set how a device deviates from its class; "" it does not. */
int store_class_set_deviation(struct db *db, int64_t device, const char *why, struct fw_err *err);

/**
 * SQL condition: a device of class `class` may run job j. The job requests any class, or this one, or a class of the same model
 * that no present device has, as after a driver update.
 */
#define STORE_CLASS_FITS(class)                                                                                                  \
	"(j.device_class IS NULL OR j.device_class = " class                                                                     \
		" OR (NOT EXISTS (SELECT 1 FROM device AS last WHERE "                                                           \
		"last.class = j.device_class AND last.state <> 'absent') AND (SELECT model FROM device_class WHERE id = "        \
		"j.device_class) = (SELECT model FROM device_class WHERE id = " class "))) "

/* ---- throttling --------------------------------------------------------------------------------------------------------- */

/** Add to the time that the device was held in a step. Units: s, at least 0. */
int store_device_step_add(struct db *db, int64_t device, enum device_step step, double seconds, struct fw_err *err);

typedef void store_device_step_fn(void *arg, const char *device_uuid, const char *step, double seconds);
/** Call `each` for all devices and steps with time. */
int store_device_step_each(struct db *db, store_device_step_fn *each, void *arg, struct fw_err *err);

/** Add to the device's throttled time for `reason`. Units: s, at least 0. */
int store_throttle_add(struct db *db, int64_t device, const char *reason, double seconds, struct fw_err *err);

typedef void store_throttle_fn(void *arg, const char *device_uuid, const char *reason, double seconds);
/** Call `each` for every GPU (real or simulated) with every throttle reason (protocol/device_check.c), also those with 0 s. */
int store_throttle_each(struct db *db, store_throttle_fn *each, void *arg, struct fw_err *err);

/*
 * ---- diagnostic ----
 * Diagnostics of ptxas that differ between two builds, as rows of a profile. The branch's build wrote them: not trusted.
 */

struct profile_diagnostic {
	int n;
	const char *change, *kind, *code, *kernel, *what; /* names as in profile/ptxasdelta.c; code and kernel "": none */
};

/** Store one row, inside the caller's transaction. */
int store_profile_diagnostic_put(struct db *db, int64_t profile, const struct profile_diagnostic *c, struct fw_err *err);

typedef void view_profile_diagnostic_fn(void *arg, const struct profile_diagnostic *row);
/** Call `each` for all rows, by n; the rules of view_profile.c hold. */
int view_profile_diagnostics(struct db *db, int64_t profile, view_profile_diagnostic_fn *each, void *arg, struct fw_err *err);

/*
 * ---- environment_change ----
 * Changes of a device's environment, the jobs that measure them, and their effect on each cell. Loop only; writes
 * inside the caller's transaction.
 */

enum { STORE_CURRENT_BASELINES_MAX = 64 /* at once */, STORE_CHANGED_SIZE = 2048 };

/** The latest baseline period of a device for one repository and suite. */
struct store_current_baseline {
	int64_t repo, device, baseline_period, environment;
	char suite[64], reference_sha[65];
	/* its environment: uuid, driver, toolkit, cudnn, cublas, image, vbios, power limit; other fields are zeros */
	struct msg_device recorded;
};

/** Set the latest baseline period of the device `uuid`. */
int store_current_baseline_put(
	struct db *db, const char *uuid, int64_t repo, const char *suite, int64_t baseline_period, struct fw_err *err);
/**
 * Find latest baseline periods of a device, by repository and suite, after `after` (NULL: from the first). Shape:
 * out[STORE_CURRENT_BASELINES_MAX]. The count, -1; less than STORE_CURRENT_BASELINES_MAX: no more follow.
 */
int store_current_baselines(struct db *db, const char *uuid, const struct store_current_baseline *after,
	struct store_current_baseline *out, struct fw_err *err);
/** Delete the latest baseline periods of a device that another one replaced. */
int store_current_baselines_drop(struct db *db, const char *uuid, struct fw_err *err);
/**
 * Find the newest device of this worker and kind with a baseline period that was not seen at `now_ms`; "": none. Shape: uuid[64].
 */
int store_device_replaced(
	struct db *db, const char *worker, enum device_kind kind, int64_t now_ms, char *uuid, struct fw_err *err);

/** The size of the cache that cold calls displace, if only the environment determines it; 0: the class of the device does. */
int64_t store_cache_bytes(const struct msg_device *d);
/** Hash of a device and its environment. Shape: hex[65]. */
void store_device_fingerprint(const struct msg_device *d, char hex[65]);

struct store_environment_change {
	int64_t id, repo, baseline_period; /* baseline_period: the one that the change ended */
	int64_t paired_job, unpaired_job;  /* 0: none */
	int64_t paired, unpaired, alert;   /* results of the jobs; 0: none yet */
	char suite[64], uuid[64];
	char old_hash[65],
		new_hash[65]; /* store_device_fingerprint before and after; new_hash: "" over before it was measured, or
					    measured on another device */
	char changed[STORE_CHANGED_SIZE]; /* JSON: [{"what","from","to"}] */
	bool affects_runs; /* something changed that affects runs without a build: driver, VBIOS, power limit, device, a library */
	int64_t seen_at;
};

/** Insert a row; sets e->id. */
int store_environment_change_insert(struct db *db, struct store_environment_change *e, struct fw_err *err);
/** Find the newest change of a repository and suite on a device. 1, 0, -1. */
int store_environment_change_last(struct db *db, int64_t repo, const char *suite, const char *uuid,
	struct store_environment_change *out, struct fw_err *err);
/**
 * Return whether another device of the class has the same change, which ended the baseline period for all of them, and has
 * measured it, may still measure it, or must not, because a user cancelled the job. 1, 0, -1.
 */
int store_environment_change_elsewhere(struct db *db, const struct store_environment_change *e, struct fw_err *err);
/** Find such a device that is not in state ok, so that its job waits or has failed. 1, 0, -1. Shape: uuid[64]. */
int store_environment_change_stuck(struct db *db, const struct store_environment_change *e, char *uuid, struct fw_err *err);
/** Find the first change of a device with a queued job, or whose measurement of the reference commit failed. 1, 0, -1. */
int store_environment_change_undone(struct db *db, const char *uuid, struct store_environment_change *out, struct fw_err *err);
/** Count the failed jobs like this one since the first device of the class had the change. */
int store_environment_change_tries(
	struct db *db, const struct store_environment_change *e, const struct store_job *like, int *n, struct fw_err *err);
/** Replace paired_job and unpaired_job. */
int store_environment_change_request(struct db *db, const struct store_environment_change *e, struct fw_err *err);
/** Mark a change whose new environment was over before it was measured; it is measured when that environment returns. */
int store_environment_change_missed(struct db *db, int64_t id, struct fw_err *err);
/**
 * Find an open or acknowledged alert about a change of this device that is over once its environment is e->new_hash: the newest
 * change away from e->new_hash, and all later ones. 1, 0, -1.
 */
int store_environment_change_reported(
	struct db *db, const struct store_environment_change *e, int64_t *alert, struct fw_err *err);
/** Return whether `toolkit` is the current toolkit of the change's device. 1, 0, -1. */
int store_environment_builds(struct db *db, const struct store_environment_change *e, const char *toolkit, struct fw_err *err);
/** Find the change that a job measures. 1, 0, -1. */
int store_environment_change_of_job(struct db *db, int64_t job, struct store_environment_change *out, struct fw_err *err);
/** Set the comparison that measured it, paired or unpaired, and its alert (0: unchanged). */
int store_environment_change_measured(
	struct db *db, int64_t id, bool is_paired, int64_t comparison, int64_t alert, struct fw_err *err);

/** Effect of a change on one cell. */
struct store_environment_effect {
	int64_t change;
	bool is_paired;
	const char *key;
	double change_pct, ci_low_pct, ci_high_pct; /* of throughput; the interval is NAN where not paired */
	double before_ms, after_ms;                 /* at the same clock where known */
};
int store_environment_effect_put(struct db *db, const struct store_environment_effect *e, struct fw_err *err);

typedef void store_environment_slowdown_fn(void *arg, const char *key, double change_pct);
/**
 * Call `each` for cells whose unpaired reference commit became slower by more than `beyond_pct`, by key. Units: percent, above 0.
 */
int store_environment_slowdowns(
	struct db *db, int64_t change, double beyond_pct, store_environment_slowdown_fn *each, void *arg, struct fw_err *err);
/** Return whether a change has a paired effect on any cell. 1, 0, -1. */
int store_environment_has_pairs(struct db *db, int64_t change, struct fw_err *err);

/** The newest judged commit of the upstream branch in an environment, with its module and toolchain. 1, 0, -1. */
struct store_judged {
	char sha[65], module[65], toolchain[TOOLCHAIN_TEXT_SIZE];
};
int store_environment_judged(struct db *db, int64_t repo, int64_t environment, struct store_judged *out, struct fw_err *err);

/**
 * Find a cell's time of the reference commit in a baseline period, at the held clock where known: median of the latest. Units:
 * ms; NAN none.
 */
int store_reference_ms(
	struct db *db, int64_t baseline_period, const char *reference_sha, const char *key, double *ms, struct fw_err *err);

/*
 * ---- event ----
 * Events of /api/v1/events: their construction, and the rows that clients read later. All calls: loop only; writes inside the
 * caller's transaction.
 */

struct store_event {
	const char *kind; /* "job.state" */
	struct buf text;
	struct jsonw json; /* writes into text */
};

/** Begin an event; the caller writes the members of the open object. Own: store_event_end or store_event_fini; borrows `kind`. */
struct jsonw *store_event_begin(struct store_event *e, const char *kind);
/** End the object and insert it into `event`; e->text still holds it. Err: ERR_FULL it does not fit. */
int store_event_write(struct store_event *e, struct db *db, int64_t now_ms, struct fw_err *err);
void store_event_fini(struct store_event *e);
/** Call store_event_write, then store_event_fini. */
int store_event_end(struct store_event *e, struct db *db, int64_t now_ms, struct fw_err *err);

/** Insert into `event`, and set *id. `payload` is JSON. */
int store_event(struct db *db, int64_t now_ms, const char *kind, const char *payload, int64_t *id, struct fw_err *err);
/**
 * Delete the events before `before`, and those after `after` (dated by a clock that ran ahead), among the oldest `limit`. *n
 * counts them.
 */
int store_event_prune(struct db *db, int64_t before, int64_t after, int limit, int *n, struct fw_err *err);

/*
 * ---- result ----
 * Results of a job: builds, comparison, cells, metrics, artifacts; runs and samples are in sample.c.
 *
 * All calls: loop only; inside the caller's transaction. Facts are written once; only verdicts are updated, by judging the stored
 * samples again.
 */

struct store_comparison {
	int64_t id, job, repo, base_build, target_build, suite, environment, device; /* 0: none; device: the first of several */
	enum jobkind kind;
	char branch[1024], base_sha[65], base_how[16], target_sha[65], identical_by[8];
	bool rows_unknown; /* no run of the benchmark program's target wrote all rows; one cell may replace them */
	const char *rule_json;
	enum verdict verdict;
	double gpu_s, wall_s;
	int64_t finished_at;
};

/** The change of the mean call, where slow calls became more, or less, frequent. */
struct store_mean {
	double m, se;    /* log ratio, and its standard error */
	double share[2]; /* share of slow calls; by enum tail_which */
	double longer;   /* of mean_longer; 0: no change, and the other fields are unknown */
};

enum { STORE_SHAPE_SIZE = 2560 };

struct store_cell {
	int64_t id, comparison, device,
		confirmed_on; /* device: on insert 0 is the comparison's; confirmed_on: 0 the same, or no confirming set */
	int n;
	char key[160], input_sha[65];
	char group[16], title[CELL_TITLE_SIZE], line[CELL_TITLE_SIZE], direction[16], baseline[160]; /* as in struct cell */
	char shape[STORE_SHAPE_SIZE]; /* canonical JSON; "" of a foreign benchmark */
	int64_t size;
	double pieces;
	double flops, bytes, threshold_pct; /* flops, bytes: useful work of a call, for throughput; NAN: not shown */
	double m, m_raw, se, beta;          /* NAN: none */
	double m_code, se_clock;            /* m at equal clocks, and the standard error of m - m_code; NAN: none */
	struct store_mean mean;
	enum decider decider;
	double decided_m, decided_se, decided_pct; /* m, se and change_pct that the verdict is based on; NAN: none */
	int runs, samples;
	double base_median_ms, target_median_ms, change_pct, ci_low_pct, ci_high_pct, mde_pct; /* NAN: none */
	enum verdict verdict;
	char failure[16];
	char reason[512];
	char history_branch[1024]; /* branch of its history; "": the comparison's */
	int64_t baseline_period;   /* 0: none */
	double held_ms;            /* target's median at the baseline period's clock; NAN: unknown */
	double reference_change_pct, reference_ci_low_pct,
		reference_ci_high_pct; /* throughput relative to the reference commit; NAN: none */
	double tau0, nu0;              /* calibrated, as in struct cell; NAN: the rule's */
	double underpowered_pct;       /* smallest detectable slowdown, where it exceeds the threshold; 0: it does not */
	int flags;                     /* bits of verdict/flag.c */
	enum series series;            /* series that decides */
};

/**
 * Insert a build that ended ok, cached or failed; a cached one that is stored already is found by its inputs and module. Sets
 * *id.
 */
int store_build_put(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, int64_t now_ms,
	int64_t *id, struct fw_err *err);
/** Append the log of the newest equal build with a log. 1, 0 none, -1. */
int store_build_log(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, struct buf *log,
	struct fw_err *err);
/** Insert a row; sets c->id. Err: the job has a comparison already. */
int store_comparison_insert(struct db *db, struct store_comparison *c, struct fw_err *err);
int store_comparison_body(struct db *db, int64_t id, const void *body, size_t len, const char *etag, struct fw_err *err);
/** Set the verdict, the counts of cells and regressions, and the worst cell. */
int store_comparison_verdict(struct db *db, int64_t id, enum verdict v, struct fw_err *err);
/** Read a comparison; appends its rule to `rule`, into which out->rule_json points. ERR_NOT_FOUND. */
int store_comparison_get(struct db *db, int64_t id, struct store_comparison *out, struct buf *rule, struct fw_err *err);

/** Insert a row; sets c->id; repository, branch, target, device and time are copied from the comparison's row. */
int store_cell_insert(struct db *db, struct store_cell *c, struct fw_err *err);
/** Update the columns that judging writes (CELL_FOUND, verdict). */
int store_cell_verdict(struct db *db, const struct store_cell *c, struct fw_err *err);
/** Find the cell of `comparison` with the smallest n above `after_n` (-1: the first). 1, 0, -1. */
int store_cell_next(struct db *db, int64_t comparison, int after_n, struct store_cell *out, struct fw_err *err);
typedef void view_cell_fn(void *arg, const struct store_cell *row);
/** Call `each` for cells of a comparison in the order of the suite. */
int view_cells(struct db *db, int64_t comparison, view_cell_fn *each, void *arg, struct fw_err *err);

/** Set a number of a cell; not finite: nothing is stored. */
int store_metric(struct db *db, int64_t cell, const char *name, const char *unit, double value, struct fw_err *err);
/** Insert or replace text or bytes of an owner. owner_kind: cell comparison device. */
int store_artifact(struct db *db, const char *owner_kind, int64_t owner, const char *kind, const void *bytes, size_t len,
	struct fw_err *err);

/*
 * ---- missing_cells ----
 * Missing measurements of a branch: rows, cells, suites or a whole plan that an earlier commit had; and alerts about them that
 * are over. Loop only.
 */

typedef void find_missing_fn(void *arg, const char *key, int64_t comparison);

/**
 * Call `each` for rows that the base's benchmark program writes and the target's does not, in the order of the comparison. Skips
 * rows that the branch's previous comparison reported, since an open base stays the base of later commits.
 */
int find_missing_removed(struct db *db, const struct store_comparison *c, find_missing_fn *each, void *arg, struct fw_err *err);
/**
 * Call `each` for cells of the branch's last whole comparison before `c` that are missing in `c`, except those that it reported
 * as removed. Comparisons with unknown rows (identical, not built, ended early) are skipped, here and below.
 */
int find_missing_unmeasured(
	struct db *db, const struct store_comparison *c, find_missing_fn *each, void *arg, struct fw_err *err);
/** Call `each` for cells of the branch's last comparison with this suite before the commit of `job`. */
int find_missing_of_suite(
	struct db *db, const struct store_job *job, const char *suite, find_missing_fn *each, void *arg, struct fw_err *err);

/** The branch's previous whole comparison with a suite of the same name. */
struct find_missing_previous {
	int64_t comparison, suite; /* 0: there is none */
	int shards, shards_now;    /* shards of its suite, and of the current suite; less than 2: not sharded */
};
/** Find it before `c`, whose suite is the current one. */
int find_missing_previous(struct db *db, const struct store_comparison *c, struct find_missing_previous *out, struct fw_err *err);
/** Find it with that suite, before the commit of `job`; shards_now is not set. */
int find_missing_previous_of_suite(
	struct db *db, const struct store_job *job, const char *suite, struct find_missing_previous *out, struct fw_err *err);
/** Append a suite's file to `out`. Err: ERR_NOT_FOUND, ERR_FULL. */
int find_missing_suite_text(struct db *db, int64_t suite, struct buf *out, struct fw_err *err);

/** The newest result of a cell of a suite by that name, from a push or an off-peak job, before comparison `before`. */
struct find_missing_result {
	int64_t comparison; /* 0: it was never measured */
	bool is_done;       /* the target ran it and was not rejected */
};
int find_missing_result(struct db *db, int64_t repo, const char *branch, const char *suite, const char *key, int64_t before,
	struct find_missing_result *out, struct fw_err *err);

/** Return whether an alert about another commit already reports that the job's branch cannot be measured. 1, 0, -1. */
int find_missing_is_reported(struct db *db, const struct store_job *job, struct fw_err *err);

enum { FIND_MISSING_MAX = 16 };
/* Alerts of the branch that the job's commit ends: no later job reported them. Shape: ids[FIND_MISSING_MAX]. */

/** Find the alerts that report that a branch cannot be planned. */
int find_missing_no_plan_alerts(struct db *db, const struct store_job *job, int64_t *ids, int *n, struct fw_err *err);
/** Find alerts about whole suites that are all in `suites_json`, an array of names. */
int find_missing_suite_alerts(
	struct db *db, const struct store_job *job, const char *suites_json, int64_t *ids, int *n, struct fw_err *err);

/*
 * ---- headline ----
 * The cell that represents a comparison's verdict in lists: of an improvement the best cell, of a failure the first
 * failed one, else the worst.
 */

struct view_headline {
	const char *key, *title, *direction, *failure, *reason; /* "": none */
	int64_t size;
	int n; /* position in the suite */
	double threshold_pct;
	double change_pct, low_pct, high_pct; /* that the verdict is based on, with its 95 % interval; NAN not timed */
	int alike, cells;                     /* cells with the comparison's verdict, 0 where it is unchanged; all cells */
	int close;                            /* undecided: cells whose reason is a distance from the threshold; else 0 */
	int removed, added;                   /* where nothing was timed: cells of one side; else 0 */
	double least_pct;                     /* regression, improvement: the smallest change of these cells; else NAN */
};
typedef void view_headline_fn(void *arg, const struct view_headline *row);
/** Call `each` for one row; no call for an unknown comparison, or one without cells. */
int view_headline(struct db *db, int64_t comparison, view_headline_fn *each, void *arg, struct fw_err *err);
/** Do the same for a cell, by its key. */
int view_reported(struct db *db, int64_t comparison, const char *key, view_headline_fn *each, void *arg, struct fw_err *err);

/* ---- history: History of one cell: its points, baseline periods, change points and alerts. As comparison.c. ---- */

/** Filters: `cell` is a key; branch and device (uuid) NULL or "" take any. */
struct view_scope {
	const char *repo, *branch, *cell, *device;
	int64_t since, until; /* of points: from `since` on and before `until`, 0 open */
	int64_t last;         /* the newest comparison that counts, 0: any; later ones are not read */
	const char *metric;   /* a metric to read in addition (store_metric), NULL: none */
};

/**
 * Check that a cell was measured on that branch or device, so that a mistyped name does not result in an empty history.
 * ERR_NOT_FOUND.
 */
int view_cell_known(struct db *db, const struct view_scope *of, struct fw_err *err);

struct view_point {
	int64_t comparison, finished_at, baseline_period; /* baseline period 0: none */
	const char *commit, *device, *branch;             /* device: uuid; branch "": requested by commit */
	double base_median_ms, median_ms, tflops, change_pct, ci_low_pct, ci_high_pct;
	double held_tflops; /* at the baseline period's clock */
	double reference_change_pct, reference_ci_low_pct,
		reference_ci_high_pct; /* throughput relative to the reference commit */
	double metric;                 /* that of the scope; NAN: none, or not stored */
	enum verdict verdict;
	bool borderline;
};
typedef void view_point_fn(void *arg, const struct view_point *row);
/** Call `each` for timed points, newest first; limit up to VIEW_HISTORY_MAX. */
int view_history(struct db *db, const struct view_scope *of, int limit, view_point_fn *each, void *arg, struct fw_err *err);
/** Find the last comparison finished up to a time, ms UTC. 1, 0 none, -1. */
int view_history_last(struct db *db, int64_t at, int64_t *last, struct fw_err *err);

struct view_baseline_period {
	int64_t id, started_at;
	const char *suite, *reference, *model, *driver, *toolkit, *cudnn, *isolation;
	const char *first_reference; /* ratios are relative to it; `reference` is the commit measured against now */
	int64_t class;               /* of devices of that model */
	double held_mhz, power_limit_w;
};
typedef void view_baseline_period_fn(void *arg, const struct view_baseline_period *row);
/** Call `each` for baseline periods in which this cell was measured against a reference commit, oldest first. */
int view_baseline_periods(
	struct db *db, const struct view_scope *of, view_baseline_period_fn *each, void *arg, struct fw_err *err);

typedef void view_change_fn(void *arg, const struct store_change *row);
/** Change points of this cell, oldest first, with candidates and without dropped ones. */
int view_changes(struct db *db, const struct view_scope *of, view_change_fn *each, void *arg, struct fw_err *err);

struct view_environment_change {
	int64_t id, seen_at, paired_job, unpaired_job, paired, unpaired, alert; /* 0: none, or not measured yet */
	const char *suite, *device, *changed_json;                              /* changed_json: [{"what","from","to"}] */
	double paired_pct, paired_low_pct, paired_high_pct;                     /* of throughput; NAN: unknown */
	double unpaired_pct;
};
typedef void view_environment_change_fn(void *arg, const struct view_environment_change *row);
/** Call `each` for changes of the device's environment and their effect on this cell, oldest first. */
int view_environment_changes(
	struct db *db, const struct view_scope *of, view_environment_change_fn *each, void *arg, struct fw_err *err);

typedef void view_cell_alert_fn(void *arg, int64_t id, enum alertkind kind, enum alertstate state, const char *commit);
/** Call `each` for the newest alerts with this cell. */
int view_cell_alerts(struct db *db, const struct view_scope *of, view_cell_alert_fn *each, void *arg, struct fw_err *err);

/* ---- metrics: Statistics of the whole database for monitoring. Loop only; no call needs a transaction. ---- */

enum { VIEW_DURATION_BUCKETS = 10 };
/** Upper bounds of the buckets. Units: s. */
extern const int view_duration_bound_s[VIEW_DURATION_BUCKETS];

struct view_durations {
	int64_t n;
	double sum_s;
	int64_t below[VIEW_DURATION_BUCKETS]; /* jobs that took at most bound i, cumulative */
};
/** Find durations of done and failed jobs from start to end. */
int view_durations(struct db *db, struct view_durations *out, struct fw_err *err);

struct view_exemplar {
	int64_t job, ended_at; /* job 0: none */
	double seconds;
};
enum { VIEW_EXEMPLARS = VIEW_DURATION_BUCKETS + 1 /* jobs beyond all bounds */ };
/** Find the newest job of each bucket, among those that ended last. Shape: out[VIEW_EXEMPLARS]. */
int view_exemplars(struct db *db, struct view_exemplar *out, struct fw_err *err);

typedef void view_fetch_fn(void *arg, const char *repo, int64_t failures, int64_t fetched_at);
/** Call `each` for configured repositories by name, with failed fetches and the time of the last successful one (0: never). */
int view_fetches(struct db *db, view_fetch_fn *each, void *arg, struct fw_err *err);

/** Read the size of the database file without its WAL. Units: bytes. */
int view_size(struct db *db, int64_t *bytes, struct fw_err *err);

/*
 * ---- migrate ----
 * Upgrade of a database to the schema of this program.
 *
 * The scripts of db/migrations are embedded in the program, numbered from 1. user_version is the number of the last one applied;
 * each missing one runs in a separate transaction together with the new number, so a crash leaves a whole version.
 */

struct migration {
	int version;
	const char *name;
	const char *start, *end; /* the script's bytes; no NUL at the end */
};

/**
 * Upgrade the database to the current version. Err: ERR_UNSUPPORTED if the database is newer than this program (nothing is
 * written), or if a column of its version is missing, because a program between releases wrote it; else the error of a script.
 */
int migrate(struct db *db, struct fw_err *err);

/** Do the same with another list of migrations, whose versions are 1, 2, ... */
int migrate_list(struct db *db, const struct migration *list, int n, struct fw_err *err);

/**
 * Refuse any database that migrate() refuses, without a write: opening a copy that is not in WAL mode for writing changes it
 * already. Err: as migrate().
 */
int migrate_check(struct db *db, struct fw_err *err);

/** Make the tables of version 1 in an empty database. */
int migrate_first(struct db *db, struct fw_err *err);

/** Return the version to which migrate() upgrades. */
int migrate_latest(void);

/*
 * ---- absent ----
 * Devices that no worker has any more, and the daemon's own jobs for them. Loop only; writes inside the caller's
 * transaction.
 */

struct find_absent {
	int64_t class;
	char uuid[64];
};

/** Devices that a worker reports for a machine. */
struct find_inventory {
	const char *worker, *host;
	const char *named;    /* uuids of the devices, a JSON array */
	int64_t unseen_since; /* devices on call, which are never reported together, count as missing if not seen since then */
};

/**
 * Set state absent for devices in state ok that a worker had in this machine and does not report any more. How many, -1. Own:
 * free(*out); NULL where there is none, and on -1.
 */
int find_absent_mark(struct db *db, const struct find_inventory *has, const char *why, int64_t now_ms, struct find_absent **out,
	struct fw_err *err);
/** Do the same for devices of workers whose names are not in `workers`, a JSON array. */
int find_absent_mark_unconfigured(
	struct db *db, const char *workers, const char *why, int64_t now_ms, struct find_absent **out, struct fw_err *err);

/** Find the first queued job after `after` of origin idle for this device. 1, 0 none, -1. */
int find_absent_job(struct db *db, const char *uuid, int64_t after, int64_t *job, struct fw_err *err);

/*
 * ---- off_peak ----
 * Sharded suites: the measured shards. A shard's job has its number in `shard`; shard 0 is the one of a push. Loop only;
 * reads only.
 */

/**
 * The newest whole comparison of a branch with a sharded suite on a class that has a device in state ok. Texts are valid inside
 * the callback.
 */
struct find_off_peak_suite {
	int64_t suite, device_class;
	const char *name, *target_sha;
	struct suite_size size;
};
typedef void find_off_peak_suite_fn(void *arg, const struct find_off_peak_suite *row);
/** Call `each` for the suites and shards. `branch` is percent-encoded. Benchmark programs have no shards. */
int find_off_peak_suites(
	struct db *db, int64_t repo, const char *branch, find_off_peak_suite_fn *each, void *arg, struct fw_err *err);

/** A shard that has a job. */
struct find_off_peak_shard {
	int shard;
	int64_t measured_at;    /* by its newest job with a comparison; 0: never */
	const char *target_sha; /* of that comparison; "": none */
	bool has_change;        /* that comparison found a change, or failed */
	bool is_requested;      /* a job exists for like->target_sha */
};
typedef void find_off_peak_shard_fn(void *arg, const struct find_off_peak_shard *row);
/**
 * Call `each` for shards of `like` in order, without comparisons from before the branch's pushes had another suite by that name.
 */
int find_off_peak_shards(struct db *db, int64_t repo, const char *branch, const struct find_off_peak_suite *like,
	find_off_peak_shard_fn *each, void *arg, struct fw_err *err);

/*
 * ---- notification ----
 * Content of statuses and git notes: jobs that ended together, a comparison's summary, the newest of each suite.
 * Loop only.
 */

/** A job that ended in the transaction of another job. */
struct find_notification_job {
	int64_t id, repo;
	char repo_name[128], sha[65], suite[64], why[512];
	enum jobstate state;
};
/**
 * Find jobs of branches that count and ended at `ended_at` without a verdict, newest first. `repo_name` "": any. Shape: out[max].
 */
int find_notification_ended(struct db *db, int64_t ended_at, const char *repo_name, struct find_notification_job *out, int max,
	int *n, struct fw_err *err);

/** Cells with one verdict: the number of all cells and of these, and the worst of these, the best of improvements. */
struct find_notification_cells {
	int64_t all, n;
	double decided_pct;
	char key[160], reason[512];
};
/** Find the cells of a comparison with this verdict. 1, 0, -1. */
int find_notification_cells(
	struct db *db, int64_t comparison, enum verdict verdict, struct find_notification_cells *out, struct fw_err *err);

struct find_notification_suite {
	int64_t comparison;
	char suite[64], base_sha[65];
	enum verdict verdict;
	enum jobkind kind;
};
/** Find the newest whole comparison of a commit with each suite, by name. Shape: out[max]. */
int find_notification_suites(
	struct db *db, int64_t repo, const char *sha, struct find_notification_suite *out, int max, int *n, struct fw_err *err);

/** Call `each` for the first `max` cells of a comparison that are not unchanged, identical or unsupported, in order. */
int find_notification_each(struct db *db, int64_t comparison, int max, view_cell_fn *each, void *arg, struct fw_err *err);

/*
 * ---- offline ----
 * Devices that are offline or quarantined while jobs wait for them, and alerts about them that are over. Loop only.
 */

struct find_waiting {
	int64_t device;
	char uuid[129], why[513]; /* why it is in its state */
	int64_t seen_at, jobs;    /* jobs: number of waiting ones */
};

/** Find devices without a job and an alert that were not seen since `since`, while older jobs wait for them. Shape: out[max]. */
int find_offline_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err);
/**
 * Find quarantined devices for which jobs wait since before `since`, or jobs that no other device can run. Skips devices with an
 * open alert, or with one that a user closed since the quarantine. Shape: out[max].
 */
int find_quarantined_devices(struct db *db, int64_t since, struct find_waiting *out, int max, int *n, struct fw_err *err);

struct find_offline_alert {
	int64_t alert;
	enum devicestate state; /* of the device */
};
/** Find alerts of kind device_offline whose device was seen since, or is not in use. Shape: out[max]. */
int find_offline_ended(struct db *db, struct find_offline_alert *out, int max, int *n, struct fw_err *err);
/** Find alerts of kind quarantined whose device is not quarantined any more, or for which no job waits. Shape: out[max]. */
int find_offline_quarantine_ended(struct db *db, struct find_offline_alert *out, int max, int *n, struct fw_err *err);

/*
 * ---- outbox ----
 * Notifications to send, written in the transaction of the change that they report, and delivery attempts. Loop only; writes
 * inside the caller's transaction.
 */

enum { STORE_OUTBOX_BUSY_MAX = 4, STORE_OUTBOX_STUCK = 5 /* failed attempts */, STORE_OUTBOX_PAUSE_MAX_MS = 3600000 };

/**
 * One notification: `kind` webhook, status, note, comment or approval; `target` the receiver's or repository's name in the
 * configuration.
 */
struct store_outbox {
	int64_t id;
	char message_id[64]; /* the same in every attempt */
	char kind[16], target[128];
	char subject[300]; /* of notifications of which only the newest counts; "": none */
	char thread[256];  /* equal for messages about one culprit; "": none */
	int attempts;      /* failed ones */
	int n_sent;        /* delivered ones; above 0: a user sends it again */
};

/**
 * A receiver whose notifications wait: all of them until `until` (0: not), new ones about alerts for `group_ms`. Tests are
 * exempt.
 */
struct store_outbox_hold {
	char target[64];
	int64_t until, group_ms;
};
enum { STORE_OUTBOX_HOLDS_MAX = 32 };

/** How an attempt ended. */
struct store_attempt {
	int64_t at, duration_ms;
	int status;         /* HTTP status; 0: no response */
	const char *error;  /* NULL: delivered */
	const char *answer; /* id of the message at the receiver; NULL: none, or not read */
};

/**
 * Enqueue a notification, due at once. A payload with `alert` joins the thread of the alert's earlier notifications to this
 * target, else that of its only culprit, or of its `target` commit.
 */
int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err);
/**
 * Enqueue a notification of which only the newest about `subject` counts: supersedes waiting ones, and writes nothing where the
 * newest has the same payload.
 */
int store_outbox_replace(struct db *db, const char *kind, const char *target, const char *subject, const char *payload,
	int64_t now_ms, struct fw_err *err);
/** Read the id of the newest notification about a subject. Err: ERR_NOT_FOUND. */
int store_outbox_newest(
	struct db *db, const char *kind, const char *target, const char *subject, int64_t *id, struct fw_err *err);
/**
 * Find the mark of the comment about a subject: the message_id of its oldest stored notification, after an answer of 404 (a user
 * deleted the comment, whose mark others may have copied) of that notification. 1, 0, -1. Shape: mark[64].
 */
int store_outbox_mark(struct db *db, const char *kind, const char *target, const char *subject, char *mark, struct fw_err *err);
/** Count the waiting notifications whose subject begins with `prefix`. */
int store_outbox_waiting(struct db *db, const char *kind, const char *target, const char *prefix, int64_t *n, struct fw_err *err);
/**
 * Find the next due row whose kind and target is none of `busy` ("webhook chat"), and that no hold delays. 1, 0, -1. Appends to
 * `payload`. A row without an attempt is always due, and so is one due later than the longest pause from now: the clock was set
 * back.
 */
int store_outbox_due(struct db *db, int64_t now_ms, const char (*busy)[160], int n_busy, const struct store_outbox_hold *hold,
	int n_hold, struct store_outbox *out, struct buf *payload, struct fw_err *err);
/** Read the earliest due time of waiting rows after `after`, holds included; 0: none. */
int store_outbox_next_at(
	struct db *db, int64_t after, const struct store_outbox_hold *hold, int n_hold, int64_t *at, struct fw_err *err);
/**
 * Find the rows that go out in one message with `leader`: those that wait for its target in its thread, and of a repeated message
 * the same ones again. Their payloads are appended as a JSON array, oldest first. Shape: ids[max], *n of them, the leader's
 * included.
 */
int store_outbox_group(struct db *db, const struct store_outbox *leader, int64_t *ids, int max, int *n, struct buf *payloads,
	struct fw_err *err);

/** The first message of a thread that arrived. */
struct store_outbox_first {
	int64_t at;
	char answer[256]; /* its id at the receiver; "": unknown */
};
/**
 * Find the first sent message before the row in its thread. 1, 0, -1. Appends its payload. After a refused reply (HTTP status 400
 * or 404) the receiver no longer has the thread: the first message is one sent later.
 */
int store_outbox_first(
	struct db *db, const struct store_outbox *row, struct store_outbox_first *out, struct buf *payload, struct fw_err *err);
/**
 * Read the id of the newest sent message about a subject at its receiver, and the `state` of its payload; not of one that the
 * receiver no longer has (404). 1, 0 none, -1. Shape: answer[256], state[16].
 */
int store_outbox_sent(
	struct db *db, const char *kind, const char *target, const char *subject, char *answer, char *state, struct fw_err *err);
/** Store an attempt, and mark the row sent, or due again at `next_at` (0: failed for good). */
int store_outbox_result(struct db *db, int64_t id, const struct store_attempt *attempt, int64_t next_at, struct fw_err *err);
/** Make a row due at once, with a reset count of attempts and the same message_id. Err: ERR_NOT_FOUND. */
int store_outbox_again(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** The newest sent comment of a request has its id at the forge, so it is deleted this much later than other rows: 275 days. */
#define STORE_OUTBOX_COMMENT_MS (INT64_C(275) * 86400000)
/** Delete ended rows created before `before` among the oldest `limit` that may be deleted; *n counts them. */
int store_outbox_prune(struct db *db, int64_t before, int limit, int *n, struct fw_err *err);

/* ---- views ------------------------------------------------------------------------------------------------------------ */

struct view_notification {
	int64_t id;
	const char *message_id, *kind, *target, *payload, *state, *last_error;
	int attempts;
	int64_t next_at, created_at;
};
typedef void view_notification_fn(void *arg, const struct view_notification *row);
/** Call `each` for all rows, the newest first, before id `before` (0: all); `state` NULL: any. */
int view_notifications(
	struct db *db, const char *state, int64_t before, int limit, view_notification_fn *each, void *arg, struct fw_err *err);
/** Call `each` for the last notification of a kind to a receiver, among the newest 5,000 of all; none where there is no row. */
int view_notification_last(
	struct db *db, const char *kind, const char *target, view_notification_fn *each, void *arg, struct fw_err *err);
/** Count the waiting rows with at least STORE_OUTBOX_STUCK attempts. */
int view_outbox_stuck(struct db *db, int64_t *n, struct fw_err *err);
typedef void view_attempt_fn(void *arg, const struct store_attempt *row);
/** Call `each` for attempts of a notification, oldest first; error "" where it was delivered. */
int view_attempts(struct db *db, int64_t notification, view_attempt_fn *each, void *arg, struct fw_err *err);

/*
 * ---- peer ----
 * Comparisons of kind peer: both sides are one commit, and the base runs a peer's provider. Finds the pending ones, the measured
 * ones, and those that relate another comparison to a peer.
 *
 * Only whole ones count (not quick, all cells) whose target is the module's default provider. Absent numbers are NAN.
 */

/* ---- pending comparisons ----------------------------------------------------------------------------------------------- */

/**
 * The newest whole comparison of a branch with one suite on one class that has a device in state ok. Texts are valid inside the
 * callback.
 */
struct store_peer_target {
	int64_t comparison, environment, device_class;
	const char *target_sha, *module_sha, *suite, *device_kind;
	const char *peers; /* of its base's manifest */
};
typedef void store_peer_target_fn(void *arg, const struct store_peer_target *row);
/** Call `each` for the targets, without those that have no module and without benchmark programs. `branch` is percent-encoded. */
int store_peer_targets(
	struct db *db, int64_t repo, const char *branch, store_peer_target_fn *each, void *arg, struct fw_err *err);

/**
 * Return whether a comparison of this commit with `provider` was requested on this class, or its module was measured in this
 * environment. 1, 0, -1.
 */
int store_peer_is_requested(
	struct db *db, int64_t repo, const struct store_peer_target *target, const char *provider, struct fw_err *err);

/** Store the peers of a job's base manifest. */
int store_peer_names(struct db *db, int64_t job, const char *peers, struct fw_err *err);

/* ---- measured comparisons ----------------------------------------------------------------------------------------------- */

/** Relation of a comparison with a peer to another comparison. */
enum store_peer_basis {
	STORE_PEER_PAIRED,  /* it timed the other's target */
	STORE_PEER_CHAINED, /* it timed the other's base */
	STORE_PEER_SCALED,  /* it timed another module in the same environment */
};

struct store_peer_source {
	int64_t comparison;
	enum store_peer_basis basis;
	char provider[PEERS_PROVIDER_SIZE], target_sha[65];
};
enum { STORE_PEER_SOURCES_MAX = 24 };

/**
 * Find comparisons with peers that relate `comparison` to a peer: for each provider the newest of each basis, best basis first,
 * providers by name. A comparison with a peer is its own source. Shape: out[STORE_PEER_SOURCES_MAX]. How many, -1.
 */
int store_peer_sources(struct db *db, int64_t comparison, struct store_peer_source *out, struct fw_err *err);

struct store_peer_cell {
	double m, ci_low_pct, ci_high_pct; /* of the default provider relative to the peer */
	double base_ms, held_base_ms;      /* the peer's time, and its time at the baseline period's clock, where known */
};
/** Read one cell of a comparison with a peer. 1, 0 if it has no times, -1. */
int store_peer_cell(struct db *db, int64_t comparison, const char *key, struct store_peer_cell *out, struct fw_err *err);

/** Read the target's time at the clock of its baseline period. Units: ms; NAN: unknown. */
int store_peer_held_ms(struct db *db, int64_t cell, double *ms, struct fw_err *err);

enum { STORE_PEER_READERS_MAX = 32 };
/**
 * Find newest other comparisons of which `peer` is a paired or chained source. Shape: ids[STORE_PEER_READERS_MAX]. How many, -1.
 */
int store_peer_readers(struct db *db, int64_t peer, int64_t *ids, struct fw_err *err);

/* ---- views --------------------------------------------------------------------------------------------------------------- */

struct view_peer {
	int64_t comparison, job, finished_at;
	const char *repo, *suite, *provider, *commit, *subject, *device, *device_kind, *device_name;
	enum verdict verdict;
	bool current;       /* newest of this repository, suite, device and provider */
	int cells, timed;   /* of the suite; with times */
	double geomean_pct; /* of the peer's speed, over timed cells */
};
typedef void view_peer_fn(void *arg, const struct view_peer *row);
/**
 * Call `each` for at most `limit` rows, first current ones, then the others, the newest first. `repo`, `device` NULL or "": any.
 */
int view_peers(struct db *db, const char *repo, const char *device, int limit, view_peer_fn *each, void *arg, struct fw_err *err);

/** Read the peers of the base manifest of a branch's newest finished job. 1, 0, -1. */
int store_peer_named(struct db *db, int64_t repo, const char *branch, char *peers, size_t size, struct fw_err *err);

/* ---- profile_answer: The cause of a slower cell in a stored profile, as one sentence (profile/answer.c). Loop only. ---- */

struct profile_answer {
	char text[CAUSE_ANSWER_SIZE];
	bool has_cause; /* the text names a cause */
	char cause[32]; /* name of its class, such as "spills"; "": none, or one that only changed too */
};

/**
 * Find the answer for one cell of a profile; `key` NULL: of the cell with the largest slowdown among those with a cause, else
 * among all. Where another cell has a larger slowdown, the text begins with the cell's key. `state`, `state_why`: of the
 * profile's job.
 */
int profile_answer(struct db *db, int64_t profile, enum jobstate state, const char *state_why, const char *key,
	struct profile_answer *out, struct fw_err *err);

/* ---- used_config: Provider and configuration that each side of a cell ran. ---- */

enum { USED_CONFIG_BASE, USED_CONFIG_TARGET, USED_CONFIG_SIDES };

/** "" where a side did not report it. */
struct used_config {
	char provider[USED_CONFIG_SIDES][48], config[USED_CONFIG_SIDES][160];
};

/** Read both sides of a cell; missing reports are no error. */
int used_config_read(struct db *db, int64_t cell, struct used_config *out, struct fw_err *err);
/** Return the integer after NAME= in a configuration such as "BLOCK_M=128 STAGES=2"; 0: none. */
int used_config_number(const char *config, const char *name);

/* ---- range: The range of commits that contains the cause of a slowdown, and the jobs that narrow it. Loop only. ---- */

/** Count the commits after `from` up to `to`, also where a force-push removed them, and those among them without a point. */
int find_range_commits(struct db *db, const struct store_change *c, const char *from, const char *to, int *commits,
	int *unmeasured, struct fw_err *err);

/** Return whether an open job measures this commit's cell against the reference commit. 1, 0, -1. */
int find_range_awaited(struct db *db, int64_t repo, const char *sha, const char *key, struct fw_err *err);
/**
 * Read the position of the newest commit after `after` with a job of this origin, for the baseline period's suite and class; 0:
 * none.
 */
int find_range_requested(struct db *db, const struct store_baseline_period *e, const char *origin, int64_t after,
	int64_t *position, struct fw_err *err);

/*
 * ---- repo ----
 * Repositories, branch tips, commits, suites, devices, environments. All calls: loop only; writes inside the caller's
 * transaction.
 */

struct store_commit {
	char sha[65], tree[65], first_parent[65];
	char author[256], subject[512]; /* UTF-8; invalid bytes already U+FFFD */
	int64_t committed_at;
};

/** Insert or update a configured repository, and set *id. */
int store_repo_put(
	struct db *db, const char *name, const char *url, bool is_local, const char *upstream, int64_t *id, struct fw_err *err);
/** Read the id of a repository by name. 1, 0 none, -1. */
int store_repo_find(struct db *db, const char *name, int64_t *id, struct fw_err *err);
/** Set state gone for repositories that are not in ids[n]. */
int store_repo_retire(struct db *db, const int64_t *ids, int n, struct fw_err *err);
/** Set state "ok" or "error" with its text. An unchanged state writes nothing. */
int store_repo_state(struct db *db, int64_t repo, const char *state, const char *error, struct fw_err *err);
/** Set the time of the last successful fetch. */
int store_repo_fetched(struct db *db, int64_t repo, int64_t now_ms, struct fw_err *err);
/** Count a failed fetch. */
int store_repo_failed(struct db *db, int64_t repo, struct fw_err *err);

/*
 * ---- pull ----
 * Pull and merge requests. Anyone may push to their refs, so a head is measured only if it is the tip of a branch of the
 * repository (`own`) or a user approved this very commit.
 */

/* A request is stored as a branch of this name, which no branch of git can have; percent-encoded. */
#define PULL_BRANCH "pull%3A"

struct store_pull {
	int64_t id;
	const char *repo;
	int number;
	const char *head, *problem; /* problem: why the head has no commit to measure, "": none */
	bool own, approved;
	const char *who; /* user who approved the head; "": none */
	int64_t seen_at, approved_at;
	const char *commit; /* that measures the head, and is the tip of the request's branch; "" not fetched yet */
};
typedef void store_pull_fn(void *arg, const struct store_pull *row);

/** Call `each` for the requests of a repository that are waiting (`all`: all), the newest first, at most `limit`. */
int store_pull_each(struct db *db, int64_t repo, bool all, int limit, store_pull_fn *each, void *arg, struct fw_err *err);
/**
 * Call `each` for the requests whose head may be measured and has no commit yet, the newest approval first and those with a
 * problem last, at most `limit`.
 */
int store_pull_ready(struct db *db, int64_t repo, int limit, store_pull_fn *each, void *arg, struct fw_err *err);
/** Store the head of a request. 1 it may be measured: it is own, or was approved before; 0, -1. */
int store_pull_head(struct db *db, int64_t repo, int number, const char *head, bool own, int64_t now_ms, struct fw_err *err);
/** Store the commit that measures the head of a request, or the problem why there is none. */
int store_pull_commit(struct db *db, int64_t repo, int number, const char *head, const char *sha, const char *problem,
	int64_t now_ms, struct fw_err *err);
/**
 * Record that a branch of the repository has this tip: requests with this head need no approval. Returns the number of heads, -1.
 */
int store_pull_mark_own(struct db *db, int64_t repo, const char *sha, struct fw_err *err);
/**
 * Approve the newest head of a request. Err: ERR_NOT_FOUND no such request, or no head was this commit; ERR_CONFLICT it is an
 * older head; the message names the newest.
 */
int store_pull_approve(
	struct db *db, int64_t repo, int number, const char *head, const char *who, int64_t now_ms, struct fw_err *err);
/**
 * Whether a commit is that of a fork: a head or merge result of requests, but not of an own branch or the upstream branch.
 * `out` gets one of the requests, approved if any of them is. 1, 0, -1.
 */
struct store_fork {
	int number;
	char head[65];
	bool approved;
};
int store_pull_fork(struct db *db, int64_t repo, const char *sha, struct store_fork *out, struct fw_err *err);
/** Return whether a commit is stored as own: its head was the tip of an own branch, or it is on the upstream branch. 1, 0, -1. */
int store_pull_is_own(struct db *db, int64_t repo, const char *sha, struct fw_err *err);
/** Find the head of which a commit is the merge result, and the request's number; the commit itself and 0 for others. */
int store_pull_head_of(struct db *db, int64_t repo, const char *sha, char head[65], int *number, struct fw_err *err);
/**
 * Read the number of the newest request whose newest head this commit measures: the head or its merge result, not both. 1, 0
 * none, -1.
 */
int store_pull_of(struct db *db, int64_t repo, const char *sha, int *number, struct fw_err *err);
/**
 * Find the commit that measures the head of a request that may be measured; "": not fetched yet. 1, 0 no such request, or its
 * problem is that it has no such commit, -1.
 */
int store_pull_measured(struct db *db, int64_t repo, const char *head, char sha[65], struct fw_err *err);
/**
 * Device time of jobs of forks' commits that run, or ended since `since`, by a comparison or not. A running job counts for at
 * least `job_s`, its limit, and so does each earlier attempt of a job. Units: s.
 */
struct store_pull_use {
	int64_t repo, since, now_ms;
	int64_t except; /* job that does not count; 0: none */
	double job_s;
};
int store_pull_device_s(struct db *db, const struct store_pull_use *use, double *device_s, struct fw_err *err);

/** Read the stored tip of a branch. ERR_NOT_FOUND when it was never seen. Shape: sha[65]. */
int store_tip_get(struct db *db, int64_t repo, const char *name, char *sha, bool *gone, struct fw_err *err);
int store_tip_put(struct db *db, int64_t repo, const char *name, const char *display, const char *sha, bool watched,
	int64_t now_ms, struct fw_err *err);
/** Set whether the current configuration watches a stored branch. */
int store_tip_watch(struct db *db, int64_t repo, const char *name, bool watched, struct fw_err *err);
int store_tip_gone(struct db *db, int64_t repo, const char *name, struct fw_err *err);
/** Call `each` with every stored branch that is not gone. */
int store_tip_each(
	struct db *db, int64_t repo, void (*each)(void *arg, const char *name, const char *sha), void *arg, struct fw_err *err);

int store_commit_put(struct db *db, int64_t repo, const struct store_commit *c, struct fw_err *err);
/** Read a commit. ERR_NOT_FOUND. */
int store_commit_get(struct db *db, int64_t repo, const char *sha, struct store_commit *out, struct fw_err *err);

/** Store the number of files that differ between two commits, and the first of them as a JSON list; stored ones stay. */
int store_changed_files_put(
	struct db *db, int64_t repo, const char *base, const char *target, const char *paths_json, int files, struct fw_err *err);
int store_changed_files_known(struct db *db, int64_t repo, const char *base, const char *target, struct fw_err *err);
/** Append {"number","paths"}. Returns 1, 0 unknown, -1. */
int store_changed_files(struct db *db, int64_t repo, const char *base, const char *target, struct buf *out, struct fw_err *err);

int store_suite_put(struct db *db, const char *sha, const char *name, const char *text, size_t len, const char *origin,
	int64_t *id, struct fw_err *err);
/** Store the size of a sharded suite. */
int store_suite_size(struct db *db, int64_t suite, const struct suite_size *p, struct fw_err *err);

/** Insert or update; of the states only absent changes, to ok. */
int store_device_put(struct db *db, const struct msg_device *d, int64_t now_ms, int64_t *id, struct fw_err *err);
/** Set worker and machine of a device; `on_call`: the worker has it only during an allocation of a scheduler. */
int store_device_through(struct db *db, int64_t device, const char *worker, const char *host, bool on_call, struct fw_err *err);
/** Find the machine of a device of this worker that is in state health_check. 1, 0 none, -1. Shape: host[64]. */
int store_device_health_check_host(struct db *db, const char *worker, char host[64], struct fw_err *err);
/** Store the folders of modules that a device's worker reported. */
int store_device_location(struct db *db, int64_t device, const struct msg_location *location, struct fw_err *err);
int store_device_state(
	struct db *db, int64_t device, enum devicestate state, const char *why, int64_t now_ms, struct fw_err *err);
/** Read the row and state of a device by uuid. ERR_NOT_FOUND. */
int store_device_get(struct db *db, const char *uuid, int64_t *id, enum devicestate *state, struct fw_err *err);
/** Read the uuid of a device; "": no such device. Shape: uuid[64]. */
int store_device_uuid(struct db *db, int64_t device, char *uuid, struct fw_err *err);
/** Find the environment of a device and suite, or insert it (then `*is_new` is true). */
int store_environment_put(struct db *db, const struct msg_device *d, const char *suite_sha, const char *timing,
	const char *isolation, int64_t now_ms, int64_t *id, bool *is_new, struct fw_err *err);

/** Read the upstream branch of a repository as in the configuration. ERR_NOT_FOUND. */
int store_repo_upstream(struct db *db, int64_t repo, char *upstream, size_t size, struct fw_err *err);
/** Read the upstream branch, percent-encoded as in jobs; "": no such repository. Shape: branch[1024]. */
int store_repo_upstream_branch(struct db *db, int64_t repo, char *branch, struct fw_err *err);

/* ---- sample: Runs of a job with every timed call, written once and read to judge again. ---- */

int store_run_insert(struct db *db, int64_t comparison, int n, int set, uint64_t seed, int64_t *id, struct fw_err *err);
/** Insert one row per side of `m`. The run's estimate `e` (NULL: none) is stored in the row of ROLE_TARGET. */
int store_samples_insert(
	struct db *db, int64_t run, int64_t cell, const struct msg_cell *m, const struct run_estimate *e, struct fw_err *err);
/** A stored cell's runs of one series, in order. */
struct store_runs {
	int n;
	bool raw; /* times exist, in the database or the archive; false: only the estimates do */
	struct run_estimate estimate[STATS_RUNS_MAX];
	struct run_pairs pairs[STATS_RUNS_MAX]; /* point into `values` */
	int64_t run[STATS_RUNS_MAX];            /* rows, for store_sample_estimate */
	struct msg_device_check
		device_check[STATS_RUNS_MAX];  /* fields that reject a run, power and temperature; the others are unknown */
	struct run_pairs host[STATS_RUNS_MAX]; /* enqueue times of the host in us instead of ms; NULL: unknown */
	struct buf values;
};
/**
 * Read the runs of a cell in one series. Own: buf_fini(&out->values), also after an error. Err: ERR_INVALID for inconsistent
 * rows; as archive_read.
 */
int store_cell_runs(struct db *db, int64_t cell, enum series series, struct store_runs *out, struct fw_err *err);
/** Replace the estimate of a stored run for a cell in one series. */
int store_sample_estimate(
	struct db *db, int64_t cell, int64_t run, enum series series, const struct run_estimate *e, struct fw_err *err);

/** Store the slow calls of a cell, which outlive its samples. A set without calls is not written. Shape: tail[MEAN_SETS]. */
int store_slow_calls_put(struct db *db, int64_t cell, const struct tail *tail, struct fw_err *err);
/** Read the slow calls of a cell; zeros where none are stored. Shape: tail[MEAN_SETS]. */
int store_slow_calls_get(struct db *db, int64_t cell, struct tail *tail, struct fw_err *err);

/* ---- seek: Position of a time in a list. ---- */

/* Times of the rows: end, queueing, opening, creation. */
enum view_list {
	VIEW_LIST_COMPARISONS,
	VIEW_LIST_JOBS,
	VIEW_LIST_ALERTS,
	VIEW_LIST_BISECTS,
	VIEW_LIST_NOTIFICATIONS,
	VIEW_LIST_AUDIT
};

/**
 * Find the first id whose row is not older than `at`, provided that times increase with ids. One above the newest where every row
 * is older. Reads a logarithmic number of rows.
 */
int view_seek(struct db *db, enum view_list list, int64_t at, int64_t *id, struct fw_err *err);

/* ---- shard: The shard of a comparison with a sharded suite. ---- */

struct view_shard {
	int shard;    /* shard; 0: the one of a push */
	int shards;   /* off-peak shards; 0: the suite is not sharded */
	int cells;    /* of the whole suite */
	int nights;   /* off-peak periods in which all shards are measured once */
	int measured; /* off-peak shards that were measured so far */
};

/** Find the shard of a stored comparison; zeros where its suite is not sharded. */
int view_shard(struct db *db, int64_t comparison, struct view_shard *out, struct fw_err *err);

/*
 * ---- store_profile ----
 * Requests to explain slower cells, and the result for each cell. Loop only; writes inside the caller's transaction. A
 * profile's job makes no comparison, so it cannot change a verdict.
 */

struct store_profile {
	int64_t id, job, comparison, alert; /* comparison, alert: 0: none */
};

/** Insert a row; sets p->id. */
int store_profile_insert(struct db *db, struct store_profile *p, struct fw_err *err);
/** Find the profile of a job. 1, 0 there is none, -1. */
int store_profile_of_job(struct db *db, int64_t job, struct store_profile *out, struct fw_err *err);
/** Count the cells of an alert's profiles. */
int store_profile_requested(struct db *db, int64_t alert, int *cells, struct fw_err *err);
/** Settings of a comparison that its profile repeats. Texts: as in job. */
struct store_profile_of {
	int64_t repo;
	char repo_name[128];
	char base_sha[65], target_sha[65], suite[64], base_provider[PEERS_PROVIDER_SIZE], target_provider[PEERS_PROVIDER_SIZE],
		device_uuid[64];
	char base_config[160], target_config[160];
	struct toolchain_override base_tools, target_tools;
};
/**
 * Find the newest comparison that timed two commits with the providers and configurations of `of`; of kind peer or config only
 * where `of` has providers or configurations. of->suite "": any; of->device_uuid is ignored. 1, 0, -1.
 */
int store_profile_comparison(struct db *db, const struct store_profile_of *of, int64_t *comparison, struct fw_err *err);
/**
 * Read the request for a profile of a comparison. ERR_NOT_FOUND. Err: ERR_INVALID if nothing ran for it, or its results were
 * imported.
 */
int store_profile_read_comparison(struct db *db, int64_t comparison, struct store_profile_of *out, struct fw_err *err);

/** Result of one cell. */
enum store_profile_state { STORE_PROFILE_DONE, STORE_PROFILE_IDENTICAL, STORE_PROFILE_UNSUPPORTED, STORE_PROFILE_FAILED };

struct store_profile_cell {
	int64_t id, profile;
	int n;
	const char *key;
	enum store_profile_state state;
	const char *why;
	const struct msg_profile *end;         /* NULL: not done */
	const struct msg_counterfactual *with; /* NULL: not tried */
	double base_ms, target_ms;             /* NAN: unknown */
};
/** Insert a row; sets c->id. */
int store_profile_cell_put(struct db *db, struct store_profile_cell *c, struct fw_err *err);
/** Insert a kernel of that cell with its counter values. */
int store_profile_kernel_put(struct db *db, int64_t cell, const struct msg_kernel *k, struct fw_err *err);
int store_profile_code_put(struct db *db, int64_t cell, const struct msg_code *c, struct fw_err *err);

/** A cause of a cell's slowdown, or of a share of the slowdown. */
struct store_profile_cause {
	int rank;                                          /* 0: the largest */
	const char *code, *kernel, *confidence, *sentence; /* names as in profile/cause.c */
	double explained_ms, of_ms;
};
int store_profile_cause_put(struct db *db, int64_t cell, const struct store_profile_cause *c, struct fw_err *err);

/* ---- token: Access tokens and browser sessions. Loop only. ---- */

/** Permissions of a token; each scope includes the previous ones. */
enum token_scope { TOKEN_NONE, TOKEN_READ, TOKEN_TRIGGER, TOKEN_ADMIN };

struct token_row {
	int64_t id;
	char name[64];
	char scope[16];
	char made_by[64]; /* token that its creator used, "flopwatchd" the daemon's own; "": unknown */
	int64_t created_at, used_at, revoked_at, expires_at; /* 0: never */
};

/** "read", "trigger", "admin"; TOKEN_NONE for any other text. */
enum token_scope token_scope_of(const char *text);

struct token_new {
	const char *name, *hash, *scope, *made_by;
	int64_t expires_at; /* ms UTC; 0: never */
};
/** Insert a token. Err: ERR_CONFLICT if one of that name exists. */
int store_token_insert(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err);
/** Find the token with this hash that is neither revoked nor expired; updates used_at once an hour. 1, 0, -1. */
int store_token_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err);
/** Call `each` for all tokens by name, revoked ones too. */
int store_token_list(struct db *db, void (*each)(void *arg, const struct token_row *row), void *arg, struct fw_err *err);
/** Revoke a token and end its sessions. Err: ERR_NOT_FOUND no valid token of that name. */
int store_token_revoke(struct db *db, const char *name, int64_t now_ms, struct fw_err *err);
/** Replace the token of this name (the daemon's own) and end its sessions. */
int store_token_replace(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err);
/** Revoke tokens with scope admin whose creator is unknown. *n counts them. */
int store_token_revoke_unvouched(struct db *db, int64_t now_ms, int *n, struct fw_err *err);

/*
 * ---- audit ----
 * Requests of users that may have changed something: when, who, which address, with which status. Never their contents.
 */

enum { STORE_AUDIT_DAYS = 400 };

struct view_audit {
	int64_t id, at;
	const char *who, *path;
	int status;
};
typedef void view_audit_fn(void *arg, const struct view_audit *row);
/** Add a row, and delete some that are older than STORE_AUDIT_DAYS. */
int store_audit_add(struct db *db, const char *who, const char *path, int status, int64_t now_ms, struct fw_err *err);
/** Call `each` for all rows, the newest first. */
int view_audits(struct db *db, int64_t before, int limit, view_audit_fn *each, void *arg, struct fw_err *err);

/** Insert a session, and delete expired ones. `log_out`: encrypted, for the log-out at the provider; NULL: none. */
int store_session_insert(struct db *db, const char *hash, int64_t token, const char *log_out, int64_t expires_at, int64_t now_ms,
	struct fw_err *err);
/** Append the `log_out` of a session; nothing without one. */
int store_session_log_out(struct db *db, const char *hash, struct buf *out, struct fw_err *err);
/** Find the token of a session; its expires_at is the end of the session, if that is earlier. 1, 0, -1. */
int store_session_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err);
/** End a session. *was_open: it existed. */
int store_session_end(struct db *db, const char *hash, bool *was_open, struct fw_err *err);

/*
 * ---- account ----
 * Users who logged in at the OpenID Connect provider. Each has a row in `token` with its name and scope. Loop only.
 */

enum { STORE_REFRESH_MAX = 16 << 10 /* an encrypted refresh token, or the data of a log-out */ };

struct store_account {
	const char *issuer, *subject;
	const char *name, *scope; /* of its token */
	const char *hash;         /* of random bytes: no user has this token */
	const char *refresh;      /* encrypted; "": none */
};

/**
 * Insert or update an account and its token; *token gets the token's id. Without a refresh token in `a`, the one that is stored
 * stays. Err: ERR_CONFLICT another user has the name, and it was not revoked.
 */
int store_account_put(struct db *db, const struct store_account *a, int64_t *token, int64_t now_ms, struct fw_err *err);

/** The account whose groups must be requested next, and when. Units: ms UTC. */
struct store_account_due {
	int64_t id, at, checked_at;
	char subject[256], name[64], scope[16];
	char refresh[STORE_REFRESH_MAX];
};
/**
 * Find it: of those with an open session and a refresh token, the earliest of `every_ms` after the last answer or `retry_ms`
 * after a failed request. 1, 0 none, -1.
 */
int store_account_due(
	struct db *db, int64_t every_ms, int64_t retry_ms, int64_t now_ms, struct store_account_due *out, struct fw_err *err);
/** Note that a request begins. A last answer in the future is one of now: the clock was set back. */
int store_account_try(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err);
/** Let all accounts be due as if none was checked later than `checked_before_ms`. */
int store_account_hurry(struct db *db, int64_t checked_before_ms, struct fw_err *err);
/**
 * Store the answer to the request with the refresh token of `used`. *is_current false: the user has logged in or out since, and
 * nothing was changed.
 */
int store_account_check(struct db *db, const struct store_account_due *used, const char *scope, const char *refresh,
	int64_t now_ms, bool *is_current, struct fw_err *err);
/** Store only a new refresh token, unless the user has logged in or out since. */
int store_account_renew(struct db *db, const struct store_account_due *used, const char *refresh, struct fw_err *err);
/** End all sessions of the account, and delete its refresh token; *is_current as above. */
int store_account_end(struct db *db, const struct store_account_due *used, bool *is_current, struct fw_err *err);
/** End the sessions of all accounts of other issuers ("": of all accounts), and revoke their tokens. */
int store_account_end_others(struct db *db, const char *issuer, int64_t now_ms, struct fw_err *err);
/** Delete the refresh tokens of accounts without a session. */
int store_account_forget(struct db *db, int64_t now_ms, struct fw_err *err);

/* ---- unschedulable: Queued jobs that no worker can run, with the reason. Loop only. ---- */

/** A job that no known device fits, and its request. Texts are valid inside the callback. */
struct find_unschedulable {
	int64_t job;
	const char *kind, *uuid;              /* "": any */
	const char *model, *driver, *toolkit; /* of the requested class; "": any, or unknown */
	const char *down;                     /* a worker that is down and may have the device; "": none */
};
typedef void find_unschedulable_fn(void *arg, const struct find_unschedulable *row);

/**
 * Pass the queued jobs (`job` 0: all, else this one) that no device fits, by id. `devices` is a JSON array of the uuids that
 * workers report, `workers` a JSON array of {"name", "kind" ("": any), "how"}: "starting" may have any device of its kind, "on
 * call" has the devices of its earlier allocations, "down" has none now. Jobs with equal requests are checked together. Err: the
 * database's.
 */
int find_unschedulable(struct db *db, const char *devices, const char *workers, int64_t job, find_unschedulable_fn *each,
	void *arg, struct fw_err *err);

/* ---- view_measured: Cells of a profile with their properties in the explained comparison, and the times of both sides. ---- */

struct view_measured {
	int64_t cell; /* a view_profile_cell's id */
	const char *key, *state, *path, *base_config, *target_config;
	const char *group, *title, *direction;     /* "" where the profile explains no comparison */
	const char *baseline;                      /* key of the cell that it is shown next to; "" none */
	int size;                                  /* 0 in that case */
	double flops, base_ms, target_ms;          /* NAN: unknown */
	double base_peak_bytes, target_peak_bytes; /* tensors and workspace as allocated; NAN: unknown */
};
typedef void view_measured_fn(void *arg, const struct view_measured *row);
/** Call `each` for all rows, in the order of the job. */
int view_measured(struct db *db, int64_t profile, view_measured_fn *each, void *arg, struct fw_err *err);

/*
 * ---- view_profile ----
 * Views of profiles: the request and its state, the result of each cell, and its causes.
 *
 * The rules of db/view_live.c hold: texts of a row are valid inside the callback only, a callback must not start the same view
 * again (others are fine), lists come newest first from below `before` (0: from the newest), absent numbers are NAN, absent ids
 * and times 0.
 */

struct view_profile {
	int64_t id, job, comparison, alert;
	enum jobstate state; /* of its job */
	const char *state_why, *repo, *base, *target, *base_name, *target_name, *base_provider, *target_provider, *suite;
	const char *base_config, *target_config;  /* requested configuration; "": the provider chooses */
	const char *cells_glob, *device, *origin; /* device: uuid, once assigned */
	const char *answer;                       /* profile_answer: a sentence in every state */
	const char *sentence;                     /* the same where it names a cause, else "" */
	const char *cause;                        /* class of that cause; "": none, or one that only changed too */
	int64_t queued_at, started_at, ended_at;
};
typedef void view_profile_fn(void *arg, const struct view_profile *row);

/** Filters; 0 takes any. At most one of comparison and alert. */
struct view_profile_filter {
	int64_t comparison, alert;
	int64_t before;
	int limit;
};
int view_profiles(struct db *db, const struct view_profile_filter *f, view_profile_fn *each, void *arg, struct fw_err *err);
/** Call `each` for one row. ERR_NOT_FOUND. */
int view_profile(struct db *db, int64_t id, view_profile_fn *each, void *arg, struct fw_err *err);
/**
 * Call `each` for the newest profile with a cause, else the newest, of an alert, or of a comparison where `alert` is 0. 1, 0 no
 * profile was requested, -1.
 */
int view_profile_of(struct db *db, int64_t alert, int64_t comparison, view_profile_fn *each, void *arg, struct fw_err *err);

/** Call `each` for the profile that a job measures. 1, 0 it measures none, -1. */
int view_profile_of_job(struct db *db, int64_t job, view_profile_fn *each, void *arg, struct fw_err *err);
/**
 * Write the profile of view_profile_of as JSON: {"profile","state","state_why","answer","sentence","href"}; null: no profile was
 * requested.
 */
int view_profile_why(struct db *db, int64_t alert, int64_t comparison, struct jsonw *j, struct fw_err *err);
/** Return whether an alert's profile names a cause. 1, 0, -1. */
int view_profile_explains(struct db *db, int64_t alert, struct fw_err *err);

struct view_profile_cell {
	int64_t id;
	int n;
	const char *key, *state; /* done identical unsupported failed */
	const char *why, *path, *tool, *base_config, *target_config, *with_config, *stalls_why;
	const char *base_tried_json, *target_tried_json; /* as protocol/tried.c writes them; "null" none */
	int passes;
	double base_ms, target_ms, gpu_s;
	bool has_with; /* the target was timed in the base's configuration, too */
	double with_base_ms, with_target_ms, with_ms;
};
typedef void view_profile_cell_fn(void *arg, const struct view_profile_cell *row);
/** Call `each` for all rows, the largest slowdown first, cells without times last in the order of the job. */
int view_profile_cells(struct db *db, int64_t profile, view_profile_cell_fn *each, void *arg, struct fw_err *err);

struct view_cause {
	int rank;
	const char *code, *kernel, *confidence, *sentence; /* names as in profile/cause.c */
	double explained_ms, of_ms;
};
typedef void view_cause_fn(void *arg, const struct view_cause *row);
/** Call `each` for all rows, by rank. `cell` is a view_profile_cell's id, here and below. */
int view_profile_causes(struct db *db, int64_t cell, view_cause_fn *each, void *arg, struct fw_err *err);

struct view_profile_kernel {
	int64_t id;
	const char *side, *phase, *kernel, *code_sha, *grid, *block; /* grid: "132 1 1" */
	int repeat, n, registers, local_bytes, shared_bytes, ctas_per_sm;
	double ms;
};
typedef void view_profile_kernel_fn(void *arg, const struct view_profile_kernel *row);
/** Call `each` for all rows, base before target, the kernels of each process in launch order. */
int view_profile_kernels(struct db *db, int64_t cell, view_profile_kernel_fn *each, void *arg, struct fw_err *err);

typedef void view_profile_value_fn(void *arg, const char *metric, double value);
/** Call `each` for all rows, by name. `kernel` is a view_profile_kernel's id. */
int view_profile_values(struct db *db, int64_t kernel, view_profile_value_fn *each, void *arg, struct fw_err *err);

struct view_profile_code {
	const char *base, *target, *what, *opcodes_json, *base_takes_json, *target_takes_json, *hunks;
	const char *base_stalls_json, *target_stalls_json; /* as the schema has them; "": none */
};
typedef void view_profile_code_fn(void *arg, const struct view_profile_code *row);
/** Call `each` for all rows, in the order in which the worker sent them. */
int view_profile_codes(struct db *db, int64_t cell, view_profile_code_fn *each, void *arg, struct fw_err *err);

#endif
