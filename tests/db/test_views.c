/* The read side: lists and their cursors, filters, history, and that no query reads a large table whole. */
#include "fixture_views.h"

#include <math.h>

#include "base/clock.h"
#include "db/store/alert.h"
#include "db/view/branch.h"
#include "db/view/live.h"
#include "db/store/outbox.h"
#include "db/store/device.h"
#include "db/view/history.h"
#include "core/verdict/mean.h"
#include "db/view/seek.h"
#include "db/view/telling.h"
#include "db/view/cell.h"
#include "db/store/sample.h"

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

/* An improvement tells the cell that gained most, also beside one that gained less and one that lost a little. */
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

struct told {
	char key[64];
	double low_pct, high_pct;
	int alike, cells;
};

static void see_told(void *arg, const struct view_telling *row)
{
	struct told *t = arg;
	snprintf(t->key, sizeof t->key, "%s", row->key);
	t->low_pct = row->low_pct;
	t->high_pct = row->high_pct;
	t->alike = row->alike;
	t->cells = row->cells;
}

/* The interval is that of what decided, whichever series it was. */
static void a_verdict_is_told_by_the_cell_that_it_is_about(void **state)
{
	struct fixture *f = *state;
	struct told t = { .alike = -1 };
	commit(f, 1, "a subject");
	int64_t id = fixture_comparison(f, "main", 0, 1, VERDICT_REGRESSION, 1000);
	fixture_cell(f, id, 0, "fast", 0.02, VERDICT_REGRESSION);
	int64_t cell = fixture_cell(f, id, 1, "slow", 0.04, VERDICT_REGRESSION);
	fixture_cell(f, id, 2, "same", 0.001, VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	ok(view_telling(f->db, id, see_told, &t, &err));
	assert_string_equal(t.key, "slow");
	assert_int_equal(t.alike, 2);
	assert_int_equal(t.cells, 3);
	assert_true(fabs(t.low_pct - stats_change_pct(0.043)) < 1e-9 && fabs(t.high_pct - stats_change_pct(0.037)) < 1e-9);
	ok(store_metric(f->db, cell, "sustained.ci_low_pct", "pct", -7, &err));
	ok(store_metric(f->db, cell, "sustained.ci_high_pct", "pct", -6, &err));
	ok(db_script(f->db, "UPDATE cell SET decided_by = 'sustained' WHERE key = 'slow'", &err));
	ok(view_telling(f->db, id, see_told, &t, &err));
	assert_true(fabs(t.low_pct + 7) < 1e-9 && fabs(t.high_pct + 6) < 1e-9);
	ok(db_script(f->db, "UPDATE cell SET decided_by = 'mean', mean_m = 0.05, mean_se = 0.01 WHERE key = 'slow'", &err));
	ok(view_telling(f->db, id, see_told, &t, &err));
	assert_true(fabs(t.low_pct - stats_change_pct(0.05 + MEAN_CI * 0.01)) < 1e-9);
	t.alike = -1;
	ok(view_telling(f->db, id + 1, see_told, &t, &err)); /* there is none */
	assert_int_equal(t.alike, -1);
}

static int64_t cost_of_list(struct fixture *f)
{
	struct seen s = { 0 };
	int64_t before = db_steps(f->db);
	ok(view_comparisons(f->db, &(struct view_filter){ .limit = 100 }, see_comparison, &s, &err));
	return db_steps(f->db) - before;
}

/* Where nothing improved there is no best cell to look for, so a list costs the same however many cells there are. */
static void lists_read_no_cells_where_none_improved(void **state)
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
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &s, &err));
	assert_int_equal(s.n, 2);
	assert_string_equal(s.text, "new a subject job 0  comparison 12 unchanged"); /* as the commit was measured on main */
	ok(db_begin(f->db, &err));
	ok(store_tip_gone(f->db, f->repo, "new", &err));
	ok(db_commit(f->db, &err));
	s = (struct seen){ 0 };
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &s, &err));
	char want[128];
	snprintf(want, sizeof want, "main a subject job %lld queued comparison 12 unchanged", (long long)waiting);
	assert_string_equal(s.text, want);
	ok(view_repos(f->db, see_repo, &s, &err));
	assert_string_equal(s.text, "kernels new branches 1 alerts 0");
}

