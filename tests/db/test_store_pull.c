/* Pull requests: which heads may be approved, and which commits are those of forks. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include "db/db.h"

static void see_head(struct fixture *f, int number, int head)
{
	err_clear(&err);
	assert_int_equal(store_pull_head(f->db, f->repo, number, fixture_sha(head), false, 1, &err), 0);
}

static void only_the_newest_head_is_approved(void **state)
{
	struct fixture *f = *state;
	struct store_fork fork;
	see_head(f, 7, 1);
	see_head(f, 7, 2);
	refused(ERR_CONFLICT, store_pull_approve(f->db, f->repo, 7, fixture_sha(1), "alice", 2, &err));
	assert_non_null(strstr(err.text, fixture_sha(2))); /* it names the newest */
	refused(ERR_NOT_FOUND, store_pull_approve(f->db, f->repo, 7, fixture_sha(3), "alice", 2, &err));
	refused(ERR_NOT_FOUND, store_pull_approve(f->db, f->repo, 8, fixture_sha(2), "alice", 2, &err));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM pull_approval"), 0);
	see_head(f, 9, 4); /* of another request, so it may be the next head of 7 */
	refused(ERR_NOT_FOUND, store_pull_approve(f->db, f->repo, 7, fixture_sha(4), "alice", 2, &err));
	ok(store_pull_approve(f->db, f->repo, 7, fixture_sha(2), "alice", 2, &err));
	assert_int_equal(store_pull_fork(f->db, f->repo, fixture_sha(2), &fork, &err), 1);
	assert_true(fork.approved);
	assert_int_equal(store_pull_fork(f->db, f->repo, fixture_sha(1), &fork, &err), 1);
	assert_false(fork.approved);
}

static void a_merge_result_that_is_pushed_as_head_is_approved(void **state)
{
	struct fixture *f = *state;
	char head[65];
	int number;
	see_head(f, 7, 1);
	ok(store_pull_commit(f->db, f->repo, 7, fixture_sha(1), fixture_sha(2), "", 1, &err));
	ok(store_pull_head_of(f->db, f->repo, fixture_sha(2), head, &number, &err));
	assert_string_equal(head, fixture_sha(1));
	assert_int_equal(number, 7);
	see_head(f, 7, 2);
	ok(store_pull_head_of(f->db, f->repo, fixture_sha(2), head, &number, &err));
	assert_string_equal(head, fixture_sha(2));
	assert_int_equal(number, 0);
	ok(store_pull_approve(f->db, f->repo, 7, fixture_sha(2), "alice", 2, &err));
}

static void a_commit_of_a_branch_is_own(void **state)
{
	struct fixture *f = *state;
	struct store_fork fork;
	see_head(f, 7, 1);
	assert_int_equal(store_pull_is_own(f->db, f->repo, fixture_sha(1), &err), 0);
	assert_int_equal(store_pull_is_own(f->db, f->repo, fixture_sha(2), &err), 0); /* unknown */
	assert_int_equal(store_pull_mark_own(f->db, f->repo, fixture_sha(1), &err), 1);
	assert_int_equal(store_pull_is_own(f->db, f->repo, fixture_sha(1), &err), 1);
	assert_int_equal(store_pull_fork(f->db, f->repo, fixture_sha(1), &fork, &err), 0);
}

static void approve(struct fixture *f, int number, int head, int64_t at)
{
	see_head(f, number, head);
	ok(store_pull_approve(f->db, f->repo, number, fixture_sha(head), "alice", at, &err));
}

/* Store the commit that measures a head, as a check of the repository does. */
static void measure(struct fixture *f, int number, int head, int commit)
{
	char name[32];
	snprintf(name, sizeof name, "%s%d", PULL_BRANCH, number);
	ok(store_pull_commit(f->db, f->repo, number, fixture_sha(head), fixture_sha(commit), "", 1, &err));
	ok(store_tip_put(f->db, f->repo, name, name, fixture_sha(commit), true, 1, &err));
}

static void add_number(void *arg, const struct store_pull *row)
{
	char *list = arg;
	snprintf(list + strlen(list), 64 - strlen(list), "%d ", row->number);
}

static const char *ready(struct fixture *f, int limit)
{
	static char list[64];
	list[0] = 0;
	ok(store_pull_ready(f->db, f->repo, limit, add_number, list, &err));
	return list;
}

