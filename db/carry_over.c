/* carry_over.c - builds a new file next to the old one, checks it, and puts it in the old one's place. */
#include "db/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "db/sqlite.h"

/* Hash of db/schema.sql at 91174416, as carry_schema_hash computes it. */
static const char schema_of_91174416[] = "6491d8a1ef08d4b1dbcaa38b29777f547710a6be90f0d0920bed4e2c098c4e77";

enum {
	STEPS_WITHOUT_TABLES = 7,
	REPORT_STEPS = 1 << 22,  /* instructions of SQLite's virtual machine: some tens of milliseconds */
	RESERVE_BYTES = 8 << 20, /* size beyond that of the old file plus a tenth */
	SUFFIX_MAX = 16
};

struct carry {
	struct db *from, *to; /* `to` has both attached, as `old` and `main` */
	char path[PATH_MAX], new_path[PATH_MAX + SUFFIX_MAX], old_path[PATH_MAX + SUFFIX_MAX];
	carry_step_fn *report;
	void *arg;
	const char *what; /* the current step */
	int n, of;
	int64_t comparison; /* whose body is being written */
	struct stmt *confirmed;
};

static void begin_step(struct carry *c, const char *what)
{
	c->what = what;
	c->report(c->arg, what, ++c->n, c->of);
}

static int still_running(void *arg)
{
	const struct carry *c = arg;

	c->report(c->arg, c->what, c->n, c->of);
	return 0;
}

/* ---- which tables ---------------------------------------------------------------------------------------------------- */

int carry_schema_hash(struct db *db, char *hex, struct fw_err *err)
{
	struct hash_state h;
	struct stmt *s = db_stmt(db,
		"SELECT type, name, tbl_name, sql FROM main.sqlite_schema WHERE substr(name, 1, 7) <> 'sqlite_' ORDER BY type, name",
		err);
	int more = s ? 1 : -1;

	hash_begin(&h);
	while (more == 1 && (more = stmt_step(s, err)) == 1)
		for (int i = 0; i < 4; i++)
			hash_update(&h, row_text(s, i), strlen(row_text(s, i)) + 1);
	hash_end(&h, hex);
	return more;
}

/* ---- space ----------------------------------------------------------------------------------------------------------- */

static int check_free_space(const struct carry *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(c->from,
		"SELECT (p.page_count - f.freelist_count) * z.page_size FROM pragma_page_count p, pragma_freelist_count f, "
		"pragma_page_size z",
		err);
	int64_t used;
	struct statvfs disk;

	if (!s || stmt_first_int(s, &used, err) < 0)
		return -1;
	if (statvfs(c->path, &disk) != 0)
		return err_sys(err, "cannot determine the free space of its folder");
	int64_t needed = used + used / 10 + RESERVE_BYTES, is_free = (int64_t)(disk.f_bavail * disk.f_frsize);
	if (needed <= is_free)
		return 0;
	return err_set(err, ERR_FULL,
		"its tables are those of commit 91174416 and are converted to the current ones in a new file in the same folder, for which %lld MiB have "
		"to be free and %lld MiB are; free some space (see doc/troubleshooting.md#database-carry)",
		(long long)(needed >> 20), (long long)(is_free >> 20));
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Check that the name for the old file is free, or was given to the old file by an earlier start that was killed. */
static int check_old_name(const struct carry *c, struct fw_err *err)
{
	if (access(c->old_path, F_OK) != 0 || is_same_file(c->path, c->old_path))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"its tables are those of commit 91174416, which is converted and stays in the same folder as %s, and another file has "
		"that name; move that file away (see doc/troubleshooting.md#database-carry)",
		c->old_path);
}

static void remove_new(const struct carry *c)
{
	static const char *const suffix[] = { "", "-journal", "-wal", "-shm" };
	char path[sizeof c->new_path + SUFFIX_MAX];

	for (size_t i = 0; i < sizeof suffix / sizeof suffix[0]; i++) {
		snprintf(path, sizeof path, "%s%s", c->new_path, suffix[i]);
		if (unlink(path) != 0 && errno != ENOENT)
			log_warning("database.carry", "err=%s", log_quote(strerror(errno)));
	}
}

/* ---- rows ------------------------------------------------------------------------------------------------------------ */

