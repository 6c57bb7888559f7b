/*
 * Requests to schedulers: which job waits for which, which requests are withdrawn for more important jobs, and which jobs never
 * wait.
 */
/* Left to `make check`: starts our programs, takes seconds. */
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

static bool nothing_is_requested(void)
{
	return !strstr(cluster_workers(), "pending") && !strstr(cluster_workers(), "busy");
}

#define DONE(branch) "SELECT count(*) FROM job WHERE branch = '" branch "' AND state = 'done'"

/* A job that waits for a busy node has a lower priority than a push, and holds the only allocation. */
static void a_higher_priority_displaces_a_request(void **state)
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
	CLUSTER_UNTIL(nothing_is_requested);
	assert_string_equal(cluster_said("had"), "gpus/gpu/b/sim-b\ngpus/gpu/a/sim-a");
}

/* Two allocations, two jobs: one allocation for each job, not both for the node of the first job. */
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
	assert_string_equal(cluster_said("requested"), "gpu a\ngpu *");
}

/* An equal priority is no reason to withdraw a request: the waiting job keeps its position in the scheduler's queue. */
static void an_equal_priority_displaces_no_request(void **state)
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
	assert_string_equal(cluster_said("requested"), "gpu a");
	ok(queue_cancel(queue, first, "not needed", &err)); /* the job before it was cancelled: now it is the first */
	queue_wake(queue);
	fixture_until(DONE("second"));
}

/* The first partition is drained for hours. */
static void another_partition_is_requested_when_the_first_is_drained(void **state)
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
	CLUSTER_UNTIL(nothing_is_requested);
	assert_string_equal(cluster_said("requested"), "first *\nsecond *");
	assert_string_equal(cluster_said("had"), "gpus/second/b/sim-b");
}

static bool one_allocation_is_idle(void)
{
	return strstr(cluster_workers(),
		       "the allocation has sim-0 (paused), which fits no queued job: held while another is requested") &&
	       strstr(cluster_workers(), "Resources");
}

static bool one_backs_off(void)
{
	return strstr(cluster_workers(), "on-gpu pending: the last allocation had sim-0 (paused), which fits no queued job") !=
	       NULL;
}

/* The first allocated device is unusable; the other device is idle. */
static void a_faulty_device_is_not_allocated_again(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-0");
	cluster_gpu("gpu/a/sim-1");
	cluster_worker("gpu", 2);
	cluster_begin();
	cluster_device("on-gpu", "a", "sim-0");
	cluster_state("sim-0", DEVICESTATE_PAUSED);
	cluster_job("push", sha, "", 0);
	fixture_until(DONE("push"));
	CLUSTER_UNTIL(nothing_is_requested);
	assert_string_equal(cluster_said("had"), "gpus/gpu/a/sim-0\ngpus/gpu/a/sim-1");
	cluster_job("next", sha, "", 0); /* later jobs need no further allocation */
	fixture_until(DONE("next"));
}

static void a_job_gets_the_device_that_it_names(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		char gpu[32];
		snprintf(gpu, sizeof gpu, "gpu/a/sim-%d", i);
		cluster_gpu(gpu);
	}
	cluster_worker("gpu", 4);
	cluster_begin();
	cluster_device("on-gpu", "a", "sim-3");
	cluster_job("profile", sha, "sim-3", -6);
	fixture_until(DONE("profile"));
	assert_string_equal(cluster_said("requested"), "gpu a\ngpu a\ngpu a\ngpu a");
	CLUSTER_UNTIL(nothing_is_requested);
}

/* The allocation logs the reason, ends no later than the job's wait, and takes a job that fits its device. */
static void an_idle_allocation_logs_its_reason(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-0");
	cluster_gpu("gpu/a/sim-1");
	cluster_take("gpu/a/sim-1", true);
	cluster_worker("gpu", 2);
	cluster_begin();
	cluster_device("on-gpu", "a", "sim-0");
	cluster_state("sim-0", DEVICESTATE_PAUSED);
	int64_t job = cluster_job("push", sha, "", 0);
	CLUSTER_UNTIL(one_allocation_is_idle);
	ok(queue_cancel(queue, job, "not needed", &err));
	queue_wake(queue);
	CLUSTER_UNTIL(nothing_is_requested);
	cluster_job("next", sha, "", 0);
	CLUSTER_UNTIL(one_allocation_is_idle);
	cluster_state("sim-0", DEVICESTATE_OK);
	queue_wake(queue);
	fixture_until(DONE("next"));
	CLUSTER_UNTIL(nothing_is_requested);
}

/* With at most one allocation no other can be requested: the worker pauses, logs the reason, and requests again. */
static void without_another_allocation_it_backs_off(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-0");
	cluster_worker("gpu", 1);
	cluster_begin();
	cluster_device("on-gpu", "a", "sim-0");
	cluster_state("sim-0", DEVICESTATE_PAUSED);
	cluster_job("push", sha, "", 0);
	CLUSTER_UNTIL(one_backs_off);
	cluster_state("sim-0", DEVICESTATE_OK);
	fixture_until(DONE("push"));
}

/* Nor is it held indefinitely while the other allocation is pending. */
static void an_idle_allocation_is_returned(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-0");
	cluster_gpu("gpu/a/sim-1");
	cluster_take("gpu/a/sim-1", true);
	cluster_worker("gpu", 2);
	cluster_begin();
	cluster_device("on-gpu", "a", "sim-0");
	cluster_state("sim-0", DEVICESTATE_PAUSED);
	cluster_job("push", sha, "", 0);
	CLUSTER_UNTIL(one_allocation_is_idle);
	CLUSTER_UNTIL(one_backs_off);
	cluster_take("gpu/a/sim-1", false);
	fixture_until(DONE("push"));
}

static void without_disk_space_nothing_is_requested(void **state)
{
	(void)state;
	cluster_gpu("gpu/a/sim-0");
	cluster_take("gpu/a/sim-0", true);
	cluster_worker("gpu", 1);
	cluster_begin();
	cluster_job("push", sha, "", 0);
	CLUSTER_UNTIL(all_wait);
	char real[sizeof config->state_dir];
	memcpy(real, config->state_dir, sizeof real);
	snprintf(config->state_dir, sizeof config->state_dir, "/proc"); /* a file system without free space */
	queue_wake(queue);
	CLUSTER_UNTIL(nothing_is_requested);
	memcpy(config->state_dir, real, sizeof real);
	queue_wake(queue);
	CLUSTER_UNTIL(all_wait);
	fixture_until("SELECT 1");
	snprintf(config->state_dir, sizeof config->state_dir, "/proc");
	cluster_take("gpu/a/sim-0", false); /* an allocation that starts before the queue has checked the free space */
	CLUSTER_UNTIL(nothing_is_requested);
	assert_string_equal(fixture_text("SELECT state || attempt FROM job"), "queued0");
	memcpy(config->state_dir, real, sizeof real);
	fixture_until(DONE("push"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, cluster_teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(a_higher_priority_displaces_a_request),
		CASE(each_job_has_an_allocation_of_its_own),
		CASE(an_equal_priority_displaces_no_request),
		CASE(another_partition_is_requested_when_the_first_is_drained),
		CASE(a_faulty_device_is_not_allocated_again),
		CASE(a_job_gets_the_device_that_it_names),
		CASE(an_idle_allocation_logs_its_reason),
		CASE(without_another_allocation_it_backs_off),
		CASE(an_idle_allocation_is_returned),
		CASE(without_disk_space_nothing_is_requested),
	};
	return cmocka_run_group_tests_name("allocations", tests, NULL, NULL);
}