struct history {
	int n;
	int64_t newest, oldest;
	double change_pct, tflops, median_ms;
	char commit[41], device[64];
	enum verdict verdict;
};

static void see_point(void *arg, const struct view_point *row)
{
	struct history *h = arg;
	if (h->n++ == 0) {
		h->newest = row->comparison;
		h->change_pct = row->change_pct;
		h->tflops = row->tflops;
		h->median_ms = row->median_ms;
		snprintf(h->commit, sizeof h->commit, "%s", row->commit);
		snprintf(h->device, sizeof h->device, "%s", row->device);
		h->verdict = row->verdict;
	}
	h->oldest = row->comparison;
}

static struct history history(struct fixture *f, const char *branch, const char *device, int limit)
{
	struct history h = { 0 };
	ok(view_history(f->db, &(struct view_scope){ .repo = "kernels", .branch = branch, .cell = keys[0], .device = device },
		limit, see_point, &h, &err));
	return h;
}

static void history_is_newest_first_and_timed_only(void **state)
{
	struct fixture *f = *state;
	fill(f, 50);
	ok(db_begin(f->db, &err));
	int64_t failed = fixture_comparison(f, "main", 50, 51, VERDICT_FAILED, 2000);
	struct store_cell c = { .comparison = failed, .threshold_pct = 1.5, .verdict = VERDICT_FAILED, .target_median_ms = NAN };
	snprintf(c.key, sizeof c.key, "%s", keys[0]);
	ok(store_cell_insert(f->db, &c, &err));
	ok(db_commit(f->db, &err));
	struct history h = history(f, "main", NULL, 1000);
	assert_int_equal(h.n, 40);
	assert_int_equal(h.newest, 50);
	assert_int_equal(h.oldest, 2);
	assert_string_equal(h.commit, fixture_sha(50));
	assert_string_equal(h.device, "sim-0");
	assert_int_equal(h.verdict, VERDICT_REGRESSION);
	assert_true(fabs(h.median_ms - 1.71 * 1.03) < 1e-9);
	assert_true(fabs(h.tflops - 1.1e12 / (1.71 * 1.03) * 1e-9) < 1e-6);
	assert_int_equal(history(f, NULL, "sim-0", 1000).n, 50);
	assert_int_equal(history(f, NULL, "", 7).n, 7);
	assert_int_equal(history(f, "main", "GPU-unknown", 1000).n, 0);
	assert_int_equal(history(f, "nobranch", NULL, 1000).n, 0);
}

/* ---- plans ----------------------------------------------------------------------------------------------------------- */

static void see_telling(void *arg, const struct view_telling *row)
{
	struct seen *s = arg;
	s->n = row->cells;
}
static void see_grid(void *arg, const struct view_grid *row)
{
	struct seen *s = arg;
	s->n += row->size > 0;
}

