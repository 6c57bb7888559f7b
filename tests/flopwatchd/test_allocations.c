/* What schedulers are asked for: who waits for whom, what is given up for what is more important, and what never waits for the other. */
#include "fixture_cluster.h"

static char sha[65];

static int setup(void **state)
{
	char one[65];
	if (cluster_setup(state) != 0)
		return -1;
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", sha);
	return 0;
}

static bool all_wait(void)
{
	return !strstr(cluster_workers(), "free") && !strstr(cluster_workers(), "busy") && strstr(cluster_workers(), "Resources");
}

static bool nothing_is_asked(void)
{
	return !strstr(cluster_workers(), "pending") && !strstr(cluster_workers(), "busy");
}

#define DONE(branch) "SELECT count(*) FROM job WHERE branch = '" branch "' AND state = 'done'"

/* What waits for a node that is busy is of less importance than a push, and has the only place. */
static void what_is_more_important_takes_the_place(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-a");
	cluster_gpu("gpu/b/sim-b");
	cluster_take("gpu/a/sim-a", true);
	cluster_worker("gpu", 1);
	cluster_device("on-gpu", "a", "sim-a");
	cluster_begin();
	cluster_job("profile", sha, "sim-a", -6);
	CLUSTER_UNTIL(all_wait);
	cluster_job("push", sha, "", 0);
	fixture_until(DONE("push"));
	assert_string_equal(fixture_text("SELECT state FROM job WHERE branch = 'profile'"), "queued");
	cluster_take("gpu/a/sim-a", false);
	fixture_until(DONE("profile"));
	CLUSTER_UNTIL(nothing_is_asked);
	assert_string_equal(cluster_said("had"), "gpus/gpu/b/sim-b\ngpus/gpu/a/sim-a");
}

/* Two places, two jobs: one allocation for each of them, not two for the node of the first. */
static void each_job_has_an_allocation_of_its_own(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-a");
	cluster_gpu("gpu/b/sim-b");
	cluster_take("gpu/a/sim-a", true);
	cluster_worker("gpu", 2);
	cluster_device("on-gpu", "a", "sim-a");
	cluster_begin();
	cluster_job("profile", sha, "sim-a", -6);
	fixture_until("SELECT count(*) FROM event WHERE kind = 'worker.pending' AND payload ->> 'why' = 'Resources'");
	cluster_job("push", sha, "", 0);
	fixture_until(DONE("push"));
	assert_string_equal(cluster_said("asked"), "gpu a\ngpu *");
}

/* Of equal importance is no reason: whoever waits keeps its place in the scheduler's queue. */
static void an_equal_takes_no_place(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-a");
	cluster_gpu("gpu/b/sim-b");
	cluster_take("gpu/a/sim-a", true);
	cluster_worker("gpu", 1);
	cluster_device("on-gpu", "a", "sim-a");
	cluster_begin();
	int64_t first = cluster_job("first", sha, "sim-a", 0);
	CLUSTER_UNTIL(all_wait);
	cluster_job("second", sha, "", 0);
	fixture_until("SELECT base_how <> '' FROM job WHERE branch = 'second'");
	fixture_until("SELECT 1");
	CLUSTER_UNTIL(all_wait);
	assert_string_equal(cluster_said("asked"), "gpu a");
	ok(queue_cancel(queue, first, "not needed", &err)); /* what it waited for is gone: now there is */
	queue_wake(queue);
	fixture_until(DONE("second"));
}

/* The first partition is drained for hours. */
static void another_partition_is_asked_when_the_first_lets_wait(void **state)
{
	(void)state;
	cluster_gpu("first/a/sim-a");
	cluster_gpu("second/b/sim-b");
	cluster_take("first/a/sim-a", true);
	cluster_worker("first", 2);
	cluster_worker("second", 2);
	cluster_begin();
	cluster_job("push", sha, "", 0);
	fixture_until(DONE("push"));
	CLUSTER_UNTIL(nothing_is_asked);
	assert_string_equal(cluster_said("asked"), "first *\nsecond *");
	assert_string_equal(cluster_said("had"), "gpus/second/b/sim-b");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, cluster_teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(what_is_more_important_takes_the_place),
		CASE(each_job_has_an_allocation_of_its_own),
		CASE(an_equal_takes_no_place),
		CASE(another_partition_is_asked_when_the_first_lets_wait),
	};
	return cmocka_run_group_tests_name("allocations", tests, NULL, NULL);
}
