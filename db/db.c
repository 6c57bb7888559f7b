/**
 * db.c - opening with safe settings, errors, transactions, and operations on the whole file. Statements are in statement.c,
 * copies in backup.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "db/sqlite.h"

enum {
	APPLICATION_ID = 0x666c7077, /* "flpw" */
	APPLICATION_ID_UNRELEASED = 0x66776368,
	BUSY_MS = 5000,
};

/* ---- errors -------------------------------------------------------------------------------------------------------- */

/** errno of the latest failure. SQLite stores it for most statements, but not for a failed commit. */
static int system_errno(sqlite3 *handle)
{
	int code = handle ? sqlite3_system_errno(handle) : 0;
	return code ? code : errno;
}

enum err_code db_code_of(sqlite3 *handle, int rc)
{
	int system = system_errno(handle);
	switch (rc & 0xff) {
	case SQLITE_FULL:
	case SQLITE_TOOBIG:
		return ERR_FULL;
	case SQLITE_IOERR:
		return system == ENOSPC || system == EDQUOT || system == EFBIG ? ERR_FULL : ERR_IO;
	case SQLITE_CANTOPEN:
		return system == ENOSPC || system == EDQUOT ? ERR_FULL : ERR_IO;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_NOMEM: /* may succeed later, as after a failure of the disk */
		return ERR_IO;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ERR_BUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return ERR_DAMAGED;
	case SQLITE_INTERRUPT:
		return ERR_CANCELLED;
	default:
		return ERR_INTERNAL;
	}
}

const char *db_advice(enum err_code code)
{
	switch (code) {
	case ERR_FULL:
		return "; the disk or a quota is full, free some space";
	case ERR_BUSY:
		return "; another process holds the database (see doc/troubleshooting.md#database-held)";
	case ERR_DAMAGED:
		return "; the file is damaged or no database, restore a backup (see doc/troubleshooting.md#database-damaged)";
	default:
		return "";
	}
}

int db_fail(struct db *db, int rc, const char *file, int line, struct fw_err *err)
{
	enum err_code code = db_code_of(db->handle, rc);
	int system = system_errno(db->handle);
	if (code == ERR_BUSY && db->is_hurried &&
		!db->is_held) { /* waited once: later writes do not wait until the lock is free */
		sqlite3_busy_timeout(db->handle, 0);
		db->is_held = true;
	}
	bool os = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
	return err_set(err, code, "database: %s:%d: %s (%d)%s%s%s", file, line, sqlite3_errmsg(db->handle), rc,
		os && system ? ": " : "", os && system ? strerror(system) : "", db_advice(code));
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

/** Run a pragma whose result must be `want` (NULL: any). */
static int pragma(struct db *db, const char *sql, const char *want, struct fw_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->handle, sql, -1, &s, NULL);
	char got[32] = "";
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const unsigned char *text = sqlite3_column_text(s, 0);
		snprintf(got, sizeof got, "%s", text ? (const char *)text : "");
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_DONE && rc != SQLITE_OK) {
		db_fail(db, rc, __FILE__, __LINE__, err);
		err_context(err, "%s", sql);
		sqlite3_finalize(s);
		return -1;
	}
	sqlite3_finalize(s);
	if (want && strcmp(got, want) != 0)
		return err_set(err, ERR_UNSUPPORTED,
			"database: %s answered \"%s\" instead of \"%s\"; put the file on a local file system", sql, got, want);
	return 0;
}

static int pragma_int(struct db *db, const char *sql, int64_t *out, struct fw_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->handle, sql, -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc != SQLITE_ROW) {
		db_fail(db, rc, __FILE__, __LINE__, err);
		sqlite3_finalize(s);
		return -1;
	}
	*out = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return 0;
}

/** Accept only an empty file or one with our application_id: files of other programs must not be written. */
static int check_application(struct db *db, bool read_only, struct fw_err *err)
{
	int64_t id = 0, pages = 0;
	if (pragma_int(db, "PRAGMA application_id", &id, err) || pragma_int(db, "PRAGMA page_count", &pages, err))
		return -1;
	if (id == APPLICATION_ID)
		return 0;
	if (id == APPLICATION_ID_UNRELEASED)
		return err_set(err, ERR_UNSUPPORTED,
			"its tables are older than version 1 and unsupported; move it away, and flopwatchd creates a new database and "
			"measures all branches again");
	if (id != 0 || pages != 0)
		return err_set(err, ERR_INVALID, "it is a database of another program; move it away or configure another path");
	if (read_only)
		return err_set(err, ERR_INVALID, "it is empty; start flopwatchd once to create it");
	/* Both or neither, also when the power fails in between: a file with a page and without our id is refused above. Deferred, since
	   auto_vacuum takes effect only before the first page. */
	if (pragma(db, "BEGIN DEFERRED", NULL, err) || pragma(db, "PRAGMA auto_vacuum = INCREMENTAL", NULL, err) ||
		pragma(db, "PRAGMA application_id = 1718382711", NULL, err))
		return -1;
	return pragma(db, "COMMIT", NULL, err);
}
_Static_assert(APPLICATION_ID == 1718382711, "the pragma above spells the number out");

