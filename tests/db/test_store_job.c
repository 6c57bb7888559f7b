/* The queue: the next job, superseded jobs, the effect of a restart, and writes that an ended job rejects. */
/* Left to `make check`: takes seconds. */
#include "failing_statements.h"

#include "fixture_db.h"

#include "db/db.h"

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	struct fixture *f = *state;
	fixture_ground(f);
	ok(db_begin(f->db, &err));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	db_rollback(f->db);
	return fixture_teardown(state);
}

static struct store_job job_of(struct fixture *f, int64_t id)
{
	struct store_job j;
	ok(store_job_get(f->db, id, &j, &err));
	return j;
}

static int64_t next(struct fixture *f)
{
	struct store_job j;
	int r = store_job_next(f->db, DEVICE_CPU, "", "[]", &j, &err);
	assert_true(r >= 0);
	return r ? j.id : 0;
}

/** Run the next job; returns its branch. */
static const char *serve(struct fixture *f, int64_t now_ms)
{
	static struct store_job j;
	assert_int_equal(store_job_next(f->db, DEVICE_CPU, "", "[]", &j, &err), 1);
	ok(store_job_send(f->db, j.id, f->device, "nonce", now_ms, &err));
	ok(store_job_state(f->db, j.id, JOBSTATE_FAILED, "test", now_ms + 1, &err));
	return j.branch;
}

static void insert_and_read_back(void **state)
{
	struct fixture *f = *state;
	struct store_job j = { .repo = f->repo,
		.branch = "a%20b",
		.kind = JOBKIND_SELFCHECK,
		.suite = "ffa",
		.device_kind = DEVICE_CUDA,
		.cells_glob = "*/dense/*",
		.origin = "api",
		.quick = true,
		.priority = 10 };
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(7));
	ok(store_job_insert(f->db, &j, 123, &err));
	assert_true(j.id > 0);
	assert_int_equal(j.state, JOBSTATE_QUEUED);
	assert_string_equal(j.repo_name, "kernels");
	assert_int_equal(j.queued_at, 123);
	struct store_job k = job_of(f, j.id);
	assert_string_equal(k.branch, "a%20b");
	assert_string_equal(k.cells_glob, "*/dense/*");
	assert_int_equal(k.device_kind, DEVICE_CUDA);
	assert_true(k.quick);
	assert_int_equal(k.priority, 10);
	struct store_job some = { .repo = f->repo, .target_sha = "c0", .origin = "api", .cells_glob = " a/*  b/c " };
	ok(store_job_insert(f->db, &some, 124, &err));
	assert_string_equal(some.cells_glob, "a/* b/c");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job_cell WHERE job = 2 AND word IN ('a/*', 'b/c')"), 2);
	ok(store_peer_names(f->db, some.id, "cudnn@cuda naive", &err));
	ok(store_peer_names(f->db, some.id, "naive cudnn@cuda", &err)); /* replaces the list */
	assert_string_equal(job_of(f, some.id).peers, "naive cudnn@cuda");
	refused(ERR_NOT_FOUND, store_job_get(f->db, 999, &k, &err));
}

static void unresolved_jobs_do_not_run(void **state)
{
	struct fixture *f = *state;
	struct store_job j = { .repo = f->repo, .branch = "main", .origin = "push" }, found;
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(1));
	ok(store_job_insert(f->db, &j, 1, &err));
	assert_int_equal(next(f), 0);
	struct store_job_round_robin turn = { 0 };
	char besides[32];
	assert_int_equal(store_job_next_unresolved(f->db, &turn, "[]", &found, &err), 1);
	assert_int_equal(found.id, j.id);
	snprintf(besides, sizeof besides, "[%lld]", (long long)j.id);
	assert_int_equal(store_job_next_unresolved(f->db, &turn, besides, &found, &err), 0);
	ok(store_job_resolve(f->db, j.id, fixture_sha(0), "merge-base", JOBKIND_COMPARE, "ffa", &err));
	assert_int_equal(next(f), 0); /* without a plan */
	fixture_plan(f, j.id);
	assert_int_equal(next(f), j.id);
	assert_int_equal(store_job_next_unresolved(f->db, &turn, "[]", &found, &err), 0);
	ok(store_job_send(f->db, j.id, f->device, "n", 2, &err));
	refused(ERR_CONFLICT, store_job_resolve(f->db, j.id, fixture_sha(0), "given", JOBKIND_COMPARE, "ffa", &err));
}

