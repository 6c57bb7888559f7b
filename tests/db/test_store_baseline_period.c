/* The first-parent history of main through force-pushes, series with repeated measurements, skipped commits, change points. */
#include "failing_statements.h"

#include "fixture_transaction.h"

#include <math.h>

#include "db/db.h"

static const char key[] = "attention/dense/full/s64/hq2/hk1/d64/bf16/forward";

/** The history as main has it: commits newest first, ended by 0. */
static void line(struct fixture *f, const unsigned *commits, bool is_cut)
{
	char sha[32][65];
	int n = 0;
	for (; commits[n]; n++)
		snprintf(sha[n], 65, "%s", fixture_sha(commits[n]));
	ok(store_upstream_put(f->db, f->repo, (const char(*)[65])sha, n, is_cut, &err));
}
#define LINE(f, ...) line(f, (const unsigned[]){ __VA_ARGS__, 0 }, false)

static int64_t position(struct fixture *f, unsigned commit)
{
	int64_t p;
	ok(store_upstream_position(f->db, f->repo, fixture_sha(commit), &p, &err));
	return p;
}

static struct store_baseline_period baseline_period(struct fixture *f)
{
	struct store_baseline_period e = {
		.repo = f->repo, .environment = f->environment, .suite = "ffa", .held_mhz = 1650, .started_at = 1
	};
	snprintf(e.reference_sha, sizeof e.reference_sha, "%s", fixture_sha(1));
	ok(store_baseline_period_insert(f->db, &e, &err));
	return e;
}

static void measured(struct fixture *f, const struct store_baseline_period *e, unsigned commit, double x)
{
	int64_t comparison = fixture_comparison(f, "main", 1, commit, VERDICT_UNCHANGED, 1000 + commit);
	ok(store_ratio_insert(f->db, &(struct store_ratio){ e->id, comparison, key, fixture_sha(commit), x, 0.001 }, &err));
}

static void line_follows_pushes_and_force_pushes(void **state)
{
	struct fixture *f = *state;
	LINE(f, 2, 1);
	LINE(f, 4, 3, 2, 1);
	assert_true(position(f, 1) > 0 && position(f, 1) < position(f, 2) && position(f, 2) < position(f, 3) &&
		    position(f, 3) < position(f, 4));
	int64_t two = position(f, 2);
	LINE(f, 4, 3, 2, 1); /* again: nothing moves */
	assert_int_equal(position(f, 2), two);
	LINE(f, 5, 2, 1); /* 3 and 4 are no longer in it */
	assert_int_equal(position(f, 3), 0);
	assert_int_equal(position(f, 4), 0);
	assert_true(position(f, 5) > two);
	LINE(f, 4, 3, 2, 1); /* and back */
	assert_true(position(f, 3) > two && position(f, 4) > position(f, 3));
	assert_int_equal(position(f, 5), 0);
	/* a truncated list has no effect on commits that it does not contain */
	line(f, (const unsigned[]){ 9, 8, 0 }, true);
	assert_true(position(f, 4) > 0 && position(f, 9) > position(f, 8) && position(f, 8) > position(f, 4));
	LINE(f, 20); /* another history */
	assert_int_equal(position(f, 9), 0);
}

static void series_in_the_order_of_commits(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	struct store_series s;
	int n;
	LINE(f, 5, 4, 3, 2, 1);
	measured(f, &e, 5, 0.05);
	measured(f, &e, 2, 0.02);
	measured(f, &e, 3, 0.09); /* an outlier: measured twice more, and the median counts */
	measured(f, &e, 3, 0.03);
	measured(f, &e, 3, 0.031);
	ok(store_series(f->db, &e, key, 0, &s, &err));
	assert_int_equal(s.n, 3);
	assert_string_equal(s.point[0].sha, fixture_sha(2));
	assert_string_equal(s.point[2].sha, fixture_sha(5));
	assert_true(s.x[1] > 0.0309 && s.x[1] < 0.0311);
	assert_int_equal(s.measured[1], 3);
	ok(store_series(f->db, &e, key, position(f, 3), &s, &err));
	assert_int_equal(s.n, 2);
	ok(store_series_count(f->db, e.id, key, &n, &err));
	assert_int_equal(n, 3);
	LINE(f, 6, 2, 1); /* commits that a force-push removed are not in the series */
	ok(store_series(f->db, &e, key, 0, &s, &err));
	assert_int_equal(s.n, 1);
}

