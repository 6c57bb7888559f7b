/**
 * statement.c - prepared statements and their columns. The cache is keyed by the address of the text, so a hot query costs one
 * hash lookup and no parsing.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "db/sqlite.h"

static unsigned bucket_of(const char *text)
{
	uint64_t h = (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15ULL;
	return (unsigned)(h >> 57) % STATEMENT_BUCKETS;
}

struct stmt *db_stmt_at(struct db *db, const char *file, int line, const char *sql, struct fw_err *err)
{
	unsigned b = bucket_of(sql);
	for (struct stmt *s = db->bucket[b]; s; s = s->next)
		if (s->text == sql && strcmp(sqlite3_sql(s->handle), sql) == 0) {
			s->file = file;
			s->line = line;
			s->unknown = NULL;
			s->bind_rc = SQLITE_OK;
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
	struct stmt *s = mem_alloc(sizeof *s);
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

/* ---- binding ------------------------------------------------------------------------------------------------------- */

/** Index of a parameter; 0 where the statement is NULL or has no such parameter, which stmt_step then reports. */
static int parameter(struct stmt *s, const char *name)
{
	int i = s ? sqlite3_bind_parameter_index(s->handle, name) : 0;
	if (s && !i && !s->unknown)
		s->unknown = name;
	return i;
}

/** Remember the first bind that failed, for stmt_step. */
static void note_bind(struct stmt *s, int rc)
{
	if (rc != SQLITE_OK && s->bind_rc == SQLITE_OK)
		s->bind_rc = rc;
}

static void bind_int(struct stmt *s, int i, int64_t v)
{
	note_bind(s, sqlite3_bind_int64(s->handle, i, v));
}

static void bind_double(struct stmt *s, int i, double v)
{
	note_bind(s, isfinite(v) ? sqlite3_bind_double(s->handle, i, v) : sqlite3_bind_null(s->handle, i));
}

/** `len` < 0: up to its NUL. */
static void bind_text(struct stmt *s, int i, const char *v, int len)
{
	note_bind(s, v ? sqlite3_bind_text(s->handle, i, v, len, SQLITE_TRANSIENT) : sqlite3_bind_null(s->handle, i));
}

void stmt_int(struct stmt *s, const char *name, int64_t v)
{
	int i = parameter(s, name);
	if (i)
		bind_int(s, i, v);
}

void stmt_text(struct stmt *s, const char *name, const char *v)
{
	int i = parameter(s, name);
	if (i)
		bind_text(s, i, v, -1);
}

static void bind_blob(struct stmt *s, int i, const void *v, size_t len)
{
	if (!v)
		note_bind(s, sqlite3_bind_null(s->handle, i));
	else if (len == 0)
		note_bind(s, sqlite3_bind_zeroblob(s->handle, i, 0));
	else
		note_bind(s, sqlite3_bind_blob64(s->handle, i, v, len, SQLITE_TRANSIENT));
}

/**
 * Bind the value of parameter `i` for one conversion of db_query's `binds`; `null_zero` is its "?". False: unknown conversion.
 */
static bool bind_value(struct stmt *s, int i, bool null_zero, const char *conversion, size_t len, va_list *args)
{
	if (len == 3 && memcmp(conversion, "%ld", 3) == 0) {
		int64_t v = va_arg(*args, long);
		note_bind(s, null_zero && !v ? sqlite3_bind_null(s->handle, i) : sqlite3_bind_int64(s->handle, i, v));
	} else if (null_zero)
		return false;
	else if (len == 2 && memcmp(conversion, "%d", 2) == 0)
		bind_int(s, i, va_arg(*args, int));
	else if (len == 2 && memcmp(conversion, "%f", 2) == 0)
		bind_double(s, i, va_arg(*args, double));
	else if (len == 2 && memcmp(conversion, "%s", 2) == 0)
		bind_text(s, i, va_arg(*args, const char *), -1);
	else if (len == 4 && memcmp(conversion, "%.*s", 4) == 0) {
		int n = va_arg(*args, int);
		bind_text(s, i, va_arg(*args, const char *), n);
	} else if (len == 5 && memcmp(conversion, "%p%zu", 5) == 0) {
		const void *v = va_arg(*args, const void *);
		bind_blob(s, i, v, va_arg(*args, size_t));
	} else
		return false;
	return true;
}
_Static_assert(sizeof(long) == sizeof(int64_t), "db_query reads an int64_t by %ld");