/* The order in which jobs of two repositories are resolved: a1 a2 a3 came before b1 b2, and a user's request came last. */
static void resolving_alternates_repositories(void **state)
{
	struct fixture *f = *state;
	static const char *const wanted[] = { "a1", "b1", "a3", "b2", "a2" };
	struct store_job_round_robin turn = { 0 };
	int64_t other;
	ok(store_repo_put(f->db, "other", "/srv/git/other.git", true, "main", &other, &err));
	for (const char *name = "a1\0a2\0a3\0b1\0b2\0c1\0"; *name; name += 3) {
		struct store_job j = { .repo = *name == 'b' ? other : f->repo, .origin = "push", .priority = *name == 'c' };
		snprintf(j.branch, sizeof j.branch, "%s", name);
		snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(1));
		ok(store_job_insert(f->db, &j, 1, &err));
	}
	struct store_job first;
	assert_int_equal(store_job_next_unresolved(f->db, &turn, "[]", &first, &err), 1);
	assert_string_equal(first.branch, "c1");
	ok(store_job_resolve(f->db, first.id, fixture_sha(0), "merge-base", JOBKIND_COMPARE, "ffa", &err));
	fixture_plan(f, first.id);
	turn = (struct store_job_round_robin){ 0 };
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		struct store_job j;
		assert_int_equal(store_job_next_unresolved(f->db, &turn, "[]", &j, &err), 1);
		assert_string_equal(j.branch, wanted[i]);
		ok(store_job_resolve(f->db, j.id, fixture_sha(0), "merge-base", JOBKIND_COMPARE, "ffa", &err));
		fixture_plan(f, j.id);
	}
}

static void order_is_priority_then_longest_unserved(void **state)
{
	struct fixture *f = *state;
	int64_t other;
	ok(store_repo_put(f->db, "other", "/srv/git/other.git", true, "main", &other, &err));
	for (unsigned i = 0; i < 3; i++)
		fixture_job(f, "busy", i, 100 + i, 1);
	int64_t calm = fixture_job(f, "calm", 0, 200, 2);
	struct fixture second = *f;
	second.repo = other;
	fixture_job(&second, "main", 0, 300, 3);
	/* none was served: the oldest; then the repository that was not served; then the branch that was not */
	assert_string_equal(serve(f, 10), "busy");
	assert_string_equal(serve(f, 20), "main");
	assert_int_equal(next(f), calm);
	struct store_job urgent = job_of(f, calm);
	urgent.priority = 10;
	snprintf(urgent.branch, sizeof urgent.branch, "busy");
	snprintf(urgent.target_sha, sizeof urgent.target_sha, "%s", fixture_sha(400));
	snprintf(urgent.origin, sizeof urgent.origin, "api");
	ok(store_job_insert(f->db, &urgent, 4, &err));
	fixture_plan(f, urgent.id);
	assert_int_equal(next(f), urgent.id);
	assert_string_equal(serve(f, 30), "busy");
	assert_string_equal(serve(f, 40), "calm");
	assert_string_equal(serve(f, 50), "busy");
	assert_string_equal(serve(f, 60), "busy");
	assert_int_equal(next(f), 0);
}

static void one_branch_cannot_starve_another(void **state)
{
	struct fixture *f = *state;
	int served[3] = { 0, 0, 0 };
	static const char *const branches[] = { "a", "b", "c" };
	for (unsigned i = 0; i < 30; i++)
		for (int b = 0; b < 3; b++)
			for (int k = 0; k < (b == 0 ? 5 : 1); k++) /* `a` pushes five times as much */
				fixture_job(f, branches[b], 0, 1000 + i * 50 + (unsigned)(b * 10 + k), 1);
	for (int i = 0; i < 60; i++)
		served[serve(f, 100 + i * 2)[0] - 'a']++;
	assert_int_equal(served[0], 20);
	assert_int_equal(served[1], 20);
	assert_int_equal(served[2], 20);
}

