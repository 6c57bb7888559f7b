/* Queries of pages: lists, their cursors and filters. */
#include "failing_statements.h"

#include "fixture_views.h"

#include <math.h>

#include "db/db.h"
#include "verdict/verdict.h"

struct seen {
	int n;
	int64_t first, last;
	char text[256];
	double number;
};

static void see_comparison(void *arg, const struct view_comparison *row)
{
	struct seen *s = arg;
	if (s->n++ == 0)
		s->first = row->id;
	s->last = row->id;
	s->number = row->worst_pct;
	snprintf(s->text, sizeof s->text, "%s %s %s %s %s %d/%d %s", row->repo, row->branch, row->suite,
		verdict_name(row->verdict), row->subject, row->regressions, row->cells, row->worst_cell);
}

static void comparisons_page_by_page(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	fill(f, 25);
	ok(view_comparisons(f->db, &(struct view_filter){ .limit = 10 }, see_comparison, &s, &err));
	assert_int_equal(s.n, 10);
	assert_int_equal(s.first, 25);
	assert_int_equal(s.last, 16);
	ok(view_comparisons(f->db, &(struct view_filter){ .limit = 10, .before = 16 }, see_comparison, &s, &err));
	assert_int_equal(s.last, 6);
	ok(view_comparisons(f->db, &(struct view_filter){ .limit = 10, .before = 6 }, see_comparison, &s, &err));
	assert_int_equal(s.n, 25);
	assert_int_equal(s.last, 1);
	assert_string_equal(s.text, "kernels topic ffa unchanged a subject 0/2 attention/dense/causal/s8192/forward");
	ok(view_comparisons(f->db, &(struct view_filter){ .limit = 10, .before = 1 }, see_comparison, &s, &err));
	assert_int_equal(s.n, 25);
	s = (struct seen){ 0 };
	ok(view_comparison(f->db, 20, see_comparison, &s, &err));
	assert_string_equal(s.text, "kernels main ffa regression a subject 2/2 attention/dense/causal/s8192/forward");
	assert_true(s.number < -2.9 && s.number > -3);
	refused(ERR_NOT_FOUND, view_comparison(f->db, 26, see_comparison, &s, &err));
}

static void see_best(void *arg, const struct view_comparison *row)
{
	struct seen *s = arg;
	s->n++;
	s->number = row->best_pct;
	snprintf(s->text, sizeof s->text, "%s", row->best_cell);
}

/* An improvement names the cell with the largest gain, also if another gained less and one regressed a little. */
static void improvements_have_a_best_cell(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	static const double m[] = { -0.02, -0.05, 0.004 };
	commit(f, 1, "a subject");
	int64_t id = fixture_comparison(f, "main", 0, 1, VERDICT_IMPROVEMENT, 1000);
	for (int i = 0; i < 3; i++) {
		char key[8];
		snprintf(key, sizeof key, "key%d", i);
		fixture_cell(f, id, i, key, m[i], i == 2 ? VERDICT_UNCHANGED : VERDICT_IMPROVEMENT);
	}
	ok(store_comparison_verdict(f->db, id, VERDICT_IMPROVEMENT, &err));
	ok(view_comparison(f->db, id, see_best, &s, &err));
	assert_string_equal(s.text, "key1");
	assert_true(s.number > 5 && s.number < 5.3);
	ok(store_comparison_verdict(f->db, id, VERDICT_UNDECIDED, &err));
	ok(view_comparison(f->db, id, see_best, &s, &err));
	assert_string_equal(s.text, "");
	assert_true(isnan(s.number) && s.n == 2);
}

struct reported {
	char key[64];
	double low_pct, high_pct;
	int alike, cells;
};

static void see_reported(void *arg, const struct view_headline *row)
{
	struct reported *t = arg;
	snprintf(t->key, sizeof t->key, "%s", row->key);
	t->low_pct = row->low_pct;
	t->high_pct = row->high_pct;
	t->alike = row->alike;
	t->cells = row->cells;
}

