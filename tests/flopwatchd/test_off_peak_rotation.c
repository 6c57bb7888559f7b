/* Off-peak jobs: every shard of every large suite in rotation, each against the commit of its previous measurement. */
/* Left to `make check`: takes seconds, only computes. */
#include "fixture_db.h"

#include "flopwatchd/internal.h"

enum { NOW_MS = 1000000000 };

static struct config *config;
static struct txn txn;

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	struct fixture *f = *state;
	config = calloc(1, sizeof *config);
	if (!config)
		return -1;
	config->off_peak.is_idle = true;
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

/* A push has measured its shard of a suite. */
static void push(struct fixture *f, const char *suite, const char *sha, int shards, unsigned target)
{
	const struct suite_size size = { .cells = 40 * shards, .shards = shards, .nights = 7 };
	ok(db_begin(f->db, &err));
	ok(store_suite_put(f->db, sha, suite, "", 0, "installed", &f->suite, &err));
	ok(store_suite_size(f->db, f->suite, &size, &err));
	fixture_comparison(f, "main", target - 1, target, VERDICT_UNCHANGED, NOW_MS - 1);
	ok(db_commit(f->db, &err));
}

/* The last requested job, while it is queued. */
static struct store_job requested(struct fixture *f)
{
	struct store_job job;
	int64_t id = fixture_number(f, "SELECT max(id) FROM job WHERE state = 'queued' AND origin = 'off_peak'");
	ok(store_job_get(f->db, id, &job, &err));
	return job;
}

/* It is measured, with the present suite. */
static void measure(struct fixture *f, const struct store_job *job, int64_t now_ms)
{
	struct store_comparison c = { .job = job->id,
		.repo = f->repo,
		.suite = f->suite,
		.environment = f->environment,
		.device = f->device,
		.kind = JOBKIND_COMPARE,
		.base_how = "last-off-peak",
		.rule_json = "{}",
		.verdict = VERDICT_UNCHANGED,
		.finished_at = now_ms };
	snprintf(c.branch, sizeof c.branch, "main");
	snprintf(c.base_sha, sizeof c.base_sha, "%s", fixture_sha(1));
	snprintf(c.target_sha, sizeof c.target_sha, "%s", job->target_sha);
	ok(db_begin(f->db, &err));
	ok(store_comparison_insert(f->db, &c, &err));
	ok(store_job_resolve(f->db, job->id, c.base_sha, c.base_how, c.kind, job->suite, &err));
	ok(store_job_done(f->db, job->id, now_ms, &err));
	ok(db_commit(f->db, &err));
}

static int look(int64_t now_ms)
{
	int queued = idle_step(config, &txn, now_ms, &err);
	if (queued < 0)
		fail_msg("%s", err.text);
	return queued;
}

/* However many shards there are, and without pushes meanwhile. */
static void every_shard_of_a_commit_is_measured_once(void **state)
{
	enum { SHARDS = 200 };
	struct fixture *f = *state;
	push(f, "large", "1", SHARDS + 1, 2);
	for (int i = 1; i <= SHARDS; i++) {
		assert_int_equal(look(NOW_MS + i), 1);
		assert_int_equal(look(NOW_MS + i), 0); /* one after the other */
		struct store_job job = requested(f);
		assert_int_equal(job.shard, i);
		measure(f, &job, NOW_MS + i);
	}
	assert_int_equal(look(NOW_MS + SHARDS + 1), 0);
}

static void every_suite_gets_its_share_before_any_gets_more(void **state)
{
	static const char *const wanted[] = { "a", "a", "b", "b", "a" }; /* 14 shards in 7 nights */
	struct fixture *f = *state;
	int64_t suite[2];
	push(f, "a", "1", 15, 2);
	suite[0] = f->suite;
	push(f, "b", "2", 15, 2);
	suite[1] = f->suite;
	for (int i = 0; i < 5; i++) {
		assert_int_equal(look(NOW_MS + i), 1);
		struct store_job job = requested(f);
		assert_string_equal(job.suite, wanted[i]);
		f->suite = suite[wanted[i][0] - 'a'];
		measure(f, &job, NOW_MS + i);
	}
}

static void the_base_is_the_commit_of_the_previous_off_peak_job(void **state)
{
	struct fixture *f = *state;
	push(f, "large", "1", 2, 2);
	assert_int_equal(look(NOW_MS), 1);
	struct store_job job = requested(f);
	assert_string_equal(job.base_sha, ""); /* as for a push */
	measure(f, &job, NOW_MS);
	push(f, "large", "1", 2, 5);
	assert_int_equal(look(NOW_MS + 1), 1);
	job = requested(f);
	assert_string_equal(job.target_sha, fixture_sha(5));
	assert_string_equal(job.base_sha, fixture_sha(2));
	assert_string_equal(job.base_how, "last-off-peak");
	measure(f, &job, NOW_MS + 1);
	push(f, "large", "2", 3, 6); /* its cells differ now: shard 1 is another one than before */
	for (int shard = 1; shard <= 2; shard++) {
		assert_int_equal(look(NOW_MS + 2), 1);
		job = requested(f);
		assert_int_equal(job.shard, shard);
		assert_string_equal(job.base_sha, "");
		measure(f, &job, NOW_MS + 2);
	}
	push(f, "large", "1", 2, 7); /* as before, but commits in between have the other suite */
	assert_int_equal(look(NOW_MS + 3), 1);
	job = requested(f);
	assert_int_equal(job.shard, 1);
	assert_string_equal(job.base_sha, "");
	measure(f, &job, NOW_MS + 3);
	push(f, "large", "1", 2, 8);
	assert_int_equal(look(NOW_MS + 4), 1);
	job = requested(f);
	assert_string_equal(job.base_sha, fixture_sha(7));
	measure(f, &job, NOW_MS + 4);
	push(f, "large", "3", 1, 9); /* small enough for a push */
	assert_int_equal(look(NOW_MS + 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_shard_of_a_commit_is_measured_once, setup, teardown),
		cmocka_unit_test_setup_teardown(every_suite_gets_its_share_before_any_gets_more, setup, teardown),
		cmocka_unit_test_setup_teardown(the_base_is_the_commit_of_the_previous_off_peak_job, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
