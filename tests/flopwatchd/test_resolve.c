/* From a job's commit to a plan, with real commits and the real flopwatch-git. */
/* Left to `make check`: starts our programs, takes seconds. */
#include "fixture_daemon.h"

#include "flopwatchd/plan/plan.h"

static struct resolve_answer last; /* plan.request.cell is freed by the resolve */
static int answers;

static void on_answer(void *arg, struct resolve_answer *a)
{
	(void)arg;
	answers++;
	last = *a;
	loop_stop(loop);
}

static struct resolve_answer *resolve(const struct store_job *job)
{
	struct resolve *r;
	answers = 0;
	ok(resolve_start(loop, db, config, job, on_answer, NULL, &r, &err));
	assert_int_equal(answers, 0); /* never from within the call */
	ok(loop_run(loop, &err));
	assert_int_equal(answers, 1);
	return &last;
}

static struct store_job job_for(const char *branch, const char *sha)
{
	struct store_job j = { .id = 1, .repo = repo_id, .repo_name = "kernels", .kind = JOBKIND_COMPARE, .origin = "push" };
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.target_sha, sizeof j.target_sha, "%s", sha);
	return j;
}

/* A cell of the latest comparison; `ms` 0: it was not measured. */
static void cell(const char *verdict, double ms)
{
	struct stmt *s = db_stmt(
		db, "INSERT OR IGNORE INTO cell_shape (id, shape, line, pieces, baseline) VALUES (1, '', '', 0, '')", &err);
	assert_non_null(s);
	ok(stmt_run(s, &err));
	s = db_stmt(db,
		"INSERT INTO cell (comparison, n, key, cell_shape, repo, branch, target_sha, finished_at, threshold_pct, verdict, "
		"target_median_ms) "
		"SELECT id, 0, 'k', 1, repo, branch, target_sha, 1, 1.5, :verdict, nullif(:ms, 0.0) FROM comparison ORDER BY id "
		"DESC "
		"LIMIT 1",
		&err);
	assert_non_null(s);
	ok(stmt_run(stmt_bind(s, &err, "verdict=%s ms=%f", verdict, ms), &err));
}

/* As if this commit had been measured against `base`. */
static void judged_by(const char *suite, const char *branch, const char *base, const char *sha, const char *verdict)
{
	struct stmt *s;
	struct store_job j = fixture_push(branch, sha);
	ok(db_begin(db, &err));
	s = db_stmt(
		db, "INSERT INTO suite (sha, name, text, origin) VALUES (:suite, :suite, '', '') ON CONFLICT DO NOTHING", &err);
	stmt_text(s, ":suite", suite);
	ok(stmt_run(s, &err));
	s = db_stmt(db,
		"INSERT INTO comparison (job, repo, branch, kind, base_sha, target_sha, suite, rule, verdict, finished_at) "
		"SELECT :job, :repo, :branch, 'compare', :base, :sha, id, '{}', :verdict, 1 FROM suite WHERE sha = :suite",
		&err);
	assert_non_null(s);
	stmt_int(s, ":job", j.id);
	stmt_int(s, ":repo", repo_id);
	stmt_text(s, ":branch", branch);
	stmt_text(s, ":base", base);
	stmt_text(s, ":sha", sha);
	stmt_text(s, ":suite", suite);
	stmt_text(s, ":verdict", verdict);
	ok(stmt_run(s, &err));
	ok(db_commit(db, &err));
}

static void judged(const char *branch, const char *sha, const char *verdict)
{
	judged_by("x", branch, "", sha, verdict);
}

static void expect_base(const struct store_job *j, const char *sha, const char *how, const char *kind)
{
	struct resolve_answer *a = resolve(j);
	if (a->state != JOBSTATE_N)
		fail_msg("%s: %s", jobstate_name(a->state), a->why);
	assert_string_equal(a->base.sha, sha);
	assert_string_equal(a->plan.base_how, how);
	assert_string_equal(jobkind_name(a->plan.request.kind), kind);
}

