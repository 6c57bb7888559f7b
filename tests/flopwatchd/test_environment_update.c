/*
 * Each changed component of a device's environment is named, and requests a measurement: a build against the old module, or the
 * reference commit.
 */
#include "fixture_db.h"

#include "db/db.h"
#include "flopwatchd/plan/internal.h"

static struct config *config;
static struct msg_device was;

static void run_sql(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	ok(stmt_run(s, &err));
}

static const char *text(struct fixture *f, const char *sql)
{
	static char found[1024];
	struct stmt *s = db_stmt(f->db, sql, &err);
	assert_non_null(s);
	snprintf(found, sizeof found, "none");
	assert_true(stmt_first_text(s, found, sizeof found, &err) >= 0);
	return found;
}

/* Commit 2 of main was judged in the environment `was`, with a known module; commit 1 is the reference commit. */
static int setup(void **state)
{
	bool is_new;
	int64_t device;
	config = calloc(1, sizeof *config);
	if (!config || fixture_setup(state) != 0)
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	was = fixture_device();
	snprintf(was.toolkit, sizeof was.toolkit, "nvcc 13.0.48 ptxas 13.0.40 gcc 12.2.0");
	snprintf(was.cudnn, sizeof was.cudnn, "9.13.0");
	snprintf(was.cublas, sizeof was.cublas, "13.0.0");
	snprintf(was.image, sizeof was.image, "debian 12.5, glibc 2.36");
	snprintf(was.vbios, sizeof was.vbios, "96.00");
	ok(store_device_put(f->db, &was, 1000, &device, &err));
	ok(store_device_through(f->db, device, "gpu", "", false, &err));
	ok(store_environment_put(f->db, &was, "5a17e", "pairs", "none", 1000, &f->environment, &is_new, &err));
	struct store_baseline_period e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1500, .started_at = 1
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	ok(store_current_baseline_put(f->db, was.uuid, f->repo, "ffa", e.id, &err));
	fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 900);
	run_sql(f,
		"INSERT INTO build (inputs_hash, toolchain, device_kind, module_sha, state, built_at) VALUES ('i', 'nvcc 13.0.48', 'sim', "
		"'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', 'ok', 1)");
	run_sql(f, "UPDATE comparison SET target_build = (SELECT max(id) FROM build)");
	run_sql(f, "INSERT INTO mainline (repo, sha, position) SELECT repo, target_sha, 1 FROM comparison");
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	config_free(config);
	return fixture_teardown(state);
}

/* Number of jobs that a device in the environment `d` requests. */
static int requested(struct fixture *f, const struct msg_device *d, bool is_new)
{
	int n = 0;
	int64_t id;
	ok(store_device_put(f->db, d, 2000, &id, &err));
	ok(store_device_through(f->db, id, "gpu", "", false, &err));
	ok(environment_update(f->db, config, "gpu", d, is_new, 2000, &n, &err));
	return n;
}

#define NEWEST  " FROM environment_change ORDER BY id DESC LIMIT 1"
#define CHANGED "SELECT changed" NEWEST
#define HOW     "SELECT (paired_job IS NOT NULL) || ' ' || (unpaired_job IS NOT NULL) || ' ' || affects_runs" NEWEST

static void is_reported(struct fixture *f, const struct msg_device *d, int n, const char *changed, const char *how)
{
	assert_int_equal(requested(f, d, false), n);
	assert_string_equal(text(f, CHANGED), changed);
	assert_string_equal(text(f, HOW), how);
	assert_int_equal(requested(f, d, false), 0);
}

static void a_new_compiler_queues_both_jobs(void **state)
{
	struct msg_device d = was;
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 ptxas 13.0.40 gcc 12.2.0");
	is_reported(*state, &d, 2, "[{\"what\":\"nvcc\",\"from\":\"13.0.48\",\"to\":\"13.1.80\"}]", "1 1 0");
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.0.48 ptxas 13.0.41 gcc 12.2.0");
	is_reported(*state, &d, 2, "[{\"what\":\"ptxas\",\"from\":\"13.0.40\",\"to\":\"13.0.41\"}]", "1 1 0");
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.0.48 ptxas 13.0.40 gcc 13.3.0");
	is_reported(*state, &d, 2, "[{\"what\":\"gcc\",\"from\":\"12.2.0\",\"to\":\"13.3.0\"}]", "1 1 0");
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.0.48 ptxas 13.0.40 gcc 12.2.0 in /opt/nvcc 1 gcc 2");
	is_reported(*state, &d, 2, "[{\"what\":\"toolchain\",\"from\":null,\"to\":\"/opt/nvcc 1 gcc 2\"}]", "1 1 0");
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.0.48 gcc 12.2.0"); /* ptxas has nvcc's version */
	is_reported(*state, &d, 2, "[{\"what\":\"ptxas\",\"from\":\"13.0.40\",\"to\":\"13.0.48\"}]", "1 1 0");
	snprintf(d.toolkit, sizeof d.toolkit, "gcc 12.2.0");
	is_reported(*state, &d, 2,
		"[{\"what\":\"nvcc\",\"from\":\"13.0.48\",\"to\":null},{\"what\":\"ptxas\",\"from\":\"13.0.40\",\"to\":null}]",
		"1 1 0");
}