/* SQL function today(text): stored JSON with the current names; text that is no JSON is unchanged. */
static void sql_today(sqlite3_context *context, int n, sqlite3_value **value)
{
	const char *text = n == 1 ? (const char *)sqlite3_value_text(value[0]) : NULL;
	struct buf out;

	buf_init(&out, VALUE_MAX_BYTES);
	if (text && carry_json(text, (size_t)sqlite3_value_bytes(value[0]), NULL, NULL, &out))
		sqlite3_result_text(context, out.data, (int)out.len, SQLITE_TRANSIENT);
	else
		sqlite3_result_value(context, value[0]);
	buf_fini(&out);
}

static int open_new(struct carry *c, struct fw_err *err)
{
	if (db_open(c->new_path, false, &c->to, err) != 0 || migrate_first(c->to, err) != 0)
		return -1;
	int rc = sqlite3_create_function(
		c->to->handle, "today", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, sql_today, NULL, NULL);
	if (rc != SQLITE_OK)
		return db_fail(c->to, rc, __FILE__, __LINE__, err);
	/* the file is flushed and its references are checked at the end; after a crash it is built again */
	if (db_script(c->to, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF", err) != 0)
		return -1;
	struct stmt *s = db_stmt(c->to, "ATTACH :path AS old", err);
	if (!s)
		return -1;
	stmt_text(s, ":path", c->path);
	sqlite3_progress_handler(c->to->handle, REPORT_STEPS, still_running, c);
	return stmt_run(s, err);
}

static int carry_rows(struct carry *c, struct fw_err *err)
{
	for (const struct carry_table *t = carry_tables; t->name; t++) {
		begin_step(c, t->name);
		struct stmt *s = db_stmt(c->to, t->sql, err);
		if (!s || stmt_run(s, err) != 0)
			return err_context(err, "%s", t->name);
	}
	return 0;
}

/* ---- bodies ---------------------------------------------------------------------------------------------------------- */

static bool is_confirmed(void *arg, const char *key, size_t len)
{
	const struct carry *c = arg;

	return stmt_any(stmt_bind(c->confirmed, NULL, "comparison=%ld key=%.*s", c->comparison, (int)len, key), NULL) == 1;
}

static int write_body(struct carry *c, const void *packed, size_t packed_len, size_t len, const char *etag, struct fw_err *err)
{
	return db_exec(c->to, err, "UPDATE main.comparison SET body = :body, body_len = :len, etag = :etag WHERE id = :id",
		"body=%p%zu len=%ld etag=%s id=%ld", packed, packed_len, (int64_t)len, etag, c->comparison);
}

/* Write the body in row `s` with the current names. An unreadable body is copied unchanged; requests for it report the error. */
static int carry_body(struct carry *c, struct stmt *s, struct fw_err *err)
{
	struct buf was, is, packed;
	struct fw_err why = { 0 };
	char etag[HASH_HEX];
	size_t len, whole = (size_t)row_int(s, 2);
	const void *body = row_blob(s, 3, &len);

	buf_init(&was, VALUE_MAX_BYTES);
	buf_init(&is, VALUE_MAX_BYTES);
	buf_init(&packed, VALUE_MAX_BYTES);
	c->comparison = row_int(s, 0);
	bool is_read = unpack(body, len, whole, &was, &why) == 0 && carry_json(was.data, was.len, is_confirmed, c, &is) &&
		       pack(is.data, is.len, &packed, &why) == 0;
	if (is_read) {
		hash_hex(is.data, is.len, etag);
	} else {
		log_warning("database.carry", "comparison=%lld err=%s", (long long)c->comparison, log_quote(why.text));
	}
	int result = is_read ? write_body(c, packed.data, packed.len, is.len, etag, err)
			     : write_body(c, body, len, whole, row_text(s, 1), err);
	buf_fini(&was);
	buf_fini(&is);
	buf_fini(&packed);
	return result;
}

/*
 * Bodies are no cache: some of their values, such as quotients of single calls, cannot be computed again once the calls are
 * deleted.
 */
static int carry_bodies(struct carry *c, struct fw_err *err)
{
	struct stmt *s =
		db_stmt(c->to, "SELECT id, etag, body_len, body FROM old.comparison WHERE body_len > 0 ORDER BY id", err);
	c->confirmed = db_stmt(c->to,
		"SELECT 1 FROM old.cell x CROSS JOIN old.launch l ON l.comparison = x.comparison AND l.set_number = 2 "
		"CROSS JOIN old.sample t ON t.cell = x.id AND t.launch = l.id WHERE x.comparison = :comparison AND x.key = :key LIMIT 1",
		err);
	int more = s && c->confirmed ? 1 : -1;

	begin_step(c, "bodies");
	while (more == 1 && (more = stmt_step(s, err)) == 1)
		if (carry_body(c, s, err) != 0)
			return -1;
	return more;
}

/* ---- the whole file -------------------------------------------------------------------------------------------------- */

static int build(struct carry *c, struct fw_err *err)
{
	begin_step(c, "tables");
	if (open_new(c, err) != 0 || db_begin(c->to, err) != 0)
		return -1;
	if (carry_rows(c, err) != 0 || carry_bodies(c, err) != 0) {
		db_rollback(c->to);
		return -1;
	}
	if (db_commit(c->to, err) != 0)
		return -1;
	struct stmt *s = db_stmt(c->to, "DETACH old", err);
	begin_step(c, "check");
	return s && stmt_run(s, err) == 0 ? db_check(c->to, err) : -1;
}

static int flush(const char *path, int flags, struct fw_err *err)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	int result = fsync(fd) == 0 ? 0 : err_sys(err, "cannot flush %s", path);
	close(fd);
	return result;
}

static int flush_folder(const struct carry *c, struct fw_err *err)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof folder, "%s", c->path);
	char *slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = '\0';
	return flush(slash ? folder : ".", O_RDONLY | O_DIRECTORY, err);
}