static void the_newest_approval_is_fetched_first(void **state)
{
	struct fixture *f = *state;
	approve(f, 7, 1, 30);
	approve(f, 8, 2, 20);
	approve(f, 9, 3, 40);
	see_head(f, 10, 4); /* waits */
	assert_string_equal(ready(f, 64), "9 7 8 ");
	assert_string_equal(ready(f, 2), "9 7 ");
	ok(store_pull_commit(f->db, f->repo, 9, fixture_sha(3), "", "it has conflicts", 1, &err));
	assert_string_equal(ready(f, 64), "7 8 9 "); /* a problem delays no other request */
	measure(f, 7, 1, 11);
	assert_string_equal(ready(f, 64), "8 9 "); /* one that has its commit is not fetched again */
	approve(f, 7, 5, 50);
	assert_string_equal(ready(f, 1), "7 "); /* but another head is */
}

static void a_head_names_the_commit_that_measures_it(void **state)
{
	struct fixture *f = *state;
	char sha[65];
	int number;
	see_head(f, 7, 1);
	assert_int_equal(store_pull_measured(f->db, f->repo, fixture_sha(1), sha, &err), 0); /* not approved */
	ok(store_pull_approve(f->db, f->repo, 7, fixture_sha(1), "alice", 2, &err));
	assert_int_equal(store_pull_measured(f->db, f->repo, fixture_sha(1), sha, &err), 1);
	assert_string_equal(sha, "");
	ok(store_pull_commit(f->db, f->repo, 7, fixture_sha(1), "", "it has conflicts", 1, &err));
	assert_int_equal(store_pull_measured(f->db, f->repo, fixture_sha(1), sha, &err), 0); /* there will be none */
	measure(f, 7, 1, 11);
	assert_int_equal(store_pull_measured(f->db, f->repo, fixture_sha(1), sha, &err), 1);
	assert_string_equal(sha, fixture_sha(11));
	assert_int_equal(store_pull_of(f->db, f->repo, fixture_sha(11), &number, &err), 1);
	assert_int_equal(number, 7);
	assert_int_equal(store_pull_of(f->db, f->repo, fixture_sha(1), &number, &err), 0); /* it is measured as a branch's */
	see_head(f, 7, 2); /* results of an older head are not the request's */
	assert_int_equal(store_pull_of(f->db, f->repo, fixture_sha(11), &number, &err), 0);
	assert_int_equal(store_pull_measured(f->db, f->repo, fixture_sha(1), sha, &err), 0);
}

/* A job of `target` in `state`, started and ended (0: not) at these times, in s. */
static int64_t add_job(struct fixture *f, int target, const char *state, int started_s, int ended_s, int attempt)
{
	struct store_job job = { .repo = f->repo, .kind = JOBKIND_COMPARE, .origin = "api" };
	snprintf(job.target_sha, sizeof job.target_sha, "%s", fixture_sha(target));
	ok(store_job_insert(f->db, &job, 1, &err));
	ok(db_exec(f->db, &err,
		"UPDATE job SET state = :state, device = :device, started_at = :from * 1000, ended_at = nullif(:to, 0) * 1000, "
		"attempt = :attempt WHERE id = :id",
		"state=%s device=%ld from=%d to=%d attempt=%d id=%ld", state, f->device, started_s, ended_s, attempt, job.id));
	return job.id;
}

static double used(struct fixture *f, int64_t except)
{
	struct store_pull_use use = {
		.repo = f->repo, .since = 1000 * 1000, .now_ms = 2000 * 1000, .except = except, .job_s = 60
	};
	double device_s = -1;
	ok(store_pull_device_s(f->db, &use, &device_s, &err));
	return device_s;
}

static void every_job_of_a_fork_uses_device_time(void **state)
{
	struct fixture *f = *state;
	approve(f, 7, 1, 2);
	see_head(f, 8, 2);
	assert_int_equal(store_pull_mark_own(f->db, f->repo, fixture_sha(2), &err), 1);
	add_job(f, 2, "failed", 1100, 1900, 1);
	assert_true(used(f, 0) == 0); /* an own commit */
	add_job(f, 1, "failed", 900, 990, 1);
	assert_true(used(f, 0) == 0); /* before that day */
	add_job(f, 1, "failed", 1100, 1140, 1);
	assert_true(used(f, 0) == 40); /* without a comparison */
	add_job(f, 1, "failed", 1200, 1201, 3);
	assert_true(used(f, 0) == 161); /* two attempts before it may have used all their time */
	int64_t running = add_job(f, 1, "measuring", 1990, 0, 1);
	assert_true(used(f, 0) == 221); /* a running job may still use all of it */
	assert_true(used(f, running) == 161);
	add_job(f, 1, "measuring", 1900, 0, 1);
	assert_true(used(f, running) == 261); /* or has used more */
	ok(db_exec(f->db, &err,
		"INSERT INTO job (repo, target_sha, kind, origin, state, device, queued_at, started_at, ended_at, attempt) VALUES (:repo, "
		":sha, 'profile', 'api', 'done', :device, 1, 1500000, 1510000, 1)",
		"repo=%ld sha=%s device=%ld", f->repo, fixture_sha(1), f->device));
	assert_true(used(f, running) == 271);
}

