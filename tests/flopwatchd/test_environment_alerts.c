/* Effects of environment changes, as finished jobs report them: the owner of the alert, and the texts for each change. */
#include "judge_run.h"

#include "db/db.h"

#define GCC    "[{\"what\":\"gcc\",\"from\":\"12.2.0\",\"to\":\"12.3.0\"}]"
#define DRIVER "[{\"what\":\"driver\",\"from\":\"1\",\"to\":\"2\"}]"
#define LATER  "[{\"what\":\"driver\",\"from\":\"2\",\"to\":\"3\"}]"

enum { REFERENCE = 1, NEWEST = 2 };

static void run_sql(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	ok(stmt_run(s, &err));
}

static struct result *requested(struct fixture *f, enum jobkind kind, unsigned commit)
{
	struct result *r = fixture_result(f, "", commit, commit, 1);
	r->plan.request.kind = kind;
	return r;
}

/* A change with its own baseline period, in which the reference commit took a thousand seconds, or almost no time. */
static struct store_environment_change seen(struct fixture *f, const char *changed, bool was_fast)
{
	static int64_t turn;
	bool is_new;
	struct msg_device d = fixture_device();
	struct store_environment_change c = { .repo = f->repo, .affects_runs = strcmp(changed, GCC) != 0, .seen_at = 1000 };
	struct store_baseline_period e = { .repo = f->repo, .suite = "ffa", .held_mhz = 1500, .started_at = 1 };
	snprintf(d.vbios, sizeof d.vbios, "%lld", (long long)++turn);
	ok(store_environment_put(f->db, &d, "5a17e", "pairs", "none", 1000, &e.environment, &is_new, &err));
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(REFERENCE));
	ok(store_baseline_period_insert(f->db, &e, &err));
	struct result *r = fixture_result(f, "main", REFERENCE, NEWEST, 1);
	int64_t comparison = fixture_comparison(f, "main", REFERENCE, NEWEST, VERDICT_UNCHANGED, 900);
	fixture_cell(f, comparison, 0, r->plan.request.cell[0].key, 0, VERDICT_UNCHANGED);
	run_sql(f, was_fast ? "UPDATE cell SET held_ms = 1e-6 WHERE id = (SELECT max(id) FROM cell)"
			    : "UPDATE cell SET held_ms = 1e6 WHERE id = (SELECT max(id) FROM cell)");
	ok(store_ratio_insert(f->db,
		&(struct store_ratio){ e.id, comparison, r->plan.request.cell[0].key, fixture_sha(NEWEST), 0, 0.001 }, &err));
	result_free(r);
	d = fixture_device();
	c.baseline_period = e.id;
	snprintf(c.suite, sizeof c.suite, "ffa");
	snprintf(c.uuid, sizeof c.uuid, "%s", d.uuid);
	snprintf(c.changed, sizeof c.changed, "%s", changed);
	store_device_fingerprint(&d, c.new_hash);
	return c;
}

/* The reference commit in the present environment. */
static struct judge_outcome unpaired(struct fixture *f, struct store_environment_change *c)
{
	struct result *r = requested(f, JOBKIND_SELFCHECK, REFERENCE);
	c->unpaired_job = r->plan.request.job;
	if (c->id)
		ok(store_environment_change_request(f->db, c, &err));
	else
		ok(store_environment_change_insert(f->db, c, &err));
	fixture_measured(r, &(double){ 0 });
	return judged(f, r, 5000);
}

static int64_t reported(struct fixture *f)
{
	return fixture_number(f, "SELECT count(*) FROM outbox WHERE target = 'chat' AND payload ->> 'event' = 'alert.opened'");
}

static void each_change_of_a_driver_is_reported(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change first = seen(f, DRIVER, true), second = seen(f, LATER, true);
	struct judge_outcome out = unpaired(f, &first);
	assert_true(out.alert > 0);
	assert_int_equal(reported(f), 1);
	struct judge_outcome again = unpaired(f, &second);
	assert_true(again.alert > 0 && again.alert != out.alert);
	assert_int_equal(reported(f), 2);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open' AND title LIKE 'driver 1 to 2: %'"), 1);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM alert WHERE state = 'open' AND title LIKE 'driver 2 to 3: %'"), 1);
}

static void accepting_one_change_accepts_no_other(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change first = seen(f, DRIVER, true), second = seen(f, LATER, true), same = seen(f, LATER, true);
	struct judge_outcome out = unpaired(f, &first);
	ok(store_alert_change(f->db, out.alert, ALERTSTATE_ACCEPTED, "anna", "needed", 5500, &err));
	out = unpaired(f, &second);
	assert_int_equal(reported(f), 2);
	ok(store_alert_change(f->db, out.alert, ALERTSTATE_ACCEPTED, "anna", "needed", 5500, &err));
	assert_int_equal(unpaired(f, &same).alert, out.alert); /* the same change on another device: it is already answered */
	assert_int_equal(reported(f), 2);
}

