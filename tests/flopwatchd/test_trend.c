/* Alerts of the history: the range of a regression, among the commits that have a point in its series. */
#include "fixture_transaction.h"

#include <math.h>

#include "db/db.h"
#include "flopwatchd/history/internal.h"
#include "stats/stats.h"

static const char key[] = "attention/dense/full/s64/hq2/hk1/d64/bf16/forward";

enum { COMMITS = 12, COMMITS_MAX = 60 };

static void add_judged_point(struct fixture *f, const struct store_baseline_period *e, const char *cell, unsigned commit,
	double x, enum verdict verdict)
{
	int64_t comparison = fixture_comparison(f, "main", 1, commit, verdict, 1000 + commit);
	fixture_cell(f, comparison, 0, cell, 0, verdict);
	ok(store_ratio_insert(f->db, &(struct store_ratio){ e->id, comparison, cell, fixture_sha(commit), x, 0.0005 }, &err));
}

static void add_point(struct fixture *f, const struct store_baseline_period *e, const char *cell, unsigned commit, double x)
{
	add_judged_point(f, e, cell, commit, x, VERDICT_UNCHANGED);
}

static struct store_baseline_period begin_baseline_period(struct fixture *f)
{
	struct store_baseline_period e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1650, .started_at = 1
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	snprintf(e.first_sha, sizeof e.first_sha, "%s", e.reference_sha);
	ok(store_baseline_period_insert(f->db, &e, &err));
	return e;
}

/** Main with commits 1 to n. */
static void begin_line(struct fixture *f, unsigned n)
{
	char sha[COMMITS_MAX][65];
	for (unsigned i = 0; i < n; i++)
		snprintf(sha[i], 65, "%s", fixture_sha(n - i));
	ok(store_upstream_put(f->db, f->repo, (const char(*)[65])sha, (int)n, false, &err));
}

/** Main with commits 1 to COMMITS; x[i] is commit i + 1 relative to the first, NAN if it has no point. */
static struct store_baseline_period history(struct fixture *f, const double x[COMMITS])
{
	struct store_baseline_period e = begin_baseline_period(f);
	begin_line(f, COMMITS);
	for (unsigned i = 0; i < COMMITS; i++)
		if (!isnan(x[i]))
			add_point(f, &e, key, i + 1, x[i]);
	return e;
}

static void find_drift(struct fixture *f, const struct store_baseline_period *e, const char *of)
{
	struct trend t = { .db = f->db, .now_ms = 9000 };
	struct store_cell cell = { .threshold_pct = 1.5 };
	snprintf(cell.key, sizeof cell.key, "%s", of);
	ok(trend_drift(&t, e, &cell, &err));
}

/** The newest alert about it. */
static struct said {
	int64_t id, commits, skipped;
	double change_pct;
	char title[256], from[65];
} read_drift(struct fixture *f)
{
	struct said a;
	struct stmt *s = db_stmt(f->db,
		"SELECT id, title, culprits ->> '$[0].commits', culprits ->> '$[0].skipped', culprits ->> '$[0].change_pct', "
		"culprits ->> '$[0].from' FROM alert WHERE kind = 'drift' ORDER BY id DESC LIMIT 1",
		&err);
	assert_int_equal(stmt_step(s, &err), 1);
	a.id = row_int(s, 0);
	row_copy(s, 1, a.title, sizeof a.title);
	a.commits = row_int(s, 2);
	a.skipped = row_int(s, 3);
	a.change_pct = row_double(s, 4);
	row_copy(s, 5, a.from, sizeof a.from);
	stmt_reset(s);
	return a;
}

/** The drift in this history: its alert's title, and the culprits as `commits` and `skipped`. */
static void drift(struct fixture *f, const double x[COMMITS], char title[256], int64_t *commits, int64_t *skipped)
{
	struct store_baseline_period e = history(f, x);
	find_drift(f, &e, key);
	struct said a = read_drift(f);
	snprintf(title, 256, "%s", a.title);
	*commits = a.commits;
	*skipped = a.skipped;
}