/* The interval is that of the deciding series. */
static void a_verdict_is_reported_by_the_cell_that_it_is_about(void **state)
{
	struct fixture *f = *state;
	struct reported t = { .alike = -1 };
	commit(f, 1, "a subject");
	int64_t id = fixture_comparison(f, "main", 0, 1, VERDICT_REGRESSION, 1000);
	fixture_cell(f, id, 0, "fast", 0.02, VERDICT_REGRESSION);
	int64_t cell = fixture_cell(f, id, 1, "slow", 0.04, VERDICT_REGRESSION);
	fixture_cell(f, id, 2, "same", 0.001, VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	ok(view_headline(f->db, id, see_reported, &t, &err));
	assert_string_equal(t.key, "slow");
	assert_int_equal(t.alike, 2);
	assert_int_equal(t.cells, 3);
	assert_true(fabs(t.low_pct - stats_change_pct(0.043)) < 1e-9 && fabs(t.high_pct - stats_change_pct(0.037)) < 1e-9);
	ok(store_metric(f->db, cell, "sustained.ci_low_pct", "pct", -7, &err));
	ok(store_metric(f->db, cell, "sustained.ci_high_pct", "pct", -6, &err));
	ok(db_script(f->db, "UPDATE cell SET decided_by = 'sustained' WHERE key = 'slow'", &err));
	ok(view_headline(f->db, id, see_reported, &t, &err));
	assert_true(fabs(t.low_pct + 7) < 1e-9 && fabs(t.high_pct + 6) < 1e-9);
	ok(db_script(f->db, "UPDATE cell SET decided_by = 'mean', mean_m = 0.05, mean_se = 0.01 WHERE key = 'slow'", &err));
	ok(view_headline(f->db, id, see_reported, &t, &err));
	assert_true(fabs(t.low_pct - stats_change_pct(0.05 + MEAN_CI * 0.01)) < 1e-9);
	t.alike = -1;
	ok(view_headline(f->db, id + 1, see_reported, &t, &err)); /* there is none */
	assert_int_equal(t.alike, -1);
}

static int64_t cost_of_list(struct fixture *f)
{
	struct seen s = { 0 };
	int64_t before = db_steps(f->db);
	ok(view_comparisons(f->db, &(struct view_filter){ .limit = 100 }, see_comparison, &s, &err));
	return db_steps(f->db) - before;
}

/* Without an improvement there is no best cell to search for, so a list costs the same however many cells there are. */
static void lists_without_improvements_read_no_cells(void **state)
{
	struct fixture *f = *state;
	fill(f, 20);
	int64_t cost = cost_of_list(f);
	ok(db_begin(f->db, &err));
	for (int id = 1; id <= 20; id++) {
		for (int n = 2; n < 20; n++) {
			char key[8];
			snprintf(key, sizeof key, "key%d", n);
			fixture_cell(f, id, n, key, 0.001, VERDICT_UNCHANGED);
		}
	}
	ok(db_commit(f->db, &err));
	assert_int_equal(cost_of_list(f), cost);
}

static int count_with(struct fixture *f, struct view_filter filter)
{
	struct seen s = { 0 };
	filter.limit = VIEW_LIMIT_MAX;
	ok(view_comparisons(f->db, &filter, see_comparison, &s, &err));
	return s.n;
}

static void filters_combine(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	fill(f, 50);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "kernels" }), 50);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "nobody" }), 0);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "kernels", .branch = "topic" }), 10);
	assert_int_equal(count_with(f, (struct view_filter){ .verdict = "regression" }), 5);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "kernels", .verdict = "regression" }), 5);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "kernels", .branch = "main", .verdict = "regression" }), 5);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "kernels", .branch = "topic", .verdict = "regression" }), 0);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "kernels", .target = fixture_sha(7) }), 1);
	assert_int_equal(count_with(f, (struct view_filter){ .repo = "", .branch = "", .verdict = "" }), 50);
	refused(ERR_INVALID, view_comparisons(f->db, &(struct view_filter){ .branch = "main" }, see_comparison, &s, &err));
	int64_t id;
	ok(view_compare(f->db, "kernels", fixture_sha(6), fixture_sha(7), NULL, &id, &err));
	assert_int_equal(id, 7);
	refused(ERR_NOT_FOUND, view_compare(f->db, "kernels", fixture_sha(5), fixture_sha(7), NULL, &id, &err));
	refused(ERR_NOT_FOUND, view_compare(f->db, "nobody", fixture_sha(6), fixture_sha(7), NULL, &id, &err));
}

/* Add a later comparison of commits 1 and 2, whose job has the columns `job`. */
static int64_t measure_again(struct fixture *f, enum verdict verdict, const char *job)
{
	int64_t id = fixture_comparison(f, "", 1, 2, verdict, 2000);
	char sql[256];
	snprintf(
		sql, sizeof sql, "UPDATE job SET %s WHERE id = (SELECT job FROM comparison WHERE id = %lld)", job, (long long)id);
	ok(db_script(f->db, sql, &err));
	return id;
}

static void expect_pair(struct fixture *f, int64_t wanted)
{
	int64_t id;
	ok(view_compare(f->db, "kernels", fixture_sha(1), fixture_sha(2), NULL, &id, &err));
	assert_int_equal(id, wanted);
}