static void test_the_first_commit_is_its_own_base(void **state)
{
	(void)state;
	char one[65];
	fixture_commit("1", "first", one);
	struct store_job j = job_for("main", one);
	expect_base(&j, one, "self", "selfcheck");
	assert_false(last.plan.identical);
	assert_int_equal(last.n_suites, 1);
	assert_string_equal(last.suite[0], "tiny");
	assert_string_equal(last.target.subject, "first");
	assert_int_equal(last.plan.request.n_cells, 1);
	assert_string_equal(last.plan.request.side[0].input[0].path, "kernels");
	assert_int_equal(strlen(last.plan.request.side[0].input[0].oid), 40);
}

static void test_a_branch_takes_its_merge_base(void **state)
{
	(void)state;
	char one[65], two[65], three[65];
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", two);
	fixture_commit("3", "topic again", three);
	GIT("w", "checkout", "-q", "main");
	fixture_commit("4", "main went on", two);
	struct store_job j = job_for("topic", three);
	expect_base(&j, one, "merge-base", "compare");
	assert_string_equal(last.target.first_parent[0] ? "parent" : "", "parent");
	assert_false(last.plan.identical);
}

static void test_equal_inputs_are_detected(void **state)
{
	(void)state;
	char one[65], two[65];
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "words");
	gitrepo_write("w/README", "words\n");
	fixture_commit("1", "words", two);
	struct store_job j = job_for("words", two);
	expect_base(&j, one, "merge-base", "compare");
	assert_true(last.plan.identical);
}