static void kind_of_device_is_respected(void **state)
{
	struct fixture *f = *state;
	struct store_job j = { .repo = f->repo,
		.branch = "main",
		.base_how = "given",
		.suite = "ffa",
		.device_kind = DEVICE_CUDA,
		.origin = "push" };
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(1));
	snprintf(j.base_sha, sizeof j.base_sha, "%s", fixture_sha(0));
	ok(store_job_insert(f->db, &j, 1, &err));
	fixture_plan(f, j.id);
	assert_int_equal(next(f), 0);
	struct store_job found;
	assert_int_equal(store_job_next(f->db, DEVICE_CUDA, "", "[]", &found, &err), 1);
	assert_int_equal(found.id, j.id);
}

static void newer_tip_supersedes_queued_ones(void **state)
{
	struct fixture *f = *state;
	int n;
	int64_t running = fixture_job(f, "main", 0, 1, 1);
	ok(store_job_send(f->db, running, f->device, "n", 2, &err));
	int64_t old = fixture_job(f, "main", 0, 2, 3);
	int64_t elsewhere = fixture_job(f, "dev", 0, 3, 4);
	int64_t same = fixture_job(f, "main", 0, 9, 5); /* of the newer tip itself, for example another suite */
	struct store_job requested = job_of(f, old);
	snprintf(requested.origin, sizeof requested.origin, "api");
	ok(store_job_insert(f->db, &requested, 6, &err));
	int64_t newest = fixture_job(f, "main", 0, 9, 7);
	ok(store_job_supersede(f->db, newest, 8, &n, &err));
	assert_int_equal(n, 1);
	assert_int_equal(job_of(f, running).state, JOBSTATE_ASSIGNED);
	assert_int_equal(job_of(f, old).state, JOBSTATE_SUPERSEDED);
	assert_int_equal(job_of(f, old).ended_at, 8);
	assert_int_equal(job_of(f, elsewhere).state, JOBSTATE_QUEUED);
	assert_int_equal(job_of(f, same).state, JOBSTATE_QUEUED);
	assert_int_equal(job_of(f, requested.id).state, JOBSTATE_QUEUED);
	assert_int_equal(job_of(f, newest).state, JOBSTATE_QUEUED);
}

static void requested_commits_do_not_supersede(void **state)
{
	struct fixture *f = *state;
	int n;
	fixture_job(f, "", 0, 1, 1);
	int64_t newer = fixture_job(f, "", 0, 2, 2);
	ok(store_job_supersede(f->db, newer, 3, &n, &err));
	assert_int_equal(n, 0);
}

static void deleted_branches_drop_their_queued_jobs(void **state)
{
	struct fixture *f = *state;
	int64_t waiting;
	int n;
	int64_t running = fixture_job(f, "topic", 0, 1, 1);
	ok(store_job_send(f->db, running, f->device, "n", 2, &err));
	int64_t queued = fixture_job(f, "topic", 0, 2, 3), other = fixture_job(f, "main", 0, 3, 4);
	struct store_job requested = job_of(f, queued);
	snprintf(requested.origin, sizeof requested.origin, "api");
	ok(store_job_insert(f->db, &requested, 5, &err));
	ok(store_job_waiting(f->db, &waiting, &err));
	assert_int_equal(waiting, 3);
	ok(store_job_drop(f->db, f->repo, "topic", JOBSTATE_TARGET_MISSING, "the branch was deleted", 6, &n, &err));
	assert_int_equal(n, 1);
	assert_int_equal(job_of(f, queued).state, JOBSTATE_TARGET_MISSING);
	assert_string_equal(job_of(f, queued).state_why, "the branch was deleted");
	assert_int_equal(job_of(f, queued).ended_at, 6);
	char reported[512];
	snprintf(reported, sizeof reported,
		"SELECT (SELECT payload FROM event ORDER BY id DESC LIMIT 1) = '{\"job\":%d,\"repo\":\"kernels\",\"branch\":\"topic\","
		"\"commit\":\"%s\",\"state\":\"target_missing\",\"why\":\"the branch was deleted\"}' AND EXISTS (SELECT 1 FROM job_log "
		"WHERE job = %d AND line = 'target_missing: the branch was deleted')",
		(int)queued, fixture_sha(2), (int)queued);
	assert_int_equal(fixture_number(f, reported), 1);
	assert_int_equal(job_of(f, running).state, JOBSTATE_ASSIGNED);
	assert_int_equal(job_of(f, other).state, JOBSTATE_QUEUED);
	assert_int_equal(job_of(f, requested.id).state, JOBSTATE_QUEUED);
	ok(store_job_waiting(f->db, &waiting, &err));
	assert_int_equal(waiting, 2);
}

