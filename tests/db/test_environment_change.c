/* Rows of environment changes: their position, the newest one, its effect, and the earlier times of the reference commit. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include <math.h>

#include "db/db.h"

static const char key[] = "attention/dense/full/s64/hq2/hk1/d64/bf16/forward";

static struct store_baseline_period baseline_period(struct fixture *f)
{
	struct store_baseline_period e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1650, .started_at = 1
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	return e;
}

static void uuid_of(struct fixture *f, char uuid[64])
{
	struct stmt *s = db_stmt(f->db, "SELECT uuid FROM device LIMIT 1", &err);
	assert_non_null(s);
	assert_int_equal(stmt_first_text(s, uuid, 64, &err), 1);
}

static void a_device_has_its_latest_baseline_period(void **state)
{
	struct fixture *f = *state;
	struct store_current_baseline t[STORE_CURRENT_BASELINES_MAX];
	char uuid[64], before[64];
	struct store_baseline_period e = baseline_period(f);
	uuid_of(f, uuid);
	assert_int_equal(store_current_baselines(f->db, uuid, NULL, t, &err), 0);
	ok(store_current_baseline_put(f->db, uuid, f->repo, "ffa", e.id, &err));
	ok(store_current_baseline_put(f->db, uuid, f->repo, "ffa", e.id, &err));
	assert_int_equal(store_current_baselines(f->db, uuid, NULL, t, &err), 1);
	assert_int_equal(t[0].baseline_period, e.id);
	assert_string_equal(t[0].reference_sha, fixture_sha(1));
	assert_string_equal(t[0].recorded.uuid, uuid);
	ok(store_device_replaced(f->db, "", DEVICE_SIM, INT64_MAX, before, &err));
	assert_true(before[0] == 0 || strcmp(before, uuid) == 0);
	ok(store_device_replaced(f->db, "nobody", DEVICE_SIM, INT64_MAX, before, &err));
	assert_string_equal(before, "");
}

static void the_newest_change_is_found_and_measured(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change found, e = { .repo = f->repo, .affects_runs = true, .seen_at = 7 };
	e.baseline_period = baseline_period(f).id;
	uuid_of(f, e.uuid);
	int64_t comparison = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 1000);
	e.unpaired_job = fixture_number(f, "SELECT max(id) FROM job");
	snprintf(e.suite, sizeof e.suite, "ffa");
	snprintf(e.old_hash, sizeof e.old_hash, "a");
	snprintf(e.new_hash, sizeof e.new_hash, "b");
	snprintf(e.changed, sizeof e.changed, "[]");
	assert_int_equal(store_environment_change_last(f->db, f->repo, "ffa", e.uuid, &found, &err), 0);
	ok(store_environment_change_insert(f->db, &e, &err));
	assert_int_equal(store_environment_change_last(f->db, f->repo, "ffa", e.uuid, &found, &err), 1);
	assert_true(found.id == e.id && found.affects_runs && !found.paired_job && !found.alert);
	assert_string_equal(found.new_hash, "b");
	assert_int_equal(store_environment_change_of_job(f->db, e.unpaired_job, &found, &err), 1);
	assert_int_equal(store_environment_change_of_job(f->db, e.unpaired_job + 1000, &found, &err), 0);
	ok(store_environment_change_measured(f->db, e.id, false, comparison, 0, &err));
	ok(store_environment_effect_put(f->db,
		&(struct store_environment_effect){ .change = e.id,
			.key = key,
			.change_pct = -4.5,
			.ci_low_pct = NAN,
			.ci_high_pct = NAN,
			.before_ms = 1,
			.after_ms = 1.047 },
		&err));
	assert_int_equal(store_environment_change_of_job(f->db, e.unpaired_job, &found, &err), 1);
	assert_true(found.unpaired == comparison && !found.paired);
}

static void the_references_time_is_read_out_of_every_ratio(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	double ms;
	ok(store_reference_ms(f->db, e.id, fixture_sha(1), key, &ms, &err));
	assert_true(isnan(ms));
	for (unsigned i = 2; i < 5; i++) {
		int64_t comparison = fixture_comparison(f, "main", 1, i, VERDICT_UNCHANGED, 1000 + i);
		fixture_cell(f, comparison, 0, key, 0, VERDICT_UNCHANGED);
		ok(store_ratio_insert(
			f->db, &(struct store_ratio){ e.id, comparison, key, fixture_sha(i), log(2), 0.001 }, &err));
		ok(store_reference_ms(f->db, e.id, fixture_sha(1), key, &ms, &err));
		assert_true(fabs(ms - 1.71 / 2) < 1e-9);
	}
}

/* The commit that a change was measured with is not blamed. */
static void an_alert_names_its_measurements(void **state)
{
	struct fixture *f = *state;
	struct view_around around;
	char cells[128];
	bool is_new;
	int64_t push = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 1000);
	int64_t pairs = fixture_comparison(f, "", 2, 2, VERDICT_REGRESSION, 2000);
	struct store_alert a = { .repo = f->repo,
		.branch = "main",
		.kind = ALERTKIND_ENVIRONMENT,
		.changed = "[]",
		.comparison = pairs,
		.worst_pct = -5 };
	snprintf(cells, sizeof cells, "[{\"cell\":\"x\",\"suite\":\"ffa\",\"comparison\":%lld}]", (long long)pairs);
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(2));
	a.cells_json = cells;
	ok(store_alert_open(f->db, &a, 3000, &is_new, &err));
	ok(view_around(f->db, push, &around, &err));
	assert_int_equal(around.alert, 0);
	ok(view_around(f->db, pairs, &around, &err));
	assert_int_equal(around.alert, a.id);
	struct store_alert own = a;
	own.kind = ALERTKIND_REGRESSION;
	own.changed = NULL;
	ok(store_alert_open(f->db, &own, 3000, &is_new, &err));
	ok(view_around(f->db, push, &around, &err));
	assert_int_equal(around.alert, own.id);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(
						    a_device_has_its_latest_baseline_period, setup, teardown),
		cmocka_unit_test_setup_teardown(the_newest_change_is_found_and_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(an_alert_names_its_measurements, setup, teardown),
		cmocka_unit_test_setup_teardown(the_references_time_is_read_out_of_every_ratio, setup, teardown) };
	return run_twice(tests);
}