static void test_the_upstream_branch_takes_the_last_judged_commit(void **state)
{
	(void)state;
	char one[65], two[65], three[65], four[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	struct store_job j = job_for("main", three);
	expect_base(&j, two, "first-parent", "compare"); /* no commit was judged yet */
	judged("main", one, "unchanged");
	expect_base(&j, one, "first-parent", "compare");
	judged("main", two, "failed"); /* unusable as a base */
	expect_base(&j, one, "first-parent", "compare");
	judged("main", three, "regression");
	GIT("w", "reset", "-q", "--hard", two);
	fixture_commit("4", "rewritten", four);
	j = job_for("main", four);
	expect_base(&j, two, "last-judged", "compare");
}

/* A commit that no job could measure is no base: its regression would never be compared with anything. */
static void test_an_open_commit_is_passed_over(void **state)
{
	(void)state;
	char one[65], two[65], three[65], four[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	fixture_commit("4", "fourth", four);
	struct store_job j = job_for("main", four);
	judged_by("tiny", "main", one, two, "rejected");
	cell("rejected", 0);
	expect_base(&j, one, "first-parent", "compare"); /* no nearby commit is decided: use the base that it was compared with */
	judged("main", one, "unchanged");
	expect_base(&j, one, "first-parent", "compare");
	judged_by("tiny", "main", one, three, "regression"); /* one cell is decided, the other is not */
	cell("undecided", 0);
	expect_base(&j, one, "first-parent", "compare");
	judged_by("tiny", "main", one, two, "unchanged"); /* the second measurement */
	cell("unchanged", 1);
	expect_base(&j, two, "first-parent", "compare");
	judged_by("other", "main", one, three, "unchanged"); /* another suite proves nothing about this one */
	cell("unchanged", 1);
	expect_base(&j, two, "first-parent", "compare");
	judged_by("tiny", "topic", one, three, "unchanged"); /* nor does a comparison of a branch */
	cell("unchanged", 1);
	expect_base(&j, two, "first-parent", "compare");
	judged_by("tiny", "main", two, three, "not_comparable"); /* the first one that works again */
	cell("not_comparable", 0);
	expect_base(&j, three, "first-parent", "compare");
}

/* Valid times that decide nothing delay the base, but not for ever. */
static void test_a_hopeless_cell_is_dropped(void **state)
{
	(void)state;
	char one[65], two[65], three[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	struct store_job j = job_for("main", three);
	judged_by("tiny", "main", one, one, "unchanged");
	for (int i = 1; i <= 6; i++) {
		judged_by("tiny", "main", one, two, "undecided");
		cell("undecided", 1);
		expect_base(&j, i < 6 ? one : two, "first-parent", "compare");
	}
}

/*
 * The latest comparison's cell has this interval of the change in throughput; `se`: of the deciding series, whose mean is its
 * middle.
 */
static void cell_within(double low_pct, double high_pct, double se)
{
	struct stmt *s;
	cell("undecided", 1);
	s = db_stmt(db,
		"UPDATE cell SET ci_low_pct = :low, ci_high_pct = :high, decided_m = -(:low + :high) / 200, decided_se = :se WHERE id = "
		"(SELECT max(id) FROM cell)",
		&err);
	assert_non_null(s);
	ok(stmt_run(stmt_bind(s, &err, "low=%f high=%f se=%f", low_pct, high_pct, se), &err));
}

static void set_by_sql(const char *sql)
{
	struct stmt *s = db_stmt(db, sql, &err);
	assert_non_null(s);
	ok(stmt_run(s, &err));
}

/* Noise around 0 hides as much of a loss in each comparison, so it delays the base only until the automatic retry ends. */
static void test_a_noisy_cell_delays_no_base(void **state)
{
	(void)state;
	char one[65], two[65], three[65], note[512];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	struct store_job j = job_for("main", three);
	judged_by("tiny", "main", one, one, "unchanged");
	judged_by("tiny", "main", one, two, "undecided");
	cell_within(-9, 4, 0.03);
	expect_base(&j, two, "first-parent", "compare");
	snprintf(note, sizeof note, "base %.12s has 1 undecided cell: only the history shows a slowdown that it has there", two);
	assert_string_equal(last.note, note);
	set_by_sql("UPDATE job SET again_at = 5 WHERE id = (SELECT max(job) FROM comparison)"); /* its retry is due */
	expect_base(&j, one, "first-parent", "compare");
	assert_string_equal(last.note, "");
	struct store_job retry = fixture_push("main", two);
	set_by_sql("UPDATE job SET again_at = NULL");
	set_by_sql("UPDATE job SET again_of = (SELECT max(job) FROM comparison) WHERE id = (SELECT max(id) FROM job)");
	assert_int_equal(retry.id, fixture_number("SELECT max(id) FROM job"));
	expect_base(&j, one, "first-parent", "compare"); /* it has not ended */
	set_by_sql("UPDATE job SET state = 'done' WHERE again_of IS NOT NULL");
	expect_base(&j, two, "first-parent", "compare");
	set_by_sql("UPDATE cell SET failure = 'unsure'"); /* times that may be false are another matter */
	expect_base(&j, one, "first-parent", "compare");
}

/* A probable change may be shown by another measurement against the same base, so it delays the base, but not for ever. */
static void test_a_probable_change_delays_the_base(void **state)
{
	(void)state;
	static const double within[][3] = { { -9, -0.1, 0.03 }, { 0.1, 9, 0.03 }, { -9, 4, 0.01 }, { -4, 9, 0.01 } };
	char one[65], two[65], three[65], note[512];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	struct store_job j = job_for("main", three);
	judged_by("tiny", "main", one, one, "unchanged");
	for (int i = 0; i < 6; i++) {
		const double *at = within[i % 4];
		judged_by("tiny", "main", one, two, "undecided");
		cell_within(at[0], at[1], at[2]);
		expect_base(&j, i < 5 ? one : two, "first-parent", "compare");
	}
	snprintf(note, sizeof note, "base %.12s has 1 undecided cell: only the history shows a slowdown that it has there", two);
	assert_string_equal(last.note, note);
	set_by_sql("UPDATE cell SET ci_high_pct = -0.1");
	expect_base(&j, two, "first-parent", "compare");
	snprintf(note, sizeof note,
		"base %.12s has 1 undecided cell, of which 1 is probably slower: only the history shows a slowdown that it has there",
		two);
	assert_string_equal(last.note, note);
}

/* After a force-push the merge-base replaces the removed tip, if that tip's regression was reported. */
static void test_a_rewritten_tip_that_was_not_measured(void **state)
{
	(void)state;
	char one[65], two[65], three[65], four[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	judged_by("tiny", "main", one, one, "unchanged");
	judged_by("tiny", "main", one, two, "rejected");
	cell("rejected", 0);
	judged_by("tiny", "main", one, three, "rejected");
	cell("rejected", 0);
	GIT("w", "reset", "-q", "--hard", two);
	fixture_commit("4", "rewritten", four);
	struct store_job j = job_for("main", four);
	expect_base(&j, one, "last-judged", "compare");
}

static void test_a_last_judged_commit_that_was_deleted(void **state)
{
	(void)state;
	char one[65], two[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	judged("main", "0123456789012345678901234567890123456789", "unchanged");
	struct store_job j = job_for("main", two);
	expect_base(&j, one, "first-parent", "compare");
}

static void test_a_requested_base_is_used(void **state)
{
	(void)state;
	char one[65], two[65], three[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	fixture_commit("3", "third", three);
	struct store_job j = job_for("", three);
	snprintf(j.base_sha, sizeof j.base_sha, "%s", one);
	expect_base(&j, one, "given", "compare");
	snprintf(j.base_sha, sizeof j.base_sha, "%s", three);
	expect_base(&j, three, "given", "selfcheck");
	j.base_sha[0] = 0; /* a commit of the upstream branch, by its hash */
	expect_base(&j, two, "first-parent", "compare");
}

static void test_a_base_without_inputs_is_replaced(void **state)
{
	(void)state;
	char one[65], two[65];
	GITREPO_RUN("w", "rm", "-r", "kernels");
	GIT("w", "add", "-A");
	GIT("w", "commit", "-qm", "empty");
	snprintf(one, sizeof one, "%.64s", GIT("w", "rev-parse", "HEAD"));
	GIT("w", "checkout", "-q", "-b", "topic");
	GITREPO_RUN("w", "mkdir", "kernels");
	fixture_commit("1", "kernels", two);
	struct store_job j = job_for("topic", two);
	expect_base(&j, two, "self", "selfcheck");
	assert_non_null(strstr(last.note, "has no kernels"));
	snprintf(j.base_sha, sizeof j.base_sha, "%s", one); /* a requested base is not replaced */
	struct resolve_answer *a = resolve(&j);
	assert_int_equal(a->state, JOBSTATE_FAILED);
	assert_non_null(strstr(a->why, "has no kernels"));
}

static void test_suites(void **state)
{
	(void)state;
	char one[65];
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 1\nsuites: [tiny, other]\n");
	gitrepo_write("w/etc/suites/other.yaml", FIXTURE_SUITE);
	fixture_commit("1", "first", one);
	struct store_job j = job_for("main", one);
	struct resolve_answer *a = resolve(&j);
	assert_int_equal(a->n_suites, 2);
	assert_string_equal(a->plan.suite_name, "tiny");
	assert_string_equal(a->suite[1], "other");
	snprintf(config->repo[0].suite[0], sizeof config->repo[0].suite[0], "other"); /* the configuration takes precedence */
	config->repo[0].n_suites = 1;
	a = resolve(&j);
	assert_int_equal(a->n_suites, 1);
	assert_string_equal(a->plan.suite_name, "other");
	snprintf(j.suite, sizeof j.suite, "nowhere"); /* and the job has the highest precedence */
	a = resolve(&j);
	assert_int_equal(a->state, JOBSTATE_FAILED);
	assert_non_null(strstr(a->why, "there is no suite nowhere"));
	snprintf(j.suite, sizeof j.suite, "tiny");
	snprintf(j.cells_glob, sizeof j.cells_glob, "*/backward");
	a = resolve(&j);
	assert_string_equal(a->why, "no cell of suite tiny matches */backward");
}

static void test_jobs_that_end_without_a_worker(void **state)
{
	(void)state;
	char one[65];
	fixture_commit("1", "words [skip flopwatch] more", one);
	struct store_job j = job_for("main", one);
	struct resolve_answer *a = resolve(&j);
	assert_int_equal(a->state, JOBSTATE_CANCELLED);
	assert_string_equal(a->why, "skipped by [skip flopwatch] in the commit message");
	assert_string_equal(a->target.sha, one);
	snprintf(j.origin, sizeof j.origin, "api"); /* a user's request gets an error */
	assert_int_equal(resolve(&j)->state, JOBSTATE_N);
	j = job_for("main", "0123456789012345678901234567890123456789");
	a = resolve(&j);
	assert_int_equal(a->state, JOBSTATE_TARGET_MISSING);
	assert_false(a->again);
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 2\n");
	fixture_commit("2", "mistaken", one);
	j = job_for("main", one);
	a = resolve(&j);
	assert_int_equal(a->state, JOBSTATE_FAILED);
	assert_non_null(strstr(a->why, ".flopwatch.yaml:1:12"));
	snprintf(j.repo_name, sizeof j.repo_name, "other");
	struct resolve *r;
	assert_int_equal(resolve_start(loop, db, config, &j, on_answer, NULL, &r, &err), -1);
	assert_string_equal(err.text, "repository other is no longer configured");
}

static void expect_end(const struct store_job *j, const char *state, const char *why)
{
	struct resolve_answer *a = resolve(j);
	assert_string_equal(jobstate_name(a->state), state);
	if (!strstr(a->why, why))
		fail_msg("%s", a->why);
	assert_false(a->again);
}

/* An error of git about the base ends the job, not the daemon. */
static void test_a_base_that_git_cannot_find(void **state)
{
	(void)state;
	char one[65], two[65], url[PATH_MAX + 16];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	snprintf(url, sizeof url, "file://%.400s/w", gitrepo_root);
	GIT(".", "clone", "-q", "--bare", "--depth", "1", url, "shallow");
	snprintf(config->repo[0].url, sizeof config->repo[0].url, "%.400s/shallow", gitrepo_root);
	struct store_job j = job_for("main", two);
	struct resolve_answer *a = resolve(&j);
	assert_int_equal(a->state, JOBSTATE_FAILED);
	assert_non_null(strstr(a->why, "is a shallow clone, which ends at commit"));
	GIT("shallow", "update-ref", "refs/heads/topic", two);
	j = job_for("topic", two); /* this is decided without the history */
	expect_end(&j, "cancelled", "branch topic has no commit that its upstream main lacks");
}

/* Without a base, a commit is never compared with itself, which would always be unchanged. */
static void test_upstreams_that_are_no_base(void **state)
{
	(void)state;
	char one[65], two[65], other[65];
	struct config_repo *repo = &config->repo[0];
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	fixture_commit("2", "topic", two);
	snprintf(repo->upstream, sizeof repo->upstream, "mian");
	snprintf(repo->file, sizeof repo->file, "c.yml");
	repo->upstream_at = (struct yaml_position){ 7, 12 };
	struct store_job j = job_for("topic", two);
	expect_end(&j, "failed", "c.yml:7:12: repos[0].upstream: there is no branch mian to compare others with");
	snprintf(repo->upstream, sizeof repo->upstream, "topic"); /* it has all commits of main */
	j = job_for("main", one);
	expect_end(&j, "cancelled",
		"branch main has no commit that its upstream topic (c.yml:7:12: repos[0].upstream) lacks, so it would be "
		"compared "
		"with itself");
	j = job_for("", one); /* a commit given by hash is one of the upstream branch */
	expect_base(&j, one, "self", "selfcheck");
	GIT("w", "checkout", "-q", "--orphan", "foreign");
	fixture_commit("3", "no common history", other);
	j = job_for("foreign", other);
	expect_end(&j, "failed", "branch foreign has no commit in common with its upstream topic");
	j = job_for("", other);
	expect_end(&j, "failed", "flopwatch compare COMMIT ");
	snprintf(j.base_sha, sizeof j.base_sha, "%s", one); /* a base that a user names needs no history */
	expect_base(&j, one, "given", "compare");
}

/* A branch is judged by its base's suites; otherwise it could pass by naming its own. */
static void test_suites_that_a_branch_misnames(void **state)
{
	(void)state;
	char one[65], two[65];
	fixture_commit("1", "first", one);
	GIT("w", "checkout", "-q", "-b", "topic");
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 1\nsuites: [tiny, tinny]\n");
	fixture_commit("2", "a suite that is not there", two);
	struct store_job j = job_for("topic", two);
	expect_end(&j, "failed",
		": .flopwatch.yaml:2:16: suites[1]: there is no suite tinny: the commit has neither etc/suites/tinny.yaml");
	assert_non_null(strstr(last.why, "did you mean `tiny`?"));
	snprintf(j.suite, sizeof j.suite, "tiny"); /* a job with a suite requests no other */
	expect_base(&j, one, "merge-base", "compare");
	j = job_for("topic", two);
	j.kind = JOBKIND_BISECT; /* nor does a bisect among existing commits */
	expect_base(&j, one, "merge-base", "bisect");
	gitrepo_write("w/etc/suites/tinny.yaml", FIXTURE_SUITE "seqlen: 3\n");
	fixture_commit("3", "a suite with a mistake", two);
	j = job_for("topic", two);
	expect_end(&j, "failed", ": etc/suites/tinny.yaml:7:1: seqlen: unknown key");
	gitrepo_write("w/etc/suites/tinny.yaml", FIXTURE_SUITE);
	fixture_commit("4", "a suite of the branch's own", two);
	j = job_for("topic", two);
	expect_base(&j, one, "merge-base", "compare");
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 1\nsuites: [../tiny]\n");
	fixture_commit("5", "no name", two);
	j = job_for("topic", two);
	expect_end(&j, "failed", "suites[0]: there is no suite ../tiny");
	GIT("w", "checkout", "-q", "-f", "main"); /* the configuration names the suites */
	snprintf(config->repo[0].file, sizeof config->repo[0].file, "c.yml");
	snprintf(config->repo[0].suite[0], sizeof config->repo[0].suite[0], "nowhere");
	config->repo[0].suite_at[0] = (struct yaml_position){ 9, 3 };
	config->repo[0].n_suites = 1;
	j = job_for("topic", two);
	expect_end(&j, "failed", "c.yml:9:3: repos[0].suites[0]: there is no suite nowhere");
}

static void take_plan(void *arg, struct resolve_answer *a)
{
	struct plan *out = arg;
	if (a->state != JOBSTATE_N)
		fail_msg("%s: %s", jobstate_name(a->state), a->why);
	*out = a->plan;
	plan_init(&a->plan);
	loop_stop(loop);
}

/* Resolve a job as the queue does; returns its plan. */
static struct store_job store_resolved(struct store_job j, struct plan *out)
{
	struct resolve *r;
	ok(resolve_start(loop, db, config, &j, take_plan, out, &r, &err));
	ok(loop_run(loop, &err));
	ok(db_begin(db, &err));
	ok(store_job_resolve(db, j.id, out->request.side[0].commit, out->base_how, out->request.kind, out->suite_name, &err));
	ok(plan_store(db, j.id, out, &err));
	ok(db_commit(db, &err));
	ok(store_job_get(db, j.id, &j, &err));
	return j;
}

static void for_device(const struct store_job *j, struct plan *out)
{
	struct resolve *r;
	ok(resolve_for_device(loop, db, config, j, take_plan, out, &r, &err));
	ok(loop_run(loop, &err));
}

/* The message to the worker, which contains all of plan.request. */
static void write_message(struct plan *p, struct buf *out)
{
	p->request.attempt = 1;
	snprintf(p->request.nonce, sizeof p->request.nonce, "n");
	snprintf(p->request.device, sizeof p->request.device, "sim-0");
	buf_init(out, PROTOCOL_LINE_MAX);
	protocol_write(out, &(struct msg){ .t = MSG_JOB, .u.job = &p->request });
	assert_false(out->failed);
}

static void expect_equal_plans(struct plan *a, struct plan *b)
{
	struct buf one, two;
	a->request.job = b->request.job; /* the queue sets it */
	write_message(a, &one);
	write_message(b, &two);
	assert_string_equal(one.data, two.data);
	buf_fini(&one);
	buf_fini(&two);
	assert_string_equal(a->base_how, b->base_how);
	assert_string_equal(a->suite_name, b->suite_name);
	assert_string_equal(a->suite_sha, b->suite_sha);
	assert_string_equal(a->suite_origin, b->suite_origin);
	assert_string_equal(a->provider_position, b->provider_position);
	assert_int_equal(a->shard, b->shard);
	assert_memory_equal(&a->size, &b->size, sizeof a->size);
	assert_string_equal(a->suite_text.data, b->suite_text.data);
	assert_int_equal(a->is_upstream, b->is_upstream);
	assert_string_equal(a->upstream_branch, b->upstream_branch);
	assert_string_equal(a->reference, b->reference);
	assert_false(a->identical || b->identical || a->dropped || b->dropped);
}

static struct plan resolved, sent;

static void expect_stored(const char *branch, const char *sha)
{
	struct store_job j = store_resolved(fixture_push(branch, sha), &resolved);
	for_device(&j, &sent);
	expect_equal_plans(&resolved, &sent);
	assert_true(plan_needs_worker(&sent));
	plan_fini(&resolved);
	plan_fini(&sent);
}

static void test_a_stored_plan_is_the_resolved_one(void **state)
{
	(void)state;
	char one[65], two[65], three[65];
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	expect_stored("main", one); /* a selfcheck */
	expect_stored("main", two);
	gitrepo_write("w/.flopwatch.yaml",
		"flopwatch: 1\nsuites: [sums]\nbenchmarks:\n  sums: {command: [./b, \"o v\"], reader: nvbench, outputs: [o], "
		"artifacts: [b], threshold_pct: 3, pairs: 8, gpu: false}\n");
	GIT("w", "checkout", "-q", "-b", "program");
	fixture_commit("3", "a program", two);
	GIT("w", "update-ref", "refs/heads/main", two);
	fixture_commit("4", "another", three);
	expect_stored("program", three);
}

/* Configuration and installed suites are read when a job is sent; the content of a commit does not change. */
static void test_reloadable_settings_are_read_when_a_job_is_sent(void **state)
{
	(void)state;
	char one[65], two[65];
	GITREPO_RUN("w", "rm", "-r", "etc");
	GITREPO_RUN(".", "mkdir", "suites");
	gitrepo_write("suites/tiny.yaml", FIXTURE_SUITE "budget_s: 33\n");
	fixture_commit("1", "first", one);
	fixture_commit("2", "second", two);
	struct store_job j = fixture_push("main", two);
	j.quick = true;
	j.threshold_pct = 7;
	j = store_resolved(j, &resolved);
	plan_fini(&resolved);
	assert_string_equal(fixture_text("SELECT suite_text FROM job_plan"), "");
	gitrepo_write("suites/tiny.yaml", FIXTURE_SUITE "budget_s: 44\n");
	config->build_s = 77;
	snprintf(config->repo[0].upstream, sizeof config->repo[0].upstream, "other");
	j.quick = true;
	j.threshold_pct = 7;
	for_device(&j, &sent);
	assert_true(sent.request.limits.budget_s == 44 && sent.request.limits.build_s == 77);
	assert_true(sent.request.quick && sent.request.rule.runs_max == 1 && sent.request.cell[0].threshold_pct == 7);
	assert_false(sent.is_upstream);
	plan_fini(&sent);
	GITREPO_RUN(".", "rm", "suites/tiny.yaml");
	struct resolve *r;
	ok(resolve_for_device(loop, db, config, &j, on_answer, NULL, &r, &err));
	ok(loop_run(loop, &err));
	assert_int_equal(last.state, JOBSTATE_FAILED);
	assert_non_null(strstr(last.why, "there is no suite tiny: no "));
}

static void test_cancelling_at_any_step(void **state)
{
	(void)state;
	char one[65];
	fixture_commit("1", "first", one);
	struct store_job j = job_for("main", one);
	struct resolve *r;
	answers = 0;
	ok(resolve_start(loop, db, config, &j, on_answer, NULL, &r, &err));
	resolve_cancel(r); /* before its first step */
	resolve_cancel(NULL);
	ok(resolve_start(loop, db, config, &j, on_answer, NULL, &r, &err));
	fixture_until("SELECT 1"); /* one iteration of the loop: git runs now */
	resolve_cancel(r);
	assert_int_equal(answers, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	gitrepo_use_our_programs();
	const struct CMUnitTest tests[] = {
		CASE(test_the_first_commit_is_its_own_base),
		CASE(test_a_branch_takes_its_merge_base),
		CASE(test_equal_inputs_are_detected),
		CASE(test_the_upstream_branch_takes_the_last_judged_commit),
		CASE(test_an_open_commit_is_passed_over),
		CASE(test_a_hopeless_cell_is_dropped),
		CASE(test_a_noisy_cell_delays_no_base),
		CASE(test_a_probable_change_delays_the_base),
		CASE(test_a_rewritten_tip_that_was_not_measured),
		CASE(test_a_last_judged_commit_that_was_deleted),
		CASE(test_a_requested_base_is_used),
		CASE(test_a_base_without_inputs_is_replaced),
		CASE(test_suites),
		CASE(test_jobs_that_end_without_a_worker),
		CASE(test_a_base_that_git_cannot_find),
		CASE(test_upstreams_that_are_no_base),
		CASE(test_suites_that_a_branch_misnames),
		CASE(test_a_stored_plan_is_the_resolved_one),
		CASE(test_reloadable_settings_are_read_when_a_job_is_sent),
		CASE(test_cancelling_at_any_step),
	};
	return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
