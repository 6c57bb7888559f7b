/* Samples move from the database to the archive: they are on disk before their rows are deleted, and are restored bit for bit. */
/* Left to `make check`: takes seconds. */
#include "fixture_db.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zstd.h>

#include "db/db.h"

enum { PAIRS = 16, CELLS = 3, RUNS = 2 };

static const int64_t day_ms = INT64_C(24) * 3600 * 1000;

/* ---- simulated errors of system calls ---------------------------------------------------------------------------------- */

static bool is_disk_broken;
static int n_syncs;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	char link[64], path[256] = "";
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, path, sizeof path - 1);
	if (len < 5 || strcmp(path + len - 4, ".zst") != 0)
		return __real_fdatasync(fd);
	n_syncs++;
	if (is_disk_broken) {
		errno = EIO;
		return -1;
	}
	return __real_fdatasync(fd);
}

/* ---- comparisons whose times follow from their number ------------------------------------------------------------------- */

static float value(int64_t comparison, int cell, int run, int what, int i)
{
	return 1.0f + 0.001f * (float)((comparison * 7919 + cell * 131 + run * 17 + what * 5 + i * 3) % 997);
}

static void fill(float *to, int64_t comparison, int cell, int run, int what)
{
	for (int i = 0; i < PAIRS; i++)
		to[i] = value(comparison, cell, run, what, i);
}

/** The `n`-th comparison, finished at `at`. Inside a transaction. */
static void put(struct fixture *f, unsigned n, int64_t at)
{
	int64_t run[RUNS], id = fixture_comparison(f, "main", n, n + 1, VERDICT_UNCHANGED, at);
	for (int l = 0; l < RUNS; l++)
		ok(store_run_insert(f->db, id, l + 1, 1, 1, &run[l], &err));
	for (int c = 0; c < CELLS; c++) {
		char key[32];
		snprintf(key, sizeof key, "cell-%d", c);
		int64_t cell = fixture_cell(f, id, c, key, 0.01, VERDICT_UNCHANGED);
		for (int l = 0; l < RUNS; l++) {
			float v[5][PAIRS];
			for (int k = 0; k < 5; k++)
				fill(v[k], id, c, l, k);
			struct msg_cell m = { .run = l + 1,
				.set = 1,
				.series = SERIES_DEVICE,
				.n_sides = 2,
				.role = { ROLE_BASE, ROLE_TARGET },
				.n = PAIRS,
				.ms = { v[0], v[1] },
				.mhz = { v[2], v[3] },
				.host_us = { NULL, v[4] } };
			struct run_estimate e = { .set = 1, .n = PAIRS, .d = 0.01, .q = 1e-7, .d_raw = 0.01 };
			ok(store_samples_insert(f->db, run[l], cell, &m, &e, &err));
		}
	}
}

static bool same(const float *got, int64_t comparison, int cell, int run, int what)
{
	float want[PAIRS];
	fill(want, comparison, cell, run, what);
	return got && memcmp(got, want, sizeof want) == 0;
}

/** Every time of comparison `id` has its measured value, in the database or in the archive. */
static void assert_whole(struct fixture *f, int64_t id)
{
	struct store_cell c = { .n = -1 };
	for (int n = 0; n < CELLS; n++) {
		struct store_runs l;
		err_clear(&err);
		assert_int_equal(store_cell_next(f->db, id, c.n, &c, &err), 1);
		ok(store_cell_runs(f->db, c.id, SERIES_DEVICE, &l, &err));
		assert_int_equal(l.n, RUNS);
		assert_true(l.raw);
		for (int i = 0; i < RUNS; i++) {
			assert_true(same(l.pairs[i].base_ms, id, n, i, 0) && same(l.pairs[i].target_ms, id, n, i, 1));
			assert_true(same(l.pairs[i].base_mhz, id, n, i, 2) && same(l.pairs[i].target_mhz, id, n, i, 3));
			assert_true(!l.host[i].base_ms && same(l.host[i].target_ms, id, n, i, 4));
		}
		buf_fini(&l.values);
	}
}

static int setup(void **state)
{
	int result = fixture_setup(state);
	is_disk_broken = false;
	n_syncs = 0;
	if (result == 0)
		fixture_ground(*state);
	return result;
}

static void put_some(struct fixture *f, unsigned from, unsigned n, int64_t at)
{
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < n; i++)
		put(f, from + i, at + i);
	ok(db_commit(f->db, &err));
}

