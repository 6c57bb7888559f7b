/* The wrapper of SQLite: safe settings, transactions, statements, error texts, backup. */
/* Left to `make check`: takes seconds. */
#include "fixture_db.h"

#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <sqlite3.h>

#include "lib/lib.h"

static char text_of_pragma[64];

static const char *request(struct db *db, struct stmt *s)
{
	(void)db;
	assert_non_null(s);
	assert_int_equal(stmt_step(s, &err), 1);
	row_copy(s, 0, text_of_pragma, sizeof text_of_pragma);
	stmt_reset(s);
	return text_of_pragma;
}

static void settings_are_safe(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA journal_mode", &err)), "wal");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA synchronous", &err)), "2");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA foreign_keys", &err)), "1");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA trusted_schema", &err)), "0");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA cell_size_check", &err)), "1");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA mmap_size", &err)), "0");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA secure_delete", &err)), "2");
	assert_string_equal(request(f->db, db_stmt(f->db, "PRAGMA auto_vacuum", &err)), "2");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	refused(ERR_INTERNAL,
		db_script(f->db, "CREATE TABLE t (a TEXT NOT NULL) STRICT; UPDATE sqlite_schema SET sql = ''", &err));
}

static void values_come_back(void **state)
{
	struct fixture *f = *state;
	static const unsigned char bytes[] = { 1, 0, 255, 7 };
	size_t len;
	ok(db_script(f->db, "CREATE TABLE v (i INTEGER, d REAL, t TEXT, b BLOB, n REAL, e BLOB, z TEXT) STRICT", &err));
	struct stmt *s = db_stmt(f->db, "INSERT INTO v VALUES (:i, :d, :t, :b, :n, :e, :z)", &err);
	stmt_int(s, ":i", INT64_MIN);
	stmt_text(s, ":t", "a'; DROP TABLE v; --");
	stmt_text(s, ":z", NULL);
	s = stmt_bind(s, &err, "d=%f b=%p%zu n=%f e=%p%zu", 0.1, (const void *)bytes, sizeof bytes, NAN, (const void *)bytes,
		(size_t)0);
	ok(stmt_run(s, &err));
	assert_int_equal(db_changes(f->db), 1);
	s = db_stmt(f->db, "SELECT i, d, t, b, n, e, z FROM v", &err);
	assert_int_equal(stmt_step(s, &err), 1);
	assert_true(row_int(s, 0) == INT64_MIN);
	assert_true(row_double(s, 1) == 0.1);
	assert_string_equal(row_text(s, 2), "a'; DROP TABLE v; --");
	assert_memory_equal(row_blob(s, 3, &len), bytes, sizeof bytes);
	assert_int_equal(len, sizeof bytes);
	assert_true(row_is_null(s, 4) && isnan(row_double(s, 4)));
	row_blob(s, 5, &len);
	assert_int_equal(len, 0);
	assert_false(row_is_null(s, 5));
	assert_string_equal(row_text(s, 6), "");
	char cut[4];
	row_copy(s, 2, cut, sizeof cut);
	assert_string_equal(cut, "a';");
	assert_int_equal(stmt_step(s, &err), 0);
}

static void columns_become_variables(void **state)
{
	struct fixture *f = *state;
	int64_t i = 1;
	int n;
	bool is;
	double d, none;
	const char *borrowed;
	char cut[4];
	enum verdict v;
	struct stmt *s = stmt_bind(db_stmt(f->db, "SELECT :i, :n, 2, :d, NULL, 'text', :t, :skip, :v", &err), &err,
		"i=%ld n=%d d=%f t=%s", INT64_MIN, -7, 0.5, "longer");
	s = stmt_bind(s, &err, "skip?=%ld v=%s", (int64_t)0, "regression");
	assert_int_equal(
		stmt_next(s, &err, i, n, is, d, none, borrowed, cut, COLUMN_UNUSED, COLUMN_NAMED(v, verdict_from_name)), 1);
	assert_true(i == INT64_MIN && n == -7 && is && d == 0.5 && isnan(none) && v == VERDICT_REGRESSION);
	assert_true(row_is_null(s, 7));
	assert_string_equal(borrowed, "text");
	assert_string_equal(cut, "lon");
	assert_int_equal(stmt_next(s, &err, i), 0);
	assert_int_equal(db_first(f->db, &err, (i, n), "SELECT 1, 2 WHERE :no", "no=%d", 0), 0);
	assert_true(i == INT64_MIN);
	assert_int_equal(db_first(f->db, &err, (i, n), "SELECT 1, 2 WHERE :yes", "yes=%d", 1), 1);
	assert_true(i == 1 && n == 2);
	assert_int_equal(stmt_step(stmt_bind(db_stmt(f->db, "SELECT :a", &err), &err, "b=%d", 1), &err), -1);
	assert_non_null(strstr(err.text, "no parameter :b"));
}