static void says(const char *title, const char *wanted)
{
	if (!strstr(title, wanted))
		fail_msg("\"%s\" does not say \"%s\"", title, wanted);
}

static void drift_of_many_commits(void **state)
{
	char title[256];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.003, 0.006, 0.009, 0.012, 0.015, 0.018, 0.021, 0.021, 0.021, 0.021, 0.021 };
	drift(*state, x, title, &commits, &skipped);
	says(title, "% lost since the reference commit ");
	says(title, ", although no commit lost that much");
	assert_null(strstr(title, "measured"));
	assert_int_equal(commits, 7);
	assert_int_equal(skipped, 0);
}

/* The base of main passes undecided cells (db/base.c), so the history has to show what they lost. */
static void undecided_commits_count_in_drift(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = begin_baseline_period(f);
	begin_line(f, COMMITS);
	for (unsigned commit = 1; commit <= COMMITS; commit++)
		add_judged_point(f, &e, key, commit, commit < 5 ? 0 : 0.021, VERDICT_UNDECIDED);
	find_drift(f, &e, key);
	says(read_drift(f).title, "% lost since the reference commit ");
}

/* The regression is the same, but by later points commit 6 has a share of it. The alert sends no second notification. */
static void later_points_narrow_the_range(void **state)
{
	struct fixture *f = *state;
	static const double x[] = { 0, 0, 0.0047, 0.0113, 0.018, 0.018, 0.02, 0.018, 0.018 };
	struct store_baseline_period e = begin_baseline_period(f);
	begin_line(f, 20);
	for (unsigned commit = 1; commit <= 20; commit++) {
		add_point(f, &e, key, commit, commit <= 9 ? x[commit - 1] : 0.02);
		if (commit == 17 || commit == 18) /* points after the eighth are not read */
			ok(stmt_run(db_stmt(f->db, "UPDATE alert SET culprits = '[]'", &err), &err));
		if (commit < 9)
			continue;
		find_drift(f, &e, key);
		int64_t commits = read_drift(f).commits;
		if (commit == 9)
			assert_int_equal(commits, 3);
		else if (commit > 11)
			assert_in_range(commits, commit < 18 ? 4 : 0, commit < 18 ? 5 : 0);
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM change_point"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert_event"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM event WHERE kind LIKE 'alert.%'"), 1);
}

/* One alert for all cells: its title is that of the worst one, whichever was judged last. */
static void title_of_the_worst_cell(void **state)
{
	struct fixture *f = *state;
	static const char other[] = "attention/dense/full/s64/hq2/hk1/d64/bf16/backward";
	struct store_baseline_period e = begin_baseline_period(f);
	begin_line(f, 40);
	for (unsigned commit = 1; commit <= 20; commit++) {
		double risen = commit < 5 ? 0 : commit < 9 ? (commit - 4) / 4.0 : 1;
		add_point(f, &e, key, commit, 0.03 * risen);
		find_drift(f, &e, key);
		add_point(f, &e, other, commit, 0.02 * risen);
		find_drift(f, &e, other);
	}
	says(read_drift(f).title, "2.9");
	/* it ends, and comes back with a smaller amount */
	ok(stmt_run(db_stmt(f->db, "UPDATE change_point SET ended_at = 9000 WHERE key LIKE '%forward'", &err), &err));
	for (unsigned commit = 21; commit <= 40; commit++) {
		add_point(f, &e, key, commit, commit < 30 ? 0 : 0.0175);
		find_drift(f, &e, key);
		add_point(f, &e, other, commit, 0.02);
		find_drift(f, &e, other);
	}
	assert_null(strstr(read_drift(f).title, "2.9"));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert_event"), 2); /* opened, and the other cell */
}

/* A regression that users have acknowledged, with everything up to it, is not counted in later drift. */
static void drift_after_drift_that_was_accepted(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = begin_baseline_period(f);
	double x = 0;
	begin_line(f, 44);
	for (unsigned commit = 1; commit <= 44; commit++) {
		x += (commit > 10 && commit <= 17) || (commit > 20 && commit <= 23) || (commit > 30 && commit <= 37) ? 0.003 : 0;
		add_point(f, &e, key, commit, x);
		find_drift(f, &e, key);
		if (commit == 30)
			ok(store_alert_change(f->db, read_drift(f).id, ALERTSTATE_ACCEPTED, "me", "so it is", 9000, &err));
	}
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert"), 2);
	struct said a = read_drift(f);
	assert_string_equal(a.from, fixture_sha(30));
	assert_int_equal(a.commits, 7);
	assert_true(fabs(a.change_pct + 2.1) < 0.1);
}

/* A gain too small to report follows the accepted regression: the next regression starts there, also if it came at once. */
static void drift_from_below_what_was_accepted(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = begin_baseline_period(f);
	begin_line(f, 44);
	for (unsigned commit = 1; commit <= 44; commit++) {
		double x = commit <= 10   ? 0
			   : commit <= 17 ? 0.003 * (commit - 10)
			   : commit <= 20 ? 0.021
			   : commit <= 36 ? 0.017
					  : 0.04;
		add_point(f, &e, key, commit, x);
		find_drift(f, &e, key);
		if (commit == 20)
			ok(store_alert_change(f->db, read_drift(f).id, ALERTSTATE_ACCEPTED, "me", "so it is", 9000, &err));
	}
	struct said a = read_drift(f);
	assert_string_equal(a.from, fixture_sha(36));
	assert_int_equal(a.commits, 1);
}

/*
 * A newer baseline period shows a larger regression: the title has its amount, the range is that of the period that reported it.
 */
static void drift_that_grows_in_another_baseline_period(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period older = begin_baseline_period(f), e;
	struct msg_device d = fixture_device();
	bool is_new;
	begin_line(f, 40);
	for (unsigned commit = 1; commit <= 20; commit++) {
		add_point(f, &older, key, commit, commit <= 6 ? 0 : commit <= 13 ? 0.003 * (commit - 6) : 0.021);
		find_drift(f, &older, key);
	}
	struct said before = read_drift(f);
	says(before.title, "1.99 % lost");
	snprintf(d.driver, sizeof d.driver, "another");
	ok(store_environment_put(f->db, &d, "5a17e", "pairs", "none", 1000, &f->environment, &is_new, &err));
	e = begin_baseline_period(f);
	add_point(f, &e, key, 1, 0);
	for (unsigned commit = 21; commit <= 40; commit++) {
		add_point(f, &e, key, commit, commit <= 24 ? 0.021 : commit <= 31 ? 0.021 + 0.003 * (commit - 24) : 0.042);
		find_drift(f, &e, key);
	}
	struct said after = read_drift(f);
	says(after.title, "4.");
	assert_int_equal(after.id, before.id);
	assert_string_equal(after.from, before.from);
	assert_int_equal(after.commits, before.commits);
}

/* In a new baseline period all points except the reference commit's own are higher by a step that an earlier one reported. */
static void drift_behind_a_step_of_an_earlier_baseline_period(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period older = begin_baseline_period(f), e;
	struct store_change step = { .repo = f->repo,
		.baseline_period = older.id,
		.kind = "step",
		.origin = "comparison",
		.state = "confirmed",
		.step = 0.03,
		.found_at = 1,
		.decided_at = 1 };
	begin_line(f, 40);
	snprintf(step.key, sizeof step.key, "%s", key);
	snprintf(step.before_sha, sizeof step.before_sha, "%s", fixture_sha(5));
	snprintf(step.commit_sha, sizeof step.commit_sha, "%s", fixture_sha(6));
	ok(store_change_insert(f->db, &step, &err));
	struct msg_device d = fixture_device();
	bool is_new;
	snprintf(d.driver, sizeof d.driver, "another");
	ok(store_environment_put(f->db, &d, "5a17e", "pairs", "none", 1000, &f->environment, &is_new, &err));
	e = begin_baseline_period(f);
	add_point(f, &e, key, 1, 0);
	for (unsigned commit = 12; commit <= 40; commit++) {
		add_point(f, &e, key, commit, 0.03 + (commit <= 20 ? 0 : commit <= 27 ? 0.003 * (commit - 20) : 0.021));
		find_drift(f, &e, key);
	}
	struct said a = read_drift(f);
	assert_string_equal(a.from, fixture_sha(20));
	assert_int_equal(a.commits, 7);
	assert_true(fabs(a.change_pct + 2.1) < 0.1);
}

/* The regressions of commits 4 and 5 are unknown. */
static void drift_across_unmeasured_commits(void **state)
{
	char title[256], wanted[128];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.0002, 0, NAN, NAN, 0.021, 0.0212, 0.021, 0.021, 0.021, 0.021, 0.021 };
	drift(*state, x, title, &commits, &skipped);
	snprintf(wanted, sizeof wanted, ", between %.12s and", fixture_sha(3));
	says(title, wanted);
	snprintf(wanted, sizeof wanted, "and %.12s, where 2 commits were not measured", fixture_sha(6));
	says(title, wanted);
	assert_null(strstr(title, "although"));
	assert_int_equal(commits, 3);
	assert_int_equal(skipped, 2);
}

