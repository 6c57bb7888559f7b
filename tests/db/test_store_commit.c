/* Jobs that count for a commit, a branch and a plan, and the state of a branch while its tip is measured. */
#include "failing_statements.h"

#include "fixture_db.h"

#include <math.h>

#include "db/db.h"

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	ok(db_begin(((struct fixture *)*state)->db, &err));
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	ok(db_commit(f->db, &err));
	return fixture_teardown(state);
}

/** A job of commit 0xc0 by the plan `like` (0: only the suite was requested); VERDICT_NONE leaves it queued. */
struct request {
	int64_t plan;
	const char *branch, *suite, *base_how;
	enum jobkind kind;
	bool quick;
	unsigned target;
	enum verdict verdict;
};

static int64_t put(struct fixture *f, struct request a)
{
	struct store_job j = { .repo = f->repo, .plan = a.plan, .origin = "push", .quick = a.quick, .kind = a.kind };
	int64_t suite;
	snprintf(j.base_how, sizeof j.base_how, "%s", a.base_how ? a.base_how : "merge-base");
	snprintf(j.suite, sizeof j.suite, "%s", a.suite);
	snprintf(j.branch, sizeof j.branch, "%s", a.branch);
	snprintf(j.base_sha, sizeof j.base_sha, "%s", fixture_sha(0xb0));
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(a.target ? a.target : 0xc0));
	ok(store_job_insert(f->db, &j, 1, &err));
	if (a.verdict == VERDICT_NONE)
		return j.id;
	ok(store_suite_put(f->db, a.suite, a.suite, "x", 1, "installed", &suite, &err));
	struct store_comparison c = { .job = j.id,
		.repo = f->repo,
		.suite = suite,
		.environment = f->environment,
		.device = f->device,
		.rule_json = "{}",
		.verdict = a.verdict,
		.finished_at = 1000 + j.id };
	snprintf(c.branch, sizeof c.branch, "%s", a.branch);
	c.kind = j.kind;
	snprintf(c.base_how, sizeof c.base_how, "%s", j.base_how);
	snprintf(c.base_sha, sizeof c.base_sha, "%s", j.base_sha);
	snprintf(c.target_sha, sizeof c.target_sha, "%s", j.target_sha);
	ok(store_comparison_insert(f->db, &c, &err));
	ok(store_job_done(f->db, j.id, 1000 + j.id, &err));
	return j.id;
}

/** "regression: gemm regression, second -". Own: a static buffer. */
static const char *report(struct commit_verdict *v)
{
	static char text[512];
	int n = snprintf(text, sizeof text, "%s:", verdict_name(v->verdict));
	for (int i = 0; i < v->n; i++)
		n += snprintf(text + n, sizeof text - (size_t)n, "%s %s %s", i ? "," : "", v->suite[i].job.suite,
			v->suite[i].result.id ? verdict_name(commit_verdict_of(&v->suite[i])) : "-");
	commit_verdict_fini(v);
	return text;
}

static const char *of_commit(struct fixture *f, const char *branch)
{
	struct commit_verdict v;
	ok(store_commit_verdict(f->db, f->repo, fixture_sha(0xc0), branch, &v, &err));
	return report(&v);
}

static void other_kinds_do_not_count(void **state)
{
	static const enum jobkind kinds[] = { JOBKIND_PEER, JOBKIND_CALIBRATE, JOBKIND_REFERENCE, JOBKIND_VERIFY,
		JOBKIND_BACKFILL, JOBKIND_IMPORT, JOBKIND_BISECT, JOBKIND_CONFIG };
	struct fixture *f = *state;
	assert_string_equal(of_commit(f, NULL), "none:");
	int64_t plan = put(f, (struct request){ .branch = "topic", .suite = "gemm", .verdict = VERDICT_UNCHANGED });
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		put(f, (struct request){ .branch = "topic", .suite = "gemm", .kind = kinds[i], .verdict = VERDICT_REGRESSION });
	put(f, (struct request){ .branch = "topic", .suite = "gemm", .quick = true, .verdict = VERDICT_REGRESSION });
	put(f, (struct request){ .branch = "", .suite = "gemm", .base_how = "given", .verdict = VERDICT_REGRESSION });
	assert_string_equal(of_commit(f, NULL), "unchanged: gemm unchanged");
	put(f, (struct request){
		       plan, .branch = "topic", .suite = "second", .kind = JOBKIND_SELFCHECK, .verdict = VERDICT_NONE });
	assert_string_equal(of_commit(f, NULL), "none: gemm unchanged, second -");
}

