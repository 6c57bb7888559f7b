/**
 * db.c - the only file that knows SQLite: opening with safe settings, transactions, cached statements, backup.
 *
 * Statements are found again by the address of their text, so a hot query costs one hash lookup and no parsing.
 */
#include "db/sqlite/db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

enum {
	APPLICATION_ID = 0x666c7077, /* "flpw" */
	APPLICATION_ID_UNRELEASED = 0x66776368,
	BUSY_MS = 5000,
	STATEMENT_BUCKETS = 128,
	VALUE_MAX_BYTES = 16 << 20,
	BACKUP_PORTION_PAGES = 4096 /* 16 MiB */
};

struct stmt {
	struct db *db;
	sqlite3_stmt *handle;
	const char *text; /* the caller's pointer: the key */
	const char *file;
	int line;
	struct stmt *next;
};

struct db {
	sqlite3 *handle;
	struct stmt *bucket[STATEMENT_BUCKETS];
	const char *begin_file; /* of the open transaction */
	int begin_line;
	bool has_outer, is_inside; /* db_outer_begin was called; a transaction is open inside of it */
};

/* ---- errors -------------------------------------------------------------------------------------------------------- */

/** What the operating system said last. SQLite keeps it for most statements, but not for a commit that fails. */
static int system_errno(sqlite3 *handle)
{
	int kept = handle ? sqlite3_system_errno(handle) : 0;
	return kept ? kept : errno;
}

static enum err_code code_of(sqlite3 *handle, int rc)
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
		return ERR_IO;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ERR_BUSY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return ERR_INVALID;
	case SQLITE_INTERRUPT:
		return ERR_CANCELLED;
	default:
		return ERR_INTERNAL;
	}
}

/** What a person can do about it; "" when the message says enough. */
static const char *advice(enum err_code code)
{
	switch (code) {
	case ERR_FULL:
		return "; the disk or a quota is full, free some space";
	case ERR_BUSY:
		return "; another process holds the database";
	case ERR_INVALID:
		return "; the file is damaged or no database, restore a backup";
	default:
		return "";
	}
}

static int fail(struct db *db, int rc, const char *file, int line, struct fw_err *err)
{
	enum err_code code = code_of(db->handle, rc);
	int system = system_errno(db->handle);
	bool os = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
	return err_set(err, code, "database: %s:%d: %s (%d)%s%s%s", file, line, sqlite3_errmsg(db->handle), rc,
		os && system ? ": " : "", os && system ? strerror(system) : "", advice(code));
}

/* ---- opening ------------------------------------------------------------------------------------------------------- */

/** Run a pragma whose answer, if any, must be `want` (NULL: not looked at). */
static int pragma(struct db *db, const char *sql, const char *want, struct fw_err *err)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db->handle, sql, -1, &s, NULL);
	char got[32] = "";
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		const unsigned char *text = sqlite3_column_text(s, 0);
		snprintf(got, sizeof(got), "%s", text ? (const char *)text : "");
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_DONE && rc != SQLITE_OK) {
		fail(db, rc, __FILE__, __LINE__, err);
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
		fail(db, rc, __FILE__, __LINE__, err);
		sqlite3_finalize(s);
		return -1;
	}
	*out = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return 0;
}