static void middle_of_the_skipped_commits(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	char sha[65];
	LINE(f, 7, 6, 5, 4, 3, 2, 1);
	measured(f, &e, 1, 0);
	measured(f, &e, 7, 0.01);
	assert_int_equal(store_upstream_unmeasured(f->db, &e, key, position(f, 1), position(f, 7), sha, &err), 1);
	assert_string_equal(sha, fixture_sha(4));
	/* a comparison of other cells, and a quick one, measured nothing of this cell */
	int64_t other = fixture_comparison(f, "main", 1, 4, VERDICT_UNCHANGED, 2000);
	fixture_cell(f, other, 0, "another", 0, VERDICT_UNCHANGED);
	int64_t quick = fixture_comparison(f, "main", 1, 4, VERDICT_UNCHANGED, 2001);
	fixture_cell(f, quick, 0, key, 0, VERDICT_UNCHANGED);
	ok(db_exec(
		f->db, &err, "UPDATE job SET quick = 1 WHERE id = (SELECT job FROM comparison WHERE id = :id)", "id=%ld", quick));
	assert_int_equal(store_upstream_unmeasured(f->db, &e, key, position(f, 1), position(f, 7), sha, &err), 1);
	assert_string_equal(sha, fixture_sha(4));
	measured(f, &e, 4, 0.01);
	assert_int_equal(store_upstream_unmeasured(f->db, &e, key, position(f, 1), position(f, 4), sha, &err), 1);
	measured(f, &e, 2, 0);
	int64_t failed = fixture_comparison(f, "main", 1, 3, VERDICT_FAILED, 2002);
	fixture_cell(f, failed, 0, key, 0, VERDICT_FAILED);
	assert_int_equal(store_upstream_unmeasured(f->db, &e, key, position(f, 1), position(f, 4), sha, &err), 0);
}

static struct store_change change(struct fixture *f, const struct store_baseline_period *e, const char *kind, const char *state,
	unsigned commit, double step)
{
	struct store_change c = { .repo = f->repo, .baseline_period = e->id, .step = step, .points = 12, .found_at = 1 };
	snprintf(c.key, sizeof c.key, "%s", key);
	snprintf(c.kind, sizeof c.kind, "%s", kind);
	snprintf(c.origin, sizeof c.origin, "series");
	snprintf(c.state, sizeof c.state, "%s", state);
	snprintf(c.before_sha, sizeof c.before_sha, "%s", fixture_sha(commit - 1));
	snprintf(c.commit_sha, sizeof c.commit_sha, "%s", fixture_sha(commit));
	ok(store_change_insert(f->db, &c, &err));
	return c;
}

static int commits_between(struct fixture *f, const struct store_change *c, unsigned from, unsigned to)
{
	int commits = -1, unmeasured = -1;
	char sha[2][65];
	snprintf(sha[0], sizeof sha[0], "%s", fixture_sha(from));
	snprintf(sha[1], sizeof sha[1], "%s", fixture_sha(to));
	ok(find_range_commits(f->db, c, sha[0], sha[1], &commits, &unmeasured, &err));
	return commits;
}

/* A step between commits that a force-push removed has as many commits as before. */
static void commits_of_a_range(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	struct store_change c = { .repo = f->repo, .baseline_period = e.id };
	snprintf(c.key, sizeof c.key, "%s", key);
	LINE(f, 5, 4, 3, 2, 1);
	assert_int_equal(commits_between(f, &c, 2, 5), 3);
	LINE(f, 7, 6, 1);
	assert_int_equal(commits_between(f, &c, 2, 5), 3);
	assert_int_equal(commits_between(f, &c, 1, 7), 2);
}