static int archive(struct fixture *f, int64_t before)
{
	ok(db_begin(f->db, &err));
	int n = fixture_archive(f, before);
	ok(db_commit(f->db, &err));
	return n;
}

static void file_of(struct fixture *f, const char *month, char *path, size_t size)
{
	char folder[200];
	ok(archived_folder(f->db, folder, sizeof folder, &err));
	ok(archive_path(folder, month, path, size, &err));
}

static void change_file(const char *path, int64_t at, int by)
{
	unsigned char byte;
	int fd = open(path, O_RDWR);
	assert_int_equal(pread(fd, &byte, 1, at), 1);
	byte = (unsigned char)(byte ^ by);
	assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	close(fd);
}

static int64_t size_of(const char *path)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

/** All frames of the file, as zstd itself sees them. */
static int frames_of(const char *path)
{
	static char bytes[1 << 20], to[1 << 20];
	int fd = open(path, O_RDONLY), n = 0;
	ssize_t len = read(fd, bytes, sizeof bytes);
	close(fd);
	for (ssize_t at = 0; at < len; n++) {
		size_t size = ZSTD_findFrameCompressedSize(bytes + at, (size_t)(len - at));
		assert_false(ZSTD_isError(size) || ZSTD_isError(ZSTD_decompress(to, sizeof to, bytes + at, size)));
		at += (ssize_t)size;
	}
	return n - 1; /* the first frame identifies the database */
}

/** Used pages of the database: the cases here differ only in samples. */
static int64_t pages_of_samples(struct fixture *f)
{
	return fixture_number(f, "PRAGMA page_count") - fixture_number(f, "PRAGMA freelist_count");
}

/* ---- tests ---------------------------------------------------------------------------------------------------------------- */

static void times_move_and_come_back(void **state)
{
	struct fixture *f = *state;
	char path[256];
	put_some(f, 1, 4, 20 * day_ms); /* January 1970 */
	put_some(f, 5, 2, 40 * day_ms); /* February */
	assert_int_equal(archive(f, 20 * day_ms), 0);
	assert_int_equal(archive(f, 40 * day_ms + 1), 5);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM archived"), 5);
	assert_int_equal(fixture_number(f, "SELECT sum(ms IS NOT NULL) FROM sample"), CELLS * RUNS * 2);
	assert_int_equal(fixture_number(f, "SELECT sum(mhz IS NOT NULL OR host_us IS NOT NULL) FROM sample"), CELLS * RUNS * 2);
	for (int64_t id = 1; id <= 6; id++)
		assert_whole(f, id);
	file_of(f, "1970-01", path, sizeof path);
	assert_int_equal(frames_of(path), 4);
	file_of(f, "1970-02", path, sizeof path);
	assert_int_equal(frames_of(path), 1);
	assert_int_equal(
		size_of(path), fixture_number(f, "SELECT max(frame_offset + bytes) FROM archived WHERE month = '1970-02'"));
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(archive(f, 50 * day_ms), 1);
	assert_int_equal(archive(f, 50 * day_ms), 0);
	assert_whole(f, 6);
	/* all other columns of a row stay, also those of later schema versions */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM pragma_table_info('sample') WHERE name NOT IN (SELECT name FROM "
					   "pragma_table_info('remaining'))"),
		ARCHIVED_TIMES);
}

/* Pages that samples filled are free afterwards, not half empty. */
static void reading_cell_by_cell_unpacks_a_frame_once(void **state)
{
	struct fixture *f = *state;
	char path[256];
	put_some(f, 1, 3, 20 * day_ms);
	assert_int_equal(archive(f, 20 * day_ms + 2), 2);
	int64_t reads = archive_reads();
	assert_whole(f, 1);
	assert_int_equal(archive_reads() - reads, CELLS);
	archived_read_begin(f->db);
	reads = archive_reads();
	for (int again = 0; again < 3; again++)
		assert_whole(f, 1);
	assert_int_equal(archive_reads() - reads, 1);
	assert_whole(f, 2);
	assert_whole(f, 3); /* in the database */
	assert_whole(f, 2);
	assert_int_equal(archive_reads() - reads, 2);
	assert_whole(f, 1); /* one is cached, not all */
	assert_int_equal(archive_reads() - reads, 3);
	archived_read_end(f->db);
	assert_whole(f, 1);
	assert_int_equal(archive_reads() - reads, 3 + CELLS);
	/* an unreadable frame is not cached, and the frame cached before it is not returned in its place */
	archived_read_begin(f->db);
	assert_whole(f, 2);
	file_of(f, "1970-01", path, sizeof path);
	int64_t middle = fixture_number(f, "SELECT frame_offset + bytes / 2 FROM archived WHERE comparison = 1");
	change_file(path, middle, 1);
	struct store_cell c = { .n = -1 };
	struct store_runs l;
	assert_int_equal(store_cell_next(f->db, 1, c.n, &c, &err), 1);
	refused(ERR_INVALID, store_cell_runs(f->db, c.id, SERIES_DEVICE, &l, &err));
	buf_fini(&l.values);
	change_file(path, middle, 1);
	assert_whole(f, 1);
	assert_whole(f, 2);
	archived_read_end(f->db);
}

