/* Jobs that the daemon queues while a device is idle, next to devices that are busy, gone or paused. */
#include "fixture_db.h"

#include "flopwatchd/internal.h"

#include "db/db.h"

enum { EVERY_MS = 60000 };

static struct config *config;
static struct txn txn;

/** A second device of the class that this repository was measured on; `ground` has the first, sim-0. Returns its row. */
static int64_t other_device(struct fixture *f)
{
	struct msg_device d = fixture_device();
	int64_t id;
	snprintf(d.uuid, sizeof d.uuid, "sim-1");
	ok(store_device_put(f->db, &d, 1000, &id, &err));
	return id;
}

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	struct store_baseline_period e = { .repo = f->repo, .environment = f->environment, .suite = "ffa", .started_at = 1 };
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(db_begin(f->db, &err));
	ok(store_baseline_period_insert(f->db, &e, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(7), true, 1000, &err));
	other_device(f);
	ok(db_commit(f->db, &err));
	config = calloc(1, sizeof *config);
	if (!config)
		return -1;
	config->calibrate_idle = true;
	config->calibrate_every_ms = EVERY_MS;
	config->n_repos = 1;
	snprintf(config->repo[0].name, sizeof config->repo[0].name, "kernels");
	snprintf(config->repo[0].upstream, sizeof config->repo[0].upstream, "main");
	txn = (struct txn){ .db = f->db };
	return 0;
}

static int teardown(void **state)
{
	free(config);
	return fixture_teardown(state);
}

static int look(int64_t now_ms)
{
	int queued = idle_step(config, &txn, now_ms, &err);
	if (queued < 0)
		fail_msg("%s", err.text);
	return queued;
}

/** Jobs in this state that request the device. */
static int64_t jobs_for(struct fixture *f, const char *uuid, const char *state)
{
	struct stmt *s = db_stmt(
		f->db, "SELECT count(*) FROM job WHERE device_uuid = :uuid AND state = :state AND kind = 'calibrate'", &err);
	stmt_text(s, ":uuid", uuid);
	stmt_text(s, ":state", state);
	assert_int_equal(stmt_step(s, &err), 1);
	int64_t n = row_int(s, 0);
	stmt_reset(s);
	return n;
}

static void finish(struct fixture *f, const char *uuid)
{
	struct stmt *s = db_stmt(f->db, "UPDATE job SET state = 'done' WHERE device_uuid = :uuid OR device_class > 0", &err);
	ok(db_begin(f->db, &err));
	stmt_text(s, ":uuid", uuid);
	ok(stmt_run(s, &err));
	ok(db_commit(f->db, &err));
}

static void every_device_in_its_time(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(look(1000), 4); /* per device the reference commit, to compare it with its class, and a calibration */
	assert_int_equal(look(2000), 0); /* they are queued */
	finish(f, "sim-0");
	finish(f, "sim-1");
	assert_int_equal(look(1000 + EVERY_MS - 1), 0);
	assert_int_equal(look(1000 + EVERY_MS), 4);
	config->calibrate_idle = false;
	finish(f, "sim-0");
	assert_int_equal(look(1000 + 9 * EVERY_MS), 0);
}

/* The job of the missing device stays queued, once; the other device continues. */
static void a_missing_device_delays_no_other(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(look(1000), 4);
	for (int i = 1; i <= 3; i++) {
		finish(f, "sim-0");
		assert_int_equal(look(1000 + i * EVERY_MS), 2);
	}
	assert_int_equal(jobs_for(f, "sim-0", "done"), 3);
	assert_int_equal(jobs_for(f, "sim-1", "queued"), 1);
}

static void all_of_a_hundred_devices_get_jobs(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device();
	int64_t id;
	ok(db_begin(f->db, &err));
	for (int i = 2; i < 100; i++) {
		snprintf(d.uuid, sizeof d.uuid, "sim-%d", i);
		ok(store_device_put(f->db, &d, 1000, &id, &err));
	}
	ok(db_commit(f->db, &err));
	assert_int_equal(look(1000), 200);
	assert_int_equal(jobs_for(f, "sim-99", "queued"), 1);
}