/** Bind the values of `binds`, and note in `is_bound` which parameters these are. */
static int bind_values(struct stmt *s, bool *is_bound, const char *binds, va_list *args, struct fw_err *err)
{
	if (sqlite3_bind_parameter_count(s->handle) > PARAMETERS_MAX)
		return err_set(err, ERR_INTERNAL, "database: %s:%d: more than %d parameters", s->file, s->line, PARAMETERS_MAX);
	for (const char *p = binds; *p;) {
		char name[64];
		size_t len = strcspn(p, "?= "), mark = p[len] == '?', conversion = 0;
		const char *value = p + len + mark + 1;
		if (p[len + mark] == '=')
			conversion = strcspn(value, " ");
		snprintf(name, sizeof name, ":%.*s", (int)len, p);
		int i = sqlite3_bind_parameter_index(s->handle, name);
		if (!i)
			return err_set(
				err, ERR_INTERNAL, "database: %s:%d: no parameter %s in: %s", s->file, s->line, name, s->text);
		if (is_bound[i - 1])
			return err_set(err, ERR_INTERNAL, "database: %s:%d: parameter %s is bound twice", s->file, s->line, name);
		if (!bind_value(s, i, mark, value, conversion, args))
			return err_set(err, ERR_INTERNAL, "database: %s:%d: no valid conversion for %s in: %s", s->file, s->line,
				name, binds);
		is_bound[i - 1] = true;
		p = value + conversion;
		p += *p == ' ';
	}
	return 0;
}

static int bind_all(struct stmt *s, const char *binds, va_list *args, struct fw_err *err)
{
	bool is_bound[PARAMETERS_MAX] = { false };
	if (bind_values(s, is_bound, binds, args, err) != 0)
		return -1;
	for (int i = 0; i < sqlite3_bind_parameter_count(s->handle); i++)
		if (!is_bound[i])
			return err_set(err, ERR_INTERNAL, "database: %s:%d: no value for parameter %s of: %s", s->file, s->line,
				sqlite3_bind_parameter_name(s->handle, i + 1), s->text);
	return 0;
}

struct stmt *db_query_at(struct db *db, const char *file, int line, struct fw_err *err, const char *sql, const char *binds, ...)
{
	struct stmt *s = db_stmt_at(db, file, line, sql, err);
	va_list args;
	if (!s)
		return NULL;
	va_start(args, binds);
	int result = bind_all(s, binds, &args, err);
	va_end(args);
	return result == 0 ? s : NULL;
}

struct stmt *stmt_bind(struct stmt *s, struct fw_err *err, const char *binds, ...)
{
	bool is_bound[PARAMETERS_MAX] = { false };
	va_list args;
	if (!s)
		return NULL;
	va_start(args, binds);
	int result = bind_values(s, is_bound, binds, &args, err);
	va_end(args);
	return result == 0 ? s : NULL;
}

/* ---- running ------------------------------------------------------------------------------------------------------- */

int db_check_position(struct db *db, struct fw_err *err)
{
	int has_moved = 0;
	if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) != SQLITE_OK || !has_moved)
		return 0;
	return err_set(err, ERR_IO, "database: %s was deleted or replaced in use; put it back, or start flopwatchd again",
		sqlite3_db_filename(db->handle, "main"));
}

