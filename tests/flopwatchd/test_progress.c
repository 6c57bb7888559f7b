/* A worker's words as log lines and progress. */
#include "fixture_daemon.h"

#include "flopwatchd/dispatch/progress.h"

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
	struct msg_job *ask = calloc(1, sizeof *ask);
	if (!ask)
		return -1;
	snprintf(cells[0].key, sizeof cells[0].key, "first/forward");
	snprintf(cells[1].key, sizeof cells[1].key, "second/forward");
	ask->cell = cells;
	ask->n_cells = 2;
	ask->n_subjects = 2;
	progress_for(&progress, &j);
	progress_begin(&progress, ask);
	free(ask);
	return 0;
}

static int teardown(void **state)
{
	progress_end(&progress);
	buf_fini(&progress.lines);
	return fixture_teardown(state);
}

static void hear(const char *line)
{
	struct msg m;
	if (protocol_parse(line, strlen(line), &m, &err) != 0)
		fail_msg("%s: %s", line, err.text);
	progress_hear(&progress, &m);
	msg_fini(&m);
}

#define CHECK(role, cell, ok, class, detail)                                                                                     \
	"{\"t\":\"check\",\"role\":\"" role "\",\"cell\":" cell ",\"ok\":" ok                                                    \
	",\"class\":\"" class "\",\"error_ratio\":1,"                                                                            \
			      "\"input_sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\","           \
			      "\"detail\":\"" detail "\"}"

static void test_words_become_lines(void **state)
{
	(void)state;
	hear("{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}");
	hear(CHECK("base", "0", "true", "", ""));
	hear(CHECK("target", "1", "false", "wrong", "worst O[0]:\\n1 for 2"));
	hear("{\"t\":\"process_run\",\"run\":1,\"set\":1,\"seed\":\"7\",\"cells\":[0,1]}");
	hear("{\"t\":\"fault\",\"cell\":1,\"role\":\"target\",\"class\":\"crash\",\"detail\":\"SIGSEGV\"}");
	hear("{\"t\":\"fault\",\"cell\":null,\"role\":\"device\",\"class\":\"device\",\"detail\":\"hot\"}");
	hear("{\"t\":\"done\",\"gpu_s\":1.5,\"wall_s\":2,\"cancelled\":false}");
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 0); /* not one write a word */
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT group_concat(line, '|') FROM (SELECT line FROM job_log ORDER BY id)"),
		"build of base begins|check of target: second/forward is wrong: worst O[0]: 1 for 2|run 1, set 1: 2 cells|"
		"fault of target in second/forward: crash: SIGSEGV|fault of device: device: hot|"
		"measured: device held 1.5 s, 2.0 s in all");
}

static void test_progress_says_where_it_is(void **state)
{
	(void)state;
	hear(CHECK("base", "1", "true", "", ""));
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT progress FROM job"),
		"{\"run\":0,\"set\":0,\"cell\":\"second/"
		"forward\",\"role\":\"base\",\"step\":\"check\",\"checked\":1,\"checks\":4,\"note\":null}");
	hear("{\"t\":\"process_run\",\"run\":3,\"set\":2,\"seed\":\"7\",\"cells\":[0]}");
	hear("{\"t\":\"at\",\"run\":3,\"cell\":0,\"role\":\"target\",\"step\":\"time\"}");
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT progress FROM job"),
		"{\"run\":3,\"set\":2,\"cell\":\"first/"
		"forward\",\"role\":\"target\",\"step\":\"time\",\"checked\":1,\"checks\":4,\"note\":null}");
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.progress'"), 2);
	progress_flush(&progress); /* nothing new, nothing written */
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.progress'"), 2);
}

/* Of a job that another set of runs follows, of some of its cells, which are checked anew. */
static void test_a_second_begin_counts_from_nothing(void **state)
{
	(void)state;
	struct msg_job *ask = calloc(1, sizeof *ask);
	assert_non_null(ask);
	ask->cell = cells + 1;
	ask->n_cells = 1;
	ask->n_subjects = 2;
	hear(CHECK("base", "0", "true", "", ""));
	hear(CHECK("base", "1", "true", "", ""));
	progress_begin(&progress, ask);
	free(ask);
	hear(CHECK("target", "0", "true", "", ""));
	progress_flush(&progress);
	assert_string_equal(fixture_text("SELECT progress FROM job"),
		"{\"run\":0,\"set\":0,\"cell\":\"second/"
		"forward\",\"role\":\"target\",\"step\":\"check\",\"checked\":1,\"checks\":2,\"note\":null}");
}

static void test_a_device_that_is_waited_for_is_named_until_the_next_step(void **state)
{
	(void)state;
	const char *note = "SELECT coalesce(json_extract(progress, '$.note'), 'nothing') FROM job";
	hear("{\"t\":\"note\",\"cell\":null,\"role\":\"device\",\"text\":\"waiting for 1 other process on sim-0\"}");
	progress_flush(&progress);
	assert_string_equal(fixture_text(note), "waiting for 1 other process on sim-0");
	hear("{\"t\":\"note\",\"cell\":0,\"role\":\"target\",\"text\":\"a module's own\"}");
	progress_flush(&progress);
	assert_string_equal(fixture_text(note), "waiting for 1 other process on sim-0");
	hear("{\"t\":\"process_run\",\"run\":1,\"set\":1,\"seed\":\"7\",\"cells\":[0]}");
	progress_flush(&progress);
	assert_string_equal(fixture_text(note), "nothing");
}

static void test_many_words_are_few_writes(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++)
		hear("{\"t\":\"at\",\"run\":1,\"cell\":0,\"role\":\"base\",\"step\":\"time\"}");
	fixture_until("SELECT count(*) FROM event WHERE kind = 'job.progress'"); /* by its own timer */
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.progress'"), 1);
}

static void test_the_end_writes_what_waits(void **state)
{
	(void)state;
	hear("{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}");
	progress_end(&progress);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 1);
	hear("{\"t\":\"build\",\"role\":\"base\",\"state\":\"start\"}"); /* of no job any more */
	progress_flush(&progress);
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_words_become_lines),
		CASE(test_progress_says_where_it_is),
		CASE(test_a_second_begin_counts_from_nothing),
		CASE(test_a_device_that_is_waited_for_is_named_until_the_next_step),
		CASE(test_many_words_are_few_writes),
		CASE(test_the_end_writes_what_waits),
	};
	return cmocka_run_group_tests_name("chatter", tests, NULL, NULL);
}