static void a_pair_has_its_newest_whole_comparison(void **state)
{
	struct fixture *f = *state;
	static const char *const partial[] = { "kind = 'verify'", "kind = 'bisect'", "kind = 'backfill'", "kind = 'reference'",
		"quick = 1", "some_cells = 1", "base_provider = 'cudnn', target_provider = 'cudnn'",
		"base_toolchain = '/opt/cuda', target_toolchain = '/opt/cuda'" };
	commit(f, 1, "a subject");
	commit(f, 2, "a subject");
	for (size_t i = 0; i < sizeof partial / sizeof partial[0]; i++) /* without a whole one, the newest of these */
		expect_pair(f, measure_again(f, VERDICT_UNCHANGED, partial[i]));
	int64_t whole = measure_again(f, VERDICT_UNCHANGED, "kind = 'compare'");
	for (size_t i = 0; i < sizeof partial / sizeof partial[0]; i++) {
		measure_again(f, VERDICT_REGRESSION, partial[i]);
		expect_pair(f, whole);
	}
	expect_pair(f, measure_again(f, VERDICT_REGRESSION, "kind = 'import'"));
	expect_pair(f, measure_again(f, VERDICT_UNCHANGED, "kind = 'compare'"));
}

static void see_commit(void *arg, const struct view_commit *row)
{
	struct seen *s = arg;
	s->n++;
	snprintf(s->text, sizeof s->text, "%s", row->sha);
}

static void commits_are_found_by_prefix(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	ok(db_begin(f->db, &err));
	struct store_commit c = { .committed_at = 1 };
	static const char *const shas[] = { "abc1230000000000000000000000000000000000",
		"abc1240000000000000000000000000000000000", "abc12fffffffffffffffffffffffffffffffffff",
		"abd0000000000000000000000000000000000000" };
	for (int i = 0; i < 4; i++) {
		snprintf(c.sha, sizeof c.sha, "%s", shas[i]);
		ok(store_commit_put(f->db, f->repo, &c, &err));
	}
	ok(db_commit(f->db, &err));
	ok(view_commits(f->db, "abc12", 10, see_commit, &s, &err));
	assert_int_equal(s.n, 3);
	s.n = 0;
	ok(view_commits(f->db, "abc123", 10, see_commit, &s, &err));
	assert_int_equal(s.n, 1);
	assert_string_equal(s.text, shas[0]);
	s.n = 0;
	ok(view_commits(f->db, shas[3], 10, see_commit, &s, &err));
	assert_int_equal(s.n, 1);
	ok(view_commits(f->db, "abc12' OR 1", 10, see_commit, &s, &err));
	ok(view_commits(f->db, "", 10, see_commit, &s, &err));
	ok(view_commits(f->db, "ABC", 10, see_commit, &s, &err));
	assert_int_equal(s.n, 1);
}

static void see_branch(void *arg, const struct view_branch *row)
{
	struct seen *s = arg;
	s->n++;
	s->last = row->comparison;
	snprintf(s->text, sizeof s->text, "%s %s job %lld %s comparison %lld %s", row->name, row->subject, (long long)row->job,
		jobstate_name(row->job_state), (long long)row->comparison, verdict_or_empty(row->verdict));
}

static void see_repo(void *arg, const struct view_repo *row)
{
	struct seen *s = arg;
	s->n++;
	snprintf(s->text, sizeof s->text, "%s %s branches %d alerts %d", row->name, row->state, row->branches, row->open_alerts);
}

static void branches_show_their_latest(void **state)
{
	struct fixture *f = *state;
	struct seen s = { 0 };
	fill(f, 12);
	ok(db_begin(f->db, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(12), true, 5, &err));
	ok(store_tip_put(f->db, f->repo, "new", "new", fixture_sha(12), true, 5, &err));
	ok(store_tip_put(f->db, f->repo, "old", "old", fixture_sha(3), true, 5, &err));
	ok(store_tip_gone(f->db, f->repo, "old", &err));
	int64_t waiting = fixture_job(f, "main", 12, 13, 9);
	ok(db_commit(f->db, &err));
	ok_once(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &s, &err));
	assert_int_equal(s.n, 2);
	assert_string_equal(s.text, "new a subject job 0  comparison 12 unchanged"); /* as the commit was measured on main */
	ok(db_begin(f->db, &err));
	ok(store_tip_gone(f->db, f->repo, "new", &err));
	ok(db_commit(f->db, &err));
	s = (struct seen){ 0 };
	ok_once(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &s, &err));
	char want[128];
	snprintf(want, sizeof want, "main a subject job %lld queued comparison 12 unchanged", (long long)waiting);
	assert_string_equal(s.text, want);
	ok(view_repos(f->db, see_repo, &s, &err));
	assert_string_equal(s.text, "kernels new branches 1 alerts 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comparisons_page_by_page, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(improvements_have_a_best_cell, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_verdict_is_reported_by_the_cell_that_it_is_about, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lists_without_improvements_read_no_cells, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(filters_combine, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_pair_has_its_newest_whole_comparison, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(commits_are_found_by_prefix, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(branches_show_their_latest, setup, fixture_teardown),
	};
	return run_twice(tests);
}
