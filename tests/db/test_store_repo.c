/* State of repositories and devices: inserted once, updated, and preserved through pauses. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include "db/db.h"

static void repositories_are_updated_and_retired(void **state)
{
	struct fixture *f = *state;
	int64_t again, other;
	ok(store_repo_put(f->db, "kernels", "https://example.org/k.git", false, "trunk", &again, &err));
	assert_int_equal(again, f->repo);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM repo WHERE upstream = 'trunk' AND is_local = 0"), 1);
	ok(store_repo_put(f->db, "other", "/x", true, "main", &other, &err));
	assert_true(other != f->repo);
	ok(store_repo_state(f->db, f->repo, "error", "not a repository", &err));
	ok(store_repo_state(f->db, f->repo, "error", "not a repository", &err));
	assert_int_equal(db_changes(f->db), 0); /* it is stored already */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM repo WHERE error = 'not a repository'"), 1);
	ok(store_repo_state(f->db, f->repo, "ok", NULL, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM repo WHERE state = 'ok' AND error = ''"), 1);
	ok(store_repo_fetched(f->db, f->repo, 77, &err));
	assert_int_equal(fixture_number(f, "SELECT fetched_at FROM repo WHERE state = 'ok'"), 77);
	ok(store_repo_retire(f->db, &f->repo, 1, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM repo WHERE state = 'gone' AND name = 'other'"), 1);
	ok(store_repo_retire(f->db, NULL, 0, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM repo WHERE state = 'gone'"), 2);
	ok(store_repo_put(f->db, "other", "/x", true, "main", &other, &err)); /* configured again */
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM repo WHERE state = 'new'"), 1);
}

static void count_tip(void *arg, const char *name, const char *sha)
{
	int *n = arg;
	(*n)++;
	assert_int_equal(strlen(sha), 40);
	assert_true(strlen(name) > 0);
}

static void tips_come_and_go(void **state)
{
	struct fixture *f = *state;
	static const char name[] = "-a%27%3B%20DROP%FF/..";
	char sha[65];
	bool gone;
	int n = 0;
	refused(ERR_NOT_FOUND, store_tip_get(f->db, f->repo, name, sha, &gone, &err));
	ok(store_tip_put(f->db, f->repo, name, "-a'; DROP\xef\xbf\xbd/..", fixture_sha(1), true, 10, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(1), true, 10, &err));
	ok(store_tip_get(f->db, f->repo, name, sha, &gone, &err));
	assert_string_equal(sha, fixture_sha(1));
	assert_false(gone);
	ok(store_tip_put(f->db, f->repo, name, "x", fixture_sha(1), false, 20, &err));
	assert_int_equal(fixture_number(f, "SELECT seen_at FROM branch_tip WHERE watched = 0"), 10); /* the tip did not move */
	ok(store_tip_put(f->db, f->repo, name, "x", fixture_sha(2), true, 30, &err));
	assert_int_equal(fixture_number(f, "SELECT seen_at FROM branch_tip WHERE name <> 'main'"), 30);
	ok(store_tip_each(f->db, f->repo, count_tip, &n, &err));
	assert_int_equal(n, 2);
	ok(store_tip_gone(f->db, f->repo, name, &err));
	n = 0;
	ok(store_tip_each(f->db, f->repo, count_tip, &n, &err));
	assert_int_equal(n, 1);
	ok(store_tip_get(f->db, f->repo, name, sha, &gone, &err));
	assert_true(gone);
	ok(store_tip_put(f->db, f->repo, name, "x", fixture_sha(2), true, 40, &err)); /* pushed again */
	ok(store_tip_get(f->db, f->repo, name, sha, &gone, &err));
	assert_false(gone);
}

static void commits_are_immutable(void **state)
{
	struct fixture *f = *state;
	struct store_commit c = { .author = "Ann", .subject = "first", .committed_at = 5 }, got;
	snprintf(c.sha, sizeof c.sha, "%s", fixture_sha(1));
	snprintf(c.tree, sizeof c.tree, "%s", fixture_sha(2));
	refused(ERR_NOT_FOUND, store_commit_get(f->db, f->repo, c.sha, &got, &err));
	ok(store_commit_put(f->db, f->repo, &c, &err));
	snprintf(c.subject, sizeof c.subject, "second");
	ok(store_commit_put(f->db, f->repo, &c, &err)); /* a sha never refers to another commit */
	ok(store_commit_get(f->db, f->repo, c.sha, &got, &err));
	assert_string_equal(got.subject, "first");
	assert_string_equal(got.tree, fixture_sha(2));
	assert_string_equal(got.first_parent, "");
	assert_int_equal(got.committed_at, 5);
}

static void suites_are_stored_by_the_hash_of_their_cells(void **state)
{
	struct fixture *f = *state;
	int64_t one, two;
	ok(store_suite_put(f->db, "aa", "ffa", "suite: ffa\n", 11, "installed", &one, &err));
	ok(store_suite_put(f->db, "aa", "ffa", "suite:   ffa\n", 13, "kernels@123", &two, &err));
	assert_int_equal(one, two);
	ok(store_suite_put(f->db, "bb", "ffa", "suite: ffa\n", 11, "installed", &two, &err));
	assert_true(one != two);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM suite WHERE sha = 'aa' AND text = 'suite: ffa' || char(10)"), 1);
}

static void devices_keep_their_pause(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device();
	int64_t id;
	enum devicestate word;
	ok(store_device_state(f->db, f->device, DEVICESTATE_PAUSED, "by anna", 1, &err));
	snprintf(d.driver, sizeof d.driver, "2");
	ok(store_device_put(f->db, &d, 99, &id, &err));
	assert_int_equal(id, f->device);
	ok(store_device_get(f->db, "sim-0", &id, &word, &err));
	assert_int_equal(word, DEVICESTATE_PAUSED);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM device WHERE driver = '2' AND seen_at = 99 AND info ->> 'cores' = 4"), 1);
	ok(store_device_state(f->db, f->device, DEVICESTATE_ABSENT, "", 1, &err));
	ok(store_device_put(f->db, &d, 100, &id, &err)); /* it is back */
	ok(store_device_get(f->db, "sim-0", &id, &word, &err));
	assert_int_equal(word, DEVICESTATE_OK);
	refused(ERR_NOT_FOUND, store_device_get(f->db, "GPU-none", &id, &word, &err));
}

static void the_host_of_a_health_check_is_found(void **state)
{
	struct fixture *f = *state;
	char host[64] = "";
	ok(store_device_through(f->db, f->device, "w", "node7", true, &err));
	assert_int_equal(store_device_health_check_host(f->db, "w", host, &err), 0);
	ok(store_device_state(f->db, f->device, DEVICESTATE_HEALTH_CHECK, "", 1, &err));
	assert_int_equal(store_device_health_check_host(f->db, "other", host, &err), 0);
	assert_int_equal(store_device_health_check_host(f->db, "w", host, &err), 1);
	assert_string_equal(host, "node7");
}

static int64_t baseline_period(
	struct fixture *f, const struct msg_device *d, const char *suite, const char *isolation, bool *is_new)
{
	int64_t id;
	ok(store_environment_put(f->db, d, suite, "pairs", isolation, 1, &id, is_new, &err));
	return id;
}

static void anything_that_matters_is_a_new_baseline_period(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device();
	bool is_new;
	assert_int_equal(baseline_period(f, &d, "5a17e", "none", &is_new), f->environment);
	assert_false(is_new);
	baseline_period(f, &d, "other", "none", &is_new);
	assert_true(is_new);
	baseline_period(f, &d, "5a17e", "bwrap", &is_new);
	assert_true(is_new);
	d.power_limit_w = 500;
	baseline_period(f, &d, "5a17e", "none", &is_new);
	assert_true(is_new);
	snprintf(d.toolkit, sizeof d.toolkit, "gcc 13");
	int64_t last = baseline_period(f, &d, "5a17e", "none", &is_new);
	assert_true(is_new);
	assert_int_equal(baseline_period(f, &d, "5a17e", "none", &is_new), last);
	assert_false(is_new);
	snprintf(d.cudnn, sizeof d.cudnn, "9.13.2");
	assert_true(baseline_period(f, &d, "5a17e", "none", &is_new) != last);
	assert_true(is_new);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM environment WHERE cudnn = '9.13.2'"), 1);
}

/* Of a CPU: the class of a GPU determines its cache. A row of an earlier version, without the cache, gets it. */
static void another_cache_is_a_new_baseline_period(void **state)
{
	struct fixture *f = *state;
	struct msg_device d = fixture_device();
	bool is_new;
	d.l2_bytes = 1 << 20;
	assert_int_equal(baseline_period(f, &d, "5a17e", "none", &is_new), f->environment);
	d.kind = DEVICE_CPU;
	d.l2_bytes = 0;
	int64_t earlier = baseline_period(f, &d, "5a17e", "none", &is_new);
	assert_true(is_new);
	d.l2_bytes = 32 << 20;
	assert_int_equal(baseline_period(f, &d, "5a17e", "none", &is_new), earlier);
	assert_false(is_new);
	assert_int_equal(fixture_number(f, "SELECT max(cache_bytes) FROM environment"), 32 << 20);
	d.l2_bytes = 2 << 20;
	assert_true(baseline_period(f, &d, "5a17e", "none", &is_new) != earlier);
	assert_true(is_new);
	d.l2_bytes = 32 << 20;
	assert_int_equal(baseline_period(f, &d, "5a17e", "none", &is_new), earlier);
	assert_false(is_new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(repositories_are_updated_and_retired, setup, teardown),
		cmocka_unit_test_setup_teardown(tips_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(commits_are_immutable, setup, teardown),
		cmocka_unit_test_setup_teardown(suites_are_stored_by_the_hash_of_their_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_keep_their_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(the_host_of_a_health_check_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(anything_that_matters_is_a_new_baseline_period, setup, teardown),
		cmocka_unit_test_setup_teardown(another_cache_is_a_new_baseline_period, setup, teardown),
	};
	return run_twice(tests);
}