static void a_new_benchmark_without_a_verdict_does_not_count(void **state)
{
	struct fixture *f = *state;
	put(f, (struct request){ .branch = "topic",
		       .suite = "new",
		       .kind = JOBKIND_SELFCHECK,
		       .base_how = "self",
		       .verdict = VERDICT_UNDECIDED });
	assert_string_equal(of_commit(f, NULL), "undecided: new undecided");
	put(f, (struct request){ .branch = "topic", .suite = "gemm", .verdict = VERDICT_UNCHANGED });
	assert_string_equal(of_commit(f, NULL), "unchanged: new undecided, gemm unchanged");
	put(f, (struct request){ .branch = "topic",
		       .suite = "new",
		       .kind = JOBKIND_SELFCHECK,
		       .base_how = "self",
		       .verdict = VERDICT_FAILED });
	assert_string_equal(of_commit(f, NULL), "failed: new failed, gemm unchanged");
}

static void a_job_without_a_base_has_a_reason(void **state)
{
	struct fixture *f = *state;
	char why[STORE_JOB_ALONE_SIZE];
	int64_t job =
		put(f, (struct request){ .branch = "topic", .suite = "new", .kind = JOBKIND_SELFCHECK, .verdict = VERDICT_NONE });
	ok(store_job_log(f->db, job, 1, "queued", &err));
	ok(store_job_alone(f->db, job, why, &err));
	assert_string_equal(why, "");
	ok(store_job_log(f->db, job, 2, STORE_JOB_ALONE "benchmark a is new", &err));
	ok(store_job_log(f->db, job, 3, STORE_JOB_ALONE "benchmark b is new", &err));
	ok(store_job_log(f->db, job, 4, "base 1234 (self)", &err));
	ok(store_job_alone(f->db, job, why, &err));
	assert_string_equal(why, "benchmark b is new"); /* of the newest plan */
}

static void a_branch_has_its_own_verdict(void **state)
{
	struct fixture *f = *state;
	put(f, (struct request){ .branch = "", .suite = "gemm", .verdict = VERDICT_FAILED });
	assert_string_equal(of_commit(f, NULL), "failed: gemm failed");
	assert_string_equal(of_commit(f, "topic"), "failed: gemm failed");
	put(f, (struct request){ .branch = "topic", .suite = "gemm", .verdict = VERDICT_REGRESSION });
	assert_string_equal(of_commit(f, NULL), "regression: gemm regression");
	assert_string_equal(of_commit(f, "main"), "regression: gemm regression");
	put(f, (struct request){ .branch = "main", .suite = "gemm", .verdict = VERDICT_UNCHANGED });
	assert_string_equal(of_commit(f, "topic"), "regression: gemm regression");
	assert_string_equal(of_commit(f, "main"), "unchanged: gemm unchanged");
	assert_string_equal(of_commit(f, NULL), "unchanged: gemm unchanged");
}