static void statements_are_cached(void **state)
{
	struct fixture *f = *state;
	static const char sql[] = "SELECT :v";
	struct stmt *first = db_stmt(f->db, sql, &err);
	stmt_int(first, ":v", 7);
	assert_int_equal(stmt_step(first, &err), 1);
	struct stmt *second = db_stmt(f->db, sql, &err);
	assert_ptr_equal(first, second);
	assert_int_equal(stmt_step(second, &err), 1);
	assert_true(row_is_null(second, 0)); /* no value of the last use is left */
	stmt_reset(second);
	/* the same address with another text must not return the old statement */
	char reused[32] = "SELECT 1";
	struct stmt *one = db_stmt(f->db, reused, &err);
	assert_int_equal(stmt_step(one, &err), 1);
	assert_int_equal(row_int(one, 0), 1);
	stmt_reset(one);
	snprintf(reused, sizeof reused, "SELECT 2");
	struct stmt *two = db_stmt(f->db, reused, &err);
	assert_int_equal(stmt_step(two, &err), 1);
	assert_int_equal(row_int(two, 0), 2);
	stmt_reset(two);
	err_clear(&err);
	assert_null(db_stmt(f->db, "SELECT 1; SELECT 2", &err));
	assert_non_null(strstr(err.text, "test_db.c"));
	err_clear(&err);
	assert_null(db_stmt(f->db, "SELECT id FROM nowhere", &err));
	assert_non_null(strstr(err.text, "nowhere"));
}

/* A caller binds and steps without checks: the error of db_stmt must be returned, and no call may crash. */
static void a_statement_that_does_not_prepare_fails_at_its_end(void **state)
{
	struct fixture *f = *state;
	int64_t id = 7;
	int n = 7;
	char text[8] = "before";
	err_clear(&err);
	struct stmt *s = db_stmt(f->db, "SELECT id FROM nowhere WHERE id = :id", &err);
	assert_null(s);
	stmt_int(s, ":id", 1);
	stmt_text(s, ":id", "1");
	assert_null(stmt_bind(s, &err, "id=%d", 1));
	assert_int_equal(stmt_step(s, &err), -1);
	assert_int_equal(stmt_run(s, &err), -1);
	assert_int_equal(stmt_insert(s, &id, &err), -1);
	assert_int_equal(stmt_run_count(s, &n, &err), -1);
	assert_int_equal(stmt_any(s, &err), -1);
	assert_int_equal(stmt_first_int(s, &id, &err), -1);
	assert_int_equal(stmt_first_text(s, text, sizeof text, &err), -1);
	stmt_reset(s);
	assert_int_equal(err.code, ERR_INTERNAL);
	assert_non_null(strstr(err.text, "test_db.c"));
	assert_non_null(strstr(err.text, "no such table: nowhere"));
	assert_true(id == 7 && n == 7);
	assert_string_equal(text, "before");
	refused(ERR_INTERNAL, db_exec(f->db, &err, "DELETE FROM nowhere WHERE id = :id", "id=%ld", id));
	assert_non_null(strstr(err.text, "no such table: nowhere"));
	refused(ERR_INTERNAL, stmt_run(NULL, &err)); /* if `err` was cleared in between, the call still fails */
}

