/* Queue and slots: real commits, a real database, and shell scripts as workers, good and bad ones. */
/* Left to `make check`: starts our programs, takes seconds. */
#include "fixture_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "flopwatchd/schedule/schedule.h"

#define HELLO                                                                                                                    \
	"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","     \
	"\"uuid\":\"sim-1\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"x\"}]}'; read job || exit 0; "
/* the target does not build: the shortest possible result */
#define WORK                                                                                                                     \
	"echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'; "                                                       \
	"echo '{\"t\":\"build\",\"role\":\"target\",\"state\":\"failed\",\"exit\":2,\"signal\":0,\"duration_ms\":5,"             \
	"\"modules\":{},\"toolchain\":\"x\",\"detail\":\"make: exit 2\",\"log_b64\":\"\"}'; "                                    \
	"echo '{\"t\":\"done\",\"gpu_s\":0,\"wall_s\":1,\"cancelled\":false}'"

static struct queue *queue;
static int drained;

static int setup(void **state)
{
	queue = NULL;
	drained = 0;
	return fixture_setup(state);
}

static int teardown(void **state)
{
	queue_stop(queue);
	return fixture_teardown(state);
}

static void add_worker(const char *name, const char *script)
{
	struct config_worker *w = &config->worker[config->n_workers++];
	char path[64];
	snprintf(path, sizeof path, "%s.sh", name);
	gitrepo_write(path, script);
	snprintf(w->name, sizeof w->name, "%s", name);
	snprintf(w->command[0], sizeof w->command[0], "sh");
	snprintf(w->command[1], sizeof w->command[1], "%.400s/%s", gitrepo_root, path);
	w->n_command = 2;
}

static void begin(void)
{
	ok(queue_start(loop, config, db, NULL, NULL, &queue, &err));
}

static void on_drained(void *arg)
{
	(void)arg;
	drained++;
	loop_stop(loop);
}

/* main with one commit, and a branch `topic` with another; its hash. */
static const char *topic(void)
{
	static char one[65], two[65];
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", two);
	return two;
}

#define STATE_IS(state) "SELECT count(*) FROM job WHERE id = 1 AND state = '" state "'"

static void test_a_job_goes_through_a_worker(void **state)
{
	(void)state;
	add_worker("w", HELLO WORK);
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(fixture_text("SELECT base_how || ' ' || suite || ' ' || kind || ' ' || attempt FROM job"),
		"merge-base tiny compare 1");
	assert_int_equal(fixture_number("SELECT length(nonce) FROM job"), 32);
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison WHERE verdict = 'failed' AND job = 1"), 1);
	assert_int_equal(fixture_number("SELECT count(*) FROM git_commit"), 2);
	assert_string_equal(fixture_text("SELECT uuid FROM device"), "sim-1");
	assert_string_equal(fixture_text("SELECT group_concat(line, ' | ') FROM job_log WHERE line LIKE 'build%'"),
		"build of base begins | build of target failed after 0.0 s: make: exit 2");
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.state' AND payload LIKE '%building%'"), 1);
	assert_int_equal(fixture_number("SELECT json_extract(progress, '$.checks') FROM job"), 2);
}

static void test_identical_needs_no_worker(void **state)
{
	(void)state;
	char one[65], two[65];
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "words");
	gitrepo_write("w/README", "words\n");
	fixture_commit("1", "words", two);
	fixture_push("words", two);
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(fixture_text("SELECT verdict || ' ' || identical_by FROM comparison"), "identical tree");
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 0);
}

static void test_every_suite_gets_a_job(void **state)
{
	(void)state;
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 1\nsuites: [tiny, other]\n");
	gitrepo_write("w/etc/suites/other.yaml", FIXTURE_SUITE);
	fixture_push("topic", topic());
	begin();
	fixture_until("SELECT count(*) = 2 AND min(base_how) <> '' FROM job");
	assert_string_equal(fixture_text("SELECT group_concat(suite || ' ' || base_how, ', ') FROM job"),
		"tiny merge-base, other merge-base");
}

static void test_a_newer_tip_supersedes_what_waits(void **state)
{
	(void)state;
	char three[65];
	fixture_push("topic", topic());
	begin();
	fixture_until("SELECT base_how <> '' FROM job WHERE id = 1");
	fixture_commit("3", "topic again", three);
	fixture_push("topic", three);
	queue_wake(queue);
	fixture_until(STATE_IS("superseded"));
	assert_string_equal(fixture_text("SELECT state FROM job WHERE id = 2"), "queued");
}

static void test_a_worker_that_dies_three_times(void **state)
{
	(void)state;
	add_worker("w", HELLO "echo 'no memory' >&2; kill -9 $$");
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("failed"));
	assert_string_equal(fixture_text("SELECT state_why FROM job"),
		"interrupted: the worker ended in the middle of the job (killed by "
		"SIGKILL); last line: no memory (attempt 3 of 3; see doc/troubleshooting.md#interrupted)");
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 3);
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison"), 0);
}