static void change_points(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	struct store_change c, found;
	struct store_explained explained;
	int64_t from;
	LINE(f, 9, 8, 7, 6, 5, 4, 3, 2, 1);
	assert_int_equal(store_change_is_open(f->db, e.id, key, &err), 0);
	c = change(f, &e, "step", "candidate", 5, 0.01);
	assert_int_equal(store_change_is_open(f->db, e.id, key, &err), 1);
	/* its job is running, or has ended */
	struct store_job job = {
		.repo = f->repo, .kind = JOBKIND_VERIFY, .origin = "trend", .suite = "ffa", .threshold_pct = 0.5
	};
	snprintf(job.cells_glob, sizeof job.cells_glob, "%s", key);
	ok(store_job_insert(f->db, &job, 1, &err));
	assert_true(job.threshold_pct > 0.49);
	c.job = job.id;
	ok(store_change_update(f->db, &c, &err));
	assert_int_equal(store_change_orphan(f->db, 0, &found, &err), 0);
	assert_int_equal(store_change_of_job(f->db, job.id, 0, &found, &err), 1);
	assert_int_equal(found.id, c.id);
	assert_int_equal(store_change_of_job(f->db, job.id, c.id, &found, &err), 0);
	ok(store_job_state(f->db, job.id, JOBSTATE_FAILED, "no worker", 2, &err));
	assert_int_equal(store_change_orphan(f->db, 0, &found, &err), 1);
	assert_int_equal(found.id, c.id);
	/* steps that were dropped after the last confirmed one */
	struct candidate_past past;
	ok(store_change_past(f->db, e.id, key, 0, &past, &err));
	assert_int_equal(past.n, 0);
	snprintf(c.state, sizeof c.state, "dropped");
	ok(store_change_update(f->db, &c, &err));
	ok(store_change_past(f->db, e.id, key, position(f, 5), &past, &err));
	assert_int_equal(past.n, 1);
	assert_int_equal(past.points, 12);
	assert_true(fabs(past.step - 0.01) < 1e-9);
	ok(store_change_past(f->db, e.id, key, position(f, 6), &past, &err));
	assert_int_equal(past.n, 0);
	/* a regression, a larger improvement, a regression: only the last one needs an explanation */
	change(f, &e, "step", "confirmed", 3, 0.02);
	change(f, &e, "step", "confirmed", 7, 0.004);
	change(f, &e, "step", "confirmed", 6, -0.05);
	ok(store_change_explained(f->db, &e, key, &explained, &err));
	assert_true(fabs(store_explained_at(&explained, INT64_MAX) - 0.004) < 1e-4);
	assert_true(store_explained_at(&explained, position(f, 2)) == 0);
	assert_true(fabs(store_explained_at(&explained, position(f, 5)) - 0.02) < 1e-4);
	assert_true(store_explained_at(&explained, position(f, 6)) == 0);
	assert_int_equal(explained.answered, 0);
	ok(store_change_from(f->db, e.id, key, &from, &err));
	assert_int_equal(from, position(f, 7));
}

static void one_job_compares_several_cells(void **state)
{
	struct fixture *f = *state;
	struct store_job job = { .repo = f->repo,
		.kind = JOBKIND_VERIFY,
		.origin = "trend",
		.suite = "ffa",
		.threshold_pct = 0.5 },
			 other;
	snprintf(job.cells_glob, sizeof job.cells_glob, "a/forward");
	snprintf(job.base_sha, sizeof job.base_sha, "%s", fixture_sha(1));
	snprintf(job.target_sha, sizeof job.target_sha, "%s", fixture_sha(2));
	other = job;
	other.queued_at = 7;
	other.threshold_pct = 0.4;
	assert_int_equal(store_job_add_cell(f->db, &other, "a/backward", &err), 0); /* there is no job */
	ok(store_job_insert(f->db, &job, 7, &err));
	assert_int_equal(store_job_add_cell(f->db, &other, "a/backward", &err), 1);
	assert_int_equal(other.id, job.id);
	other.threshold_pct = 0.6;
	assert_int_equal(store_job_add_cell(f->db, &other, "b/forward", &err), 1);
	ok(store_job_get(f->db, job.id, &job, &err));
	assert_string_equal(job.cells_glob, "a/forward a/backward b/forward");
	assert_true(fabs(job.threshold_pct - 0.4) < 1e-9); /* the smallest one, so that each cell is measured precisely enough */
	snprintf(other.base_sha, sizeof other.base_sha, "%s", fixture_sha(3));
	assert_int_equal(store_job_add_cell(f->db, &other, "c/forward", &err), 0); /* other commits */
	other = job;
	ok(store_job_state(f->db, job.id, JOBSTATE_FAILED, "no worker", 8, &err));
	assert_int_equal(store_job_add_cell(f->db, &other, "c/forward", &err), 0); /* it has ended */
}