static int planned(struct fixture *f)
{
	return store_job_planned(f->db, f->repo, fixture_sha(5), &err);
}

static void plans_are_found(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(planned(f), 0);
	int64_t id = fixture_job(f, "main", 0, 5, 1);
	assert_int_equal(job_of(f, id).plan, id);
	assert_int_equal(planned(f), 1);
	ok(store_job_state(f->db, id, JOBSTATE_CANCELLED, "by a test", 2, &err));
	assert_int_equal(planned(f), 0);
	struct store_job look = job_of(f, id);
	look.quick = true;
	look.suite[0] = 0;
	ok(store_job_insert(f->db, &look, 3, &err));
	assert_int_equal(planned(f), 0);
	/* one suite that a user requested is no plan, nor is a job that no push needs */
	struct store_job alone = job_of(f, id);
	alone.plan = 0;
	ok(store_job_insert(f->db, &alone, 4, &err));
	assert_int_equal(alone.plan, 0);
	assert_int_equal(planned(f), 0);
	struct store_job by_commit = job_of(f, id);
	by_commit.suite[0] = by_commit.branch[0] = 0;
	ok(store_job_insert(f->db, &by_commit, 5, &err));
	assert_int_equal(planned(f), 0);
}

static void suites_that_are_covered(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_job(f, "main", 0, 5, 1), done = fixture_job(f, "main", 0, 6, 1);
	struct store_job push = job_of(f, fixture_job(f, "main", 0, 5, 2)), topic = push, requested = push;
	snprintf(topic.branch, sizeof topic.branch, "topic");
	assert_int_equal(store_job_covers(f->db, &push, "ffa", &err), 1);
	assert_int_equal(store_job_covers(f->db, &push, "mma", &err), 0);
	assert_int_equal(store_job_covers(f->db, &topic, "ffa", &err), 0);
	ok(store_job_state(f->db, id, JOBSTATE_CANCELLED, "by a test", 2, &err));
	assert_int_equal(store_job_covers(f->db, &push, "ffa", &err), 0);
	/* a finished job is not measured again for a push, but it is for a user's request */
	ok(store_job_state(f->db, done, JOBSTATE_DONE, "", 3, &err));
	snprintf(push.target_sha, sizeof push.target_sha, "%s", fixture_sha(6));
	assert_int_equal(store_job_covers(f->db, &push, "ffa", &err), 1);
	snprintf(requested.target_sha, sizeof requested.target_sha, "%s", fixture_sha(6));
	snprintf(requested.origin, sizeof requested.origin, "api");
	assert_int_equal(store_job_covers(f->db, &requested, "ffa", &err), 0);
}

static void sending_counts_attempts(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_job(f, "main", 0, 1, 1);
	ok(store_job_send(f->db, id, f->device, "abc", 50, &err));
	struct store_job j = job_of(f, id);
	assert_int_equal(j.attempt, 1);
	assert_int_equal(j.started_at, 50);
	assert_int_equal(j.device, f->device);
	assert_string_equal(j.nonce, "abc");
	assert_int_equal(j.state, JOBSTATE_ASSIGNED);
	refused(ERR_CONFLICT, store_job_send(f->db, id, f->device, "abc", 51, &err));
	ok(store_job_progress(f->db, id, "{\"run\":2}", &err));
	assert_int_equal(fixture_number(f, "SELECT progress ->> 'run' FROM job WHERE id = 1"), 2);
}

