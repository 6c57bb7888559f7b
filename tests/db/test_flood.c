/* A user who pushes once does not wait for one who pushes a thousand branches, and the thousand are served, too. */
/* Left to `make check`: takes seconds. */
#include "flood.h"

static int setup(void **state)
{
	int result = fixture_setup(state);
	struct fixture *f = *state;
	if (result == 0) {
		fixture_ground(f);
		ok(db_begin(f->db, &err));
	}
	return result;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	return fixture_teardown(state);
}

static void a_single_push_runs_soon_during_a_flood(void **state)
{
	struct flood out = flood_run(*state);
	if (out.p95 > 3)
		fail_msg("p95 of a single push: %.2f job lengths", out.p95);
	if (out.most > 4)
		fail_msg("a single push took %.2f job lengths", out.most);
	if (out.n_flooded < FLOOD_SINGLES * FLOOD_SEPARATE / 2)
		fail_msg("only %d of the flood were served meanwhile", out.n_flooded);
}

/* A job that was queued before the flood runs before all but one of the flood's jobs. */
static void jobs_queued_before_a_flood_run_first(void **state)
{
	struct fixture *f = *state;
	struct store_job j;
	struct store_job_round_robin resolving = { 0 };
	int64_t early = fixture_job(f, "early", 0, 1, 1);
	for (int i = 0; i < 50; i++)
		flood_push(f, "flood", i, 2000);
	while (flood_resolve(f, &resolving))
		;
	for (int turn = 0;; turn++) {
		assert_true(turn < 2);
		assert_int_equal(store_job_next(f->db, DEVICE_CPU, "", "[]", &j, &err), 1);
		if (j.id == early)
			return;
		ok(store_job_send(f->db, j.id, f->device, "nonce", 3000 + turn, &err));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_single_push_runs_soon_during_a_flood, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_queued_before_a_flood_run_first, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
