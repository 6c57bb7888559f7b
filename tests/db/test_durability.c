/* Acknowledged writes survive kill -9: none is missing, duplicated or partial. */
/* Left to `make check`: takes seconds. */
#include "fixture_db.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <time.h>

#include "db/db.h"
#include "lib/lib.h"

enum { KILLS = 100 };

/**
 * The child: one transaction after the other, each writes an event numbered `next` and two log lines, and is acknowledged on
 * the pipe after its commit.
 */
static void write_until_killed(const char *path, int64_t job, int64_t next, int ack)
{
	struct db *db;
	struct fw_err why = { 0 };
	if (db_open(path, false, &db, &why))
		_exit(2);
	for (;; next++) {
		char payload[32], line[64];
		snprintf(payload, sizeof payload, "{\"n\":%lld}", (long long)next);
		snprintf(line, sizeof line, "%lld of a line that is long enough to matter", (long long)next);
		if (db_begin(db, &why) || store_event(db, next, "test", payload, NULL, &why) ||
			store_job_log(db, job, next, line, &why) || store_job_log(db, job, next, line, &why) ||
			db_commit(db, &why))
			_exit(3);
		if (write(ack, &next, sizeof next) != sizeof next)
			_exit(4);
	}
}

/** Let a child write for a while, kill it; the last number it acknowledged (`before` if none). */
static int64_t write_and_kill(struct fixture *f, int64_t job, int64_t before, unsigned delay_us)
{
	int ack[2], status;
	int64_t last = before, n;
	assert_int_equal(pipe2(ack, O_CLOEXEC), 0);
	fcntl(ack[1], F_SETPIPE_SZ, 1 << 20);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(ack[0]);
		write_until_killed(f->path, job, before + 1, ack[1]);
	}
	close(ack[1]);
	/* wait for the first acknowledgement, so that every round writes something, then for a random time */
	assert_int_equal(read(ack[0], &last, sizeof last), (ssize_t)sizeof last);
	usleep(delay_us);
	kill(child, SIGKILL);
	while (read(ack[0], &n, sizeof n) == sizeof n)
		last = n;
	close(ack[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status)); /* it was still writing: it had no error */
	return last;
}

static void acknowledged_rows_survive_kill(void **state)
{
	struct fixture *f = *state;
	int64_t stored = 0, total = 0;
	unsigned seed = 12345;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	int64_t job = fixture_job(f, "main", 0, 1, 1);
	ok(db_commit(f->db, &err));
	db_close(f->db);
	f->db = NULL;
	for (int i = 0; i < KILLS; i++) {
		int64_t acknowledged = write_and_kill(f, job, stored, (unsigned)rand_r(&seed) % 20000);
		fixture_open(f);
		int64_t max = fixture_number(f, "SELECT coalesce(max(at), 0) FROM event");
		assert_true(max >= acknowledged);     /* none missing */
		assert_true(max <= acknowledged + 1); /* one may be committed without an acknowledgement */
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM event"), max);
		assert_int_equal(fixture_number(f, "SELECT count(DISTINCT payload) FROM event"), max); /* no duplicate, no gap */
		assert_int_equal(fixture_number(f, "SELECT count(*) FROM job_log"), 2 * max);          /* none partial */
		total += max - stored;
		stored = max;
		if (i % 20 == 0 || i == KILLS - 1)
			ok(db_check(f->db, &err));
		db_close(f->db);
		f->db = NULL;
	}
	assert_true(total > KILLS);
	fixture_open(f);
}

static void interrupted_job_is_queued_once(void **state)
{
	struct fixture *f = *state;
	int status, requeued, failed;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	int64_t job = fixture_job(f, "main", 0, 1, 1);
	ok(db_commit(f->db, &err));
	db_close(f->db);
	f->db = NULL;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) { /* is killed within the transaction that ends the job */
		struct fw_err why = { 0 };
		struct db *db;
		struct store_comparison c = { .job = job,
			.repo = f->repo,
			.suite = f->suite,
			.environment = f->environment,
			.device = f->device,
			.kind = JOBKIND_COMPARE,
			.rule_json = "{}",
			.verdict = VERDICT_UNCHANGED };
		if (db_open(f->path, false, &db, &why) || db_begin(db, &why) ||
			store_job_send(db, job, f->device, "n", 5, &why) || db_commit(db, &why) || db_begin(db, &why) ||
			store_comparison_insert(db, &c, &why) || store_job_done(db, job, 6, &why))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	fixture_open(f);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM comparison"), 0);
	ok(db_begin(f->db, &err));
	ok(store_job_recover(f->db, 9, &requeued, &failed, &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(requeued, 1);
	assert_int_equal(failed, 0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM job WHERE state = 'queued' AND attempt = 0 AND daemon_ends = 1"), 1);
}

static int calls_until_end;

static void end_at_call(void)
{
	if (calls_until_end-- == 0)
		_exit(9);
}

static ssize_t ending_write(int fd, const void *data, size_t n)
{
	end_at_call();
	return write(fd, data, n);
}

static ssize_t ending_pwrite(int fd, const void *data, size_t n, off_t at)
{
	end_at_call();
	return pwrite(fd, data, n, at);
}

static int ending_unlink(const char *path)
{
	end_at_call();
	return unlink(path);
}

/* Without a commit that leaves a file which is neither empty nor known as ours. */
static void the_next_start_completes_an_interrupted_creation(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *name;
		sqlite3_syscall_ptr call;
	} calls[] = { { "write", (sqlite3_syscall_ptr)ending_write }, { "pwrite", (sqlite3_syscall_ptr)ending_pwrite },
		{ "pwrite64", (sqlite3_syscall_ptr)ending_pwrite }, { "unlink", (sqlite3_syscall_ptr)ending_unlink } };
	char path[160], name[176];
	int status = -1, ends = 0;

	for (; status != 0; ends++) {
		struct db *db;
		snprintf(path, sizeof path, "%s/new%d.db", f->folder, ends);
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			struct fw_err why = { 0 };
			sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
			calls_until_end = ends;
			for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
				if (vfs->xSetSystemCall(vfs, calls[i].name, calls[i].call) != SQLITE_OK)
					_exit(2);
			_exit(db_open(path, false, &db, &why) ? 3 : 0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0));
		ok(db_open(path, false, &db, &err));
		struct stmt *s = db_stmt(db, "PRAGMA auto_vacuum", &err);
		assert_int_equal(stmt_step(s, &err), 1);
		row_copy(s, 0, name, sizeof name);
		assert_string_equal(name, "2");
		stmt_reset(s);
		db_close(db);
	}
	assert_true(ends > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_next_start_completes_an_interrupted_creation, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(acknowledged_rows_survive_kill, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(interrupted_job_is_queued_once, fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
