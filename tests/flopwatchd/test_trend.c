/* What alerts of the history say of where a loss came from, by the commits that have a point in its series. */
#include "fixture_transaction.h"

#include <math.h>

#include "core/stats/stats.h"
#include "flopwatchd/history/trend_end.h"
#include "flopwatchd/history/culprit.h"

static const char key[] = "attention/dense/full/s64/hq2/hk1/d64/bf16/forward";

enum { COMMITS = 12 };

static void add_point(struct fixture *f, const struct store_epoch *e, unsigned commit, double x)
{
	int64_t comparison = fixture_comparison(f, "main", 1, commit, VERDICT_UNCHANGED, 1000 + commit);
	ok(store_ratio_insert(f->db, &(struct store_ratio){ e->id, comparison, key, fixture_sha(commit), x, 0.0005 }, &err));
}

/** Main as commits 1 to COMMITS; x[i] is commit i + 1 against the first, NAN where it has no point. */
static struct store_epoch history(struct fixture *f, const double x[COMMITS])
{
	struct store_epoch e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1650, .started_at = 1
	};
	char sha[COMMITS][65];
	snprintf(e.anchor_sha, sizeof e.anchor_sha, "%s", fixture_sha(1));
	ok(store_epoch_insert(f->db, &e, &err));
	for (unsigned i = 0; i < COMMITS; i++)
		snprintf(sha[i], 65, "%s", fixture_sha(COMMITS - i));
	ok(store_line_put(f->db, f->repo, (const char(*)[65])sha, COMMITS, false, &err));
	for (unsigned i = 0; i < COMMITS; i++) {
		if (isnan(x[i]))
			continue;
		add_point(f, &e, i + 1, x[i]);
	}
	return e;
}

static void look_for_creep(struct fixture *f, struct store_epoch *e)
{
	struct trend t = { .db = f->db, .now_ms = 9000 };
	struct store_cell cell = { .threshold_pct = 1.5 };
	snprintf(cell.key, sizeof cell.key, "%s", key);
	snprintf(e->first_sha, sizeof e->first_sha, "%s", e->anchor_sha);
	ok(trend_creep(&t, e, &cell, &err));
}

/** The alert about it: its title, and the culprits as `commits` and `skipped`. */
static void read_creep(struct fixture *f, char title[256], int64_t *commits, int64_t *skipped)
{
	struct stmt *s = db_stmt(f->db,
		"SELECT title, culprits ->> '$[0].commits', culprits ->> '$[0].skipped' FROM alert WHERE kind = 'creep' ORDER BY "
		"id DESC LIMIT 1",
		&err);
	assert_int_equal(stmt_step(s, &err), 1);
	row_copy(s, 0, title, 256);
	*commits = row_int(s, 1);
	*skipped = row_int(s, 2);
	stmt_reset(s);
}

/** The creep that this history holds. */
static void creep(struct fixture *f, const double x[COMMITS], char title[256], int64_t *commits, int64_t *skipped)
{
	struct store_epoch e = history(f, x);
	look_for_creep(f, &e);
	read_creep(f, title, commits, skipped);
}

static void says(const char *title, const char *wanted)
{
	if (!strstr(title, wanted))
		fail_msg("\"%s\" does not say \"%s\"", title, wanted);
}

static void creep_of_many_commits(void **state)
{
	char title[256];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.003, 0.006, 0.009, 0.012, 0.015, 0.018, 0.021, 0.021, 0.021, 0.021, 0.021 };
	creep(*state, x, title, &commits, &skipped);
	says(title, "% lost since the anchor ");
	says(title, ", although no commit lost that much");
	assert_null(strstr(title, "measured"));
	assert_int_equal(commits, 7);
	assert_int_equal(skipped, 0);
}

/* The loss is the same, but by what comes next commit 6 has a part of it. Nobody hears of the alert a second time. */
static void points_that_come_sharpen_the_range(void **state)
{
	struct fixture *f = *state;
	char title[256];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0, 0.0047, 0.0113, 0.018, 0.018, 0.02, 0.018, 0.018, NAN, NAN, NAN };
	struct store_epoch e = history(f, x);
	look_for_creep(f, &e);
	read_creep(f, title, &commits, &skipped);
	assert_int_equal(commits, 3);
	for (unsigned commit = 10; commit <= COMMITS; commit++) {
		add_point(f, &e, commit, 0.02);
		look_for_creep(f, &e);
	}
	read_creep(f, title, &commits, &skipped);
	assert_int_equal(commits, 4);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM change_point"), 1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM alert_event"), 1);
}

/* Of commits 4 and 5 nobody knows what they lost. */
static void creep_across_what_could_not_be_measured(void **state)
{
	char title[256], wanted[128];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.0002, 0, NAN, NAN, 0.021, 0.0212, 0.021, 0.021, 0.021, 0.021, 0.021 };
	creep(*state, x, title, &commits, &skipped);
	snprintf(wanted, sizeof wanted, ", between %.12s and", fixture_sha(3));
	says(title, wanted);
	snprintf(wanted, sizeof wanted, "and %.12s, where 2 commits were not measured", fixture_sha(6));
	says(title, wanted);
	assert_null(strstr(title, "although"));
	assert_int_equal(commits, 3);
	assert_int_equal(skipped, 2);
}

/* One that is not known among several that lost a part each. */
static void creep_beside_what_could_not_be_measured(void **state)
{
	char title[256];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.003, 0.006, NAN, 0.012, 0.015, 0.018, 0.021, 0.021, 0.021, 0.021, 0.021 };
	creep(*state, x, title, &commits, &skipped);
	says(title, ", although no commit that was measured lost that much");
	assert_int_equal(skipped, 1);
}

/* Its own comparison was left open, and the series shows it. */
static void creep_of_one_commit(void **state)
{
	char title[256], wanted[128];
	int64_t commits, skipped;
	static const double x[COMMITS] = { 0, 0.0002, 0, 0.0001, 0, 0.021, 0.0212, 0.021, 0.021, 0.021, 0.021, 0.021 };
	creep(*state, x, title, &commits, &skipped);
	snprintf(wanted, sizeof wanted, ", at %.12s, whose own comparison did not tell it", fixture_sha(6));
	says(title, wanted);
	assert_int_equal(commits, 1);
	assert_int_equal(skipped, 0);
}

/* A step is told with the commits that it lies between. */
static void steps_name_their_range(void **state)
{
	struct fixture *f = *state;
	static const double x[COMMITS] = { 0, 0, 0, NAN, 0.021, 0.021, 0.021, 0.021, 0.021, 0.021, 0.021, 0.021 };
	struct store_epoch e = history(f, x);
	struct trend t = { .db = f->db, .now_ms = 9000 };
	struct store_change c = { .repo = f->repo, .epoch = e.id, .kind = "step", .step = 0.021 };
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
		cmocka_unit_test_setup_teardown(creep_of_many_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(points_that_come_sharpen_the_range, setup, teardown),
		cmocka_unit_test_setup_teardown(creep_across_what_could_not_be_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(creep_beside_what_could_not_be_measured, setup, teardown),
		cmocka_unit_test_setup_teardown(creep_of_one_commit, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_name_their_range, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
