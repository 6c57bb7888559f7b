/* Requests from outside: valid ones become rows, invalid ones are rejected in one line. */
/* Left to `make check`: starts our programs, takes seconds. */
#include "fixture_daemon.h"

#include "flopwatchd/internal.h"
#include "flopwatchd/schedule/schedule.h"

static struct control control;
static char one[65], two[65];

static int setup(void **state)
{
	if (fixture_setup(state) != 0)
		return -1;
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	ok(queue_start(loop, config, db, NULL, NULL, &control.queue, &err));
	control.db = db;
	control.config = config;
	ok(db_begin(db, &err));
	ok(store_tip_put(db, repo_id, "main", "main", two, true, 1, &err));
	ok(store_tip_put(db, repo_id, "a%3Cb", "a<b", one, true, 1, &err));
	ok(store_commit_put(db, repo_id, &(struct store_commit){ .sha = "abcdef0100000000000000000000000000000000" }, &err));
	ok(store_commit_put(db, repo_id, &(struct store_commit){ .sha = "abcdef0200000000000000000000000000000000" }, &err));
	ok(db_commit(db, &err));
	return 0;
}

static int teardown(void **state)
{
	queue_stop(control.queue);
	return fixture_teardown(state);
}

static int64_t requested(struct job_request r)
{
	int64_t id = 0;
	r.repo = r.repo ? r.repo : "kernels";
	ok(control_enqueue(&control, &r, &id, &err));
	return id;
}

static void refused(struct job_request r, enum err_code code, const char *why)
{
	int64_t id = 0;
	err_clear(&err);
	r.repo = r.repo ? r.repo : "kernels";
	assert_int_equal(control_enqueue(&control, &r, &id, &err), -1);
	assert_int_equal(err.code, code);
	assert_string_equal(err.text, why);
}

static void test_commits_by_hash_branch_and_abbreviation(void **state)
{
	(void)state;
	requested((struct job_request){ .target = two });
	assert_string_equal(
		fixture_text("SELECT target_sha || branch || origin || priority FROM job WHERE id = 1") + 40, "api10");
	requested((struct job_request){ .target = "main" });
	assert_string_equal(fixture_text("SELECT target_sha FROM job WHERE id = 2"), two);
	assert_string_equal(fixture_text("SELECT branch FROM job WHERE id = 2"), "main");
	requested((struct job_request){ .target = "a<b" });
	assert_string_equal(fixture_text("SELECT branch FROM job WHERE id = 3"), "a%3Cb");
	requested((struct job_request){ .target = "a%3Cb" });
	assert_string_equal(fixture_text("SELECT target_sha FROM job WHERE id = 4"), one);
	requested((struct job_request){ .target = "abcdef01" });
	assert_string_equal(fixture_text("SELECT target_sha FROM job WHERE id = 5"), "abcdef0100000000000000000000000000000000");
	refused((struct job_request){ .target = "abcdef0" }, ERR_CONFLICT, "abcdef0 matches several commits; give more digits");
	refused((struct job_request){ .target = "abcde" }, ERR_NOT_FOUND,
		"there is no branch or known commit abcde (see doc/troubleshooting.md#no-commit)");
	refused((struct job_request){ .target = "nope" }, ERR_NOT_FOUND,
		"there is no branch or known commit nope (see doc/troubleshooting.md#no-commit)");
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.queued'"), 5);
}

static void test_a_base_and_what_to_measure(void **state)
{
	(void)state;
	requested((struct job_request){ .target = "main",
		.base = "a<b",
		.suite = "ffa",
		.device_kind = "cuda",
		.cells_glob = "*/causal/*",
		.quick = true });
	assert_string_equal(fixture_text("SELECT branch || ' ' || base_how || ' ' || suite || ' ' || device_kind || ' ' || "
					 "word || ' ' || quick FROM job JOIN job_cell ON job = id"),
		" given ffa cuda */causal/* 1");
	assert_string_equal(fixture_text("SELECT base_sha FROM job"), one);
}