static void requested_jobs_precede_idle_jobs(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	int64_t anybody = fixture_job(f, "feature", 1, 2, 500);
	ok(db_commit(f->db, &err));
	assert_int_equal(look(1000), 0); /* the job may run on either device */
	ok(db_begin(f->db, &err));
	ok(store_job_send(f->db, anybody, f->device, "nonce", 1500, &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(look(2000), 2); /* only one of the devices is busy now */
	assert_int_equal(jobs_for(f, "sim-1", "queued"), 1);
}

static void paused_devices_are_left_alone(void **state)
{
	struct fixture *f = *state;
	ok(db_begin(f->db, &err));
	ok(store_device_state(f->db, f->device, DEVICESTATE_PAUSED, "by hand", 1, &err));
	ok(db_commit(f->db, &err));
	assert_int_equal(look(1000), 2);
	assert_int_equal(jobs_for(f, "sim-0", "queued"), 0);
}

/* An outlier gets no other jobs, so this job shows whether the device agrees again. */
static void an_outlier_is_measured_without_a_request(void **state)
{
	struct fixture *f = *state;
	config->calibrate_idle = false;
	assert_int_equal(look(1000), 0);
	ok(db_script(f->db, "UPDATE device SET outlier = 'slow' WHERE uuid = 'sim-1'", &err));
	assert_int_equal(look(1000), 2);
	assert_int_equal(jobs_for(f, "sim-1", "queued"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE kind = 'reference' AND device_uuid = 'sim-1'"), 1);
}

/** A comparison of main on sim-0 with peers in its base. */
static void main_was_judged(struct fixture *f, const char *peers)
{
	struct msg_build b = { .state = "ok", .toolchain = "gcc", .module_sha256 = "m1" };
	int64_t build, comparison;
	ok(db_begin(f->db, &err));
	comparison = fixture_comparison(f, "main", 6, 7, VERDICT_UNCHANGED, 900);
	ok(store_build_put(f->db, "inputs", DEVICE_CPU, &b, 900, &build, &err));
	struct stmt *s = db_stmt(f->db, "UPDATE comparison SET target_build = :build WHERE id = :id", &err);
	stmt_int(s, ":build", build);
	stmt_int(s, ":id", comparison);
	ok(stmt_run(s, &err));
	ok(store_peer_names(f->db, fixture_number(f, "SELECT job FROM comparison ORDER BY id DESC LIMIT 1"), peers, &err));
	ok(db_commit(f->db, &err));
}

static void peers_are_queued_once_and_first(void **state)
{
	struct fixture *f = *state;
	struct store_job job;
	main_was_judged(f, "naive fast@sim cudnn@cuda");
	assert_int_equal(look(1000), 2); /* both peers that a simulated device has, and no calibration yet */
	assert_int_equal(jobs_for(f, "sim-0", "queued"), 0);
	assert_int_equal(store_job_next_unresolved(f->db, &(struct store_job_round_robin){ 0 }, "[]", &job, &err), 1);
	assert_int_equal(job.kind, JOBKIND_PEER);
	assert_string_not_equal(job.suite, ""); /* suite and base are known, so only the plan is missing */
	assert_string_equal(job.base_provider, "naive");
	assert_string_equal(job.target_provider, "");
	assert_string_equal(job.base_sha, job.target_sha);
	assert_string_equal(job.branch, "");
	finish(f, "sim-0");
	config->calibrate_idle = false;
	assert_int_equal(look(2000), 0);
}

static void peers_of_the_configuration_come_first(void **state)
{
	struct fixture *f = *state;
	main_was_judged(f, "naive");
	config->calibrate_idle = false;
	config->repo[0].has_peers = true;
	assert_int_equal(look(1000), 0);
	peers_parse("other cudnn@cuda", &config->repo[0].peers);
	assert_int_equal(look(2000), 1);
	finish(f, "sim-0");
	config->repo[0].has_peers = false;
	assert_int_equal(look(3000), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_device_in_its_time, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_device_delays_no_other, setup, teardown),
		cmocka_unit_test_setup_teardown(all_of_a_hundred_devices_get_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(requested_jobs_precede_idle_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(paused_devices_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(an_outlier_is_measured_without_a_request, setup, teardown),
		cmocka_unit_test_setup_teardown(peers_are_queued_once_and_first, setup, teardown),
		cmocka_unit_test_setup_teardown(peers_of_the_configuration_come_first, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