static void a_bind_that_fails_is_reported(void **state)
{
	struct fixture *f = *state;
	static char large[(16 << 20) + 2];
	ok(db_script(f->db, "CREATE TABLE t (a TEXT, b TEXT) STRICT", &err));
	struct stmt *s = db_stmt(f->db, "INSERT INTO t VALUES (:a, :b)", &err);
	stmt_text(s, ":c", "x");
	refused(ERR_INTERNAL, stmt_run(s, &err));
	assert_non_null(strstr(err.text, "no parameter :c in: INSERT INTO t"));
	memset(large, 'x', sizeof large - 1);
	s = db_stmt(f->db, "INSERT INTO t VALUES (:a, :b)", &err);
	stmt_text(s, ":a", large);
	stmt_text(s, ":b", "x");
	refused(ERR_FULL, stmt_run(s, &err));
	assert_non_null(strstr(err.text, "too big"));
	refused(ERR_FULL, db_exec(f->db, &err, "INSERT INTO t VALUES (:a, 'b')", "a=%s", large));
	s = db_stmt(f->db, "SELECT a FROM t WHERE b IS :b UNION ALL VALUES ('x'), ('y')", &err);
	assert_int_equal(stmt_step(s, &err), 1);
	stmt_text(s, ":b", "x"); /* the statement is not reset */
	refused(ERR_INTERNAL, stmt_run(s, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM t"), 0);
	err_clear(&err);
	static const char again[] = "INSERT INTO t VALUES (:a, NULL)";
	for (int i = 0; i < 2; i++) { /* no state of a failure is left in the cached statement */
		s = db_stmt(f->db, again, &err);
		stmt_text(s, i ? ":a" : ":none", "x");
		assert_int_equal(stmt_run(s, &err), i ? 0 : -1);
		err_clear(&err);
	}
}

static void queries_bind_every_type(void **state)
{
	struct fixture *f = *state;
	ok(db_script(
		f->db, "CREATE TABLE v (l INTEGER, i INTEGER, d REAL, n REAL, t TEXT, z TEXT, p TEXT, b BLOB) STRICT", &err));
	const char *none = NULL;
	ok(db_exec(f->db, &err, "INSERT INTO v VALUES (:l, :i, :d, :n, :t, :z, :p, :b)",
		"p=%.*s b=%p%zu l=%ld i=%d d=%f n=%f t=%s z=%s", 2, "xyz", (const void *)"\0\1", (size_t)2, INT64_MIN, -3, 0.1,
		NAN, "a'; --", none));
	struct stmt *s = db_query(f->db, &err, "SELECT l, i, d, n, t, z, p, b FROM v WHERE i = :i AND i < :i + 1", "i=%d", -3);
	assert_int_equal(stmt_step(s, &err), 1);
	assert_true(row_int(s, 0) == INT64_MIN);
	assert_true(row_int(s, 1) == -3);
	assert_true(row_double(s, 2) == 0.1);
	assert_true(row_is_null(s, 3));
	assert_string_equal(row_text(s, 4), "a'; --");
	assert_true(row_is_null(s, 5));
	assert_string_equal(row_text(s, 6), "xy");
	size_t len;
	assert_memory_equal(row_blob(s, 7, &len), "\0\1", 2);
	assert_int_equal(len, 2);
	assert_int_equal(stmt_step(s, &err), 0);
}

static void a_query_bound_wrongly_fails(void **state)
{
	struct fixture *f = *state;
	static const char sql[] = "SELECT :a, :b";
	struct db *db = f->db;
	ok(stmt_any(db_query(db, &err, sql, "a=%d b=%d", 1, 2), &err) - 1);
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d", 1), &err));
	assert_non_null(strstr(err.text, "no value for parameter :b of: SELECT :a, :b"));
	assert_non_null(strstr(err.text, "test_db.c:"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "b=%d", 1), &err));
	assert_non_null(strstr(err.text, "no value for parameter :a"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d b=%d c=%d", 1, 2, 3), &err));
	assert_non_null(strstr(err.text, "no parameter :c in"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d a=%d", 1, 2), &err));
	assert_non_null(strstr(err.text, "parameter :a is bound twice"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d %d", 1, 2), &err));
	assert_non_null(strstr(err.text, "no parameter :%d"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d b", 1), &err));
	assert_non_null(strstr(err.text, "no valid conversion for :b in: a=%d b"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d b=%x", 1, 2u), &err));
	assert_non_null(strstr(err.text, "no valid conversion for :b"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d b=%d,", 1, 2), &err));
	assert_non_null(strstr(err.text, "no valid conversion for :b"));
	refused(ERR_INTERNAL, stmt_any(db_query(db, &err, sql, "a=%d  b=%d", 1, 2), &err));
	err_clear(&err);
	ok(stmt_any(db_query(db, &err, sql, "b=%d a=%d", 1, 2), &err) - 1);
}

static void rows_are_required_and_gathered(void **state)
{
	struct fixture *f = *state;
	struct db *db = f->db;
	struct buf out;
	int64_t ids[3] = { 0, 0, 7 };
	ok(db_script(
		db, "CREATE TABLE t (a INTEGER, b BLOB) STRICT; INSERT INTO t VALUES (1, x'0041'), (2, NULL), (3, NULL)", &err));
	ok(stmt_require(1, &err, "no row"));
	refused(ERR_NOT_FOUND, stmt_require(stmt_any(db_stmt(db, "SELECT 1 FROM t WHERE a = 9", &err), &err), &err, "no %d", 9));
	assert_string_equal(err.text, "no 9");
	refused(ERR_INTERNAL, stmt_require(stmt_any(db_stmt(db, "SELECT 1 FROM nowhere", &err), &err), &err, "no row"));
	assert_non_null(strstr(err.text, "nowhere"));
	err_clear(&err);
	assert_int_equal(stmt_ids(db_stmt(db, "SELECT a FROM t ORDER BY a", &err), ids, 2, &err), 2);
	assert_true(ids[0] == 1 && ids[1] == 2 && ids[2] == 7);
	assert_int_equal(stmt_ids(db_stmt(db, "SELECT a FROM t WHERE a > 2", &err), ids, 3, &err), 1);
	refused(ERR_INTERNAL, stmt_ids(db_stmt(db, "SELECT a FROM nowhere", &err), ids, 3, &err));
	err_clear(&err);
	buf_init(&out, 3);
	assert_int_equal(stmt_first_bytes(db_stmt(db, "SELECT b FROM t WHERE a = 1", &err), &out, &err), 1);
	assert_int_equal(out.len, 2);
	assert_memory_equal(out.data, "\0A", 2);
	assert_int_equal(stmt_first_bytes(db_stmt(db, "SELECT b FROM t WHERE a = 9", &err), &out, &err), 0);
	refused(ERR_FULL, stmt_first_bytes(db_stmt(db, "SELECT b FROM t WHERE a = 1", &err), &out, &err));
	buf_fini(&out);
	err_clear(&err);
	ok(db_script(db, "DROP TABLE t", &err)); /* no statement is left unfinished */
}

static void transactions_commit_or_roll_back(void **state)
{
	struct fixture *f = *state;
	ok(db_script(f->db, "CREATE TABLE t (a INTEGER) STRICT", &err));
	ok(db_begin(f->db, &err));
	assert_true(db_in_transaction(f->db));
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (1)", &err), &err));
	refused(ERR_INTERNAL, db_begin(f->db, &err)); /* plain transactions do not nest, and the message names the open one */
	assert_non_null(strstr(err.text, "inside the one of"));
	db_rollback(f->db);
	assert_false(db_in_transaction(f->db));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM t"), 0);
	refused(ERR_INTERNAL, db_commit(f->db, &err));
	ok(db_begin(f->db, &err));
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (2)", &err), &err));
	ok(db_commit(f->db, &err));
	db_rollback(f->db);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM t"), 1);
}

static int rows_of_t(struct fixture *f)
{
	return (int)fixture_number(f, "SELECT count(*) FROM t");
}

/* An inner transaction is stored with the outer one, or not at all. */
static void an_outer_transaction_decides(void **state)
{
	struct fixture *f = *state;
	ok(db_script(f->db, "CREATE TABLE t (a INTEGER) STRICT", &err));
	for (int keep = 0; keep <= 1; keep++) {
		ok(db_outer_begin(f->db, &err));
		assert_true(db_in_outer(f->db));
		ok(db_begin(f->db, &err));
		ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (1)", &err), &err));
		refused(ERR_INTERNAL, db_begin(f->db, &err)); /* one level of nesting, not more */
		ok(db_commit(f->db, &err));
		ok(db_begin(f->db, &err));
		ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (2)", &err), &err));
		db_rollback(f->db); /* rolls back the inner transaction only */
		assert_true(db_in_transaction(f->db));
		ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (3)", &err), &err));
		ok(db_outer_end(f->db, keep, &err));
		assert_false(db_in_transaction(f->db));
		assert_int_equal(rows_of_t(f), 2 * keep);
	}
	ok(db_outer_begin(f->db, &err));
	ok(db_begin(f->db, &err));
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (4)", &err), &err));
	ok(db_outer_end(f->db, true, &err)); /* an unfinished transaction is not stored */
	assert_int_equal(rows_of_t(f), 2);
	ok(db_begin(f->db, &err)); /* plain transactions work as before */
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (5)", &err), &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(rows_of_t(f), 3);
}

/* All reads of one read transaction see one state, whatever is stored meanwhile. */
static void a_snapshot_sees_one_state(void **state)
{
	struct fixture *f = *state;
	struct db *other;
	ok(db_script(f->db, "CREATE TABLE t (a INTEGER) STRICT", &err));
	ok(db_open(f->path, false, &other, &err));
	ok(db_snapshot_begin(f->db, &err));
	assert_int_equal(rows_of_t(f), 0);
	ok(stmt_run(db_stmt(other, "INSERT INTO t VALUES (1)", &err), &err));
	assert_int_equal(rows_of_t(f), 0);
	refused(ERR_INTERNAL, db_snapshot_begin(f->db, &err));
	refused(ERR_INTERNAL, db_begin(f->db, &err));
	assert_non_null(strstr(err.text, "inside the one of"));
	db_snapshot_end(f->db);
	assert_false(db_in_transaction(f->db));
	assert_int_equal(rows_of_t(f), 1);
	db_snapshot_end(f->db);
	db_close(other);
	ok(db_begin(f->db, &err)); /* nothing of it is left */
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (2)", &err), &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(rows_of_t(f), 2);
}

/* Without memory a rollback fails, too; it must not leave a transaction in which nothing can begin any more. */
static void the_next_transaction_repeats_a_failed_rollback(void **state)
{
	struct fixture *f = *state;
	ok(db_script(f->db, "CREATE TABLE r (a INTEGER) STRICT", &err));
	ok(db_begin(f->db, &err));
	ok(db_script(f->db, "INSERT INTO r VALUES (1)", &err));
	sqlite3_hard_heap_limit64(1);
	db_rollback(f->db);
	sqlite3_hard_heap_limit64(0);
	assert_true(db_in_transaction(f->db)); /* it did fail */
	ok(db_begin(f->db, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM r"), 0);
	db_rollback(f->db);
	assert_false(db_in_transaction(f->db));
}

static void rollback_ends_open_readers(void **state)
{
	struct fixture *f = *state;
	ok(db_script(f->db, "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1), (2)", &err));
	ok(db_begin(f->db, &err));
	struct stmt *s = db_stmt(f->db, "SELECT a FROM t", &err);
	assert_int_equal(stmt_step(s, &err), 1); /* left unfinished */
	ok(stmt_run(db_stmt(f->db, "DELETE FROM t", &err), &err));
	db_rollback(f->db);
	assert_false(db_in_transaction(f->db));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM t"), 2);
}

static void errors_report_where(void **state)
{
	struct fixture *f = *state;
	struct stmt *s = db_stmt(f->db, "INSERT INTO job_log (job, at, line) VALUES (77, 1, 'x')", &err);
	refused(ERR_INTERNAL, stmt_run(s, &err));
	assert_non_null(strstr(err.text, "test_db.c:"));
	assert_non_null(strstr(err.text, "FOREIGN KEY"));
	assert_null(strchr(err.text, '\n'));
}

static void second_writer_waits_and_is_reported(void **state)
{
	struct fixture *f = *state;
	struct db *other;
	ok(db_open(f->path, false, &other, &err));
	ok(stmt_run(db_stmt(other, "PRAGMA busy_timeout = 20", &err), &err));
	ok(db_begin(f->db, &err));
	refused(ERR_BUSY, db_begin(other, &err));
	assert_non_null(strstr(err.text, "another process"));
	ok(db_commit(f->db, &err));
	ok(db_begin(other, &err));
	db_rollback(other);
	db_close(other);
}

static void reader_cannot_write(void **state)
{
	struct fixture *f = *state;
	struct db *reader;
	ok(db_open(f->path, true, &reader, &err));
	assert_int_equal(stmt_step(db_stmt(reader, "SELECT 1 FROM repo", &err), &err), 0);
	refused(ERR_IO, stmt_run(db_stmt(reader, "DELETE FROM repo", &err), &err));
	db_close(reader);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void foreign_files_are_left_alone(void **state)
{
	struct fixture *f = *state;
	struct db *db = NULL;
	char path[128];
	snprintf(path, sizeof path, "%s/copy.db", f->folder);
	write_file(path, "This is a letter, and a long one, that somebody would like to keep as it is; no database at all.");
	refused(ERR_DAMAGED, db_open(path, false, &db, &err));
	assert_null(db);
	assert_non_null(strstr(err.text, path));
	unlink(path);
	/* another program's database */
	ok(db_backup(f->db, path, &err));
	ok(db_open(path, false, &db, &err));
	ok(db_script(db, "PRAGMA application_id = 99", &err));
	db_close(db);
	refused(ERR_INVALID, db_open(path, false, &db, &err));
	assert_non_null(strstr(err.text, "another program"));
	refused(ERR_NOT_FOUND, db_open("/nonexistent/folder/x.db", false, &db, &err));
}

static void backup_is_whole_and_atomic(void **state)
{
	struct fixture *f = *state;
	struct fixture copy = *f;
	char part[160];
	fixture_ground(f);
	snprintf(copy.path, sizeof copy.path, "%s/copy.db", f->folder);
	snprintf(part, sizeof part, "%s.part", copy.path);
	write_file(copy.path, "older backup");
	ok(db_backup(f->db, copy.path, &err));
	assert_int_equal(access(part, F_OK), -1);
	fixture_open(&copy);
	ok(db_check(copy.db, &err));
	assert_int_equal(fixture_number(&copy, "SELECT count(*) FROM repo"), 1);
	db_close(copy.db);
	write_file(copy.path, "older backup");
	snprintf(part, sizeof part, "%s/no/such/folder", f->folder);
	refused(ERR_NOT_FOUND, db_backup(f->db, part, &err));
}

/*
 * Two backups into one file, or a second one that removes the first one's file, would leave a torn file under the backup's name.
 */
static void a_backup_that_is_being_made_is_not_disturbed(void **state)
{
	struct fixture *f = *state;
	char path[128], part[160], text[8] = "";
	snprintf(path, sizeof path, "%s/copy.db", f->folder);
	snprintf(part, sizeof part, "%s.part", path);
	write_file(part, "mine");
	int other = open(part, O_RDWR);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), 0);
	refused(ERR_CONFLICT, db_backup(f->db, path, &err));
	assert_non_null(strstr(err.text, "another backup is being written to "));
	assert_int_equal(access(path, F_OK), -1);
	int fd = open(part, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof text), 4);
	close(fd);
	close(other); /* as the exit of a killed process does */
	ok(db_backup(f->db, path, &err));
	assert_int_equal(access(part, F_OK), -1);
}

/** Insert rows up to the limit of the file size: the error is clear and nothing of the transaction is left. */
static void full_disk_is_one_clear_line(void **state)
{
	struct fixture *f = *state;
	static char page[100000];
	struct rlimit before, limit;
	struct stat st;
	int stored = 0, rc = 0;
	char wal[160];
	ok(db_script(f->db, "CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB) STRICT", &err));
	snprintf(wal, sizeof wal, "%s-wal", f->path);
	assert_int_equal(stat(wal, &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)st.st_size + 1000000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	while (stored < 100 && rc == 0) {
		err_clear(&err);
		rc = db_begin(f->db, &err);
		for (int i = 0; i < 2 && rc == 0; i++) {
			rc = db_exec(f->db, &err, "INSERT INTO t (b) VALUES (:b)", "b=%p%zu", (const void *)page, sizeof page);
		}
		if (rc == 0)
			rc = db_commit(f->db, &err);
		stored += rc == 0;
	}
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, ERR_FULL);
	assert_non_null(strstr(err.text, "free some space"));
	db_rollback(f->db);
	assert_false(db_in_transaction(f->db));
	assert_true(stored > 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM t"), 2 * stored);
	/* with free space again it continues */
	ok(db_begin(f->db, &err));
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t (b) VALUES (x'00')", &err), &err));
	ok(db_commit(f->db, &err));
	ok(db_check(f->db, &err));
}

static void backup_onto_a_full_disk_keeps_the_old_one(void **state)
{
	struct fixture *f = *state;
	char path[128], part[160], text[8] = "";
	struct rlimit before, limit;
	snprintf(path, sizeof path, "%s/copy.db", f->folder);
	snprintf(part, sizeof part, "%s.part", path);
	write_file(path, "older");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 40000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err_clear(&err);
	int rc = db_backup(f->db, path, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, ERR_FULL);
	assert_int_equal(access(part, F_OK), -1);
	int fd = open(path, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof text), 5);
	close(fd);
	assert_string_equal(text, "older");
	ok(db_backup(f->db, path, &err));
}

static void a_deleted_database_file_refuses_writes(void **state)
{
	struct fixture *f = *state;
	char away[160];
	ok(db_script(f->db, "CREATE TABLE t (a INTEGER) STRICT", &err));
	snprintf(away, sizeof away, "%s.away", f->path);
	assert_int_equal(rename(f->path, away), 0);
	refused(ERR_IO, db_begin(f->db, &err));
	assert_non_null(strstr(err.text, "was deleted or replaced"));
	refused(ERR_IO, db_try_write(f->db, &err));
	err_clear(&err);
	assert_int_equal(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (1)", &err), &err), -1);
	err_clear(&err);
	assert_int_equal(rows_of_t(f), 0); /* the database can be read */
	assert_int_equal(rename(away, f->path), 0);
	ok(db_begin(f->db, &err));
	ok(stmt_run(db_stmt(f->db, "INSERT INTO t VALUES (1)", &err), &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(rows_of_t(f), 1);
}

static void damage_is_found(void **state)
{
	struct fixture *f = *state;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 8000; i++)
		fixture_job(f, "main", i, i + 1, 1);
	ok(db_commit(f->db, &err));
	ok(db_check(f->db, &err));
	db_close(f->db);
	int fd = open(f->path, O_WRONLY);
	static const char garbage[4096] = "garbage";
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	for (off_t at = st.st_size / 4 * 3 / 4096 * 4096; at < st.st_size; at += 4096)
		assert_int_equal(pwrite(fd, garbage, sizeof garbage, at), sizeof garbage);
	close(fd);
	/* the last quarter has no schema, so that only the check can find the damage */
	fixture_open(f);
	refused(ERR_DAMAGED, db_check(f->db, &err));
	assert_non_null(strstr(err.text, "restore a backup"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(settings_are_safe, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(values_come_back, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(columns_become_variables, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(statements_are_cached, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			a_statement_that_does_not_prepare_fails_at_its_end, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_bind_that_fails_is_reported, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(queries_bind_every_type, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_query_bound_wrongly_fails, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(rows_are_required_and_gathered, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(transactions_commit_or_roll_back, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_deleted_database_file_refuses_writes, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_outer_transaction_decides, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_snapshot_sees_one_state, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_next_transaction_repeats_a_failed_rollback, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(rollback_ends_open_readers, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(errors_report_where, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(second_writer_waits_and_is_reported, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(reader_cannot_write, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(foreign_files_are_left_alone, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(backup_is_whole_and_atomic, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_backup_that_is_being_made_is_not_disturbed, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(full_disk_is_one_clear_line, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(backup_onto_a_full_disk_keeps_the_old_one, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(damage_is_found, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