static void test_an_unreachable_worker_uses_no_attempt(void **state)
{
	(void)state;
	add_worker("gone", "exit 1");
	fixture_push("topic", topic());
	begin();
	fixture_until("SELECT base_how <> '' FROM job");
	assert_string_equal(fixture_text("SELECT state || attempt FROM job"), "queued0");
	/* sends hello once, and never again: the job was sent, and is requeued without counting the attempt */
	char script[2048];
	snprintf(script, sizeof script, "[ -e %.100s/said ] && exit 1; echo > %.100s/said; " HELLO WORK, gitrepo_root,
		gitrepo_root);
	add_worker("shy", script);
	queue_stop(queue);
	begin();
	fixture_until("SELECT count(*) FROM event WHERE payload LIKE '%before its hello%'");
	assert_string_equal(fixture_text("SELECT state || attempt FROM job"), "queued0");
}

static void test_a_paused_device_gets_nothing(void **state)
{
	(void)state;
	int64_t id;
	enum devicestate word;
	add_worker("w", HELLO WORK);
	begin();
	fixture_until("SELECT count(*) FROM device");
	ok(db_begin(db, &err));
	ok(store_device_get(db, "sim-1", &id, &word, &err));
	ok(store_device_state(db, id, DEVICESTATE_PAUSED, "", 1, &err));
	ok(db_commit(db, &err));
	fixture_push("topic", topic());
	queue_wake(queue);
	fixture_until("SELECT base_how <> '' FROM job");
	queue_wake(queue);
	fixture_until("SELECT 1");
	assert_string_equal(fixture_text("SELECT state FROM job"), "queued");
	ok(db_begin(db, &err));
	ok(store_device_state(db, id, DEVICESTATE_OK, "", 1, &err));
	ok(db_commit(db, &err));
	queue_wake(queue);
	fixture_until(STATE_IS("done"));
}

static void test_a_device_has_one_job_at_a_time(void **state)
{
	(void)state;
	char text[256], script[2048];
	snprintf(text, sizeof text, "%.100s/busy", gitrepo_root);
	snprintf(script, sizeof script, HELLO "mkdir %s || kill -9 $$; sleep 0.05; rmdir %s; " WORK, text, text);
	add_worker("one", script);
	add_worker("two", script);
	const char *sha = topic();
	for (int i = 0; i < 6; i++) {
		char branch[16];
		snprintf(branch, sizeof branch, "b%d", i);
		fixture_push(branch, sha);
	}
	begin();
	fixture_until("SELECT count(*) = 6 FROM job WHERE state = 'done'");
	assert_int_equal(fixture_number("SELECT max(attempt) FROM job"), 1);
}

#define FAULT(class, detail)                                                                                                     \
	"echo '{\"t\":\"fault\",\"cell\":null,\"role\":\"worker\",\"class\":\"" class "\",\"detail\":\"" detail "\"}'; "
#define NO_HELLO(text) "[ -e %.100s/full ] && { " FAULT("full", text) "exit 1; }; "

/* The worker caused the failure: the job is requeued, and judged later. */
static void test_a_fault_of_the_worker_requeues_the_job(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		HELLO "mkdir %.100s/once && { " FAULT("interrupted", "the runner: killed by SIGKILL") "sleep 1; exit 1; }; " WORK,
		gitrepo_root);
	add_worker("w", script);
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 2);
	assert_int_equal(
		fixture_number(
			"SELECT count(*) FROM job_log WHERE line = 'queued: the runner: killed by SIGKILL (attempt 1 of 3)'"),
		1);
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison"), 1);
}

static void free_space(void *arg)
{
	(void)arg;
	GITREPO_RUN(".", "rm", "full");
}

/* A job that waits for space loses no attempt, however often it is tried, and no worker is started without space. */
static void test_a_worker_whose_disk_is_full(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		NO_HELLO("only 3 MiB are free") HELLO "[ -e %.100s/was ] || { touch %.100s/was %.100s/full; " FAULT(
			"full", "only 2 MiB are free; the build used 1 MiB") "sleep 1; exit 1; }; " WORK,
		gitrepo_root, gitrepo_root, gitrepo_root, gitrepo_root);
	add_worker("w", script);
	fixture_push("topic", topic());
	begin();
	fixture_until("SELECT count(*) FROM job WHERE state = 'queued' AND attempt = 0 AND state_why LIKE '%build used 1 MiB'");
	loop_after(loop, 3000, free_space, NULL, NULL); /* meanwhile the worker is started again, and reports too little space */
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 1);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line LIKE 'sent to%'"), 2);
}