/** An alert of kind drift in this state. Returns its id. */
static int64_t drift_alert(struct fixture *f, unsigned commit, enum alertstate state)
{
	struct store_alert a = { .repo = f->repo, .kind = ALERTKIND_DRIFT, .title = "lost", .cells_json = "[]", .worst_pct = -2 };
	bool is_new;
	snprintf(a.target_sha, sizeof a.target_sha, "%s", fixture_sha(commit));
	ok(store_alert_open(f->db, &a, 1, &is_new, &err));
	if (state != ALERTSTATE_OPEN)
		ok(store_alert_change(f->db, a.id, state, "me", "so it is", 2, &err));
	return a.id;
}

static double explained(struct fixture *f, const struct store_baseline_period *e)
{
	struct store_explained x;
	ok(store_change_explained(f->db, e, key, &x, &err));
	return store_explained_at(&x, INT64_MAX);
}

static void accepted_drift_is_expected(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	struct store_change c, found;
	LINE(f, 9, 8, 7, 6, 5, 4, 3, 2, 1);
	assert_int_equal(store_change_drift(f->db, &e, key, &found, &err), 0);
	change(f, &e, "step", "confirmed", 3, 0.01);
	c = change(f, &e, "drift", "confirmed", 5, 0.02);
	c.alert = drift_alert(f, 5, ALERTSTATE_OPEN);
	ok(store_change_update(f->db, &c, &err));
	/* notified, and not acknowledged */
	assert_int_equal(store_change_drift(f->db, &e, key, &found, &err), 1);
	assert_int_equal(found.id, c.id);
	assert_true(fabs(explained(f, &e) - 0.01) < 1e-9);
	ok(store_alert_change(f->db, c.alert, ALERTSTATE_ACCEPTED, "me", "worth it", 3, &err));
	assert_int_equal(store_change_drift(f->db, &e, key, &found, &err), 0);
	assert_true(fabs(explained(f, &e) - 0.03) < 1e-9);
	/* recovered: no regression is expected any more */
	c.ended_at = 4;
	ok(store_change_update(f->db, &c, &err));
	assert_true(fabs(explained(f, &e) - 0.01) < 1e-9);
	/* a nearer reference commit is chained to the first one, which regressions are still measured from */
	ok(store_baseline_period_rereference(f->db, e.id, fixture_sha(4), &err));
	assert_true(fabs(explained(f, &e) - 0.01) < 1e-9);
}

/** A step that ended is no longer expected, but an improvement that compensates it is subtracted once, not twice. */
static void ended_steps_are_not_expected(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	LINE(f, 9, 8, 7, 6, 5, 4, 3, 2, 1);
	change(f, &e, "step", "confirmed", 3, 0.02);
	struct store_change c = change(f, &e, "step", "confirmed", 5, 0.01);
	c.ended_at = 6;
	ok(store_change_update(f->db, &c, &err));
	assert_true(fabs(explained(f, &e) - 0.02) < 1e-9);
	change(f, &e, "step", "confirmed", 7, -0.01);
	assert_true(fabs(explained(f, &e) - 0.02) < 1e-9);
}