static void a_plan_is_its_jobs(void **state)
{
	struct fixture *f = *state;
	struct commit_verdict v;
	int64_t first = put(f, (struct request){ .branch = "", .suite = "", .base_how = "given", .verdict = VERDICT_NONE });
	ok(store_job_resolve(f->db, first, fixture_sha(0xb0), "given", JOBKIND_COMPARE, "gemm", &err));
	int64_t second = put(f,
		(struct request){ first, .branch = "", .suite = "second", .base_how = "given", .verdict = VERDICT_REGRESSION });
	put(f, (struct request){ .branch = "", .suite = "third", .base_how = "given", .verdict = VERDICT_FAILED });
	ok(store_commit_plan(f->db, first, &v, &err));
	assert_string_equal(report(&v), "regression: gemm -, second regression");
	ok(store_commit_plan(f->db, second, &v, &err));
	assert_string_equal(report(&v), "regression: second regression");
	ok(store_commit_plan(f->db, 4711, &v, &err));
	assert_string_equal(report(&v), "none:");
}

/** A push of topic: gemm and second. */
static void push(struct fixture *f, unsigned target, enum verdict gemm, enum verdict second)
{
	int64_t plan = put(f, (struct request){ .branch = "topic", .suite = "gemm", .target = target, .verdict = gemm });
	put(f, (struct request){ plan, .branch = "topic", .suite = "second", .target = target, .verdict = second });
}

struct line {
	char text[256];
};

static void see_branch(void *arg, const struct view_branch *row)
{
	struct line *l = arg;
	snprintf(l->text, sizeof l->text, "%s of %s, %d of tip open, job %s, decided by %s", verdict_or_empty(row->verdict),
		strcmp(row->compared, row->commit) == 0 ? "the tip"
		: row->compared[0]                      ? row->compared + 38
							: "none",
		row->tip->n_open, jobstate_name(row->job_state),
		row->judged->decides < 0 ? "-" : row->judged->suite[row->judged->decides].job.suite);
}

static const char *of_branch(struct fixture *f, unsigned tip)
{
	static struct line l;
	ok(store_tip_put(f->db, f->repo, "topic", "topic", fixture_sha(tip), true, 1, &err));
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &l, &err));
	return l.text;
}

static void a_branch_has_the_verdict_of_its_last_whole_push(void **state)
{
	struct fixture *f = *state;
	assert_string_equal(of_branch(f, 0xd0), " of none, 0 of tip open, job , decided by -");
	push(f, 0xd1, VERDICT_REGRESSION, VERDICT_UNCHANGED);
	assert_string_equal(of_branch(f, 0xd1), "regression of the tip, 0 of tip open, job done, decided by gemm");
	push(f, 0xd2, VERDICT_UNCHANGED, VERDICT_IMPROVEMENT);
	push(f, 0xd3, VERDICT_UNCHANGED, VERDICT_NONE); /* its second suite is no longer in the plan */
	ok(store_job_state(f->db, 6, JOBSTATE_SUPERSEDED, "by a test", 2, &err));
	push(f, 0xd4, VERDICT_UNCHANGED, VERDICT_NONE);
	assert_string_equal(of_branch(f, 0xd4), "improvement of d2, 1 of tip open, job queued, decided by second");
	put(f, (struct request){
		       .branch = "topic", .suite = "gemm", .target = 0xd1, .verdict = VERDICT_FAILED }); /* again, long after */
	assert_string_equal(of_branch(f, 0xd4), "improvement of d2, 1 of tip open, job queued, decided by second");
	assert_string_equal(of_branch(f, 0xd3), "undecided of the tip, 0 of tip open, job done, decided by second");
	push(f, 0xd5, VERDICT_REGRESSION, VERDICT_NONE);
	assert_string_equal(of_branch(f, 0xd5), "regression of the tip, 1 of tip open, job queued, decided by gemm");
	assert_string_equal(of_branch(f, 0xd6), "regression of d5, 0 of tip open, job queued, decided by gemm");
}

struct times {
	int64_t first, second, none;
};

static void see_time(void *arg, const struct view_branch *row)
{
	struct times *t = arg;
	*(strcmp(row->name, "a") == 0 ? &t->first : strcmp(row->name, "b") == 0 ? &t->second : &t->none) = row->finished_at;
}