static int configure(struct db *db, bool read_only, struct fw_err *err)
{
	sqlite3 *h = db->handle;
	sqlite3_extended_result_codes(h, 1);
	sqlite3_busy_timeout(h, BUSY_MS);
	sqlite3_limit(h, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
	sqlite3_limit(h, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 128);
	sqlite3_db_config(h, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(h, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (pragma(db, "PRAGMA mmap_size = 0", NULL, err) || pragma(db, "PRAGMA cell_size_check = ON", NULL, err) ||
		pragma(db, "PRAGMA temp_store = MEMORY", NULL, err) || pragma(db, "PRAGMA cache_size = -4096", NULL, err))
		return -1;
	if (check_application(db, read_only, err))
		return -1;
	if (read_only)
		return pragma(db, "PRAGMA query_only = ON", NULL, err);
	/* Check the results: on a file system without shared memory SQLite silently stays in another mode. */
	if (pragma(db, "PRAGMA journal_mode = WAL", "wal", err) || pragma(db, "PRAGMA synchronous = FULL", NULL, err) ||
		pragma(db, "PRAGMA synchronous", "2", err) || pragma(db, "PRAGMA foreign_keys = ON", NULL, err) ||
		pragma(db, "PRAGMA foreign_keys", "1", err) || pragma(db, "PRAGMA journal_size_limit = 67108864", NULL, err) ||
		pragma(db, "PRAGMA secure_delete = FAST", NULL, err))
		return -1;
	return 0;
}

int db_open(const char *path, bool read_only, struct db **out, struct fw_err *err)
{
	*out = NULL;
	if (!read_only) {
		/* Create the file with mode 0600. O_EXCL: closing a file that is open already would drop its locks. */
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		else if (errno != EEXIST)
			return err_sys(err, "cannot create the database %s", path);
	}
	struct db *db = mem_alloc_zero(1, sizeof *db);
	int flags = (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
	int rc = sqlite3_open_v2(path, &db->handle, flags, NULL);
	if (rc != SQLITE_OK) {
		if (db->handle)
			db_fail(db, rc, __FILE__, __LINE__, err);
		else
			err_set(err, ERR_INTERNAL, "out of memory");
	} else if (configure(db, read_only, err) == 0) {
		*out = db;
		return 0;
	}
	err_context(err, "%s", path);
	db_close(db);
	return -1;
}

int db_open_scratch(struct db **out, struct fw_err *err)
{
	struct db *db = mem_alloc_zero(1, sizeof *db);

	*out = db;
	int rc = sqlite3_open_v2(":memory:", &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc == SQLITE_OK)
		return 0;
	if (db->handle)
		db_fail(db, rc, __FILE__, __LINE__, err);
	else
		err_set(err, ERR_INTERNAL, "out of memory");
	db_close(db);
	*out = NULL;
	return -1;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	for (int i = 0; i < STATEMENT_BUCKETS; i++)
		for (struct stmt *s = db->bucket[i], *next; s; s = next) {
			next = s->next;
			sqlite3_finalize(s->handle);
			free(s);
		}
	db_attach(db, NULL, NULL);
	sqlite3_close(db->handle);
	free(db);
}

void db_attach(struct db *db, void *what, void (*drop)(void *what))
{
	if (db->attached)
		db->drop(db->attached);
	db->attached = what;
	db->drop = drop;
}

void *db_attached(const struct db *db)
{
	return db->attached;
}

void db_folder(struct db *db, char *out, size_t size)
{
	snprintf(out, size, "%s", sqlite3_db_filename(db->handle, "main"));
	char *slash = strrchr(out, '/');
	if (slash)
		slash[slash == out] = '\0';
}

void db_hurry(struct db *db)
{
	db->is_hurried = true;
	sqlite3_busy_timeout(db->handle, BUSY_HURRIED_MS);
}

/* ---- transactions -------------------------------------------------------------------------------------------------- */

bool db_in_transaction(const struct db *db)
{
	return !sqlite3_get_autocommit(db->handle);
}

/* Cached statements for begin, commit and rollback, too: they run at every event of the loop. */
static int run_plain(struct db *db, const char *file, int line, const char *sql, struct fw_err *err)
{
	struct stmt *s = db_stmt_at(db, file, line, sql, err);
	return stmt_run(s, err);
}

static const char sql_snapshot[] = "BEGIN", sql_begin[] = "BEGIN IMMEDIATE", sql_commit[] = "COMMIT", sql_rollback[] = "ROLLBACK";
static const char sql_enter[] = "SAVEPOINT inside", sql_leave[] = "RELEASE inside", sql_undo[] = "ROLLBACK TO inside";

/* A statement that was not stepped to its end would hold the transaction's snapshot. */
static void reset_all(struct db *db)
{
	for (int i = 0; i < STATEMENT_BUCKETS; i++)
		for (struct stmt *s = db->bucket[i]; s; s = s->next)
			sqlite3_reset(s->handle);
}

static int begin(struct db *db, const char *file, int line, const char *sql, struct fw_err *err)
{
	if (db->rollback_failed)
		db_rollback(db);
	if (db_in_transaction(db))
		return err_set(err, ERR_INTERNAL, "database: %s:%d begins a transaction inside the one of %s:%d", file, line,
			db->begin_file ? db->begin_file : "?", db->begin_line);
	if (run_plain(db, file, line, sql, err))
		return -1;
	db->begin_file = file;
	db->begin_line = line;
	return 0;
}

int db_begin_at(struct db *db, const char *file, int line, struct fw_err *err)
{
	if (!db->has_outer || db->is_inside || !db_in_transaction(db))
		return begin(db, file, line, sql_begin, err);
	if (run_plain(db, file, line, sql_enter, err))
		return -1;
	db->is_inside = true;
	return 0;
}

int db_snapshot_begin_at(struct db *db, const char *file, int line, struct fw_err *err)
{
	return begin(db, file, line, sql_snapshot, err);
}

void db_snapshot_end(struct db *db)
{
	if (db_in_transaction(db) && run_plain(db, db->begin_file, db->begin_line, sql_commit, NULL) != 0)
		db_rollback(db);
}

int db_commit(struct db *db, struct fw_err *err)
{
	if (!db_in_transaction(db))
		return err_set(err, ERR_INTERNAL, "database: the transaction of %s:%d is not open any more; nothing was stored",
			db->begin_file ? db->begin_file : "?", db->begin_line);
	const char *sql = db->is_inside ? sql_leave : sql_commit;
	if (run_plain(db, db->begin_file, db->begin_line, sql, err) == 0) {
		db->is_inside = false;
		return 0;
	}
	db_rollback(db);
	return -1;
}

void db_rollback(struct db *db)
{
	const char *file = db->begin_file ? db->begin_file : __FILE__;
	bool was_inside = db->is_inside;
	db->is_inside = false;
	db->rollback_failed = false;
	if (!db_in_transaction(db))
		return;
	reset_all(db);
	if (was_inside && run_plain(db, file, db->begin_line, sql_undo, NULL) == 0 &&
		run_plain(db, file, db->begin_line, sql_leave, NULL) == 0)
		return;
	db->rollback_failed = run_plain(db, file, db->begin_line, sql_rollback, NULL) != 0 && db_in_transaction(db);
}

int db_outer_begin_at(struct db *db, const char *file, int line, struct fw_err *err)
{
	if (db_begin_at(db, file, line, err))
		return -1;
	db->has_outer = true;
	return 0;
}

bool db_in_outer(const struct db *db)
{
	return db->has_outer;
}

int db_outer_end(struct db *db, bool is_done, struct fw_err *err)
{
	db->has_outer = false;
	if (db->is_inside || !is_done) /* an inner transaction that is still open was not finished */
		db->is_inside = false, is_done = false;
	if (is_done)
		return db_commit(db, err);
	db_rollback(db);
	return 0;
}

/* ---- the whole file ------------------------------------------------------------------------------------------------ */

int db_version(struct db *db, int *version, struct fw_err *err)
{
	int64_t v;
	if (pragma_int(db, "PRAGMA user_version", &v, err))
		return -1;
	*version = (int)v;
	return 0;
}

int db_set_version(struct db *db, int version, struct fw_err *err)
{
	char sql[64]; /* a pragma takes no bound values; the text is a constant and a number */
	snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
	return pragma(db, sql, NULL, err);
}

int db_try_write(struct db *db, struct fw_err *err)
{
	int version;
	return db_check_position(db, err) != 0 || db_version(db, &version, err) != 0 || db_set_version(db, version, err) != 0 ? -1
															      : 0;
}

int db_shrink(struct db *db, struct fw_err *err)
{
	_Static_assert(DB_SHRINK_PAGES == 512, "the pragma below spells the number out");
	int64_t pages, empty;
	if (pragma_int(db, "PRAGMA page_count", &pages, err) || pragma_int(db, "PRAGMA freelist_count", &empty, err))
		return -1;
	/* later rows reuse free pages: move pages only where many are free */
	if (empty < DB_SHRINK_PAGES || empty < pages / 10)
		return 0;
	return pragma(db, "PRAGMA incremental_vacuum(512)", NULL, err) ? -1 : 1;
}

int db_script(struct db *db, const char *sql, struct fw_err *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : db_fail(db, rc, __FILE__, __LINE__, err);
}

static int explain(
	struct db *db, const char *sql, void (*each)(void *arg, const char *sql, const char *step), void *arg, struct fw_err *err)
{
	static const char prefix[] = "EXPLAIN QUERY PLAN ";
	struct buf text;
	sqlite3_stmt *s = NULL;
	buf_init(&text, VALUE_MAX_BYTES);
	buf_puts(&text, prefix);
	buf_puts(&text, sql);
	int rc = sqlite3_prepare_v2(db->handle, text.data, -1, &s, NULL);
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		each(arg, sql, (const char *)sqlite3_column_text(s, 3));
		rc = SQLITE_OK;
	}
	int result = rc == SQLITE_DONE || rc == SQLITE_OK ? 0 : db_fail(db, rc, __FILE__, __LINE__, err);
	sqlite3_finalize(s);
	buf_fini(&text);
	return result;
}

int db_explain(struct db *db, void (*each)(void *arg, const char *sql, const char *step), void *arg, struct fw_err *err)
{
	for (int i = 0; i < STATEMENT_BUCKETS; i++)
		for (struct stmt *s = db->bucket[i]; s; s = s->next)
			if (explain(db, s->text, each, arg, err))
				return -1;
	return 0;
}

int64_t db_steps(struct db *db)
{
	int64_t steps = 0;
	for (int i = 0; i < STATEMENT_BUCKETS; i++)
		for (struct stmt *s = db->bucket[i]; s; s = s->next)
			steps += sqlite3_stmt_status(s->handle, SQLITE_STMTSTATUS_VM_STEP, 0);
	return steps;
}

/* SQLite's integrity check, up to its first finding. */
static int check_file(struct db *db, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "PRAGMA integrity_check(1)", err);
	int result = stmt_step(s, err);
	if (result == 1 && strcmp(row_text(s, 0), "ok") != 0)
		result = err_set(err, ERR_DAMAGED,
			"database: integrity_check found damage (%.200s); restore a backup (see doc/troubleshooting.md#database-damaged)",
			row_text(s, 0));
	if (s)
		stmt_reset(s);
	return result < 0 ? -1 : 0;
}

static int check_references(struct db *db, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 1", err);
	int result = stmt_step(s, err);
	if (result == 1) {
		err_set(err, ERR_DAMAGED, "database: row %lld of %s refers to a missing row of %s; restore a backup",
			(long long)row_int(s, 1), row_text(s, 0), row_text(s, 2));
		stmt_reset(s);
	}
	return result == 0 ? 0 : -1;
}

int db_check(struct db *db, struct fw_err *err)
{
	return check_file(db, err) == 0 ? check_references(db, err) : -1;
}

static int is_over(void *arg)
{
	return clock_mono_ns() > *(const int64_t *)arg;
}

int db_check_within(struct db *db, int64_t ms, struct fw_err *err)
{
	int64_t end_ns = clock_mono_ns() + ms * 1000000;
	sqlite3_progress_handler(db->handle, 20000, is_over, &end_ns);
	int result = db_check(db, err);
	sqlite3_progress_handler(db->handle, 0, NULL, NULL);
	if (result == 0 || err->code != ERR_CANCELLED)
		return result;
	err_clear(err);
	return err_set(err, ERR_TIMEOUT, "database: %lld ms were not enough to check the whole file", (long long)ms);
}