static void libraries_are_linked_in_or_found_later(void **state)
{
	struct msg_device d = was;
	snprintf(d.cudnn, sizeof d.cudnn, "9.14.0");
	is_reported(*state, &d, 2, "[{\"what\":\"cuDNN\",\"from\":\"9.13.0\",\"to\":\"9.14.0\"}]", "1 1 1");
	d = was;
	snprintf(d.cublas, sizeof d.cublas, "13.1.0");
	is_reported(*state, &d, 2, "[{\"what\":\"cuBLAS\",\"from\":\"13.0.0\",\"to\":\"13.1.0\"}]", "1 1 1");
	d = was;
	snprintf(d.image, sizeof d.image, "debian 13.1, glibc 2.41");
	is_reported(*state, &d, 2,
		"[{\"what\":\"image\",\"from\":\"debian 12.5, glibc 2.36\",\"to\":\"debian 13.1, glibc 2.41\"}]", "1 1 1");
}

/* Cold calls displace the cache, so that another size changes their times. */
static void the_cache_of_a_cpu_belongs_to_its_environment(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	struct store_baseline_period e = { .repo = f->repo, .suite = "ffa", .held_mhz = 1500, .started_at = 1 };
	bool is_new;
	d.kind = DEVICE_CPU;
	d.l2_bytes = 32 << 20;
	assert_int_equal(requested(f, &d, false), 0);
	ok(store_environment_put(f->db, &d, "5a17e", "pairs", "none", 1000, &e.environment, &is_new, &err));
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	ok(store_current_baseline_put(f->db, d.uuid, f->repo, "ffa", e.id, &err));
	assert_int_equal(requested(f, &d, false), 0);
	d.l2_bytes = 2 << 20;
	is_reported(f, &d, 1, "[{\"what\":\"cache\",\"from\":\"32 MiB\",\"to\":\"2 MiB\"}]", "0 1 1");
	d.l2_bytes = 0; /* not reported */
	assert_int_equal(requested(f, &d, false), 0);
}

static void a_cache_that_was_not_stored_is_no_change(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	run_sql(f, "UPDATE device SET kind = 'cpu'");
	d.kind = DEVICE_CPU;
	d.l2_bytes = 32 << 20;
	assert_int_equal(requested(f, &d, false), 0);
}

static void no_build_shows_a_machine(void **state)
{
	struct msg_device d = was;
	snprintf(d.driver, sizeof d.driver, "2");
	is_reported(*state, &d, 1, "[{\"what\":\"driver\",\"from\":\"1\",\"to\":\"2\"}]", "0 1 1");
	d = was;
	snprintf(d.vbios, sizeof d.vbios, "97.00");
	is_reported(*state, &d, 1, "[{\"what\":\"VBIOS\",\"from\":\"96.00\",\"to\":\"97.00\"}]", "0 1 1");
	d = was;
	d.power_limit_w = 650;
	is_reported(*state, &d, 1, "[{\"what\":\"power limit\",\"from\":\"700 W\",\"to\":\"650 W\"}]", "0 1 1");
}

static void queued_jobs_name_their_sides(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	char wanted[160];
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	assert_int_equal(requested(f, &d, false), 2);
	snprintf(wanted, sizeof wanted, "%s %s nvcc 13.0.48 sim-0 -1", fixture_sha(2), fixture_sha(2));
	assert_string_equal(
		text(f, "SELECT base_sha || ' ' || target_sha || ' ' || base_made_by || ' ' || device_uuid || ' ' || priority FROM "
			"job WHERE kind = 'environment' AND base_module LIKE '0123%' AND target_toolchain = ''"),
		wanted);
	snprintf(wanted, sizeof wanted, "%s %s sim-0", fixture_sha(1), fixture_sha(1));
	assert_string_equal(
		text(f, "SELECT base_sha || ' ' || target_sha || ' ' || device_uuid FROM job WHERE kind = 'reference'"), wanted);
}