static int checkpoint(struct db *db, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, "PRAGMA wal_checkpoint(TRUNCATE)", err);
	int64_t is_busy;

	if (!s || stmt_first_int(s, &is_busy, err) < 0)
		return -1;
	return is_busy ? err_set(err, ERR_BUSY, "another process reads the database; end it") : 0;
}

/* Move all committed rows from the WAL to the file, which then has no WAL. */
static int complete_old(struct carry *c, struct db **db, struct fw_err *err)
{
	char log[PATH_MAX + SUFFIX_MAX];
	struct db *writer;

	db_close(*db);
	*db = c->from = NULL;
	snprintf(log, sizeof log, "%s-wal", c->path);
	if (access(log, F_OK) != 0)
		return 0;
	if (db_open(c->path, false, &writer, err) != 0)
		return -1;
	int result = checkpoint(writer, err);
	db_close(writer);
	return result;
}

/* Both names refer to the old file until rename() atomically gives the first one to the new file. */
static int swap(struct carry *c, struct db **db, struct fw_err *err)
{
	begin_step(c, "flush");
	if (flush(c->new_path, O_RDWR, err) != 0 || complete_old(c, db, err) != 0)
		return -1;
	begin_step(c, "second name");
	if (!is_same_file(c->path, c->old_path) && link(c->path, c->old_path) != 0)
		return err_sys(err, "cannot name the old database %s", c->old_path);
	if (flush_folder(c, err) != 0)
		return -1;
	begin_step(c, "swap");
	if (rename(c->new_path, c->path) != 0)
		return err_sys(err, "cannot put the new database in its place");
	if (flush_folder(c, err) != 0)
		return -1;
	begin_step(c, "done");
	return 0;
}

static int count_steps(void)
{
	int n = 0;

	while (carry_tables[n].name)
		n++;
	return n + STEPS_WITHOUT_TABLES;
}

static int carry(struct carry *c, struct db **db, struct fw_err *err)
{
	if (check_old_name(c, err) != 0)
		return -1;
	remove_new(c);
	if (check_free_space(c, err) != 0)
		return -1;
	int result = build(c, err);
	db_close(c->to);
	c->to = NULL;
	if (result == 0)
		result = swap(c, db, err);
	if (result != 0)
		remove_new(c);
	return result;
}

int carry_over(struct db **db, const char *path, carry_step_fn *report, void *arg, struct fw_err *err)
{
	struct carry c = { .from = *db, .report = report, .arg = arg, .of = count_steps() };
	char hex[HASH_HEX];

	if (carry_schema_hash(*db, hex, err) != 0)
		return -1;
	if (strcmp(hex, schema_of_91174416) != 0)
		return 0;
	if (snprintf(c.path, sizeof c.path, "%s", path) >= (int)sizeof c.path)
		return err_set(err, ERR_INVALID, "its path is too long");
	snprintf(c.new_path, sizeof c.new_path, "%s.new", path);
	snprintf(c.old_path, sizeof c.old_path, "%s" CARRY_OLD_SUFFIX, path);
	if (carry(&c, db, err) != 0)
		return err_context(err, "carrying it over");
	log_info("database.carried", "from=91174416 old=%s", log_quote(c.old_path));
	return 0;
}