static void the_database_becomes_smaller(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 100; i++)
		put(f, i, day_ms + i);
	ok(db_commit(f->db, &err));
	int64_t before = pages_of_samples(f);
	assert_int_equal(archive(f, 2 * day_ms), 100);
	int64_t after = pages_of_samples(f);
	if (before - after < 40) /* of about ninety that samples used */
		fail_msg("%lld pages became %lld", (long long)before, (long long)after);
	for (int64_t id = 1; id <= 100; id++)
		assert_whole(f, id);
}

static void comparisons_without_times_need_no_frame(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	fixture_comparison(f, "main", 1, 2, VERDICT_FAILED, day_ms);
	ok(db_commit(f->db, &err));
	assert_int_equal(archive(f, 2 * day_ms), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM archived"), 0);
	assert_int_equal(archive(f, 2 * day_ms), 0);
}

/* The largest result that a worker may send: if it never fitted, it would block all comparisons after it. */
static void the_largest_comparison_fits(void **state)
{
	struct fixture *f = *state;
	put_some(f, 1, 2, day_ms);
	ok(stmt_run(db_stmt(f->db,
			    "UPDATE sample SET n = 1500000, ms = zeroblob(6000000), mhz = zeroblob(6000000), host_us = "
			    "zeroblob(4000000) WHERE cell IN (SELECT id FROM cell WHERE comparison = 1 AND n < 2)",
			    &err),
		&err));
	assert_int_equal(archive(f, 2 * day_ms), 2);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM archived"), 2);
	struct archived a;
	err_clear(&err);
	assert_int_equal(archived_read(f->db, fixture_number(f, "SELECT min(id) FROM cell"), &a, &err), 1);
	assert_true(a.floats.len > 8 * 16000000);
	archived_fini(&a);
	assert_whole(f, 2);
}

/* If the disk rejects a write, the rows stay in the database. */
static void rows_are_deleted_after_the_file_is_on_disk(void **state)
{
	struct fixture *f = *state;
	char path[256];
	int n;
	put_some(f, 1, 2, day_ms);
	assert_int_equal(archive(f, day_ms + 1), 1);
	assert_int_equal(n_syncs, 1);
	file_of(f, "1970-01", path, sizeof path);
	int64_t size = size_of(path);
	is_disk_broken = true;
	ok(db_begin(f->db, &err));
	refused(ERR_IO, archived_move(f->db, day_ms + 2, &n, &err));
	assert_non_null(strstr(err.text, "samples/1970-01.zst to the disk: Input/output error"));
	/* even if another transaction committed now */
	ok(db_commit(f->db, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM comparison WHERE is_raw"), 1);
	assert_int_equal(size_of(path), size);
	assert_whole(f, 2);
	is_disk_broken = false;
	assert_int_equal(archive(f, day_ms + 2), 1);
	assert_whole(f, 1);
	assert_whole(f, 2);
}

/* A writer that was killed between file and database: the whole frame that it left stays, a torn one is removed. */
static void a_torn_frame_of_a_killed_writer_is_removed(void **state)
{
	struct fixture *f = *state;
	char path[256], folder[200];
	struct archive_position stray = { .month = "1970-01" };
	put_some(f, 1, 3, day_ms);
	assert_int_equal(archive(f, day_ms + 1), 1);
	ok(archived_folder(f->db, folder, sizeof folder, &err));
	file_of(f, "1970-01", path, sizeof path);
	ok(archive_append(folder, size_of(path), "stray", 5, &stray, &err));
	ok(archive_append(folder, size_of(path), "torn torn torn", 14, &stray, &err));
	assert_int_equal(truncate(path, size_of(path) - 2), 0);
	assert_int_equal(archive(f, day_ms + 2), 1);
	assert_int_equal(frames_of(path), 3);
	assert_int_equal(archive(f, day_ms + 3), 1);
	assert_int_equal(frames_of(path), 4);
	/* a new file with a torn beginning */
	put_some(f, 10, 1, 40 * day_ms);
	file_of(f, "1970-02", path, sizeof path);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "P*M", 3), 3);
	close(fd);
	assert_int_equal(archive(f, 50 * day_ms), 1);
	for (int64_t id = 1; id <= 4; id++)
		assert_whole(f, id);
}

/* A database that was restored from an older copy appends after the frames of the newer one, which stay unchanged. */
static void an_older_database_overwrites_nothing(void **state)
{
	struct fixture *f = *state;
	char copy[160];
	put_some(f, 1, 2, day_ms);
	snprintf(copy, sizeof copy, "%s/copy.db", f->folder);
	ok(db_backup(f->db, copy, &err));
	assert_int_equal(archive(f, day_ms + 2), 2);
	struct fixture old = *f;
	ok(db_open(copy, false, &old.db, &err));
	assert_int_equal(archive(&old, day_ms + 2), 2);
	assert_whole(&old, 1);
	assert_whole(&old, 2);
	db_close(old.db);
	char path[200];
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof path, "%s%s", copy, i ? "-shm" : "-wal");
		unlink(path);
	}
	assert_whole(f, 1);
	assert_whole(f, 2);
}