static void losses_last_until_they_end(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	struct store_change c, found;
	LINE(f, 9, 8, 7, 6, 5, 4, 3, 2, 1);
	c = change(f, &e, "drift", "confirmed", 5, 0.02);
	c.alert = drift_alert(f, 5, ALERTSTATE_OPEN);
	c.level = 0.001;
	ok(store_change_update(f->db, &c, &err));
	change(f, &e, "step", "dropped", 6, 0.02);
	change(f, &e, "step", "confirmed", 7, -0.02);
	assert_int_equal(store_change_lasting(f->db, &e, key, 0, &found, &err), 1);
	assert_int_equal(found.id, c.id);
	assert_true(fabs(found.level - 0.001) < 1e-9);
	assert_int_equal(store_change_lasting(f->db, &e, key, found.id, &found, &err), 0);
	assert_int_equal(store_change_alert_over(f->db, c.alert, &err), 0);
	c.ended_at = 9;
	ok(store_change_update(f->db, &c, &err));
	assert_int_equal(store_change_lasting(f->db, &e, key, 0, &found, &err), 0);
	assert_int_equal(store_change_alert_over(f->db, c.alert, &err), 1);
	ok(store_alert_change(f->db, c.alert, ALERTSTATE_ACCEPTED, "me", "worth it", 3, &err));
	assert_int_equal(store_change_alert_over(f->db, c.alert, &err), 0);
}

static void references_are_chained(void **state)
{
	struct fixture *f = *state;
	struct store_baseline_period e = baseline_period(f);
	double x, se;
	int64_t comparison = fixture_comparison(f, "main", 1, 5, VERDICT_REGRESSION, 1);
	assert_string_equal(e.first_sha, fixture_sha(1));
	assert_int_equal(store_chain_get(f->db, &e, fixture_sha(1), key, &x, &se, &err), 1);
	assert_true(fabs(x) < 1e-12 && fabs(se) < 1e-12);
	assert_int_equal(store_chain_get(f->db, &e, fixture_sha(5), key, &x, &se, &err), 0);
	assert_int_equal(store_baseline_period_has_reference(f->db, &e, fixture_sha(5), &err), 0);
	ok(store_chain_insert(f->db, &(struct store_chain){ e.id, comparison, fixture_sha(5), key, 0.06, 0.0005 }, &err));
	ok(store_baseline_period_rereference(f->db, e.id, fixture_sha(5), &err));
	ok(store_baseline_period_get(f->db, e.id, &e, &err));
	assert_string_equal(e.reference_sha, fixture_sha(5));
	assert_string_equal(e.first_sha, fixture_sha(1));
	assert_int_equal(store_chain_get(f->db, &e, fixture_sha(5), key, &x, &se, &err), 1);
	assert_true(fabs(x - 0.06) < 1e-12 && fabs(se - 0.0005) < 1e-12);
	assert_int_equal(store_chain_get(f->db, &e, fixture_sha(5), "another", &x, &se, &err), 0);
	assert_int_equal(store_baseline_period_has_reference(f->db, &e, fixture_sha(5), &err), 1);
	assert_int_equal(store_baseline_period_has_reference(f->db, &e, fixture_sha(1), &err), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(line_follows_pushes_and_force_pushes, setup, teardown),
		cmocka_unit_test_setup_teardown(series_in_the_order_of_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(middle_of_the_skipped_commits, setup, teardown),
		cmocka_unit_test_setup_teardown(commits_of_a_range, setup, teardown),
		cmocka_unit_test_setup_teardown(change_points, setup, teardown),
		cmocka_unit_test_setup_teardown(one_job_compares_several_cells, setup, teardown),
		cmocka_unit_test_setup_teardown(accepted_drift_is_expected, setup, teardown),
		cmocka_unit_test_setup_teardown(ended_steps_are_not_expected, setup, teardown),
		cmocka_unit_test_setup_teardown(losses_last_until_they_end, setup, teardown),
		cmocka_unit_test_setup_teardown(references_are_chained, setup, teardown),
	};
	return run_twice(tests);
}