static void test_cancelling(void **state)
{
	(void)state;
	add_worker("w", HELLO "echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'; cat > /dev/null");
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("building"));
	ok(queue_cancel(queue, 1, "cancelled by me", &err));
	assert_string_equal(fixture_text("SELECT state || ': ' || state_why FROM job"), "cancelled: cancelled by me");
	assert_int_equal(queue_cancel(queue, 1, "again", &err), -1);
	assert_string_equal(err.text, "J1 has ended already: cancelled");
	err_clear(&err);
	assert_int_equal(queue_cancel(queue, 77, "x", &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	struct store_job waiting = fixture_push("later", fixture_text("SELECT target_sha FROM job"));
	ok(queue_cancel(queue, waiting.id, "not needed", &err));
	assert_string_equal(fixture_text("SELECT state FROM job WHERE id = 2"), "cancelled");
	/* the worker has exited, and the next job gets it */
	fixture_push("third", fixture_text("SELECT target_sha FROM job"));
	queue_wake(queue);
	fixture_until("SELECT state = 'building' FROM job WHERE id = 3");
}

static void test_a_job_has_a_time_limit(void **state)
{
	(void)state;
	config->job_timeout_ms = 100;
	add_worker("w", HELLO "echo '{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"1\",\"cells\":[0]}'; cat > /dev/null");
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("failed"));
	assert_string_equal(fixture_text("SELECT state_why FROM job"),
		"timeout: the job ran past its limit of 0 s (see doc/troubleshooting.md#job-timeout)");
}

/* Time spent waiting for a device, and building, does not count as the job's. */
static void test_the_limit_counts_from_the_start_of_measuring(void **state)
{
	(void)state;
	config->job_timeout_ms = 100;
	add_worker("w", "sleep 0.3; " HELLO "echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'; sleep 0.5; " WORK);
	fixture_push("topic", topic());
	begin();
	fixture_until("SELECT count(*) FROM job WHERE id = 1 AND state IN ('done', 'failed')");
	assert_string_equal(fixture_text("SELECT state || state_why FROM job"), "done");
}

#define HELLO_OF(uuid)                                                                                                           \
	"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","     \
	"\"uuid\":\"'" uuid "'\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"x\"}]}'; read job || exit 0; "

/* As with a scheduler that is started through `command`: every start gets another GPU. */
static void test_a_job_goes_to_the_device_that_is_there(void **state)
{
	(void)state;
	char script[2048];
	snprintf(script, sizeof script,
		"n=$(cat %.100s/n 2>/dev/null || echo 0); echo $((n + 1)) >%.100s/n; " HELLO_OF("sim-$n") WORK, gitrepo_root,
		gitrepo_root);
	add_worker("w", script);
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("done"));
	assert_string_equal(
		fixture_text("SELECT d.uuid || ' ' || j.attempt FROM job j JOIN device d ON d.id = j.device"), "sim-1 1");
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log WHERE line = 'worker w has another device now: sim-1'"), 1);
}

/* Two devices: each runs a job at the same time, and each of the two jobs waits until it has seen the other. */
static void test_every_device_of_a_worker_has_a_job(void **state)
{
	(void)state;
	char script[4096];
	snprintf(script, sizeof script,
		"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","
		"\"uuid\":\"sim-0\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"x\"},{\"kind\":\"sim\",\"index\":1,"
		"\"uuid\":\"sim-1\",\"name\":\"s\",\"driver\":\"\",\"toolkit\":\"x\"}]}'; read job || exit 0; "
		"uuid=${job#*\\\"device\\\":\\\"}; touch %.100s/on-${uuid%%%%\\\"*}; "
		"until [ -e %.100s/on-sim-0 ] && [ -e %.100s/on-sim-1 ]; do sleep 0.02; done; " WORK,
		gitrepo_root, gitrepo_root, gitrepo_root);
	add_worker("w", script);
	const char *sha = topic();
	fixture_push("one", sha);
	fixture_push("two", sha);
	begin();
	fixture_until("SELECT count(*) = 2 FROM job WHERE state = 'done'");
	assert_int_equal(fixture_number("SELECT count(DISTINCT device) FROM job"), 2);
	assert_int_equal(fixture_number("SELECT max(attempt) FROM job"), 1);
}

static void test_draining_gives_jobs_back(void **state)
{
	(void)state;
	add_worker("w", HELLO "echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'; cat > /dev/null");
	fixture_push("topic", topic());
	begin();
	fixture_until(STATE_IS("building"));
	queue_drain(queue, on_drained, NULL);
	ok(loop_run(loop, &err));
	assert_int_equal(drained, 1);
	assert_string_equal(
		fixture_text("SELECT state || ' ' || attempt || ' ' || state_why FROM job"), "queued 0 the daemon was stopped");
}