static void damage_is_named(void **state)
{
	struct fixture *f = *state;
	char path[256], moved[300];
	struct store_cell c = { .n = -1 };
	struct store_runs l;
	put_some(f, 1, 2, day_ms);
	assert_int_equal(archive(f, day_ms + 2), 2);
	file_of(f, "1970-01", path, sizeof path);
	assert_int_equal(store_cell_next(f->db, 2, -1, &c, &err), 1);
	int64_t at = fixture_number(f, "SELECT frame_offset FROM archived WHERE comparison = 2");
	change_file(path, at + 30, 4);
	refused(ERR_INVALID, store_cell_runs(f->db, c.id, SERIES_DEVICE, &l, &err));
	buf_fini(&l.values);
	char want[400];
	snprintf(want, sizeof want, "%s is damaged at byte %lld (", path, (long long)at);
	assert_memory_equal(err.text, want, strlen(want));
	assert_non_null(strstr(err.text, "); restore it from a backup"));
	assert_whole(f, 1); /* other comparisons are not affected */
	change_file(path, at + 30, 4);
	assert_whole(f, 2);
	ok(truncate(path, size_of(path) - 1));
	refused(ERR_INVALID, store_cell_runs(f->db, c.id, SERIES_DEVICE, &l, &err));
	buf_fini(&l.values);
	assert_non_null(strstr(err.text, "it ends before"));
	/* nothing is appended after a gap */
	put_some(f, 5, 1, day_ms);
	int n;
	ok(db_begin(f->db, &err));
	refused(ERR_INVALID, archived_move(f->db, day_ms + 9, &n, &err));
	db_rollback(f->db);
	assert_whole(f, 3);
	snprintf(moved, sizeof moved, "%s.away", path);
	assert_int_equal(rename(path, moved), 0);
	refused(ERR_NOT_FOUND, store_cell_runs(f->db, c.id, SERIES_DEVICE, &l, &err));
	buf_fini(&l.values);
	assert_non_null(strstr(err.text, "samples/1970-01.zst is missing; restore it from a backup"));
	/* nor is a new file created instead */
	ok(db_begin(f->db, &err));
	refused(ERR_NOT_FOUND, archived_move(f->db, day_ms + 9, &n, &err));
	db_rollback(f->db);
	assert_int_equal(access(path, F_OK), -1);
	assert_whole(f, 3);
	/* another comparison's frame */
	assert_int_equal(rename(moved, path), 0);
	ok(stmt_run(
		db_stmt(f->db,
			"UPDATE archived SET frame_offset = (SELECT frame_offset FROM archived WHERE comparison = 1), bytes = (SELECT bytes FROM "
			"archived WHERE comparison = 1) WHERE comparison = 2",
			&err),
		&err));
	refused(ERR_INVALID, store_cell_runs(f->db, c.id, SERIES_DEVICE, &l, &err));
	buf_fini(&l.values);
	assert_non_null(strstr(err.text, "holds something else than C2"));
}