static void ended_jobs_stay_ended(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_job(f, "main", 0, 1, 1);
	ok(store_job_state(f->db, id, JOBSTATE_CANCELLED, "by anna", 9, &err));
	struct store_job j = job_of(f, id);
	assert_int_equal(j.ended_at, 9);
	assert_string_equal(j.state_why, "by anna");
	refused(ERR_CONFLICT, store_job_state(f->db, id, JOBSTATE_MEASURING, "", 10, &err));
	refused(ERR_CONFLICT, store_job_done(f->db, id, 10, &err));
	refused(ERR_CONFLICT, store_job_state(f->db, 4711, JOBSTATE_FAILED, "", 10, &err));
	assert_int_equal(job_of(f, id).state, JOBSTATE_CANCELLED);
	refused(ERR_INTERNAL, store_job_state(f->db, fixture_job(f, "main", 0, 2, 1), JOBSTATE_N, "", 10, &err));
}

static void restart_queues_again_and_gives_up_at_last(void **state)
{
	struct fixture *f = *state;
	int requeued, failed;
	int64_t id = fixture_job(f, "main", 0, 1, 1);
	int64_t waiting = fixture_job(f, "dev", 0, 2, 1);
	static const enum jobstate lost_in[] = { JOBSTATE_BUILDING, JOBSTATE_MEASURING, JOBSTATE_CHECKING };
	for (int end = 1; end <= STORE_JOB_DAEMON_ENDS_MAX; end++) {
		ok(store_job_send(f->db, id, f->device, "n", end * 10, &err));
		assert_int_equal(job_of(f, id).attempt, 1); /* the worker did not fail once */
		ok(store_job_state(f->db, id, lost_in[end % 3], "", end * 10 + 1, &err));
		ok(store_job_recover(f->db, end * 10 + 2, &requeued, &failed, &err));
		assert_int_equal(requeued, end < STORE_JOB_DAEMON_ENDS_MAX);
		assert_int_equal(failed, end == STORE_JOB_DAEMON_ENDS_MAX);
	}
	struct store_job j = job_of(f, id);
	assert_int_equal(j.state, JOBSTATE_FAILED);
	assert_string_equal(j.state_why, "interrupted: flopwatchd was killed 20 times while the job ran");
	assert_int_equal(j.ended_at, 202);
	assert_int_equal(job_of(f, waiting).state, JOBSTATE_QUEUED);
	assert_int_equal(job_of(f, waiting).attempt, 0);
}

static void put_plan(struct fixture *f, int64_t job, const char *sides, const char *suite_text)
{
	struct buf one, two;
	struct store_plan p = { .sides = &one, .suite_text = &two, .suite_origin = "kernels@c0", .provider_position = "f:1:2: " };
	buf_init(&one, 1 << 10);
	buf_init(&two, 1 << 10);
	buf_puts(&one, sides);
	buf_puts(&two, suite_text);
	ok(store_plan_put(f->db, job, &p, &err));
	buf_fini(&one);
	buf_fini(&two);
}

static void a_plan_is_read_until_its_job_ends(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_job(f, "main", 0, 1, 1), other = fixture_job(f, "dev", 0, 2, 1);
	int requeued, failed;
	struct buf sides, text;
	struct store_plan p = { .sides = &sides, .suite_text = &text };
	buf_init(&sides, 1 << 10);
	buf_init(&text, 1 << 10);
	put_plan(f, id, "{\"sides\":[]}", "suite: ffa\n"); /* replaces the earlier one */
	ok(store_plan_get(f->db, id, &p, &err));
	assert_string_equal(sides.data, "{\"sides\":[]}");
	assert_string_equal(text.data, "suite: ffa\n");
	assert_string_equal(p.suite_origin, "kernels@c0");
	assert_string_equal(p.provider_position, "f:1:2: ");
	ok(store_job_send(f->db, id, f->device, "n", 2, &err));
	ok(store_job_recover(f->db, 3, &requeued, &failed, &err));
	ok(store_plan_get(f->db, id, &p, &err)); /* a restart does not change it */
	ok(store_job_state(f->db, id, JOBSTATE_CANCELLED, "", 4, &err));
	refused(ERR_NOT_FOUND, store_plan_get(f->db, id, &p, &err));
	ok(store_plan_get(f->db, other, &p, &err));
	buf_fini(&sides);
	buf_fini(&text);
}