static void on_seen(void *arg, uint32_t events)
{
	(void)arg, (void)events;
	loop_stop(loop);
}

/* A FIFO in the temporary folder, which opens at once and never ends. */
static int make_fifo(const char *name)
{
	char path[PATH_MAX + 16];
	snprintf(path, sizeof path, "%s/%s", gitrepo_root, name);
	assert_int_equal(mkfifo(path, 0600), 0);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/*
 * The daemon is stopped while a worker that has sent its result still cleans up. When the daemon has read the result, it ends the
 * worker's input: then the worker writes to `seen`, and ends by `ending` when it can read from `end`.
 */
static void stop_with_a_result(const char *ending)
{
	char script[2048];
	struct loop_source *source = NULL;
	int seen = make_fifo("seen"), end = make_fifo("end");
	snprintf(script, sizeof script, HELLO WORK "; cat >/dev/null; echo >'%s/seen'; read x <'%s/end'; %s", gitrepo_root,
		gitrepo_root, ending);
	add_worker("w", script);
	fixture_push("topic", topic());
	begin();
	ok(loop_watch(loop, seen, EPOLLIN, on_seen, NULL, &source, &err));
	ok(loop_run(loop, &err));
	loop_remove(loop, source);
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison"), 0);
	queue_drain(queue, on_drained, NULL);
	assert_int_equal(write(end, "\n", 1), 1);
	ok(loop_run(loop, &err));
	assert_int_equal(drained, 1);
	assert_string_equal(fixture_text("SELECT state || ' ' || attempt FROM job"), "done 1");
	assert_int_equal(fixture_number("SELECT count(*) FROM comparison WHERE verdict = 'failed' AND job = 1"), 1);
	close(seen);
	close(end);
}

static void test_a_stop_stores_a_complete_result(void **state)
{
	(void)state;
	stop_with_a_result("exit 0");
}

static void test_a_stop_that_also_ends_the_worker_stores_a_complete_result(void **state)
{
	(void)state;
	stop_with_a_result("kill -TERM $$");
}

static void test_plans_can_be_deleted(void **state)
{
	(void)state;
	add_worker("w", HELLO WORK);
	fixture_push("topic", topic());
	begin();
	fixture_until("SELECT 1"); /* git is running now */
	queue_forget_plans(queue);
	queue_wake(queue);
	fixture_until(STATE_IS("done"));
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 1);
}

static void test_a_repository_that_is_not_configured(void **state)
{
	(void)state;
	fixture_push("topic", topic());
	config->n_repos = 0;
	begin();
	fixture_until(STATE_IS("target_missing"));
	assert_string_equal(fixture_text("SELECT state_why FROM job"), "repository kernels is no longer configured");
}

static void test_a_database_that_cannot_be_written(void **state)
{
	(void)state;
	struct rlimit full = { 1, RLIM_INFINITY }, free_again = { RLIM_INFINITY, RLIM_INFINITY };
	signal(SIGXFSZ, SIG_IGN);
	begin();
	ok(queue_health(queue, &err));
	struct store_job j = fixture_push("topic", topic());
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	assert_int_equal(queue_cancel(queue, j.id, "x", &err), -1);
	struct fw_err why = { 0 };
	assert_int_equal(queue_health(queue, &why), -1); /* the health check tries a write */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &free_again), 0);
	assert_memory_equal(why.text, "the database cannot be written: ", 32);
	ok(queue_cancel(queue, j.id, "x", &err));
	ok(queue_health(queue, &err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(test_a_job_goes_through_a_worker),
		CASE(test_identical_needs_no_worker),
		CASE(test_every_suite_gets_a_job),
		CASE(test_a_newer_tip_supersedes_what_waits),
		CASE(test_a_worker_that_dies_three_times),
		CASE(test_an_unreachable_worker_uses_no_attempt),
		CASE(test_a_paused_device_gets_nothing),
		CASE(test_a_device_has_one_job_at_a_time),
		CASE(test_a_fault_of_the_worker_requeues_the_job),
		CASE(test_a_worker_whose_disk_is_full),
		CASE(test_cancelling),
		CASE(test_a_job_has_a_time_limit),
		CASE(test_the_limit_counts_from_the_start_of_measuring),
		CASE(test_a_job_goes_to_the_device_that_is_there),
		CASE(test_every_device_of_a_worker_has_a_job),
		CASE(test_draining_gives_jobs_back),
		CASE(test_a_stop_stores_a_complete_result),
		CASE(test_a_stop_that_also_ends_the_worker_stores_a_complete_result),
		CASE(test_plans_can_be_deleted),
		CASE(test_a_repository_that_is_not_configured),
		CASE(test_a_database_that_cannot_be_written),
	};
	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