static void an_update_names_the_sent_message(void **state)
{
	struct fixture *f = *state;
	char answer[256], was[16], first[64], mark[64];
	int64_t id;
	assert_int_equal(store_outbox_sent(f->db, "comment", "kernels", "pull 7", answer, was, &err), 0);
	for (int i = 0; i < 2; i++) {
		ok(store_outbox_replace(f->db, "comment", "kernels", "pull 7",
			i ? "{\"n\":2,\"state\":\"success\"}" : "{\"n\":1,\"state\":\"pending\"}", 1, &err));
		ok(store_outbox_newest(f->db, "comment", "kernels", "pull 7", &id, &err));
		if (i == 0)
			ok(store_outbox_result(
				f->db, id, &(struct store_attempt){ .at = 1, .status = 201, .answer = "81" }, 0, &err));
	}
	assert_int_equal(store_outbox_sent(f->db, "comment", "kernels", "pull 7", answer, was, &err), 1);
	assert_string_equal(answer, "81");
	assert_string_equal(was, "pending");
	assert_int_equal(store_outbox_sent(f->db, "comment", "kernels", "pull 8", answer, was, &err), 0);
	assert_int_equal(store_outbox_mark(f->db, "comment", "kernels", "pull 7", first, &err), 1);
	/* a user deleted the comment: write another one */
	ok(store_outbox_result(f->db, id, &(struct store_attempt){ .at = 2, .status = 404, .error = "gone" }, 9, &err));
	assert_int_equal(store_outbox_sent(f->db, "comment", "kernels", "pull 7", answer, was, &err), 0);
	/* whose mark is that of this notification, in all later attempts: others may have copied the first one */
	assert_int_equal(store_outbox_mark(f->db, "comment", "kernels", "pull 7", mark, &err), 1);
	assert_string_not_equal(mark, first);
	ok(store_outbox_result(f->db, id, &(struct store_attempt){ .at = 3, .status = 201, .answer = "82" }, 0, &err));
	ok(store_outbox_replace(f->db, "comment", "kernels", "pull 7", "{\"n\":3}", 1, &err));
	assert_int_equal(store_outbox_mark(f->db, "comment", "kernels", "pull 7", first, &err), 1);
	assert_string_equal(first, mark);
	assert_int_equal(store_outbox_sent(f->db, "comment", "kernels", "pull 7", answer, was, &err), 1);
	assert_string_equal(answer, "82");
	assert_string_equal(was, "success");
}

static void the_newest_sent_comment_is_deleted_later(void **state)
{
	struct fixture *f = *state;
	char answer[256], was[16];
	const int64_t later = STORE_OUTBOX_COMMENT_MS;
	int64_t id;
	int n;
	for (int i = 0; i < 2; i++) {
		ok(store_outbox_replace(f->db, "comment", "kernels", "pull 7", i ? "{\"n\":2}" : "{\"n\":1}", 1, &err));
		ok(store_outbox_newest(f->db, "comment", "kernels", "pull 7", &id, &err));
		ok(store_outbox_result(f->db, id, &(struct store_attempt){ .at = 1, .status = 201, .answer = "81" }, 0, &err));
	}
	ok(store_outbox_insert(f->db, "webhook", "chat", "{}", 2, &err));
	ok(store_outbox_result(f->db, id + 1, &(struct store_attempt){ .at = 2, .status = 410, .error = "gone" }, 0, &err));
	ok(store_outbox_prune(f->db, 9, 1, &n, &err));
	assert_int_equal(n, 1);
	ok(store_outbox_prune(f->db, 9, 1, &n, &err)); /* the comment uses up no place among the oldest rows */
	assert_int_equal(n, 1);
	assert_int_equal(store_outbox_sent(f->db, "comment", "kernels", "pull 7", answer, was, &err), 1);
	assert_string_equal(answer, "81");
	ok(store_outbox_prune(f->db, later + 2, 1, &n, &err));
	assert_int_equal(n, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_newest_approval_is_fetched_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_head_names_the_commit_that_measures_it, setup, teardown),
		cmocka_unit_test_setup_teardown(every_job_of_a_fork_uses_device_time, setup, teardown),
		cmocka_unit_test_setup_teardown(an_update_names_the_sent_message, setup, teardown),
		cmocka_unit_test_setup_teardown(the_newest_sent_comment_is_deleted_later, setup, teardown),
		cmocka_unit_test_setup_teardown(only_the_newest_head_is_approved, setup, teardown),
		cmocka_unit_test_setup_teardown(a_merge_result_that_is_pushed_as_head_is_approved, setup, teardown),
		cmocka_unit_test_setup_teardown(a_commit_of_a_branch_is_own, setup, teardown),
	};
	return run_twice(tests);
}