/** Every statement of the room, taken once. */
static void take_all_statements(struct fixture *f)
{
	struct seen s = { 0 };
	struct history h = { 0 };
	struct store_job job;
	struct store_alert alert = { .repo = f->repo, .comparison = 10, .cells_json = "[{\"cell\":\"x\"}]", .worst_pct = -2 };
	bool is_new;
	int n, failed;
	int64_t ids[STORE_ALERT_RECOVER_MAX], id;
	double accepted;
	struct view_filter filters[] = { { 0 }, { .repo = "kernels" }, { .repo = "kernels", .branch = "main" },
		{ .verdict = "failed" }, { .repo = "kernels", .verdict = "failed" },
		{ .repo = "kernels", .branch = "main", .verdict = "failed" }, { .repo = "kernels", .target = fixture_sha(3) },
		{ .has_regressions = true }, { .repo = "kernels", .has_regressions = true },
		{ .repo = "kernels", .branch = "main", .has_regressions = true } };
	for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++)
		ok(view_comparisons(f->db, &filters[i], see_comparison, &s, &err));
	ok(view_repos(f->db, see_repo, &s, &err));
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &s, &err));
	ok(view_commits(f->db, "00000", 10, see_commit, &s, &err));
	ok(view_comparison(f->db, 3, see_comparison, &s, &err));
	ok(view_telling(f->db, 3, see_telling, &s, &err));
	ok(view_grid(f->db, "kernels", "main", "ffa", 10, see_grid, &s, &err));
	ok(view_compare(f->db, "kernels", fixture_sha(2), fixture_sha(3), NULL, &id, &err));
	ok(view_history(f->db, &(struct view_scope){ .repo = "kernels", .branch = "main", .cell = keys[0], .device = "sim-0" },
		10, see_point, &h, &err));
	ok(view_history(f->db, &(struct view_scope){ .repo = "kernels", .branch = NULL, .cell = keys[0], .device = NULL }, 10,
		see_point, &h, &err));
	ok(db_begin(f->db, &err));
	snprintf(alert.branch, sizeof alert.branch, "main");
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(10));
	ok(store_alert_open(f->db, &alert, 1, &is_new, &err));
	ok(store_alert_recovered(f->db, 12, ids, &n, &err));
	ok(store_alert_older_tips(f->db, 12, ids, &n, &err));
	assert_int_equal(store_alert_covers(f->db, f->repo, "main", ALERTKIND_BROKEN, "tiny", keys[0], "x", &err), 0);
	ok(store_alert_accepted(f->db, f->repo, "main", fixture_sha(9), "tiny", keys[0], &accepted, &err));
	id = fixture_job(f, "main", 0, 500, 1);
	ok(store_job_supersede(f->db, id, 1, &n, &err));
	assert_int_equal(store_job_planned(f->db, f->repo, fixture_sha(3), &err), 1);
	assert_int_equal(store_job_next(f->db, DEVICE_CPU, "", "[]", &job, &err), 1);
	assert_int_equal(store_job_next_unresolved(f->db, 0, &job, &err), 0);
	ok(store_job_drop(f->db, f->repo, "main", JOBSTATE_GONE, "x", 1, &n, &err));
	ok(store_job_waiting(f->db, &id, &err));
	ok(store_job_recover(f->db, 1, &n, &failed, &err));
	fixture_archive(f, 1000000);
	ok(store_comparison_verdict(f->db, 3, VERDICT_UNCHANGED, &err));
	db_rollback(f->db);
}

static void see_nothing_alert(void *arg, const struct view_alert *row)
{
	(void)arg, (void)row;
}
static void see_nothing_event(void *arg, const struct view_alert_event *row)
{
	(void)arg, (void)row;
}
static void see_nothing_job(void *arg, const struct view_job *row)
{
	(void)arg, (void)row;
}
static void see_nothing_device(void *arg, const struct view_device *row)
{
	(void)arg, (void)row;
}
static void see_nothing_cell(void *arg, const struct view_cell *row)
{
	(void)arg, (void)row;
}
static void see_nothing_metric(void *arg, const char *name, const char *unit, double value)
{
	(void)arg, (void)name, (void)unit, (void)value;
}
static void see_nothing_log(void *arg, int64_t id, int64_t at, const char *line)
{
	(void)arg, (void)id, (void)at, (void)line;
}
static void see_nothing_news(void *arg, int64_t id, int64_t at, const char *kind, const char *payload)
{
	(void)arg, (void)id, (void)at, (void)kind, (void)payload;
}
static void see_nothing_count(void *arg, const char *what, const char *label, int64_t n)
{
	(void)arg, (void)what, (void)label, (void)n;
}

static void see_nothing_throttle(void *arg, const char *device_uuid, const char *reason, double seconds)
{
	(void)arg, (void)device_uuid, (void)reason, (void)seconds;
}

static void see_nothing_word(void *arg, const char *word)
{
	(void)arg, (void)word;
}
static void see_nothing_grid(void *arg, const struct view_grid *row)
{
	(void)arg, (void)row;
}