static void test_bad_requests(void **state)
{
	(void)state;
	char glob[STORE_JOB_CELLS_SIZE + 2];
	memset(glob, '*', sizeof glob - 1);
	glob[sizeof glob - 1] = 0;
	refused((struct job_request){ .target = NULL }, ERR_INVALID, "a job needs a repo and a target");
	refused((struct job_request){ .repo = "other", .target = two }, ERR_NOT_FOUND, "there is no repository other");
	refused((struct job_request){ .target = two, .suite = "../etc/passwd" }, ERR_INVALID,
		"suite ../etc/passwd is not a valid name; e.g. ffa");
	refused((struct job_request){ .target = two, .device_kind = "tpu" }, ERR_INVALID,
		"device_kind tpu is not one of cuda, cpu, sim");
	refused((struct job_request){ .target = two, .cells_glob = glob }, ERR_INVALID, "cells is longer than 4095 bytes");
	refused((struct job_request){ .target = two, .cells_glob = "a\nb" }, ERR_INVALID, "cells holds an invalid character");
	refused((struct job_request){ .target = two, .base_provider = "an_attention_for_the_lab_with_a_name_of_48_bytes" },
		ERR_INVALID,
		"`an_attention_for_the_lab_with_a_name_of_48_bytes` is not the name of a provider, such as cudnn: it has 1 to 47 "
		"of A-Z a-z 0-9 _ - . : +");
	config->queue_max = 0;
	refused((struct job_request){ .target = two }, ERR_FULL, "0 jobs wait already, and the limit is 0 (limits.queue)");
	int64_t jobs[8], search;
	int n;
	struct job_request peer = { .repo = "kernels", .target = two, .base_provider = "other" },
			   search_of = { .repo = "kernels", .base = one, .target = two };
	assert_int_equal(control_calibrate(&control, &(struct job_request){ .repo = "kernels" }, 3, jobs, &err), -1);
	assert_int_equal(err.code, ERR_FULL);
	err_clear(&err);
	assert_int_equal(control_peer(&control, &peer, jobs, &n, &err), -1);
	assert_int_equal(err.code, ERR_FULL);
	err_clear(&err);
	assert_int_equal(control_bisect(&control, &search_of, &search, &err), -1);
	assert_int_equal(err.code, ERR_FULL);
	err_clear(&err);
	assert_int_equal(fixture_number("SELECT count(*) FROM job"), 0);
}

static void test_a_bisect_has_its_user(void **state)
{
	(void)state;
	int64_t id = 0;
	const struct job_request known = { .repo = "kernels", .base = one, .target = two, .who = "noor" },
				 unknown = { .repo = "kernels", .base = one, .target = two };
	ok(control_bisect(&control, &known, &id, &err));
	ok(control_bisect(&control, &unknown, &id, &err));
	assert_string_equal(fixture_text("SELECT group_concat(origin || ' ' || who, ', ') FROM bisect"), "api noor, api ");
}

static void test_cancel_and_retry(void **state)
{
	(void)state;
	int64_t id = requested((struct job_request){ .target = two, .base = one, .suite = "ffa" }), again = 0;
	assert_int_equal(control_retry(&control, id, &again, &err), -1);
	assert_string_equal(err.text, "J1 is still open: queued");
	ok(control_cancel(&control, id, "me", &err));
	assert_string_equal(fixture_text("SELECT state || ': ' || state_why FROM job"), "cancelled: cancelled by me");
	ok(control_retry(&control, id, &again, &err));
	assert_int_equal(again, 2);
	assert_string_equal(fixture_text("SELECT state || ' ' || origin || ' ' || suite || ' ' || base_how || ' ' || attempt "
					 "FROM job WHERE id = 2"),
		"queued retry ffa given 0");
	assert_int_equal(control_retry(&control, 99, &again, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void test_devices(void **state)
{
	(void)state;
	struct msg_device d = { .kind = DEVICE_SIM, .uuid = "sim-1", .name = "s" };
	int64_t id;
	assert_int_equal(control_pause(&control, "sim-1", true, "me", &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
	ok(db_begin(db, &err));
	ok(store_device_put(db, &d, 1, &id, &err));
	ok(db_commit(db, &err));
	ok(control_pause(&control, "sim-1", true, "me", &err));
	assert_string_equal(fixture_text("SELECT state || ' ' || state_why FROM device"), "paused paused by me");
	ok(control_pause(&control, "sim-1", false, "me", &err));
	assert_string_equal(fixture_text("SELECT state FROM device"), "ok");
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'device.state'"), 2);
	ok(db_script(db, "UPDATE device SET state = 'absent'", &err));
	assert_int_equal(control_pause(&control, "sim-1", false, "me", &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
	err_clear(&err);
	assert_string_equal(fixture_text("SELECT state FROM device"), "absent");
}

static void test_secrets_and_health(void **state)
{
	(void)state;
	const char *secret = NULL;
	assert_int_equal(control_secret(&control, "kernels", &secret, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
	snprintf(config->repo[0].secret, sizeof config->repo[0].secret, "long enough");
	ok(control_secret(&control, "kernels", &secret, &err));
	assert_string_equal(secret, "long enough");
	assert_int_equal(control_secret(&control, "other", &secret, &err), -1);
	err_clear(&err);
	assert_int_equal(control_trigger(&control, "other", NULL, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
	ok(control_health(&control, &err));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(test_commits_by_hash_branch_and_abbreviation),
		CASE(test_a_base_and_what_to_measure),
		CASE(test_bad_requests),
		CASE(test_a_bisect_has_its_user),
		CASE(test_cancel_and_retry),
		CASE(test_devices),
		CASE(test_secrets_and_health),
	};
	return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