static void see_last(void *arg, const struct archive_position *last)
{
	struct archive_position **to = arg;
	*(*to)++ = *last;
}

static void months_are_listed_and_deleted(void **state)
{
	struct fixture *f = *state;
	struct archive_position last[4] = { 0 }, *to = last;
	char folder[200], month[ARCHIVE_MONTH_SIZE], mark[2][17];
	int n;
	ok(archived_folder(f->db, folder, sizeof folder, &err));
	ok(archived_each(f->db, see_last, &to, &err));
	assert_ptr_equal(to, last);
	put_some(f, 1, 2, day_ms);
	put_some(f, 5, 1, 40 * day_ms);
	assert_int_equal(archive(f, 90 * day_ms), 3);
	ok(archived_each(f->db, see_last, &to, &err));
	assert_int_equal(to - last, 2);
	assert_string_equal(last[0].month, "1970-01");
	assert_int_equal(last[0].offset, fixture_number(f, "SELECT frame_offset FROM archived WHERE comparison = 2"));
	for (int i = 0; i < 2; i++) {
		ok(archive_check(folder, &last[i], &err));
		ok(archive_mark(folder, last[i].month, mark[i], &err));
	}
	assert_string_not_equal(mark[0], mark[1]);
	ok(archived_forget(f->db, "1970-01", month, &n, &err));
	assert_int_equal(n, 0);
	ok(archived_forget(f->db, "1970-02", month, &n, &err));
	assert_int_equal(n, 1);
	assert_string_equal(month, "1970-01");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM archived"), 1);
	refused(ERR_INVALID, archive_mark(folder, "../1970", month, &err));
}

/* ---- kill -9 --------------------------------------------------------------------------------------------------------------- */

static void archive_until_killed(const char *path, int ack)
{
	struct db *db;
	struct fw_err why = { 0 };
	int n = 1;
	if (db_open(path, false, &db, &why))
		_exit(2);
	while (n == 1) {
		if (db_begin(db, &why) || archived_move(db, 365 * day_ms, &n, &why) || db_commit(db, &why))
			_exit(3);
		if (write(ack, "x", 1) != 1)
			_exit(4);
	}
	for (;;)
		pause();
}

static void kill_at_any_moment_loses_nothing(void **state)
{
	enum { KILLS = 60, EACH = 8 };
	struct fixture *f = *state;
	unsigned seed = 4711;
	int64_t in_the_middle = 0;
	for (int i = 0; i < KILLS; i++) {
		int ack[2], status;
		char byte;
		put_some(f, 1000 + (unsigned)i * EACH, EACH, (1 + i) * day_ms);
		db_close(f->db);
		f->db = NULL;
		assert_int_equal(pipe2(ack, O_CLOEXEC), 0);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			archive_until_killed(f->path, ack[1]);
		close(ack[1]);
		assert_int_equal(read(ack[0], &byte, 1), 1); /* the child has begun */
		usleep((unsigned)rand_r(&seed) % 6000);
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFSIGNALED(status)); /* it was still running: it had no error */
		close(ack[0]);
		fixture_open(f);
		int64_t raw = fixture_number(f, "SELECT count(*) FROM comparison WHERE is_raw");
		in_the_middle += raw > 0;
		assert_int_equal(
			fixture_number(f,
				"SELECT count(*) FROM comparison WHERE NOT is_raw AND id NOT IN (SELECT comparison FROM archived)"),
			0);
		for (int64_t id = (int64_t)i * EACH + 1; id <= (int64_t)(i + 1) * EACH; id++)
			assert_whole(f, id);
	}
	assert_true(in_the_middle > 0);
	archive(f, 365 * day_ms);
	for (int64_t id = 1; id <= (int64_t)KILLS * EACH; id++)
		assert_whole(f, id);
	ok(db_check(f->db, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(times_move_and_come_back, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(reading_cell_by_cell_unpacks_a_frame_once, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_database_becomes_smaller, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(comparisons_without_times_need_no_frame, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_largest_comparison_fits, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(rows_are_deleted_after_the_file_is_on_disk, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_torn_frame_of_a_killed_writer_is_removed, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(an_older_database_overwrites_nothing, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(damage_is_named, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(months_are_listed_and_deleted, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(kill_at_any_moment_loses_nothing, setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