/** Of where a commit stands. */
static void take_commit_statements(struct fixture *f)
{
	struct commit_verdict v;
	struct store_commit_found found;
	struct store_job job;
	char sha[65];
	struct seen s = { 0 };
	ok(db_begin(f->db, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(4711), true, 5, &err));
	ok(db_commit(f->db, &err));
	ok(view_branches(f->db, &(struct view_branch_filter){ .repo = f->repo }, see_branch, &s, &err));
	ok(view_branch_suites(f->db, "kernels", "main", see_nothing_word, NULL, &err));
	ok(view_branch_suites(f->db, "kernels", "nobody", see_nothing_word, NULL, &err));
	ok(view_grid(f->db, "kernels", "main", "ffa", 30, see_nothing_grid, NULL, &err));
	ok(view_cell_keys(f->db, "kernels", "main", see_nothing_word, NULL, &err));
	ok(view_cell_keys(f->db, "kernels", NULL, see_nothing_word, NULL, &err));
	ok(store_commit_before(f->db, f->repo, "main", fixture_sha(30), sha, &v, &err));
	assert_string_equal(sha, fixture_sha(29));
	commit_verdict_fini(&v);
	ok(store_commit_plan(f->db, 3, &v, &err));
	assert_int_equal(v.n, 1);
	commit_verdict_fini(&v);
	ok(store_commit_find(f->db, NULL, fixture_sha(3), &found, &err));
	assert_int_equal(found.n, 1);
	ok(store_job_get(f->db, 3, &job, &err));
	assert_int_equal(store_job_covers(f->db, &job, "other", &err), 0);
}

static void take_live_statements(struct fixture *f)
{
	static const char *const states[] = { NULL, "open", "done" };
	struct store_launches launches;
	struct store_cell cell;
	int64_t id;
	for (int i = 0; i < 3; i++) {
		ok(view_alerts(f->db, states[i], 0, 10, see_nothing_alert, NULL, &err));
		ok(view_jobs(f->db, states[i], 0, 10, see_nothing_job, NULL, &err));
	}
	ok(view_alert_events(f->db, 1, see_nothing_event, NULL, &err));
	ok(view_job(f->db, 1, see_nothing_job, NULL, &err));
	ok(view_log(f->db, 1, 0, 10, see_nothing_log, NULL, &err));
	ok(view_devices(f->db, see_nothing_device, NULL, &err));
	ok(view_events(f->db, 0, 10, see_nothing_news, NULL, &err));
	ok(view_event_ends(f->db, &(int64_t){ 0 }, &id, &err));
	for (enum view_list list = VIEW_LIST_COMPARISONS; list <= VIEW_LIST_DELIVERIES; list++)
		ok(view_seek(f->db, list, 1, &id, &err));
	ok(view_counts(f->db, see_nothing_count, NULL, &err));
	ok(view_throttle(f->db, see_nothing_throttle, NULL, &err));
	ok(view_cells(f->db, 3, see_nothing_cell, NULL, &err));
	ok(view_metrics(f->db, 1, see_nothing_metric, NULL, &err));
	assert_int_equal(store_cell_next(f->db, 3, -1, &cell, &err), 1);
	ok(store_cell_launches(f->db, cell.id, SERIES_DEVICE, &launches, &err));
	buf_fini(&launches.values);
	ok(store_outbox_next_at(f->db, 0, &id, &err));
}

static int scans;
static bool print_scans = true;

static void look_at_step(void *arg, const char *sql, const char *step)
{
	static const char *const large[] = { "job", "cell", "sample", "comparison", "event", "launch", "git_commit", "job_log",
		"metric", "artifact", "c", "j", "x", "a", "b", "l", "t", "h", "served", "alert", "alert_event", "m", "q", "p",
		"outbox" };
	(void)arg;
	/* an upsert into a parent lists a walk over its children that only runs while references are broken */
	if (strncmp(step, "SCAN ", 5) != 0 || strstr(sql, " ON CONFLICT "))
		return;
	for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
		size_t len = strlen(large[i]);
		if (strncmp(step + 5, large[i], len) == 0 && (step[5 + len] == 0 || step[5 + len] == ' ')) {
			/* repo, branch tips, devices and lists of words are small and may be read whole */
			if (print_scans)
				print_error("%s\n    in %s\n", step, sql);
			scans++;
		}
	}
}

