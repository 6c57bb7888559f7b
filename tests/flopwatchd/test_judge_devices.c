/* A comparison timed by several devices: results of each device are separate. */
#include "flopwatchd/job/job.h"
#include "judge_run.h"

/* Two cells of main, timed by the fixture's device; "another", with a throttled clock, confirmed that the first one is slower. */
static void confirm_elsewhere(struct fixture *f)
{
	struct noise noise = { .state = 9, .white = 0.002, .run = 0.0005, .clock = 0.004 };
	struct msg_device d = fixture_device();
	int64_t other;
	snprintf(d.uuid, sizeof d.uuid, "another");
	ok(store_device_put(f->db, &d, 1000, &other, &err));
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	r->plan.is_upstream = true;
	r->cell_device = calloc(2, sizeof *r->cell_device);
	r->confirmed_on = calloc(2, sizeof *r->confirmed_on);
	assert_true(r->cell_device && r->confirmed_on);
	r->cell_device[0] = r->cell_device[1] = f->device;
	r->confirmed_on[0] = other;
	fixture_accepted(r);
	for (int run = 1; run <= 8; run++) {
		bool confirms = run > 4;
		fixture_run(r, run, confirms ? 2 : 1);
		for (int i = 0; i < (confirms ? 1 : 2); i++)
			fixture_timing(r, &noise, run, confirms ? 2 : 1, i, SERIES_DEVICE, "", i ? 0 : 0.1, confirms ? 0x4 : 0);
	}
	assert_int_equal(judged(f, r, 5000).verdict, VERDICT_REGRESSION);
}

static void throttling_is_counted_for_the_device_that_timed(void **state)
{
	struct fixture *f = *state;
	confirm_elsewhere(f);
	assert_int_equal(
		fixture_number(
			f, "SELECT count(*) FROM device_throttle t JOIN device d ON d.id = t.device WHERE d.uuid = 'another'"),
		1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM device_throttle"), 1);
}

/* Times of both devices together give the speed of neither. */
static void times_of_two_devices_give_no_reference_time(void **state)
{
	struct fixture *f = *state;
	confirm_elsewhere(f);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM reference_time"), 1);
	assert_int_equal(
		fixture_number(f,
			"SELECT count(*) FROM reference_time a JOIN cell c ON c.comparison = a.comparison AND c.key = a.key "
			"WHERE c.confirmed_on IS NULL"),
		1);
}

/* Two directions of two groups on each of the devices that share a comparison. */
static void every_device_has_groups_of_its_own(void **state)
{
	(void)state;
	enum { GROUPS = 4 * PLAN_PARTITIONS_MAX };
	struct judge_groups groups = { .n = 0 };
	struct judge_timed t;
	judge_timed_init(&t);
	t.found.tail[0].runs = 1;
	t.found.tail[0].calls = 16;
	for (int i = 0; i < 2 * GROUPS; i++) {
		struct store_cell c = { .device = 1 + i / 4 % PLAN_PARTITIONS_MAX };
		snprintf(c.group, sizeof c.group, i & 1 ? "dense" : "block_sparse");
		snprintf(c.direction, sizeof c.direction, i & 2 ? "forward" : "backward");
		judge_groups_add(&groups, &c, &t);
	}
	assert_int_equal(groups.n, GROUPS);
	for (int i = 0; i < GROUPS; i++)
		assert_int_equal(groups.of[i].tail[0].calls, 32);
}

/*
 * Runs that vary too much for a low threshold, and a loss. Only the loss can be confirmed, also where further runs may decide
 * both.
 */
static void noise_is_no_loss_that_another_device_confirms(void **state)
{
	struct fixture *f = *state;
	struct noise noise = { .state = 9, .white = 0.0005 };
	struct result *r = fixture_result(f, "main", 1, 2, 2);
	struct judge_timed t;
	struct store_cell c;
	int cell[2];

	r->plan.request.cell[0].threshold_pct = 0.5;
	fixture_accepted(r);
	for (int run = 1; run <= 12; run++) {
		fixture_run(r, run, 1);
		fixture_timing(r, &noise, run, 1, 0, SERIES_DEVICE, "", run % 2 ? 0.0075 : -0.0025, 0);
		if (run <= 4)
			fixture_timing(r, &noise, run, 1, 1, SERIES_DEVICE, "", 0.026, 0);
	}
	memset(&t, 0, sizeof t);
	judge_cell(r, 0, &t, &c);
	assert_true(c.verdict == VERDICT_UNDECIDED && c.flags & FLAG_NOISY && t.found.typical.want_set == 2);
	assert_false(judge_pairs_show_slowdown(r, 0));
	assert_true(judge_pairs_show_slowdown(r, 1));
	assert_int_equal(judge_groups_unconfirmed(r, cell), 1);
	assert_int_equal(cell[0], 1);
	result_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(throttling_is_counted_for_the_device_that_timed, setup, teardown),
		cmocka_unit_test_setup_teardown(times_of_two_devices_give_no_reference_time, setup, teardown),
		cmocka_unit_test_setup_teardown(noise_is_no_loss_that_another_device_confirms, setup, teardown),
		cmocka_unit_test(every_device_has_groups_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