/* The newest commit, built in the present environment, against the module that it had. */
static struct judge_outcome paired(struct fixture *f, struct store_environment_change *c, const char *base, const char *target)
{
	struct result *r = requested(f, JOBKIND_ENVIRONMENT, NEWEST);
	c->paired_job = r->plan.request.job;
	if (c->id)
		ok(store_environment_change_request(f->db, c, &err));
	else
		ok(store_environment_change_insert(f->db, c, &err));
	fixture_build(r, ROLE_BASE, base, strcmp(base, "failed") == 0 ? "" : "aaaa");
	fixture_build(r, ROLE_TARGET, target, strcmp(target, "failed") == 0 ? "" : "bbbb");
	return judged(f, r, 5000);
}

static void a_commit_that_does_not_build_any_more_is_reported(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change c = seen(f, GCC, false);
	struct judge_outcome out = paired(f, &c, "cached", "failed");
	assert_true(out.alert > 0);
	assert_int_equal(reported(f), 1);
	assert_int_equal(
		fixture_number(f,
			"SELECT kind = 'environment' AND title = 'gcc 12.2.0 to 12.3.0: build: attention forward, 1 cell: "
			"make: exit 2' AND worst_pct IS NULL FROM alert"),
		1);
	assert_int_equal(fixture_number(f, "SELECT alert IS NOT NULL AND paired IS NOT NULL FROM environment_change"), 1);
}

static void a_missing_stored_module_opens_no_alert(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change c = seen(f, GCC, false);
	assert_int_equal(paired(f, &c, "failed", "ok").alert, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 0);
}

static void failed_pairs_leave_the_decision_to_the_reference(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change c = seen(f, GCC, true), other = seen(f, GCC, true);
	assert_int_equal(paired(f, &c, "failed", "ok").alert, 0);
	assert_true(unpaired(f, &c).alert > 0);
	assert_int_equal(
		fixture_number(f,
			"SELECT count(*) FROM alert WHERE title LIKE 'gcc 12.2.0 to 12.3.0: the reference commit %; not paired'"),
		1);
	/* in the other order; the change may be of another repository */
	run_sql(f, "DELETE FROM alert_event");
	run_sql(f, "UPDATE environment_change SET alert = NULL");
	run_sql(f, "DELETE FROM alert");
	other.paired_job = fixture_job(f, "", NEWEST, NEWEST, 1000);
	assert_int_equal(unpaired(f, &other).alert, 0); /* pairs may measure it more precisely */
	assert_true(paired(f, &other, "failed", "ok").alert > 0);
	assert_int_equal(fixture_number(f, "SELECT a.target_sha LIKE '%01' AND a.comparison = c.unpaired AND c.alert = a.id FROM "
					   "alert a JOIN environment_change c ON c.alert = a.id"),
		1);
}

static void pairs_without_a_change_overrule_the_reference(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change c = seen(f, GCC, true);
	struct result *r = requested(f, JOBKIND_ENVIRONMENT, NEWEST);
	c.paired_job = r->plan.request.job;
	ok(store_environment_change_insert(f->db, &c, &err));
	fixture_measured(r, &(double){ 0 });
	assert_int_equal(judged(f, r, 5000).alert, 0);
	assert_int_equal(unpaired(f, &c).alert, 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM environment_effect"), 2);
}

/* With separate build allocations, a change that builds the same module needs no device. */
static void separate_builds_measure_the_change(void **state)
{
	struct fixture *f = *state;
	static const char *const toolkit[] = { "gcc 12.2.0", "gcc 4.8.5" };
	for (int i = 0; i < 2; i++) {
		struct store_environment_change c = seen(f, GCC, false);
		struct result *r = requested(f, JOBKIND_ENVIRONMENT, NEWEST);
		c.paired_job = r->plan.request.job;
		ok(store_environment_change_insert(f->db, &c, &err));
		fixture_build(r, ROLE_BASE, "cached", "aaaa");
		fixture_build(r, ROLE_TARGET, "ok", "aaaa");
		result_end(r);
		r->device.uuid[0] = 0;
		r->device_id = 0;
		snprintf(r->device.toolkit, sizeof r->device.toolkit, "%s", toolkit[i]);
		judged(f, r, 5000);
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM environment_change WHERE new_hash <> ''"), 2);
	assert_int_equal(fixture_number(f, "SELECT group_concat(paired IS NOT NULL) = '1,0' FROM environment_change"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM environment_effect WHERE change_pct = 0"), 1);
}

static void another_environment_measures_no_change(void **state)
{
	struct fixture *f = *state;
	struct store_environment_change c = seen(f, DRIVER, true);
	snprintf(c.new_hash, sizeof c.new_hash, "another");
	assert_int_equal(unpaired(f, &c).alert, 0);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM environment_change WHERE new_hash = '' AND unpaired IS NULL"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(each_change_of_a_driver_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(accepting_one_change_accepts_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(a_commit_that_does_not_build_any_more_is_reported, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_stored_module_opens_no_alert, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_pairs_leave_the_decision_to_the_reference, setup, teardown),
		cmocka_unit_test_setup_teardown(pairs_without_a_change_overrule_the_reference, setup, teardown),
		cmocka_unit_test_setup_teardown(separate_builds_measure_the_change, setup, teardown),
		cmocka_unit_test_setup_teardown(another_environment_measures_no_change, setup, teardown) };
	return cmocka_run_group_tests_name("environment_alerts", tests, NULL, NULL);
}