static void no_query_reads_a_large_table_whole(void **state)
{
	struct fixture *f = *state;
	fill(f, 30);
	assert_int_equal(fixture_archive(f, 1002), 1); /* its table of this connection is to outlive the rollback below */
	take_all_statements(f);
	take_live_statements(f);
	take_commit_statements(f);
	scans = 0;
	ok(db_explain(f->db, look_at_step, NULL, &err));
	assert_int_equal(scans, 0);
	/* the test sees scans at all */
	print_scans = false;
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM job WHERE state_why = 'x'"), 0);
	ok(db_explain(f->db, look_at_step, NULL, &err));
	assert_int_equal(scans, 1);
}

static void see_step(void *arg, const char *sql, const char *step)
{
	bool *covered = arg;
	if (strstr(sql, "INDEXED BY cell_history") && strstr(step, "COVERING INDEX cell_history"))
		*covered = true;
}

static void long_history_comes_from_one_index(void **state)
{
	struct fixture *f = *state;
	bool covered = false;
	ok(db_begin(f->db, &err));
	for (unsigned i = 1; i <= 10000; i++) {
		int64_t id = fixture_comparison(f, "main", i - 1, i, VERDICT_UNCHANGED, i);
		fixture_cell(f, id, 0, keys[0], 0.001, VERDICT_UNCHANGED);
	}
	ok(db_commit(f->db, &err));
	int64_t best_ns = INT64_MAX;
	for (int i = 0; i < 5; i++) {
		int64_t before = clock_mono_ns();
		assert_int_equal(history(f, "main", "sim-0", 10000).n, 10000);
		int64_t took = clock_mono_ns() - before;
		best_ns = took < best_ns ? took : best_ns;
	}
	print_message("history of 10000 points: %.2f ms\n", (double)best_ns / 1e6);
	ok(db_explain(f->db, see_step, &covered, &err));
	assert_true(covered); /* what makes it fast, whatever this machine's speed */
}

/* A page of years ago shows what led up to it, and whatever came since is not walked through. */
static void a_past_costs_the_same_however_much_came_after(void **state)
{
	struct fixture *f = *state;
	struct view_scope of = { .repo = "kernels", .branch = "main", .cell = keys[0] };
	int64_t steps[2], last = 0;
	for (int round = 0; round < 2; round++) {
		ok(db_begin(f->db, &err));
		for (unsigned i = 1; i <= (round ? 500 : 40); i++) {
			int64_t id = fixture_comparison(f, "main", i - 1, i, VERDICT_UNCHANGED, 1000 * (round + 1) + (int)i);
			fixture_cell(f, id, 0, keys[0], 0.001, VERDICT_UNCHANGED);
			last = round == 0 ? id : last;
		}
		ok(db_commit(f->db, &err));
		int64_t found, before = db_steps(f->db);
		struct history p = { .n = 0 };
		assert_int_equal(view_history_last(f->db, 1040, &found, &err), 1);
		assert_int_equal(found, last);
		of.last = found;
		ok(view_history(f->db, &of, 24, see_point, &p, &err));
		assert_int_equal(p.n, 24);
		assert_int_equal(p.newest, last);
		steps[round] = db_steps(f->db) - before;
	}
	assert_int_equal(steps[0], steps[1]);
	assert_int_equal(view_history_last(f->db, 1000, &last, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(comparisons_page_by_page, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(improvements_have_a_best_cell, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_verdict_is_told_by_the_cell_that_it_is_about, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(lists_read_no_cells_where_none_improved, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(filters_combine, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(commits_are_found_by_prefix, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(branches_show_their_latest, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(history_is_newest_first_and_timed_only, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(no_query_reads_a_large_table_whole, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(long_history_comes_from_one_index, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_past_costs_the_same_however_much_came_after, setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