/* One unknown commit among several that each have a share. */
static void drift_next_to_unmeasured_commits(void **state)
{
	char title[256];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.003, 0.006, NAN, 0.012, 0.015, 0.018, 0.021, 0.021, 0.021, 0.021, 0.021 };
	drift(*state, x, title, &commits, &skipped);
	says(title, ", although no commit that was measured lost that much");
	assert_int_equal(skipped, 1);
}

/* Its own comparison was undecided, and the series shows it. */
static void drift_of_one_commit(void **state)
{
	char title[256], wanted[128];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.0002, 0, 0.0001, 0, 0.021, 0.0212, 0.021, 0.021, 0.021, 0.021, 0.021 };
	drift(*state, x, title, &commits, &skipped);
	snprintf(wanted, sizeof wanted, ", at %.12s, whose own comparison did not report it", fixture_sha(6));
	says(title, wanted);
	assert_int_equal(commits, 1);
	assert_int_equal(skipped, 0);
}

/* A step is reported with the commits that it lies between. */
static void steps_name_their_range(void **state)
{
	struct fixture *f = *state;
	static const double x[COMMITS] = { 0, 0, 0, NAN, 0.021, 0.021, 0.021, 0.021, 0.021, 0.021, 0.021, 0.021 };
	struct store_baseline_period e = history(f, x);
	struct trend t = { .db = f->db, .now_ms = 9000 };
	struct store_change c = { .repo = f->repo, .baseline_period = e.id, .kind = "step", .step = 0.021 };
	struct trend_range range;
	char title[256], wanted[128];
	snprintf(c.key, sizeof c.key, "%s", key);
	for (unsigned from = 2; from <= 3; from++) {
		snprintf(c.before_sha, sizeof c.before_sha, "%s", fixture_sha(from));
		snprintf(c.commit_sha, sizeof c.commit_sha, "%s", fixture_sha(from == 2 ? 3 : 5));
		ok(trend_range(&t, &c, &range, &err));
		assert_int_equal(range.commits, from == 2 ? 1 : 2);
		assert_int_equal(range.unmeasured, from == 2 ? 0 : 1);
		trend_title(&c, &range, title, sizeof title);
		if (from == 2)
			snprintf(wanted, sizeof wanted, "lost at %.12s, seen in the history", fixture_sha(3));
		else
			snprintf(wanted, sizeof wanted, "lost between %.12s and", fixture_sha(3));
		says(title, wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(drift_of_many_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(undecided_commits_count_in_drift, setup, teardown),
		cmocka_unit_test_setup_teardown(later_points_narrow_the_range, setup, teardown),
		cmocka_unit_test_setup_teardown(title_of_the_worst_cell, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_after_drift_that_was_accepted, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_from_below_what_was_accepted, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_that_grows_in_another_baseline_period, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_behind_a_step_of_an_earlier_baseline_period, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_across_unmeasured_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_next_to_unmeasured_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(drift_of_one_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_name_their_range, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