static void without_an_old_module_only_the_reference_is_measured(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	run_sql(f, "UPDATE build SET module_sha = ''");
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	assert_int_equal(requested(f, &d, false), 1);
	assert_string_equal(text(f, HOW), "0 1 0");
}

static void an_equal_environment_queues_nothing(void **state)
{
	struct msg_device d = was;
	assert_int_equal(requested(*state, &d, false), 0);
	d.power_limit_w = 700.2; /* the reported value, not the configured one */
	assert_int_equal(requested(*state, &d, false), 0);
	assert_string_equal(text(*state, "SELECT count(*) FROM environment_change"), "0");
}

static void devices_of_a_class_queue_jobs_once(void **state)
{
	struct fixture *f = *state;
	struct msg_device one = was, other = was;
	snprintf(other.uuid, sizeof other.uuid, "sim-1");
	assert_int_equal(requested(f, &other, false), 0);
	run_sql(f,
		"INSERT INTO current_baseline SELECT d.id, t.repo, t.suite, t.baseline_period FROM current_baseline t JOIN device d ON d.uuid = 'sim-1'");
	snprintf(one.driver, sizeof one.driver, "2");
	snprintf(other.driver, sizeof other.driver, "2");
	assert_int_equal(requested(f, &one, false), 1);
	assert_int_equal(requested(f, &other, false), 0);
	run_sql(f, "UPDATE environment_change SET new_hash = ''"); /* it was undone before it was measured */
	assert_int_equal(requested(f, &other, false), 1);
}

static void failed_jobs_are_retried_a_few_times(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	assert_int_equal(requested(f, &d, false), 2);
	run_sql(f, "UPDATE job SET state = 'failed' WHERE kind = 'reference'");
	assert_int_equal(requested(f, &d, false), 1); /* the other still waits */
	assert_int_equal(requested(f, &d, false), 0);
	run_sql(f, "UPDATE job SET state = 'failed' WHERE state = 'queued'");
	assert_int_equal(requested(f, &d, false), 2);
	run_sql(f, "UPDATE job SET state = 'failed' WHERE state = 'queued'");
	assert_int_equal(requested(f, &d, false), 1); /* the reference commit has used its three attempts */
	assert_string_equal(
		text(f, "SELECT group_concat(kind || ' ' || base_made_by || ' ' || device_uuid || ' ' || priority) FROM job "
			"WHERE state = 'queued'"),
		"environment nvcc 13.0.48 sim-0 -1");
	assert_string_equal(text(f, "SELECT paired_job = (SELECT max(id) FROM job)" NEWEST), "1");
	run_sql(f, "UPDATE job SET state = 'failed' WHERE state = 'queued'");
	assert_int_equal(requested(f, &d, false), 0);
	assert_string_equal(text(f, "SELECT count(*) FROM environment_change"), "1");
	snprintf(d.driver, sizeof d.driver, "2"); /* another change is another request */
	assert_int_equal(requested(f, &d, false), 2);
}

static void a_job_that_a_user_cancelled_stays_cancelled(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was, other = was;
	snprintf(other.uuid, sizeof other.uuid, "sim-1");
	assert_int_equal(requested(f, &other, false), 0);
	run_sql(f,
		"INSERT INTO current_baseline SELECT d.id, t.repo, t.suite, t.baseline_period FROM current_baseline t JOIN device d ON d.uuid = 'sim-1'");
	snprintf(d.driver, sizeof d.driver, "2");
	snprintf(other.driver, sizeof other.driver, "2");
	assert_int_equal(requested(f, &d, false), 1);
	run_sql(f, "UPDATE job SET state = 'cancelled' WHERE kind = 'reference'");
	assert_int_equal(requested(f, &d, false), 0);
	assert_int_equal(requested(f, &other, false), 0);
}