static void a_plan_of_another_format_is_resolved_again(void **state)
{
	struct fixture *f = *state;
	int64_t id = fixture_job(f, "main", 0, 1, 1);
	int requeued, failed;
	struct store_job found;
	struct store_job_round_robin turn = { 0 };
	ok(db_script(f->db, "UPDATE job_plan SET format = format - 1", &err));
	ok(store_job_recover(f->db, 2, &requeued, &failed, &err));
	assert_int_equal(next(f), 0);
	assert_int_equal(store_job_next_unresolved(f->db, &turn, "[]", &found, &err), 1);
	assert_int_equal(found.id, id);
}

static void an_event_is_one_object(void **state)
{
	struct fixture *f = *state;
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "device.state");
	jsonw_kv_string(j, "device", "GPU \"0\"");
	jsonw_kv_int(j, "n", 7);
	ok_once(store_event_end(&event, f->db, 5, &err)); /* it frees the event */
	j = store_event_begin(&event, "device.state");
	for (int i = 0; i < 2 << 10; i++) {
		static const char large[1 << 10];
		jsonw_key(j, "large");
		jsonw_bytes(j, large, sizeof large);
	}
	refused(ERR_FULL, store_event_end(&event, f->db, 6, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) = 1 AND sum(at = 5 AND kind = 'device.state' AND payload = "
					   "'{\"device\":\"GPU \\\"0\\\"\",\"n\":7}') = 1 FROM event"),
		1);
}

static void events_logs_and_notifications(void **state)
{
	struct fixture *f = *state;
	int64_t first, second, id = fixture_job(f, "main", 0, 1, 1);
	ok(store_event(f->db, 1, "job.queued", "{}", &first, &err));
	ok(store_event(f->db, 2, "job.sent", "{}", &second, &err));
	assert_true(second > first);
	ok(store_event(f->db, 2, "job.sent", "{}", NULL, &err));
	ok(store_job_log(f->db, id, 5, "building base", &err));
	refused(ERR_INTERNAL, store_job_log(f->db, 999, 5, "of no job", &err));
	assert_int_equal(store_notification(f->db, "72d3162e", 1, &err), 1);
	assert_int_equal(store_notification(f->db, "72d3162e", 2, &err), 0);
	assert_int_equal(store_notification(f->db, "72d3162f", 2, &err), 1);
	ok(store_notification_delete(f->db, "72d3162e", &err));
	assert_int_equal(store_notification(f->db, "72d3162f", 3, &err), 0);
	assert_int_equal(store_notification(f->db, "72d3162e", 3, &err), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(insert_and_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(unresolved_jobs_do_not_run, setup, teardown),
		cmocka_unit_test_setup_teardown(resolving_alternates_repositories, setup, teardown),
		cmocka_unit_test_setup_teardown(order_is_priority_then_longest_unserved, setup, teardown),
		cmocka_unit_test_setup_teardown(one_branch_cannot_starve_another, setup, teardown),
		cmocka_unit_test_setup_teardown(kind_of_device_is_respected, setup, teardown),
		cmocka_unit_test_setup_teardown(newer_tip_supersedes_queued_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(requested_commits_do_not_supersede, setup, teardown),
		cmocka_unit_test_setup_teardown(deleted_branches_drop_their_queued_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(plans_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(suites_that_are_covered, setup, teardown),
		cmocka_unit_test_setup_teardown(sending_counts_attempts, setup, teardown),
		cmocka_unit_test_setup_teardown(ended_jobs_stay_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(restart_queues_again_and_gives_up_at_last, setup, teardown),
		cmocka_unit_test_setup_teardown(a_plan_is_read_until_its_job_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(a_plan_of_another_format_is_resolved_again, setup, teardown),
		cmocka_unit_test_setup_teardown(an_event_is_one_object, setup, teardown),
		cmocka_unit_test_setup_teardown(events_logs_and_notifications, setup, teardown),
	};
	return run_twice(tests);
}
