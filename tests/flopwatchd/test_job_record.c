/* Writes about jobs: the whole transaction or nothing, with its event, and the stored state of whether writing works. */
#include "fixture_daemon.h"

#include <signal.h>
#include <sys/resource.h>

#include "flopwatchd/config/config.h"
#include "flopwatchd/job/job.h"

static int events;

static void on_event(void *arg)
{
	(void)arg;
	events++;
}

static struct txn new_txn(void)
{
	events = 0;
	return (struct txn){ .db = db, .on_event = on_event };
}

static struct store_job new_job(void)
{
	struct store_job j = fixture_push("topic", "0123456789012345678901234567890123456789");
	ok(db_begin(db, &err));
	ok(store_job_resolve(db, j.id, j.target_sha, "self", JOBKIND_SELFCHECK, "tiny", &err));
	ok(store_job_send(db, j.id, 0, "n", 5, &err));
	ok(store_job_get(db, j.id, &j, &err));
	ok(db_commit(db, &err));
	return j;
}

static void test_a_move_writes_an_event(void **state)
{
	(void)state;
	struct txn g = new_txn();
	struct store_job j = new_job();
	ok(job_move_now(&g, &j, JOBSTATE_BUILDING, "", &err));
	ok(job_move_now(&g, &j, JOBSTATE_FAILED, "no <luck>", &err));
	assert_string_equal(fixture_text("SELECT state || ' ' || state_why FROM job"), "failed no <luck>");
	assert_string_equal(fixture_text("SELECT group_concat(line) FROM job_log"), "failed: no <luck>");
	assert_int_equal(fixture_number("SELECT count(*) FROM event WHERE kind = 'job.state'"), 2);
	assert_string_equal(fixture_text("SELECT payload FROM event ORDER BY id DESC"),
		"{\"job\":1,\"repo\":\"kernels\",\"branch\":\"topic\",\"commit\":\"0123456789012345678901234567890123456789\","
		"\"state\":\"failed\",\"why\":\"no <luck>\"}");
	assert_int_equal(events, 2);
}

/* A transaction without a write proves nothing about the disk, and must not reset the failure. */
static void test_only_a_write_ends_an_outage(void **state)
{
	(void)state;
	struct rlimit full = { 1, RLIM_INFINITY }, free_again = { RLIM_INFINITY, RLIM_INFINITY };
	struct txn g = new_txn();
	struct store_job j = new_job();
	signal(SIGXFSZ, SIG_IGN);
	assert_true(txn_is_well(&g));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	assert_int_equal(job_move_now(&g, &j, JOBSTATE_BUILDING, "", &err), -1);
	err_clear(&err);
	assert_true(g.is_broken);
	ok(txn_begin(&g, &err));
	ok(txn_end(&g, 0, &err));
	assert_true(g.is_broken);
	assert_false(txn_is_well(&g)); /* the write was tried */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &free_again), 0);
	g.tried_ns = 0;
	assert_true(txn_is_well(&g));
	assert_false(g.is_broken);
}

static void test_what_has_ended_does_not_move(void **state)
{
	(void)state;
	struct txn g = new_txn();
	struct store_job j = new_job();
	ok(job_move_now(&g, &j, JOBSTATE_CANCELLED, "", &err));
	assert_int_equal(job_move_now(&g, &j, JOBSTATE_FAILED, "late", &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
	assert_false(g.is_broken);
	assert_string_equal(fixture_text("SELECT state FROM job"), "cancelled");
	assert_int_equal(fixture_number("SELECT count(*) FROM job_log"), 0);
	assert_int_equal(events, 1);
}

static void test_a_release_does_not_count_the_attempt(void **state)
{
	(void)state;
	struct txn g = new_txn();
	struct store_job j = new_job();
	assert_int_equal(fixture_number("SELECT attempt FROM job"), 1);
	ok(txn_begin(&g, &err));
	ok(txn_end(&g, job_release(&g, &j, "stopped", 9, &err), &err));
	assert_string_equal(fixture_text("SELECT state || attempt || state_why FROM job"), "queued0stopped");
	ok(txn_begin(&g, &err));
	assert_int_equal(txn_end(&g, job_release(&g, &j, "again", 9, &err), &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
}

static void test_a_failed_step_leaves_nothing(void **state)
{
	(void)state;
	struct txn g = new_txn();
	struct store_job j = new_job();
	ok(txn_begin(&g, &err));
	ok(job_move(&g, &j, JOBSTATE_CHECKING, "halfway", 9, &err));
	err_set(&err, ERR_PROTOCOL, "something else");
	assert_int_equal(txn_end(&g, -1, &err), -1);
	assert_string_equal(err.text, "something else");
	assert_string_equal(fixture_text("SELECT state FROM job"), "assigned");
	assert_int_equal(fixture_number("SELECT count(*) FROM event"), 0);
	assert_int_equal(events, 0);
}

static void test_an_outage_is_remembered_until_it_ends(void **state)
{
	(void)state;
	struct rlimit full = { 1, RLIM_INFINITY }, free_again = { RLIM_INFINITY, RLIM_INFINITY };
	struct txn g = new_txn();
	struct store_job j = new_job();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	assert_int_equal(job_move_now(&g, &j, JOBSTATE_BUILDING, "", &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &free_again), 0);
	assert_true(txn_is_outage(&err));
	assert_true(g.is_broken);
	assert_string_equal(g.why.text, err.text);
	assert_string_equal(fixture_text("SELECT state FROM job"), "assigned");
	err_clear(&err);
	ok(job_move_now(&g, &j, JOBSTATE_BUILDING, "", &err));
	assert_false(g.is_broken);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_move_writes_an_event),
		CASE(test_only_a_write_ends_an_outage),
		CASE(test_what_has_ended_does_not_move),
		CASE(test_a_release_does_not_count_the_attempt),
		CASE(test_a_failed_step_leaves_nothing),
		CASE(test_an_outage_is_remembered_until_it_ends),
	};
	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
