/*
 * Devices of the queue's workers: a device being tried, one that differs from the expected one, and a job whose worker is
 * exiting.
 */
/* Left to `make check`: starts our programs, takes seconds. */
#include "fixture_daemon.h"

#include "flopwatchd/job/job.h"
#include "flopwatchd/schedule/schedule.h"

#define HELLO_OF(uuid, name)                                                                                                     \
	"echo '{\"t\":\"hello\",\"protocol\":1,\"version\":\"0.1.0\",\"isolation\":\"none\",\"devices\":[{\"kind\":\"sim\","     \
	"\"uuid\":\"" uuid "\",\"name\":\"" name "\",\"driver\":\"\",\"toolkit\":\"x\"}]}'; "
#define HELLO HELLO_OF("sim-1", "s") "read job || exit 0; "
#define WORK                                                                                                                     \
	"echo '{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}'; "                                                       \
	"echo '{\"t\":\"build\",\"role\":\"target\",\"state\":\"failed\",\"exit\":2,\"signal\":0,\"duration_ms\":5,"             \
	"\"modules\":{},\"toolchain\":\"x\",\"detail\":\"make: exit 2\",\"log_b64\":\"\"}'; "                                    \
	"echo '{\"t\":\"done\",\"gpu_s\":0,\"wall_s\":1,\"cancelled\":false}'"

static struct queue *queue;

static int setup(void **state)
{
	queue = NULL;
	return fixture_setup(state);
}

static int teardown(void **state)
{
	queue_stop(queue);
	return fixture_teardown(state);
}

static void add_worker(const char *script)
{
	struct config_worker *w = &config->worker[config->n_workers++];
	gitrepo_write("worker.sh", script);
	snprintf(w->name, sizeof w->name, "w");
	snprintf(w->command[0], sizeof w->command[0], "sh");
	snprintf(w->command[1], sizeof w->command[1], "%.400s/worker.sh", gitrepo_root);
	w->n_command = 2;
}

static void begin(void)
{
	ok(queue_start(loop, config, db, NULL, NULL, &queue, &err));
}

static void try_device(void)
{
	ok(devicestate_set(queue_txn(queue), "sim-1", DEVICESTATE_HEALTH_CHECK, "health check requested", "me", &err));
	queue_wake(queue);
}

static void on_drained(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static bool was_tried(void)
{
	int status;
	GITREPO_TRY(".", &status, "test", "-e", "tried");
	return status == 0;
}

static void look(void *arg)
{
	if (was_tried())
		loop_stop(loop);
	else
		loop_after(loop, FIXTURE_TICK_MS, look, arg, NULL);
}

static void a_stopping_daemon_records_no_failed_health_check(void **state)
{
	(void)state;
	char script[2048];
	snprintf(script, sizeof script, HELLO "touch %.100s/tried; cat >/dev/null", gitrepo_root);
	add_worker(script);
	begin();
	fixture_until("SELECT count(*) FROM device");
	try_device();
	loop_after(loop, 0, look, NULL, NULL);
	ok(loop_run(loop, &err));
	queue_drain(queue, on_drained, NULL);
	ok(loop_run(loop, &err));
	assert_string_equal(
		fixture_text("SELECT state || ': ' || state_why FROM device"), "health_check: health check requested");
}

/* A truncated line, or a worker that does not start: the connection is retried. */
static void a_health_check_without_an_answer_is_tried_again(void **state)
{
	(void)state;
	char script[2048];
	snprintf(script, sizeof script,
		"[ -e %.100s/cut ] && ! [ -e %.100s/down ] && { touch %.100s/down; exit 255; }; " HELLO
		"[ -e %.100s/cut ] || { touch %.100s/cut; exit 255; }; "
		"echo '{\"t\":\"state\",\"what\":\"health_check\",\"ok\":true,\"detail\":\"\"}'",
		gitrepo_root, gitrepo_root, gitrepo_root, gitrepo_root, gitrepo_root);
	add_worker(script);
	begin();
	fixture_until("SELECT count(*) FROM device");
	try_device();
	fixture_until("SELECT state = 'ok' FROM device");
	assert_int_equal(
		fixture_number("SELECT count(*) FROM event WHERE kind = 'device.state' AND payload LIKE '%quarantined%'"), 0);
}

/* But not forever. */
static void a_device_whose_health_check_never_answers_is_unfit(void **state)
{
	(void)state;
	add_worker(HELLO "exit 1");
	begin();
	fixture_until("SELECT count(*) FROM device");
	try_device();
	fixture_until("SELECT state = 'quarantined' FROM device");
	assert_string_equal(fixture_text("SELECT state_why FROM device"),
		"its health check failed: 3 times without an answer, last: the worker ended before the health check's answer (exit 1)");
}

/* The device is gone when the worker answers, and its replacement is of another class. */
static void a_job_for_a_class_is_not_bound_to_another(void **state)
{
	(void)state;
	char one[65], two[65], script[4096];
	snprintf(script, sizeof script,
		"n=$(cat %.100s/n 2>/dev/null || echo 0); echo $((n + 1)) >%.100s/n; if [ $n = 1 ]; then " HELLO_OF(
			"sim-2", "t") "else " HELLO_OF("sim-1", "s") "fi; read job || exit 0; " WORK,
		gitrepo_root, gitrepo_root);
	add_worker(script);
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", two);
	begin();
	fixture_until("SELECT count(*) FROM device");
	struct store_job j = { .repo = repo_id, .kind = JOBKIND_COMPARE, .origin = "api", .device_class = 1 };
	snprintf(j.branch, sizeof j.branch, "topic");
	snprintf(j.target_sha, sizeof j.target_sha, "%s", two);
	ok(db_begin(db, &err));
	ok(store_job_insert(db, &j, clock_utc_ms(), &err));
	ok(db_commit(db, &err));
	queue_wake(queue);
	fixture_until("SELECT count(*) FROM job WHERE state = 'done'");
	assert_string_equal(fixture_text("SELECT d.uuid FROM job j JOIN device d ON d.id = j.device"), "sim-1");
	assert_int_equal(
		fixture_number("SELECT count(*) FROM job_log WHERE line LIKE '%does not have device sim-1 any more'"), 1);
}

/* Its worker takes time to exit; the job is queued again already. */
static void a_job_that_was_given_back_can_be_cancelled_at_once(void **state)
{
	(void)state;
	char one[65], two[65];
	add_worker(HELLO
		"echo '{\"t\":\"fault\",\"cell\":null,\"role\":\"worker\",\"class\":\"full\",\"detail\":\"it is full\"}'; sleep 2");
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", two);
	fixture_push("topic", two);
	begin();
	fixture_until("SELECT count(*) FROM job WHERE state = 'queued' AND state_why = 'it is full'");
	ok(queue_cancel(queue, 1, "not needed", &err));
	assert_string_equal(fixture_text("SELECT state || ': ' || state_why FROM job"), "cancelled: not needed");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(a_stopping_daemon_records_no_failed_health_check),
		CASE(a_health_check_without_an_answer_is_tried_again),
		CASE(a_device_whose_health_check_never_answers_is_unfit),
		CASE(a_job_for_a_class_is_not_bound_to_another),
		CASE(a_job_that_was_given_back_can_be_cancelled_at_once),
	};
	return cmocka_run_group_tests_name("queue of devices", tests, NULL, NULL);
}