int stmt_step(struct stmt *s, struct fw_err *err)
{
	if (!s) /* err_set leaves the error of db_stmt or db_query, if `err` has it */
		return err_set(err, ERR_INTERNAL, "database: a statement was not prepared");
	if (s->unknown)
		return err_set(
			err, ERR_INTERNAL, "database: %s:%d: no parameter %s in: %s", s->file, s->line, s->unknown, s->text);
	struct db *db = s->db;
	if (s->bind_rc != SQLITE_OK)
		return err_set(err, db_code_of(NULL, s->bind_rc), "database: %s:%d: cannot bind a value: %s (%d)", s->file,
			s->line, sqlite3_errstr(s->bind_rc), s->bind_rc);
	bool begins_to_write = !s->only_reads && !db_in_transaction(db) && !sqlite3_stmt_busy(s->handle);
	if (begins_to_write && db_check_position(db, err) != 0)
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

int stmt_first_bytes(struct stmt *s, struct buf *out, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result == 1) {
		size_t len;
		const void *data = row_blob(s, 0, &len);
		buf_append(out, data, len);
		if (out->failed)
			result = err_set(
				err, ERR_FULL, "database: %s:%d: a value of %zu bytes does not fit", s->file, s->line, len);
	}
	stmt_reset(s);
	return result;
}

int stmt_ids(struct stmt *s, int64_t *ids, int max, struct fw_err *err)
{
	int n = 0, result = 1;
	while (n < max && (result = stmt_step(s, err)) == 1)
		ids[n++] = row_int(s, 0);
	stmt_reset(s);
	return result < 0 ? -1 : n;
}

int stmt_require(int result, struct fw_err *err, const char *format, ...)
{
	char message[sizeof err->text];
	va_list args;
	if (result != 0)
		return result == 1 ? 0 : -1;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	return err_set(err, ERR_NOT_FOUND, "%s", message);
}

void stmt_reset(struct stmt *s)
{
	if (s)
		sqlite3_reset(s->handle);
}

/* ---- columns ------------------------------------------------------------------------------------------------------- */

/* An enum of non-negative constants is an unsigned int. */
static void read_column(struct stmt *s, int column, const struct column *c)
{
	switch (c->type) {
	case COLUMN_INT64:
		*(int64_t *)c->to = row_int(s, column);
		break;
	case COLUMN_INT:
		*(int *)c->to = (int)row_int(s, column);
		break;
	case COLUMN_BOOL:
		*(bool *)c->to = row_int(s, column) != 0;
		break;
	case COLUMN_DOUBLE:
		*(double *)c->to = row_double(s, column);
		break;
	case COLUMN_BORROWED:
		*(const char **)c->to = row_text(s, column);
		break;
	case COLUMN_COPY:
		row_copy(s, column, c->to, c->size);
		break;
	case COLUMN_NAME:
		*(unsigned *)c->to = c->from_name(row_text(s, column));
		break;
	case COLUMN_OTHER:
		read_column(s, column, c->to);
		break;
	case COLUMN_SKIP:
	case COLUMN_END:
		break;
	}
}

void row_read_columns(struct stmt *s, const struct column *columns)
{
	for (int i = 0; columns[i].type != COLUMN_END; i++)
		read_column(s, i, &columns[i]);
}

int stmt_next_columns(struct stmt *s, const struct column *columns, struct fw_err *err)
{
	int result = stmt_step(s, err);
	if (result == 1)
		row_read_columns(s, columns);
	return result;
}

int stmt_first_columns(struct stmt *s, const struct column *columns, struct fw_err *err)
{
	int result = stmt_next_columns(s, columns, err);
	stmt_reset(s);
	return result;
}

int64_t row_int(struct stmt *s, int column)
{
	return sqlite3_column_int64(s->handle, column);
}

double row_double(struct stmt *s, int column)
{
	double v = sqlite3_column_double(s->handle, column);
	return v == 0 && row_is_null(s, column) ? NAN : v; /* NULL reads as 0, so the type is fetched only then */
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