static void each_branch_has_its_own_time(void **state)
{
	struct fixture *f = *state;
	struct times t = { -1, -1, -1 };
	int64_t older = put(f, (struct request){ .branch = "b", .suite = "gemm", .target = 0xe2, .verdict = VERDICT_UNCHANGED });
	int64_t newer = put(f, (struct request){ .branch = "a", .suite = "gemm", .target = 0xe1, .verdict = VERDICT_UNCHANGED });
	ok(store_tip_put(f->db, f->repo, "a", "a", fixture_sha(0xe1), true, 1, &err));
	ok(store_tip_put(f->db, f->repo, "b", "b", fixture_sha(0xe2), true, 1, &err));
	ok(store_tip_put(f->db, f->repo, "c", "c", fixture_sha(0xe3), true, 1, &err));
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_time, &t, &err));
	assert_int_equal(t.first, 1000 + newer);
	assert_int_equal(t.second, 1000 + older);
	assert_int_equal(t.none, 0); /* it has no verdict */
}

static void commits_are_found_before_they_are_read(void **state)
{
	struct fixture *f = *state;
	struct store_commit_found found;
	int64_t other;
	put(f, (struct request){ .branch = "topic", .suite = "", .target = 0xabc1, .verdict = VERDICT_NONE });
	ok(store_tip_put(f->db, f->repo, "topic", "topic", fixture_sha(0xabc1), true, 1, &err));
	ok(store_commit_find(f->db, NULL, fixture_sha(0xabc1), &found, &err));
	assert_int_equal(found.n, 1);
	assert_int_equal(found.repo, f->repo);
	assert_string_equal(found.repo_name, "kernels");
	assert_string_equal(found.sha, fixture_sha(0xabc1));
	ok(store_commit_find(f->db, "", "00000000", &found, &err));
	assert_int_equal(found.n, 1);
	ok(store_commit_find(f->db, "nobody", "00000000", &found, &err));
	assert_int_equal(found.n, 0);
	ok(store_commit_find(f->db, NULL, "' OR 1", &found, &err));
	assert_int_equal(found.n, 0);
	/* a tip that has no job yet; another commit with that prefix; the same commit in another repository */
	ok(store_tip_put(f->db, f->repo, "new", "new", fixture_sha(0xabc2), true, 1, &err));
	ok(store_commit_find(f->db, NULL, fixture_sha(0xabc2), &found, &err));
	assert_int_equal(found.n, 1);
	ok(store_commit_find(f->db, NULL, "00000000", &found, &err));
	assert_int_equal(found.n, 2);
	ok(store_repo_put(f->db, "fork", "/srv/git/fork.git", true, "main", &other, &err));
	ok(store_tip_put(f->db, other, "new", "new", fixture_sha(0xabc2), true, 1, &err));
	ok(store_commit_find(f->db, NULL, fixture_sha(0xabc2), &found, &err));
	assert_int_equal(found.n, 2);
	ok(store_commit_find(f->db, "fork", fixture_sha(0xabc2), &found, &err));
	assert_int_equal(found.n, 1);
	assert_int_equal(found.repo, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_kinds_do_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_benchmark_without_a_verdict_does_not_count, setup, teardown),
		cmocka_unit_test_setup_teardown(a_job_without_a_base_has_a_reason, setup, teardown),
		cmocka_unit_test_setup_teardown(a_branch_has_its_own_verdict, setup, teardown),
		cmocka_unit_test_setup_teardown(a_plan_is_its_jobs, setup, teardown),
		cmocka_unit_test_setup_teardown(a_branch_has_the_verdict_of_its_last_whole_push, setup, teardown),
		cmocka_unit_test_setup_teardown(each_branch_has_its_own_time, setup, teardown),
		cmocka_unit_test_setup_teardown(commits_are_found_before_they_are_read, setup, teardown),
	};
	return run_twice(tests);
}
