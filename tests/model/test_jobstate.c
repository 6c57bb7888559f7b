/* The table of job states: the allowed transitions, and that no transition leaves a final state. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/model.h"

static enum jobstate after(enum jobstate from, const enum jobstate_event *on, int n)
{
	for (int i = 0; i < n; i++)
		from = jobstate_next(from, on[i]);
	return from;
}

static void test_a_job_goes_its_way(void **state)
{
	(void)state;
	const enum jobstate_event on[] = { JOBSTATE_ON_ASSIGN, JOBSTATE_ON_BUILD, JOBSTATE_ON_BUILD, JOBSTATE_ON_CHECK,
		JOBSTATE_ON_RUN, JOBSTATE_ON_CHECK, JOBSTATE_ON_DONE };
	const enum jobstate want[] = { JOBSTATE_ASSIGNED, JOBSTATE_BUILDING, JOBSTATE_BUILDING, JOBSTATE_CHECKING,
		JOBSTATE_MEASURING, JOBSTATE_MEASURING, JOBSTATE_DONE };
	for (int i = 1; i <= 7; i++)
		assert_int_equal(after(JOBSTATE_QUEUED, on, i), want[i - 1]);
}

static void test_a_job_that_is_identical_needs_no_worker(void **state)
{
	(void)state;
	assert_int_equal(jobstate_next(JOBSTATE_QUEUED, JOBSTATE_ON_DONE), JOBSTATE_DONE);
}

static void test_every_open_state_can_be_left(void **state)
{
	(void)state;
	for (int s = JOBSTATE_QUEUED; s <= JOBSTATE_MEASURING; s++) {
		assert_int_equal(jobstate_next((enum jobstate)s, JOBSTATE_ON_CANCEL), JOBSTATE_CANCELLED);
		assert_int_equal(jobstate_next((enum jobstate)s, JOBSTATE_ON_FAIL), JOBSTATE_FAILED);
		assert_int_equal(jobstate_next((enum jobstate)s, JOBSTATE_ON_TARGET_MISSING), JOBSTATE_TARGET_MISSING);
		assert_int_equal(jobstate_next((enum jobstate)s, JOBSTATE_ON_WORKER_LOST), JOBSTATE_QUEUED);
	}
}

static void test_only_what_waits_is_superseded_or_sent(void **state)
{
	(void)state;
	assert_int_equal(jobstate_next(JOBSTATE_QUEUED, JOBSTATE_ON_SUPERSEDE), JOBSTATE_SUPERSEDED);
	for (int s = JOBSTATE_ASSIGNED; s <= JOBSTATE_MEASURING; s++) {
		assert_int_equal(jobstate_next((enum jobstate)s, JOBSTATE_ON_SUPERSEDE), s);
		assert_int_equal(jobstate_next((enum jobstate)s, JOBSTATE_ON_ASSIGN), s);
	}
}

static void test_what_has_ended_stays_ended(void **state)
{
	(void)state;
	for (int s = 0; s < JOBSTATE_N; s++) {
		assert_int_equal(jobstate_is_final((enum jobstate)s), s >= JOBSTATE_DONE);
		for (int on = 0; s >= JOBSTATE_DONE && on < JOBSTATE_EVENTS; on++)
			assert_int_equal(jobstate_next((enum jobstate)s, (enum jobstate_event)on), s);
	}
}

static void test_names_read_back(void **state)
{
	(void)state;
	for (int s = 0; s < JOBSTATE_N; s++)
		assert_int_equal(jobstate_from_name(jobstate_name((enum jobstate)s)), s);
	assert_string_equal(jobstate_name(JOBSTATE_MEASURING), "measuring");
	assert_string_equal(jobstate_name(JOBSTATE_N), "");
	assert_int_equal(jobstate_from_name("lost"), JOBSTATE_N);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_job_goes_its_way),
		cmocka_unit_test(test_a_job_that_is_identical_needs_no_worker),
		cmocka_unit_test(test_every_open_state_can_be_left),
		cmocka_unit_test(test_only_what_waits_is_superseded_or_sent),
		cmocka_unit_test(test_what_has_ended_stays_ended),
		cmocka_unit_test(test_names_read_back),
	};
	return cmocka_run_group_tests_name("jobstate", tests, NULL, NULL);
}