static void another_device_replaces_one_in_quarantine(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was, other = was;
	snprintf(other.uuid, sizeof other.uuid, "sim-1");
	assert_int_equal(requested(f, &other, false), 0);
	run_sql(f,
		"INSERT INTO current_baseline SELECT d.id, t.repo, t.suite, t.baseline_period FROM current_baseline t JOIN device d ON d.uuid = 'sim-1'");
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	snprintf(other.toolkit, sizeof other.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	assert_int_equal(requested(f, &d, false), 2);
	assert_int_equal(requested(f, &other, false), 0);
	run_sql(f, "UPDATE device SET state = 'quarantined' WHERE uuid = 'sim-0'");
	assert_int_equal(requested(f, &other, false), 2);
	assert_string_equal(text(f, "SELECT count(*) FROM job WHERE state = 'cancelled' AND device_uuid = 'sim-0' AND "
				    "state_why = 'device sim-0 is not in state ok, and sim-1 measures the change'"),
		"2");
	assert_string_equal(text(f, "SELECT group_concat(DISTINCT device_uuid) FROM job WHERE state = 'queued'"), "sim-1");
	run_sql(f, "UPDATE device SET state = 'ok' WHERE uuid = 'sim-0'");
	assert_int_equal(requested(f, &d, false), 0); /* it is back, and the other device measures */
	assert_int_equal(requested(f, &other, false), 0);
}

static void requests_for_an_absent_device_are_queued_on_its_return(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	snprintf(d.driver, sizeof d.driver, "2");
	assert_int_equal(requested(f, &d, false), 1);
	ok(environment_cancel_jobs(f->db, d.uuid, "gone", 3000, &err));
	assert_string_equal(text(f, "SELECT group_concat(state) FROM job WHERE kind = 'reference'"), "cancelled");
	assert_int_equal(requested(f, &d, false), 1);
}

static void failed_pairs_are_retried_even_if_the_reference_was_measured(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	bool is_new;
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	assert_int_equal(requested(f, &d, false), 2);
	ok(store_environment_put(f->db, &d, "5a17e", "pairs", "none", 1000, &f->environment, &is_new, &err));
	struct store_baseline_period e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1500, .started_at = 2
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	ok(store_current_baseline_put(f->db, d.uuid, f->repo, "ffa", e.id, &err));
	run_sql(f, "UPDATE environment_change SET unpaired = (SELECT max(id) FROM comparison)");
	run_sql(f, "UPDATE job SET state = 'done' WHERE kind = 'reference'");
	run_sql(f, "UPDATE job SET state = 'failed' WHERE kind = 'environment'");
	assert_int_equal(requested(f, &d, false), 1);
	assert_string_equal(text(f, "SELECT kind FROM job WHERE state = 'queued'"), "environment");
}

/* The device is now in the baseline period of its present environment. */
static void stands(struct fixture *f, const struct msg_device *d)
{
	bool is_new;
	int64_t environment;
	ok(store_environment_put(f->db, d, "5a17e", "pairs", "none", 1000, &environment, &is_new, &err));
	struct store_baseline_period e = {
		.repo = f->repo, .environment = environment, .suite = "ffa", .held_mhz = 1500, .started_at = 2
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	ok(store_current_baseline_put(f->db, d->uuid, f->repo, "ffa", e.id, &err));
}

/* The newest change was measured by this method, by commit `n`, and its regression is reported. */
static void is_a_loss(struct fixture *f, bool is_paired, unsigned n)
{
	int64_t comparison = fixture_comparison(f, "", n, n, VERDICT_REGRESSION, 3000);
	int64_t change = fixture_number(f, "SELECT max(id) FROM environment_change");
	run_sql(f,
		"INSERT INTO alert (kind, repo, branch, target_sha, changed, comparison, opened_at, changed_at, cells) SELECT 'environment', "
		"repo, 'main', target_sha, (SELECT changed FROM environment_change ORDER BY id DESC LIMIT 1), id, 3000, 3000, "
		"json_array(json_object('cell', 'x', 'suite', 'ffa', 'comparison', id)) FROM comparison ORDER BY id DESC LIMIT 1");
	ok(store_environment_change_measured(
		f->db, change, is_paired, comparison, fixture_number(f, "SELECT max(id) FROM alert"), &err));
}

#define ALERTS "SELECT group_concat(state, ' ') FROM (SELECT state FROM alert ORDER BY id)"

static void a_reverted_change_cancels_pairs_and_reference(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	snprintf(d.image, sizeof d.image, "debian 13.1, glibc 2.41");
	assert_int_equal(requested(f, &d, false), 2);
	is_a_loss(f, true, 2);
	is_a_loss(f, false, 1);
	stands(f, &d);
	assert_int_equal(requested(f, &d, false), 0);
	assert_string_equal(text(f, ALERTS), "open open");
	assert_true(requested(f, &was, false) > 0);
	assert_string_equal(text(f, ALERTS), "resolved resolved");
}

static void a_change_reverted_before_its_measurement_resolves_its_alert(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	snprintf(d.toolkit, sizeof d.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	assert_int_equal(requested(f, &d, false), 2);
	is_a_loss(f, true, 2);
	run_sql(f, "UPDATE job SET state = 'done' WHERE kind = 'environment'");
	assert_int_equal(requested(f, &was, false), 0);
	assert_string_equal(text(f, ALERTS), "resolved");
	assert_string_equal(text(f, "SELECT state || ': ' || state_why FROM job WHERE kind = 'reference'"),
		"cancelled: the environment is as it was before");
	assert_int_equal(requested(f, &was, false), 0);
	assert_int_equal(requested(f, &d, false), 2); /* the change is back */
}

static void a_change_reverted_across_another_resolves_its_alert(void **state)
{
	struct fixture *f = *state;
	struct msg_device b = was, c = was;
	snprintf(b.toolkit, sizeof b.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	snprintf(c.toolkit, sizeof c.toolkit, "nvcc 13.2.10 gcc 12.2.0");
	assert_int_equal(requested(f, &b, false), 2);
	is_a_loss(f, true, 2);
	stands(f, &b);
	assert_true(requested(f, &c, false) > 0);
	assert_string_equal(text(f, ALERTS), "open"); /* the environment still differs from the one before */
	is_a_loss(f, false, 1);
	stands(f, &c);
	assert_true(requested(f, &was, false) > 0);
	assert_string_equal(text(f, ALERTS), "resolved resolved");
}

static void reverting_a_change_leaves_earlier_alerts_open(void **state)
{
	struct fixture *f = *state;
	struct msg_device b = was, c = was;
	snprintf(b.toolkit, sizeof b.toolkit, "nvcc 13.1.80 gcc 12.2.0");
	snprintf(c.toolkit, sizeof c.toolkit, "nvcc 13.2.10 gcc 12.2.0");
	assert_int_equal(requested(f, &b, false), 2);
	is_a_loss(f, true, 2);
	stands(f, &b);
	assert_true(requested(f, &c, false) > 0);
	is_a_loss(f, false, 1);
	stands(f, &c);
	assert_true(requested(f, &b, false) > 0);
	assert_string_equal(text(f, ALERTS), "open resolved");
}

static void every_suite_of_a_device_is_queued(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	run_sql(f,
		"WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO current_baseline SELECT t.device, "
		"t.repo, 'suite' || i, t.baseline_period FROM n, current_baseline t");
	snprintf(d.driver, sizeof d.driver, "2");
	assert_int_equal(requested(f, &d, false), 201);
	assert_string_equal(text(f, "SELECT count(DISTINCT suite) FROM job WHERE kind = 'reference'"), "201");
	assert_int_equal(requested(f, &d, false), 0);
}

static void only_the_first_of_two_new_devices_queues_a_job(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = was;
	snprintf(d.uuid, sizeof d.uuid, "sim-7");
	assert_int_equal(requested(f, &d, true), 1);
	assert_string_equal(text(f, CHANGED), "[{\"what\":\"device\",\"from\":\"sim-0\",\"to\":\"sim-7\"}]");
	snprintf(d.uuid, sizeof d.uuid, "sim-8");
	assert_int_equal(requested(f, &d, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(a_new_compiler_queues_both_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(libraries_are_linked_in_or_found_later, setup, teardown),
		cmocka_unit_test_setup_teardown(no_build_shows_a_machine, setup, teardown),
		cmocka_unit_test_setup_teardown(the_cache_of_a_cpu_belongs_to_its_environment, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cache_that_was_not_stored_is_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(queued_jobs_name_their_sides, setup, teardown),
		cmocka_unit_test_setup_teardown(without_an_old_module_only_the_reference_is_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(an_equal_environment_queues_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_of_a_class_queue_jobs_once, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_jobs_are_retried_a_few_times, setup, teardown),
		cmocka_unit_test_setup_teardown(a_job_that_a_user_cancelled_stays_cancelled, setup, teardown),
		cmocka_unit_test_setup_teardown(another_device_replaces_one_in_quarantine, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_for_an_absent_device_are_queued_on_its_return, setup, teardown),
		cmocka_unit_test_setup_teardown(failed_pairs_are_retried_even_if_the_reference_was_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(a_reverted_change_cancels_pairs_and_reference, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_reverted_before_its_measurement_resolves_its_alert, setup, teardown),
		cmocka_unit_test_setup_teardown(a_change_reverted_across_another_resolves_its_alert, setup, teardown),
		cmocka_unit_test_setup_teardown(reverting_a_change_leaves_earlier_alerts_open, setup, teardown),
		cmocka_unit_test_setup_teardown(every_suite_of_a_device_is_queued, setup, teardown),
		cmocka_unit_test_setup_teardown(only_the_first_of_two_new_devices_queues_a_job, setup, teardown) };
	return cmocka_run_group_tests_name("environment_update", tests, NULL, NULL);
}