/** A file of somebody else's must not be written to: our mark, or nothing at all, has to be inside. */
static int claim(struct db *db, bool read_only, struct fw_err *err)
{
	int64_t id = 0, pages = 0;
	if (pragma_int(db, "PRAGMA application_id", &id, err) || pragma_int(db, "PRAGMA page_count", &pages, err))
		return -1;
	if (id == APPLICATION_ID)
		return 0;
	if (id == APPLICATION_ID_UNRELEASED)
		return err_set(err, ERR_UNSUPPORTED,
			"its tables are those of before version 1, which nothing reads any more; move it away, and flopwatchd "
			"makes a "
			"new one and measures the branches anew");
	if (id != 0 || pages != 0)
		return err_set(err, ERR_INVALID, "it is a database of another program; move it away or name another place");
	if (read_only)
		return err_set(err, ERR_INVALID, "it is empty; start flopwatchd once to make it");
	/* before the first table, or never */
	if (pragma(db, "PRAGMA auto_vacuum = INCREMENTAL", NULL, err))
		return -1;
	return pragma(db, "PRAGMA application_id = 1718382711", NULL, err);
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
	if (claim(db, read_only, err))
		return -1;
	if (read_only)
		return pragma(db, "PRAGMA query_only = ON", NULL, err);
	/* The answers are read because a file system without shared memory silently stays at another mode. */
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
		/* Made by us, so that nobody else may read it. O_EXCL: closing a file that is open already would drop its locks. */
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0)
			close(fd);
		else if (errno != EEXIST)
			return err_sys(err, "cannot create the database %s", path);
	}
	struct db *db = calloc(1, sizeof(*db));
	if (!db)
		return err_set(err, ERR_INTERNAL, "out of memory");
	int flags = (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX;
	int rc = sqlite3_open_v2(path, &db->handle, flags, NULL);
	if (rc != SQLITE_OK) {
		if (db->handle)
			fail(db, rc, __FILE__, __LINE__, err);
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
	sqlite3_close(db->handle);
	free(db);
}

/* ---- transactions -------------------------------------------------------------------------------------------------- */

bool db_in_transaction(const struct db *db)
{
	return !sqlite3_get_autocommit(db->handle);
}

/* Begin, commit and rollback run through cached statements too: they happen at every event of the loop. */
static int run_plain(struct db *db, const char *file, int line, const char *sql, struct fw_err *err)
{
	struct stmt *s = db_stmt_at(db, file, line, sql, err);
	return s ? stmt_run(s, err) : -1;
}

static const char sql_begin[] = "BEGIN IMMEDIATE", sql_commit[] = "COMMIT", sql_rollback[] = "ROLLBACK";
static const char sql_enter[] = "SAVEPOINT inside", sql_leave[] = "RELEASE inside", sql_undo[] = "ROLLBACK TO inside";

/* A reader that was left in the middle would keep the transaction's snapshot. */
static void reset_all(struct db *db)
{
	for (int i = 0; i < STATEMENT_BUCKETS; i++)
		for (struct stmt *s = db->bucket[i]; s; s = s->next)
			sqlite3_reset(s->handle);
}

int db_begin_at(struct db *db, const char *file, int line, struct fw_err *err)
{
	if (db->has_outer && !db->is_inside && db_in_transaction(db)) {
		if (run_plain(db, file, line, sql_enter, err))
			return -1;
		db->is_inside = true;
		return 0;
	}
	if (db_in_transaction(db))
		return err_set(err, ERR_INTERNAL, "database: %s:%d begins a transaction inside the one of %s:%d", file, line,
			db->begin_file ? db->begin_file : "?", db->begin_line);
	if (run_plain(db, file, line, sql_begin, err))
		return -1;
	db->begin_file = file;
	db->begin_line = line;
	return 0;
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
	if (!db_in_transaction(db))
		return;
	reset_all(db);
	if (was_inside && run_plain(db, file, db->begin_line, sql_undo, NULL) == 0 &&
		run_plain(db, file, db->begin_line, sql_leave, NULL) == 0)
		return;
	run_plain(db, file, db->begin_line, sql_rollback, NULL);
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

int db_outer_end(struct db *db, bool keep, struct fw_err *err)
{
	db->has_outer = false;
	if (db->is_inside || !keep) /* what was left open inside was not finished */
		db->is_inside = false, keep = false;
	if (keep)
		return db_commit(db, err);
	db_rollback(db);
	return 0;
}

/* ---- statements ---------------------------------------------------------------------------------------------------- */

static unsigned bucket_of(const char *text)
{
	uint64_t h = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15ull;
	return (unsigned)(h >> 57) % STATEMENT_BUCKETS;
}

struct stmt *db_stmt_at(struct db *db, const char *file, int line, const char *sql, struct fw_err *err)
{
	unsigned b = bucket_of(sql);
	for (struct stmt *s = db->bucket[b]; s; s = s->next)
		if (s->text == sql && strcmp(sqlite3_sql(s->handle), sql) == 0) {
			s->file = file;
			s->line = line;
			sqlite3_reset(s->handle);
			sqlite3_clear_bindings(s->handle);
			return s;
		}
	sqlite3_stmt *handle = NULL;
	const char *rest = NULL;
	int rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, &rest);
	if (rc != SQLITE_OK) {
		fail(db, rc, file, line, err);
		return NULL;
	}
	if (!handle || *rest) {
		sqlite3_finalize(handle);
		err_set(err, ERR_INTERNAL, "database: %s:%d: not exactly one statement", file, line);
		return NULL;
	}
	struct stmt *s = calloc(1, sizeof(*s));
	if (!s) {
		sqlite3_finalize(handle);
		err_set(err, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	*s = (struct stmt){ .db = db, .handle = handle, .text = sql, .file = file, .line = line, .next = db->bucket[b] };
	db->bucket[b] = s;
	return s;
}

static int parameter(struct stmt *s, const char *name)
{
	int i = sqlite3_bind_parameter_index(s->handle, name);
	if (i)
		return i;
	fprintf(stderr, "database: %s:%d: no parameter %s in: %s\n", s->file, s->line, name, sqlite3_sql(s->handle));
	abort();
}

/* A bind can only fail for want of memory or for size; the value then is NULL, and NOT NULL columns refuse it. */
static void bind_null(struct stmt *s, const char *name)
{
	(void)sqlite3_bind_null(s->handle, parameter(s, name));
}

void stmt_int(struct stmt *s, const char *name, int64_t v)
{
	(void)sqlite3_bind_int64(s->handle, parameter(s, name), v);
}

void stmt_double(struct stmt *s, const char *name, double v)
{
	if (isfinite(v))
		(void)sqlite3_bind_double(s->handle, parameter(s, name), v);
	else
		bind_null(s, name);
}

void stmt_text(struct stmt *s, const char *name, const char *v)
{
	if (v)
		(void)sqlite3_bind_text(s->handle, parameter(s, name), v, -1, SQLITE_TRANSIENT);
	else
		bind_null(s, name);
}

void stmt_blob(struct stmt *s, const char *name, const void *v, size_t len)
{
	if (!v)
		bind_null(s, name);
	else if (len == 0)
		(void)sqlite3_bind_zeroblob(s->handle, parameter(s, name), 0);
	else
		(void)sqlite3_bind_blob64(s->handle, parameter(s, name), v, len, SQLITE_TRANSIENT);
}

void stmt_int_or_null(struct stmt *s, const char *name, int64_t v)
{
	if (v)
		stmt_int(s, name, v);
	else
		bind_null(s, name);
}

int stmt_step(struct stmt *s, struct fw_err *err)
{
	errno = 0;
	int rc = sqlite3_step(s->handle);
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		fail(s->db, rc, s->file, s->line, err);
	sqlite3_reset(s->handle);
	return rc == SQLITE_DONE ? 0 : -1;
}

int stmt_run(struct stmt *s, struct fw_err *err)
{
	int r;
	while ((r = stmt_step(s, err)) == 1)
		;
	return r;
}

int stmt_insert(struct stmt *s, int64_t *id, struct fw_err *err)
{
	if (stmt_run(s, err))
		return -1;
	if (id)
		*id = sqlite3_last_insert_rowid(s->db->handle);
	return 0;
}

int stmt_run_count(struct stmt *s, int *n, struct fw_err *err)
{
	if (stmt_run(s, err))
		return -1;
	*n = db_changes(s->db);
	return 0;
}

int stmt_any(struct stmt *s, struct fw_err *err)
{
	int r = stmt_step(s, err);
	stmt_reset(s);
	return r;
}

int stmt_first_int(struct stmt *s, int64_t *v, struct fw_err *err)
{
	int r = stmt_step(s, err);
	if (r == 1)
		*v = row_int(s, 0);
	stmt_reset(s);
	return r;
}

int stmt_first_text(struct stmt *s, char *out, size_t size, struct fw_err *err)
{
	int r = stmt_step(s, err);
	if (r == 1)
		row_copy(s, 0, out, size);
	stmt_reset(s);
	return r;
}

void stmt_reset(struct stmt *s)
{
	sqlite3_reset(s->handle);
}

/* ---- columns ------------------------------------------------------------------------------------------------------- */

int64_t row_int(struct stmt *s, int column)
{
	return sqlite3_column_int64(s->handle, column);
}

double row_double(struct stmt *s, int column)
{
	double v = sqlite3_column_double(s->handle, column);
	return v == 0 && row_is_null(s, column) ? NAN : v; /* NULL reads as 0: the type is asked for only then */
}

const char *row_text(struct stmt *s, int column)
{
	const unsigned char *text = sqlite3_column_text(s->handle, column);
	return text ? (const char *)text : "";
}

const void *row_blob(struct stmt *s, int column, size_t *len)
{
	const void *data = sqlite3_column_blob(s->handle, column);
	*len = (size_t)sqlite3_column_bytes(s->handle, column);
	return data ? data : "";
}

bool row_is_null(struct stmt *s, int column)
{
	return sqlite3_column_type(s->handle, column) == SQLITE_NULL;
}

void row_copy(struct stmt *s, int column, char *out, size_t size)
{
	snprintf(out, size, "%s", row_text(s, column));
}

int db_changes(struct db *db)
{
	return sqlite3_changes(db->handle);
}

int64_t db_written(struct db *db)
{
	return sqlite3_total_changes64(db->handle);
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
	char sql[64]; /* a pragma takes no bound values; this one holds a number and nothing else */
	snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", version);
	return pragma(db, sql, NULL, err);
}

int db_try_write(struct db *db, struct fw_err *err)
{
	int version;
	return db_version(db, &version, err) != 0 || db_set_version(db, version, err) != 0 ? -1 : 0;
}

int db_shrink(struct db *db, struct fw_err *err)
{
	_Static_assert(DB_SHRINK_PAGES == 512, "the pragma below spells the number out");
	int64_t pages, empty;
	if (pragma_int(db, "PRAGMA page_count", &pages, err) || pragma_int(db, "PRAGMA freelist_count", &empty, err))
		return -1;
	/* what is free is used again soon: only where much of it lies idle is the file worth moving */
	if (empty < DB_SHRINK_PAGES || empty < pages / 10)
		return 0;
	return pragma(db, "PRAGMA incremental_vacuum(512)", NULL, err) ? -1 : 1;
}

int db_script(struct db *db, const char *sql, struct fw_err *err)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : fail(db, rc, __FILE__, __LINE__, err);
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
	int r = rc == SQLITE_DONE || rc == SQLITE_OK ? 0 : fail(db, rc, __FILE__, __LINE__, err);
	sqlite3_finalize(s);
	buf_fini(&text);
	return r;
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

int db_check(struct db *db, struct fw_err *err)
{
	if (pragma(db, "PRAGMA integrity_check(1)", "ok", NULL))
		return err_set(err, ERR_INVALID, "database: integrity_check found damage; restore a backup");
	struct stmt *s = db_stmt(db, "SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 1", err);
	if (!s)
		return -1;
	int r = stmt_step(s, err);
	if (r == 1) {
		err_set(err, ERR_INVALID, "database: row %lld of %s points to a row of %s that is not there",
			(long long)row_int(s, 1), row_text(s, 0), row_text(s, 2));
		stmt_reset(s);
	}
	return r == 0 ? 0 : -1;
}

/* ---- backup ---------------------------------------------------------------------------------------------------------- */

static int copy_pages(struct db *db, sqlite3 *to, int to_fd, struct fw_err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", db->handle, "main");
	if (!b)
		return err_set(err, ERR_IO, "backup: %s", sqlite3_errmsg(to));
	int rc, patience = 200, flushed = 0; /* the source can be read: busy is only ever somebody who looks into the new file */
	do {
		errno = 0;
		rc = sqlite3_backup_step(b, BACKUP_PORTION_PAGES);
		if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
			sqlite3_sleep(5);
		/* bit by bit, because the writer's next commit would wait for all that the disk has yet to take */
		else if (rc == SQLITE_OK)
			flushed = fdatasync(to_fd);
	} while (flushed == 0 && (rc == SQLITE_OK || ((rc == SQLITE_BUSY || rc == SQLITE_LOCKED) && --patience > 0)));
	enum err_code code = code_of(NULL, rc);
	int result = flushed == 0 ? 0 : err_sys(err, "backup: cannot write the copy to the disk");
	int done = sqlite3_backup_finish(b);
	if (result != 0 || (rc == SQLITE_DONE && done == SQLITE_OK))
		return result;
	return err_set(err, code, "backup: %s (%d)%s", sqlite3_errstr(rc), rc, advice(code));
}

/* One reading transaction for all portions: without it every commit of another connection would begin the copy anew. */
static int copy_snapshot(struct db *db, sqlite3 *to, int to_fd, struct fw_err *err)
{
	/* nobody will ever want back what the new file held before, and it is flushed here */
	if (sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL) != SQLITE_OK)
		return err_set(err, ERR_IO, "backup: %s", sqlite3_errmsg(to));
	int rc = sqlite3_exec(db->handle, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	int result = rc == SQLITE_OK ? copy_pages(db, to, to_fd, err) : fail(db, rc, __FILE__, __LINE__, err);
	db_rollback(db);
	if (result != 0)
		return result;
	/* A copy in WAL mode leaves a -wal beside it; one plain file is easier to carry away. flopwatchd turns WAL on again. */
	if (sqlite3_exec(to, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
		return err_set(err, ERR_IO, "backup: %s", sqlite3_errmsg(to));
	return 0;
}

static int backup_into(struct db *db, const char *temp, struct fw_err *err)
{
	sqlite3 *to = NULL;
	int fd = open(temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "backup: cannot create %s", temp);
	int rc = sqlite3_open_v2(temp, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	int result = rc == SQLITE_OK ? copy_snapshot(db, to, fd, err)
				     : err_set(err, ERR_IO, "backup: cannot open %s: %s", temp, sqlite3_errstr(rc));
	sqlite3_close(to);
	if (result == 0 && fsync(fd) != 0)
		result = err_sys(err, "backup: cannot write %s to the disk", temp);
	close(fd);
	return result;
}

static int sync_folder_of(const char *path, struct fw_err *err)
{
	char folder[PATH_MAX];
	snprintf(folder, sizeof(folder), "%s", path);
	char *slash = strrchr(folder, '/');
	if (!slash)
		snprintf(folder, sizeof(folder), ".");
	else if (slash == folder)
		slash[1] = 0;
	else
		*slash = 0;
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "backup: cannot open %s", folder);
	int result = fsync(fd) ? err_sys(err, "backup: cannot write %s to the disk", folder) : 0;
	close(fd);
	return result;
}

static const char part_suffix[] = ".part";

void db_backup_discard(const char *path)
{
	static const char *const beside[] = { "", "-journal", "-wal", "-shm" };
	char name[PATH_MAX];
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		if (snprintf(name, sizeof(name), "%s%s%s", path, part_suffix, beside[i]) < (int)sizeof(name))
			unlink(name);
}

int db_backup(struct db *db, const char *path, struct fw_err *err)
{
	char temp[PATH_MAX];
	if (snprintf(temp, sizeof(temp), "%s%s", path, part_suffix) >= (int)sizeof(temp))
		return err_set(err, ERR_INVALID, "backup: the path is too long");
	db_backup_discard(path);
	int result = backup_into(db, temp, err);
	if (result == 0 && rename(temp, path) != 0)
		result = err_sys(err, "backup: cannot rename %s to %s", temp, path);
	if (result == 0)
		return sync_folder_of(path, err);
	db_backup_discard(path);
	return -1;
}
