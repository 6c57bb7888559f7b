/**
 * statement.c - statements and their columns. They are found again by the address of their text, so a hot query costs one hash lookup
 * and no parsing.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/sqlite/inside.h"

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
		db_fail(db, rc, file, line, err);
		return NULL;
	}
	if (!handle || *rest) {
		sqlite3_finalize(handle);
		err_set(err, ERR_INTERNAL, "database: %s:%d: not exactly one statement", file, line);
		return NULL;
	}
	struct stmt *s = calloc(1, sizeof *s);
	if (!s) {
		sqlite3_finalize(handle);
		err_set(err, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	*s = (struct stmt){ .db = db,
		.handle = handle,
		.text = sql,
		.file = file,
		.line = line,
		.only_reads = sqlite3_stmt_readonly(handle),
		.next = db->bucket[b] };
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

void stmt_part(struct stmt *s, const char *name, const char *v, size_t len)
{
	(void)sqlite3_bind_text(s->handle, parameter(s, name), v, (int)len, SQLITE_TRANSIENT);
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

int db_check_place(struct db *db, struct fw_err *err)
{
	int has_moved = 0;
	if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) != SQLITE_OK || !has_moved)
		return 0;
	return err_set(err, ERR_IO, "database: %s was deleted or replaced in use; put it back, or start flopwatchd again",
		sqlite3_db_filename(db->handle, "main"));
}

int stmt_step(struct stmt *s, struct fw_err *err)
{
	struct db *db = s->db;
	bool begins_to_write = !s->only_reads && !db_in_transaction(db) && !sqlite3_stmt_busy(s->handle);
	if (begins_to_write && db_check_place(db, err) != 0)
		return -1;
	errno = 0;
	int rc = sqlite3_step(s->handle);
	if (begins_to_write && db->is_held && (rc == SQLITE_ROW || rc == SQLITE_DONE)) {
		sqlite3_busy_timeout(db->handle, BUSY_HURRIED_MS);
		db->is_held = false;
	}
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		db_fail(db, rc, s->file, s->line, err);
	sqlite3_reset(s->handle);
	return rc == SQLITE_DONE ? 0 : -1;
}

int stmt_run(struct stmt *s, struct fw_err *err)
{
	int result;
	while ((result = stmt_step(s, err)) == 1)
		;
	return result;
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
	int result = stmt_step(s, err);
	stmt_reset(s);
	return result;
}

int stmt_first_int(struct stmt *s, int64_t *v, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result == 1)
		*v = row_int(s, 0);
	stmt_reset(s);
	return result;
}

int stmt_first_text(struct stmt *s, char *out, size_t size, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result == 1)
		row_copy(s, 0, out, size);
	stmt_reset(s);
	return result;
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
