/* Messages of a worker as log lines and progress. */
#include "fixture_daemon.h"

#include "flopwatchd/session/session.h"

static struct txn txn;
static struct progress progress;
static struct cell cells[2];

static int setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	txn = (struct txn){ .db = db };
	progress_init(&progress, loop, &txn);
	struct store_job j = fixture_push("topic", "0123456789012345678901234567890123456789");
	struct msg_job *request = calloc(1, sizeof *request);
	if (!request)
		return -1;
	snprintf(cells[0].key, sizeof cells[0].key, "first/forward");
	snprintf(cells[1].key, sizeof cells[1].key, "second/forward");
	request->cell = cells;
	request->n_cells = 2;
	request->n_sides = 2;
	request->limits.budget_s = 60;
	progress_for(&progress, &j);
	progress_begin(&progress, request);
	free(request);
	return 0;
}

static int teardown(void **state)
{
	progress_end(&progress);
	buf_fini(&progress.lines);
	return fixture_teardown(state);
}

static void receive(const char *line)
{
	struct msg m;
	if (protocol_parse(line, strlen(line), &m, &err) != 0)
		fail_msg("%s: %s", line, err.text);
	progress_receive(&progress, &m);
	msg_fini(&m);
}

#define CHECK(role, cell, ok, class, detail)                                                                                     \
	"{\"t\":\"check\",\"role\":\"" role "\",\"cell\":" cell ",\"ok\":" ok                                                    \
	",\"class\":\"" class "\",\"error_ratio\":1,"                                                                            \
			      "\"input_sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","           \
			      "\"detail\":\"" detail "\"}"

static void test_messages_become_log_lines(void **state)
{
	(void)state;
	receive("{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}");
	receive(CHECK("base", "0", "true", "", ""));
	receive(CHECK("target", "1", "false", "wrong", "worst O[0]:\\n1 for 2"));
	receive("{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"7\",\"cells\":[0,1]}");
	receive("{\"t\":\"fault\",\"cell\":1,\"role\":\"target\",\"class\":\"crash\",\"detail\":\"SIGSEGV\"}");
	receive("{\"t\":\"fault\",\"cell\":null,\"role\":\"device\",\"class\":\"device\",\"detail\":\"hot\"}");
	receive("{\"t\":\"done\",\"gpu_s\":1.5,\"wall_s\":2,\"cancelled\":false}");
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 0); /* messages are written in batches, not one by one */
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT group_concat(line, '|') FROM (SELECT line FROM job_log ORDER BY id)"),
		"build of base begins|check of target: second/forward is wrong: worst O[0]: 1 for 2|run 1, set 1: 2 cells|"
		"fault of target in second/forward: crash: SIGSEGV|fault of device: device: hot|"
		"measured: device held 1.5 s, 2.0 s in all");
}

static void test_progress_says_where_it_is(void **state)
{
	(void)state;
	receive(CHECK("base", "1", "true", "", ""));
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT progress FROM job"),
		"{\"run\":0,\"set\":0,\"cell\":\"second/"
		"forward\",\"role\":\"base\",\"step\":\"check\",\"checked\":1,\"checks\":4,"
		"\"cells\":2,\"open\":0,\"budget_s\":60,\"note\":null}");
	receive("{\"t\":\"run\",\"run\":3,\"set\":2,\"seed\":\"7\",\"cells\":[0]}");
	receive("{\"t\":\"at\",\"run\":3,\"cell\":0,\"role\":\"target\",\"step\":\"time\"}");
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT progress FROM job"),
		"{\"run\":3,\"set\":2,\"cell\":\"first/"
		"forward\",\"role\":\"target\",\"step\":\"time\",\"checked\":1,\"checks\":4,"
		"\"cells\":2,\"open\":1,\"budget_s\":60,\"note\":null}");
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.progress'"), 2);
	progress_flush(&progress); /* nothing new, nothing written */
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.progress'"), 2);
}

/* Of a job with a second set of runs for some of its cells, which are checked again. */
static void test_a_second_begin_counts_from_zero(void **state)
{
	(void)state;
	struct msg_job *request = calloc(1, sizeof *request);
	assert_non_null(request);
	request->cell = cells + 1;
	request->n_cells = 1;
	request->n_sides = 2;
	receive(CHECK("base", "0", "true", "", ""));
	receive(CHECK("base", "1", "true", "", ""));
	progress_begin(&progress, request);
	free(request);
	receive(CHECK("target", "0", "true", "", ""));
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT progress FROM job"),
		"{\"run\":0,\"set\":0,\"cell\":\"second/"
		"forward\",\"role\":\"target\",\"step\":\"check\",\"checked\":1,\"checks\":2,"
		"\"cells\":1,\"open\":0,\"budget_s\":null,\"note\":null}");
}

static void test_a_device_that_is_waited_for_is_named_until_the_next_step(void **state)
{
	(void)state;
	const char *note = "SELECT coalesce(json_extract(progress, '$.note'), 'nothing') FROM job";
	receive("{\"t\":\"note\",\"cell\":null,\"role\":\"device\",\"text\":\"waiting for 1 other process on sim-0\"}");
	progress_flush(&progress);
	assert_string_equal(fixture_text(note), "waiting for 1 other process on sim-0");
	receive("{\"t\":\"note\",\"cell\":0,\"role\":\"target\",\"text\":\"a module's own\"}");
	progress_flush(&progress);
	assert_string_equal(fixture_text(note), "waiting for 1 other process on sim-0");
	receive("{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"7\",\"cells\":[0]}");
	progress_flush(&progress);
	assert_string_equal(fixture_text(note), "nothing");
}

static void test_many_messages_are_few_writes(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		receive("{\"t\":\"at\",\"run\":1,\"cell\":0,\"role\":\"base\",\"step\":\"time\"}");
	fixture_until("SELECT count(*) FROM event WHERE kind = 'job.progress'"); /* by its own timer */
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.progress'"), 1);
}

static void test_the_end_writes_what_waits(void **state)
{
	(void)state;
	receive("{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}");
	progress_end(&progress);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 1);
	receive("{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}"); /* of a job that has ended */
	progress_flush(&progress);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_messages_become_log_lines),
		CASE(test_progress_says_where_it_is),
		CASE(test_a_second_begin_counts_from_zero),
		CASE(test_a_device_that_is_waited_for_is_named_until_the_next_step),
		CASE(test_many_messages_are_few_writes),
		CASE(test_the_end_writes_what_waits),
	};
	return cmocka_run_group_tests_name("chatter", tests, NULL, NULL);
}
