/* Backups in parallel to the loop: by the real child process, of a database that is written meanwhile. */
/* Left to `make check`: starts our programs, takes seconds. */
#include "fixture_db.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "flopwatchd/internal.h"
#include "gitrepo.h"

enum { PORTIONS = 4, PORTION_BYTES = 16 << 20, BLOB_BYTES = 1 << 20 };

struct bench {
	struct fixture *f;
	struct loop *loop;
	struct backup *backup;
	struct loop_source *timer;
	int ended;
	char path[640];
};

static void on_end(void *arg)
{
	struct bench *b = arg;
	b->ended++;
	loop_stop(b->loop);
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof *b);
	void *f;
	if (!b || fixture_setup(&f) != 0)
		return -1;
	b->f = f;
	ok(loop_new(&b->loop, &err));
	b->backup = backup_new(b->loop, b->f->folder, on_end, b);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;
	void *f = b->f;
	backup_stop(b->backup);
	loop_free(b->loop);
	backup_free(b->backup);
	fixture_teardown(&f);
	free(b);
	return 0;
}

/* Enough rows for a copy in many portions. */
static void fill(struct bench *b)
{
	static char blob[BLOB_BYTES];
	ok(db_script(b->f->db,
		"CREATE TABLE ballast (b BLOB) STRICT; CREATE TABLE one (n INTEGER) STRICT; CREATE TABLE two (n INTEGER) STRICT",
		&err));
	ok(db_begin(b->f->db, &err));
	for (int i = 0; i < PORTIONS * PORTION_BYTES / BLOB_BYTES; i++) {
		memset(blob, i, sizeof blob);
		ok(db_exec(b->f->db, &err, "INSERT INTO ballast (b) VALUES (:b)", "b=%p%zu", (const void *)blob, sizeof blob));
	}
	ok(db_commit(b->f->db, &err));
}

static void commit_pair(void *arg)
{
	struct bench *b = arg;
	ok(db_begin(b->f->db, &err));
	ok(stmt_run(db_stmt(b->f->db, "INSERT INTO one (n) VALUES (1)", &err), &err));
	ok(stmt_run(db_stmt(b->f->db, "INSERT INTO two (n) VALUES (1)", &err), &err));
	ok(db_commit(b->f->db, &err));
	loop_after(b->loop, 0, commit_pair, b, &b->timer);
}

static bool is_there(const struct bench *b, const char *name)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", b->f->folder, name);
	return access(path, F_OK) == 0;
}

static bool has_traces(const struct bench *b)
{
	return is_there(b, "backup.download") || is_there(b, "backup.download.part") ||
	       is_there(b, "backup.download.part-journal") || is_there(b, "backup.download.part-wal") ||
	       is_there(b, "backup.download.part-shm") || is_there(b, "backup.download.old");
}

static void find_traces(void *arg)
{
	struct bench *b = arg;
	if (has_traces(b))
		loop_after(b->loop, 5, find_traces, b, NULL);
	else
		loop_stop(b->loop);
}

/* Commits without a pause: a copy that restarted at each of them would never end. */
static void test_backup_during_a_write(void **state)
{
	struct bench *b = *state;
	struct fixture copy = *b->f;
	fill(b);
	ok(backup_begin(b->backup, &err));
	refused(ERR_CONFLICT, backup_begin(b->backup, &err));
	assert_int_equal(backup_take(b->backup, b->path, sizeof b->path, &err), 1);
	commit_pair(b);
	ok(loop_run(b->loop, &err));
	loop_remove(b->loop, b->timer);
	assert_int_equal(b->ended, 1);
	refused(ERR_CONFLICT, backup_begin(b->backup, &err)); /* it has not been fetched */
	ok(backup_take(b->backup, b->path, sizeof b->path, &err));
	ok(db_open(b->path, true, &copy.db, &err));
	ok(db_check(copy.db, &err));
	int64_t pairs = fixture_number(&copy, "SELECT count(*) FROM one");
	assert_int_equal(pairs, fixture_number(&copy, "SELECT count(*) FROM two"));
	assert_true(pairs <= fixture_number(b->f, "SELECT count(*) FROM one"));
	assert_int_equal(fixture_number(&copy, "SELECT count(*) FROM ballast"), PORTIONS * PORTION_BYTES / BLOB_BYTES);
	db_close(copy.db);
	backup_discard(b->backup);
	ok(backup_begin(b->backup, &err)); /* at once, while the old one is still being removed */
	ok(loop_run(b->loop, &err));
	ok(backup_take(b->backup, b->path, sizeof b->path, &err));
	ok(access(b->path, R_OK));
	backup_discard(b->backup);
	loop_after(b->loop, 0, find_traces, b, NULL);
	ok(loop_run(b->loop, &err));
}

static void test_given_up(void **state)
{
	struct bench *b = *state;
	fill(b);
	ok(backup_begin(b->backup, &err));
	backup_discard(b->backup);
	ok(backup_begin(b->backup, &err));
	ok(loop_run(b->loop, &err));
	assert_int_equal(b->ended, 1);
	backup_discard(b->backup); /* no client came for it */
	ok(backup_begin(b->backup, &err));
	backup_stop(b->backup);
	assert_int_equal(b->ended, 2);
	refused(ERR_BUSY, backup_take(b->backup, b->path, sizeof b->path, &err));
	assert_non_null(strstr(err.text, "stopped before the backup was done"));
	refused(ERR_BUSY, backup_begin(b->backup, &err));
	backup_stop(b->backup);
	assert_int_equal(b->ended, 2);
	loop_free(b->loop);
	b->loop = NULL;
	backup_free(b->backup);
	b->backup = NULL;
	assert_false(has_traces(b));
}

static void test_full_disk(void **state)
{
	struct bench *b = *state;
	struct rlimit before, limit;
	fill(b);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = PORTIONS * PORTION_BYTES / 2;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	int result = backup_begin(b->backup, &err);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(result, 0);
	ok(loop_run(b->loop, &err));
	refused(ERR_FULL, backup_take(b->backup, b->path, sizeof b->path, &err));
	assert_non_null(strstr(err.text, "free some space"));
	assert_false(has_traces(b));
	refused(ERR_CONFLICT, backup_begin(b->backup, &err)); /* the waiting client has not been notified yet */
	backup_discard(b->backup);
	ok(backup_begin(b->backup, &err));
	ok(loop_run(b->loop, &err));
	ok(backup_take(b->backup, b->path, sizeof b->path, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_backup_during_a_write, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
	};
	gitrepo_use_our_programs();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
