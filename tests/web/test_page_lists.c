/* Lists of pages: the text of a line in addition to its verdict, and the filters. */
#include "site_fill.h"

#include <math.h>

#define OTHER "attention/dense/full/s8192/hq64/hk8/d128/bf16/forward"

static void expect(struct run *run, const char *target, const char *words, bool wanted)
{
	struct answer a = get(run, target);
	if (a.status != 200 || (strstr(a.body, words) != NULL) != wanted)
		fail_msg("%s: %d, %s: %s in %s", target, a.status, wanted ? "lacks" : "has", words, a.body);
	answer_free(&a);
}

static void add_commit(struct fixture *f, unsigned n, const char *author, const char *subject)
{
	struct store_commit c = { .committed_at = 5000 };
	snprintf(c.sha, sizeof c.sha, "%s", fixture_sha(n));
	snprintf(c.tree, sizeof c.tree, "%s", fixture_sha(n + 0x1000));
	snprintf(c.author, sizeof c.author, "%s", author);
	snprintf(c.subject, sizeof c.subject, "%s", subject);
	ok(store_commit_put(f->db, f->repo, &c, &err));
}

/* After the regression of fill(): an improvement in two of three cells, a failure, and a comparison with a peer. */
static void fill_more(struct run *run)
{
	struct fixture *f = run->f;
	int64_t now = clock_utc_ms();
	fill(run);
	ok(db_begin(f->db, &err));
	add_commit(f, 0xc1, "Kim Osei", "a second tile");
	int64_t better = fixture_comparison(f, "kim/tile", 0xb1, 0xc1, VERDICT_IMPROVEMENT, now);
	fixture_cell(f, better, 0, "one/forward", -0.02, VERDICT_IMPROVEMENT);
	fixture_cell(f, better, 1, "two/forward", -0.05, VERDICT_IMPROVEMENT);
	fixture_cell(f, better, 2, "three/forward", 0.001, VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, better, VERDICT_IMPROVEMENT, &err));
	add_commit(f, 0xc2, "Noor Haddad", "wrong by one");
	int64_t wrong = fixture_comparison(f, "noor/one", 0xb1, 0xc2, VERDICT_FAILED, now);
	struct store_cell cell = { .comparison = wrong, .threshold_pct = 1.5, .m = NAN, .decided_pct = NAN, .change_pct = NAN };
	cell.verdict = VERDICT_FAILED;
	cell.base_median_ms = cell.target_median_ms = cell.ci_low_pct = cell.ci_high_pct = cell.decided_m = cell.decided_se = NAN;
	snprintf(cell.key, sizeof cell.key, "%s", OTHER);
	snprintf(cell.failure, sizeof cell.failure, "wrong");
	snprintf(cell.reason, sizeof cell.reason, "O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)");
	ok(store_cell_insert(f->db, &cell, &err));
	ok(store_comparison_verdict(f->db, wrong, VERDICT_FAILED, &err));
	int64_t beside = fixture_comparison(f, "main", 0xb1, 0xb1, VERDICT_REGRESSION, now);
	fixture_cell(f, beside, 0, "peer/forward", 0.2, VERDICT_REGRESSION);
	ok(store_comparison_verdict(f->db, beside, VERDICT_REGRESSION, &err));
	ok(db_commit(f->db, &err));
	ok(db_script(f->db, "UPDATE comparison SET kind = 'peer' WHERE id = 5; UPDATE job SET kind = 'peer' WHERE id = 5", &err));
	assert_int_equal(beside, 5);
}

static void a_row_has_cell_interval_and_author(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/comparisons", "1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, "/comparisons", "\u22123.34\u00a0\u2026\u00a0\u22122.76", true);
	expect(run, "/comparisons", "<a href=\"/comparisons?author=Kim%20Osei\">Kim Osei</a>", true);
	expect(run, "/comparisons", "<option value=\"all\">all</option>", true);
	/* the cell with the largest gain of an improvement, the reason of a failure */
	expect(run, "/comparisons", "2 of 3: <a href=\"/comparisons/3?open=1#c1\">", true);
	expect(run, "/comparisons", "wrong: O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)", true);
}

static void api_answers_name_the_author(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_begin(run->f->db, &err));
	ok(store_tip_put(run->f->db, run->f->repo, "noor/one", "noor/one", fixture_sha(0xc2), true, 4000, &err));
	ok(db_commit(run->f->db, &err));
	expect(run, "/api/v1/comparisons", "\"subject\":\"a second tile\",\"author\":\"Kim Osei\"", true);
	expect(run, "/api/v1/branches", "\"subject\":\"wrong by one\",\"author\":\"Noor Haddad\"", true);
	expect(run, "/api/v1/alerts", "\"subject\":\"a faster tile\",\"author\":\"Ada\"", true);
	expect(run, "/api/v1/alerts/1", "\"subject\":\"a faster tile\",\"author\":\"Ada\"", true);
	/* an unknown commit has none */
	expect(run, "/api/v1/comparisons", "\"subject\":null,\"author\":null", true);
}

static void the_overview_has_cell_interval_and_author_of_each_branch(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_begin(run->f->db, &err));
	ok(store_tip_put(run->f->db, run->f->repo, "noor/one", "noor/one", fixture_sha(0xc2), true, 4000, &err));
	ok(db_commit(run->f->db, &err));
	expect(run, "/", "1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, "/", "\u22123.34\u00a0\u2026\u00a0\u22122.76", true);
	expect(run, "/", "<a href=\"/comparisons?author=Ada\">Ada</a>", true);
	expect(run, "/", "wrong: O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)", true);
	expect(run, "/repos/kernels", "<a href=\"/comparisons?repo=kernels&amp;since=7d&amp;verdict=regression\">", true);
	/* what failed first, then what is slower; unchanged branches last */
	struct answer a = get(run, "/");
	const char *failed = strstr(a.body, "branch=noor%2Fone\">noor/one"), *slower = strstr(a.body, "\">team/a+b</a>"),
		   *unchanged = strstr(a.body, "<summary>1 unchanged</summary>");
	assert_true(failed && slower && unchanged && failed < slower && slower < unchanged);
	answer_free(&a);
	char commit[96];
	snprintf(commit, sizeof commit, "/commits/%s", fixture_sha(0xc2));
	expect(run, commit, "wrong: O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)", true);
}

static void lists_are_filtered_by_author_and_time(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/comparisons?author=osei", "kim/tile", true); /* a part of the name is sufficient */
	expect(run, "/comparisons?author=osei", "noor/one", false);
	expect(run, "/comparisons?author=nobody", "No such comparison", true);
	expect(run, "/comparisons?since=7d", "kim/tile", true);
	expect(run, "/comparisons?since=7d", "team/a+b", false); /* of 1970 */
	expect(run, "/comparisons?until=1d", "team/a+b", true);
	expect(run, "/comparisons?until=1d", "kim/tile", false);
	expect(run, "/comparisons?since=2026-01-01", "<option value=\"2026-01-01\" selected>", true);
	struct answer a = get(run, "/comparisons?since=lately");
	assert_int_equal(a.status, 400);
	answer_free(&a);
}

static void upkeep_is_separate_from_requested_jobs(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/comparisons", "<a href=\"/comparisons/4\">", true);
	expect(run, "/comparisons", "<a href=\"/comparisons/5\">", false);
	expect(run, "/comparisons?work=upkeep", "<a href=\"/comparisons/5\">", true);
	expect(run, "/comparisons?work=upkeep", "<a href=\"/comparisons/4\">", false);
	expect(run, "/comparisons?work=all", "<a href=\"/comparisons/4\">", true);
	expect(run, "/comparisons?work=all", "<a href=\"/comparisons/5\">", true);
	expect(run, "/jobs", "<a href=\"/jobs/4\">", true);
	expect(run, "/jobs", "<a href=\"/jobs/5\">", false);
	expect(run, "/jobs?work=upkeep", "<a href=\"/jobs/5\">", true);
	expect(run, "/jobs?work=upkeep", "<a href=\"/jobs/4\">", false);
	struct answer a = get(run, "/jobs?work=play");
	assert_int_equal(a.status, 400);
	answer_free(&a);
}

/* Rows that the filter rejects are skipped, so that a page is full and the next begins where it ended. */
static void a_page_of_few_among_many_is_full(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	ok(db_begin(f->db, &err));
	for (unsigned i = 1; i <= 300; i++)
		fixture_comparison(f, "main", 0, i, VERDICT_UNCHANGED, 1000 + i);
	ok(db_commit(f->db, &err));
	ok(db_script(f->db, "UPDATE comparison SET kind = 'calibrate' WHERE id % 2", &err));
	expect(run, "/comparisons", "<a href=\"/comparisons/102\">", true);
	expect(run, "/comparisons", "<a href=\"/comparisons/100\">", false);
	expect(run, "/comparisons", "<a rel=next href=\"/comparisons?cursor=102\">", true);
	expect(run, "/comparisons?cursor=102", "<a href=\"/comparisons/100\">", true);
	expect(run, "/comparisons?cursor=102", "<a href=\"/comparisons/2\">", true);
	expect(run, "/comparisons?cursor=102", "rel=next", false);
}

/* A suite of 300 cells: the overview prints the number of omitted ones, and the heat map omits none. */
static void omitted_cells_are_counted(void **state)
{
	enum { CELLS = 300, SHOWN = 64 };
	struct run *run = *state;
	struct fixture *f = run->f;
	char key[64], more[80];
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "main", 1, 2, VERDICT_UNCHANGED, 1000);
	for (int i = 0; i < CELLS; i++) {
		snprintf(key, sizeof key, "attention/dense/causal/c%03d/forward", i);
		fixture_cell(f, id, i, key, 0.001, VERDICT_UNCHANGED);
	}
	ok(store_comparison_verdict(f->db, id, VERDICT_UNCHANGED, &err));
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/");
	assert_int_equal(count(a.body, "<tr><th scope=row><a href=\"/history?cell="), SHOWN);
	snprintf(more, sizeof more, "<p>%d more cells in <a href=\"/comparisons/%lld\">", CELLS - SHOWN, (long long)id);
	assert_non_null(strstr(a.body, more));
	answer_free(&a);
	a = get(run, "/heat?repo=kernels&branch=main");
	assert_int_equal(count(a.body, "<tr><th scope=row><a href=\"/history?cell="), CELLS);
	answer_free(&a);
}

static void omitted_waiting_jobs_are_counted(void **state)
{
	struct run *run = *state;
	ok(db_begin(run->f->db, &err));
	for (unsigned i = 0; i < 101; i++)
		fixture_job(run->f, "main", 0x100 + i, 0x101 + i, 1000 + i);
	ok(db_commit(run->f->db, &err));
	expect(run, "/jobs", "<p>The first 100; more are queued.</p>", true);
}

static void a_heat_map_names_its_pushes(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/heat?branch=team/a%252Bb", "a faster tile", true);
	expect(run, "/heat?branch=kim/tile", "a second tile", true);
}

/* ---- charts over time --------------------------------------------------------------------------------------------------- */

/* Five pushes of main an hour apart, the last one a minute ago; then one of kim/tile that is a tenth slower. Of two cells. */
static int64_t fill_past(struct run *run)
{
	struct fixture *f = run->f;
	int64_t now = clock_utc_ms(), id = 0;
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < 6; i++) {
		enum verdict verdict = i == 5 ? VERDICT_REGRESSION : VERDICT_UNCHANGED;
		id = fixture_comparison(
			f, i == 5 ? "kim/tile" : "main", 0xd0 + i, 0xd1 + i, verdict, now - (5 - i) * INT64_C(3600000) - 60000);
		fixture_cell(f, id, 0, CELL, i == 5 ? 0.1 : 0.001, verdict);
		fixture_cell(f, id, 1, OTHER, i == 5 ? 0.05 : 0.001, verdict);
		ok(store_comparison_verdict(f->db, id, verdict, &err));
	}
	struct store_alert alert = { .repo = f->repo,
		.branch = "kim/tile",
		.comparison = id,
		.cells_json = "[{\"cell\":\"" OTHER "\",\"change_pct\":-4.9},{\"cell\":\"" CELL "\",\"change_pct\":-9.5}]",
		.worst_pct = -9.5 };
	bool is_new;
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(0xd6));
	ok(store_alert_open(f->db, &alert, now, &is_new, &err));
	ok(db_commit(f->db, &err));
	return alert.id;
}

#define HISTORY "/history?repo=kernels&cell=" CELL

static void a_history_holds_several_cells_and_branches(void **state)
{
	struct run *run = *state;
	fill_past(run);
	struct answer a = get(run, HISTORY "&branch=main&overlay=kim/tile&overlay=&also=" OTHER "&also=");
	assert_int_equal(a.status, 200);
	assert_int_equal(count(a.body, "class=chart-key"), 3);
	assert_non_null(strstr(a.body, OTHER ", main"));
	assert_non_null(strstr(a.body, "kim/tile</span>"));
	assert_int_equal(count(a.body, "class=\"line l2\""), 2); /* the key's and the chart's */
	assert_int_equal(count(a.body, "<a href=\"/comparisons/6\"><path class=\"loss\""), 1);
	answer_free(&a);
	a = get(run,
		HISTORY "&branch=main&overlay=kim/tile"); /* the branch leaves from its base, and its pushes are in the table */
	assert_int_equal(count(a.body, "class=\"leave\""), 1);
	assert_int_equal(count(a.body, "class=tip>"), 6);
	assert_int_equal(count(a.body, "<td><a href=\"/comparisons/"), 6);
	assert_non_null(strstr(a.body, "<tr><th scope=colgroup colspan=5>kim/tile</th></tr>"));
	assert_non_null(strstr(a.body, ": main 5 points, no regression; kim/tile 1 point, 1 regression</figcaption>"));
	answer_free(&a);
	a = get(run, HISTORY "&branch=kim/tile");
	assert_non_null(strstr(a.body, "<h1>causal, 8192 forward on kim/tile: "));
	assert_null(strstr(a.body, "this cell ")); /* it is the worst one */
	answer_free(&a);
	a = get(run, "/history?repo=kernels&cell=" OTHER "&branch=kim/tile"); /* its own change is before the worst one's */
	assert_non_null(strstr(a.body, "; worst of 2 of 2: <a"));
	assert_non_null(strstr(a.body, "this cell <b><span aria-hidden=true>\u25bc</span>\u00a0\u2212"));
	answer_free(&a);
	a = get(run, HISTORY "&branch=main");
	assert_non_null(strstr(a.body, "<h1>causal, 8192 forward on main: 643 TFLOP/s, flat for 5 pushes</h1>"));
	assert_int_equal(count(a.body, "class=\"within\""), 1);
	assert_int_equal(count(a.body, "class=\"leave\""), 0);
	assert_non_null(strstr(a.body, "aria-current=true>main</a>"));
	assert_non_null(strstr(a.body, "<details><summary>Compare with</summary>"));
	assert_non_null(strstr(a.body, ">Compare with cell <"));
	assert_non_null(strstr(a.body, ">Compare with branch <"));
	assert_int_equal(count(a.body, "class=chart-key"), 0); /* one line needs no key */
	assert_int_equal(count(a.body, "class=\"dot d0\""), 5);
	assert_non_null(strstr(a.body, ": 5 points, no regression; first"));
	assert_non_null(strstr(a.body, "the axis does not start at 0"));
	answer_free(&a);
	a = get(run, HISTORY "&branch=main&metric=change"); /* its axis contains 0 */
	assert_null(strstr(a.body, "start at 0"));
	answer_free(&a);
	a = get(run, HISTORY "&branch=main&overlay=a&overlay=b&overlay=c&overlay=d&overlay=e&overlay=f&also=g");
	assert_non_null(strstr(a.body, "A chart shows 6 lines; 2 more were requested."));
	answer_free(&a);
}

static void the_address_of_a_history_has_its_period(void **state)
{
	struct run *run = *state;
	fill_past(run);
	struct answer a = get(run, HISTORY "&branch=main&since=150m");
	assert_int_equal(count(a.body, "class=\"dot d0\""), 2);
	assert_null(strstr(a.body, "data-from=0"));
	assert_non_null(strstr(a.body, "aria-current=true>150m</a>"));
	answer_free(&a);
	a = get(run, HISTORY "&branch=main&until=150m");
	assert_int_equal(count(a.body, "class=\"dot d0\""), 3);
	answer_free(&a);
	a = get(run, HISTORY "&since=often");
	assert_int_equal(a.status, 400);
	answer_free(&a);
}

static void an_alert_shows_its_cells_with_interval_and_history(void **state)
{
	struct run *run = *state;
	char target[32];
	snprintf(target, sizeof target, "/alerts/%lld", (long long)fill_past(run));
	struct answer a = get(run, target);
	assert_int_equal(a.status, 200);
	/* the chart is of the worst cell: main, and the branch over it */
	assert_non_null(strstr(a.body, CELL ": main 5 points, no regression; "));
	assert_non_null(strstr(a.body, " 1 point, 1 regression<")); /* the triangle is drawn, and counted */
	assert_int_equal(count(a.body, "class=\"dot d0\""), 5);
	assert_int_equal(count(a.body, "class=\"loss\""), 1);
	const char *table = strstr(a.body, "<h3>2 cells</h3>");
	assert_non_null(table);
	const char *worst = strstr(table, "causal%2F"), *other = strstr(table, "full%2F");
	assert_true(worst && other && worst < other); /* whatever their order in the alert */
	assert_int_equal(count(table, ">causal<span class=\"dim w\">, 8192</span> forward</a>"), 2); /* named by what they are */
	assert_int_equal(count(table, "over 6 pushes, the last 1 of this branch"), 2);
	assert_int_equal(count(table, "strip scaled"), 2);
	assert_non_null(strstr(table, "\u22129.79\u00a0\u2026\u00a0\u22129.24"));
	assert_non_null(strstr(a.body, "<b>What to do:</b> push a fix, or give an answer"));
	answer_free(&a);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'resolved'", &err));
	a = get(run, target);
	assert_null(strstr(a.body, "What to do:"));
	ok(db_script(run->f->db, "UPDATE alert SET state = 'open'", &err));
	answer_free(&a);
	a = get(run, "/alerts");
	assert_int_equal(count(a.body, "over 6 pushes, the last 1 of this branch"), 1);
	answer_free(&a);
}

/* Removed cells of a sharded suite. */
static void an_alert_of_a_thousand_cells_is_a_short_page(void **state)
{
	enum { CELLS = 1000 };
	struct run *run = *state;
	struct buf cells;
	char target[32];
	int64_t id = fill_past(run);
	buf_init(&cells, 1 << 20);
	for (int i = 0; i < CELLS; i++)
		buf_printf(&cells, "%s{\"cell\":\"linear/%d/forward\",\"change_pct\":%.2f}", i ? "," : "[", i, -2 - 0.01 * i);
	buf_puts(&cells, "]");
	struct stmt *s = db_stmt(run->f->db, "UPDATE alert SET cells = :cells", &err);
	ok(db_begin(run->f->db, &err));
	stmt_text(s, ":cells", cells.data);
	ok(stmt_run(s, &err));
	ok(db_commit(run->f->db, &err));
	buf_fini(&cells);
	snprintf(target, sizeof target, "/alerts/%lld", (long long)id);
	struct answer a = get(run, target);
	assert_non_null(strstr(a.body, "<h3>1000 cells</h3>"));
	assert_int_equal(count(a.body, "<th scope=row class=wrap>"), 200);
	assert_non_null(strstr(a.body, "linear/999/forward"));
	assert_null(strstr(a.body, "linear/0/forward"));
	assert_non_null(strstr(a.body, "The worst 200; 800 more are in <a href=\"/api/v1/alerts/"));
	assert_true(strlen(a.body) < 256 << 10);
	answer_free(&a);
	a = get(run, "/alerts");
	assert_non_null(strstr(a.body, "1000 cells</summary>"));
	assert_non_null(strstr(a.body, ">960 more</a>"));
	assert_true(strlen(a.body) < 64 << 10);
	answer_free(&a);
}

/* Only jobs that ended in the last day, running and waiting ones; each device has a separate lane. */
static void the_queue_is_a_timeline(void **state)
{
	struct run *run = *state;
	char text[512];
	fill_past(run);
	long long now = clock_utc_ms();
	ok(db_begin(run->f->db, &err));
	int64_t waiting = fixture_job(run->f, "main", 0xe0, 0xe1, now), running = fixture_job(run->f, "main", 0xe1, 0xe2, now);
	ok(db_commit(run->f->db, &err));
	snprintf(text, sizeof text,
		"UPDATE job SET device = (SELECT max(id) FROM device), started_at = ended_at - 60000 WHERE state = 'done';"
		"UPDATE job SET ended_at = ended_at - 172800000, started_at = started_at - 172800000 WHERE id = 1;"
		"UPDATE job SET state = 'measuring', device = (SELECT max(id) FROM device), started_at = %lld WHERE id = %lld",
		now - 20000, (long long)running);
	ok(db_script(run->f->db, text, &err));
	struct answer a = get(run, "/jobs");
	const char *picture = strstr(a.body, "class=\"chart timeline\"");
	assert_non_null(picture);
	*strstr(picture, "</svg>") = '\0';
	assert_int_equal(count(picture, "<rect"), 5 + 1 + 1);
	assert_null(strstr(picture, "\"/jobs/1\""));
	assert_int_equal(count(picture, "<rect class=bad"), 1);
	assert_int_equal(count(picture, "<rect class=now"), 1);
	snprintf(text, sizeof text, "<a href=\"/jobs/%lld\"><rect class=next", (long long)waiting);
	assert_non_null(strstr(picture, text));
	answer_free(&a);
}

static int n_down;
static void workers_down(const struct control *c, worker_status_fn *each, void *to)
{
	(void)c;
	for (int i = 0; i < n_down; i++)
		each(to, &(struct worker_status){ .name = "cluster",
				 .state = "pending",
				 .aim = "",
				 .why = "Resources",
				 .allocation = "",
				 .version = "",
				 .device = "" });
}

static int64_t unschedulable;
static int one_lacks(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *e)
{
	(void)c, (void)e;
	if (unschedulable && (!job || job == unschedulable))
		each(to, unschedulable, "waits for a card that nobody has");
	return 0;
}

/* Draw every page: the daemon of these tests changes its answers without a row or a worker that the cache could see. */
static void draw_always(struct run *run)
{
	page_cache_free(run->site.pages);
	run->site.pages = NULL;
}

/* The column with the expected start of a waiting job. */
static void expect_start(const char *body, int64_t job, const char *wanted)
{
	char text[64];
	snprintf(text, sizeof text, "scope=row><a href=\"/jobs/%lld\"", (long long)job);
	const char *row = strstr(body, text), *end = row ? strstr(row, "</tr>") : NULL,
		   *cell = row ? strstr(row, "<td class=n>") : NULL;
	if (!cell || cell > end || strncmp(cell + strlen("<td class=n>"), wanted, strlen(wanted)) != 0)
		fail_msg("job %lld: %.*s instead of %s", (long long)job, row ? (int)(end - row) : 0, row ? row : "", wanted);
}

/* One device, with a job that usually takes a minute and has run for half an hour. */
static void a_job_after_an_overdue_one_has_no_forecast(void **state)
{
	struct run *run = *state;
	char text[512];
	int64_t job[2], now = clock_utc_ms();
	fill_past(run);
	ok(db_begin(run->f->db, &err));
	for (int i = 0; i < 2; i++)
		job[i] = fixture_job(run->f, "main", 0xe0 + (unsigned)i, 0xe1 + (unsigned)i, now + i);
	ok(db_commit(run->f->db, &err));
	snprintf(text, sizeof text,
		"UPDATE job SET device = (SELECT min(id) FROM device), started_at = ended_at - 60000 WHERE state = 'done';"
		"UPDATE job SET state = 'measuring', device = (SELECT min(id) FROM device), started_at = %lld WHERE id = %lld",
		(long long)now - 1800000, (long long)job[0]);
	ok(db_script(run->f->db, text, &err));
	struct answer a = get(run, "/jobs");
	expect_start(a.body, job[1], "<span class=words>next; the running job is late</span>");
	answer_free(&a);
}

/* Two devices: a job that takes a minute is 20 s old on one, the other is idle. */
static void a_waiting_job_is_forecast_on_the_first_free_device(void **state)
{
	struct run *run = *state;
	struct msg_device d = fixture_device();
	struct site_actions with_workers = *run->site.act;
	char text[512];
	int64_t other, job[5], now = clock_utc_ms();
	draw_always(run);
	fill_past(run);
	ok(db_begin(run->f->db, &err));
	snprintf(d.uuid, sizeof d.uuid, "sim-other");
	ok(store_device_put(run->f->db, &d, now, &other, &err));
	for (int i = 0; i < 5; i++)
		job[i] = fixture_job(run->f, "main", 0xe0 + (unsigned)i, 0xe1 + (unsigned)i, now + i);
	ok(db_commit(run->f->db, &err));
	snprintf(text, sizeof text,
		"UPDATE job SET device = (SELECT min(id) FROM device), started_at = ended_at - 60000 WHERE state = 'done';"
		"UPDATE job SET state = 'measuring', device = (SELECT min(id) FROM device), started_at = %lld WHERE id = %lld",
		(long long)now - 20000, (long long)job[0]);
	ok(db_script(run->f->db, text, &err));
	with_workers.workers = workers_down;
	with_workers.unschedulable = one_lacks;
	run->site.act = &with_workers;
	n_down = 0;
	struct answer a = get(run, "/jobs");
	expect_start(a.body, job[1], "next");
	assert_int_equal(count(a.body, "<td class=n>about "), 3);
	assert_int_equal(count(a.body, "<td class=n>about 1\u00a0min "), 2); /* a minute after each of the first two */
	assert_int_equal(count(a.body, "<td class=n>about 1\u00a0min 0"), 1);
	assert_int_equal(count(a.body, "<rect class=next"), 4);
	assert_int_equal(count(a.body, "<path class=grid"), 2); /* each on the lane of its device */
	answer_free(&a);
	/* an unschedulable job occupies no device, neither in the table nor in the chart */
	unschedulable = job[1];
	a = get(run, "/jobs");
	expect_start(a.body, job[1], "\u2013");
	assert_int_equal(count(a.body, "<td class=n>about "), 2);
	assert_int_equal(count(a.body, "<td class=n>next"), 1);
	assert_int_equal(count(a.body, "<rect class=next"), 3);
	answer_free(&a);
	unschedulable = 0;
	/* the worker of the idle device is down: only the busy one is used for estimates */
	n_down = 1;
	a = get(run, "/jobs");
	assert_int_equal(count(a.body, "<td class=n>about 1\u00a0min "), 1);
	assert_int_equal(count(a.body, "<td class=n>about 2\u00a0min "), 1);
	answer_free(&a);
	/* nor is a device whose job has an unknown end */
	ok(db_script(run->f->db, "UPDATE job SET quick = 1 WHERE state = 'measuring'", &err));
	a = get(run, "/jobs");
	expect_start(a.body, job[1], "\u2013");
	answer_free(&a);
}

/* Running jobs are listed before all waiting ones. */
static void many_waiting_jobs_do_not_hide_running_ones(void **state)
{
	struct run *run = *state;
	char text[256];
	long long now = clock_utc_ms();
	fill_past(run);
	ok(db_begin(run->f->db, &err));
	long long running = (long long)fixture_job(run->f, "main", 0xe0, 0xe1, now - 30000);
	snprintf(text, sizeof text,
		"UPDATE job SET state = 'measuring', device = (SELECT max(id) FROM device), started_at = %lld WHERE id = %lld",
		now - 20000, running);
	ok(db_script(run->f->db, text, &err));
	for (int i = 0; i < 400; i++)
		fixture_job(run->f, "topic", 0xe0, 0xe2, now);
	ok(db_commit(run->f->db, &err));
	struct answer a = get(run, "/jobs");
	assert_null(strstr(a.body, "No running job."));
	snprintf(text, sizeof text, "<h3><a href=\"/jobs/%lld\">J%lld</a>", running, running);
	assert_non_null(strstr(a.body, text));
	assert_int_equal(count(a.body, "<rect class=now"), 1);
	answer_free(&a);
}

static void each_of_twenty_devices_has_its_lane(void **state)
{
	struct run *run = *state;
	struct msg_device d = fixture_device();
	int64_t id, now = clock_utc_ms();
	char text[256];
	ok(db_begin(run->f->db, &err));
	for (int i = 0; i < 20; i++) {
		snprintf(d.uuid, sizeof d.uuid, "sim-%d", i);
		snprintf(d.name, sizeof d.name, "card number %d.", i);
		ok(store_device_put(run->f->db, &d, now, &id, &err));
		snprintf(text, sizeof text,
			"UPDATE job SET state = 'measuring', device = %lld, started_at = %lld WHERE id = %lld", (long long)id,
			(long long)now - 20000, (long long)fixture_job(run->f, "main", 0xe0, 0xe1, now - 30000));
		ok(db_script(run->f->db, text, &err));
	}
	ok(db_commit(run->f->db, &err));
	struct answer a = get(run, "/jobs");
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof text, ">card number %d.</text>", i);
		assert_non_null(strstr(a.body, text));
	}
	answer_free(&a);
}

static void a_queue_without_devices_is_no_picture(void **state)
{
	struct run *run = *state;
	expect(run, "/jobs", "timeline", false);
}

/* ---- jobs that no worker has a device for ------------------------------------------------------------------------------ */

static int requested;

/* Every other job of 60 has no worker. */
static int half_unschedulable(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *e)
{
	(void)c, (void)e;
	requested++;
	for (int64_t id = 2; id <= 60; id += 2) {
		char why[64];
		snprintf(why, sizeof why, "waits for card %lld, which nobody has", (long long)id);
		if (!job || job == id)
			each(to, id, why);
	}
	return 0;
}

static int nobody_knows(const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *e)
{
	(void)c, (void)job, (void)each, (void)to;
	requested++;
	return err_set(e, ERR_IO, "the disk is gone");
}

static void expect_lacks(struct run *run, const char *target, int n_requested, int n)
{
	requested = 0;
	struct answer a = get(run, target);
	if (a.status != 200 || requested != n_requested || count(a.body, "which nobody has") != n)
		fail_msg("%s: %d, asked %d times: %s", target, a.status, requested, a.body);
	answer_free(&a);
}

static void unschedulable_jobs_of_a_list_are_queried_once(void **state)
{
	struct run *run = *state;
	struct site_actions act = actions;
	run->site.act = &act;
	draw_always(run);
	act.unschedulable = half_unschedulable;
	ok(db_begin(run->f->db, &err));
	for (unsigned i = 0; i < 60; i++)
		fixture_job(run->f, "main", 1, 1000 + i, 1000);
	ok(db_commit(run->f->db, &err));
	expect_lacks(run, "/api/v1/jobs?state=queued&limit=60", 1, 30);
	expect_lacks(run, "/api/v1/jobs?state=done", 0, 0); /* without a queued job no worker is checked */
	expect_lacks(run, "/jobs", 1, 30);
	expect_lacks(run, "/jobs?state=queued", 0, 0);
	expect_lacks(run, "/api/v1/jobs/2", 1, 1);
	expect_lacks(run, "/jobs/2", 1, 1);
	expect_lacks(run, "/jobs/3", 1, 0);
	json_t *list = get_json(run, "/api/v1/jobs?limit=60"), *item;
	size_t i;
	json_array_foreach(json_object_get(list, "items"), i, item) /* each one has its own reason */
	{
		char why[64] = "-";
		if (int_at(item, "id") % 2 == 0)
			snprintf(why, sizeof why, "waits for card %lld, which nobody has", (long long)int_at(item, "id"));
		assert_string_equal(or_dash(text_at(item, "no_device")), why);
	}
	assert_int_equal(i, 60);
	json_decref(list);
	act.unschedulable = nobody_knows; /* the list is shown without it */
	expect_lacks(run, "/api/v1/jobs?limit=60", 1, 0);
	expect_lacks(run, "/jobs", 1, 0);
	run->site.act = &actions;
}

/* ---- the finding at the top of other pages ------------------------------------------------------------------------------- */

/* A comparison of fill_more() for each verdict: the title, why, and what to do. */
static void a_job_begins_with_its_finding(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/jobs/2", "<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", true);
	expect(run, "/jobs/2", "1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, "/jobs/2", "What to do: push a fix, or answer <a href=\"/alerts/1\">A1</a>", true);
	expect(run, "/jobs/2", "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, "/jobs/3", "<h1>kim/tile is up to 5.1 % faster in 2 of 3 cells</h1>", true);
	expect(run, "/jobs/3", "What to do: nothing to fix here</span>", true);
	expect(run, "/jobs/4", "<h1>noor/one failed in 1 of 1 cell: wrong results</h1>", true);
	expect(run, "/jobs/4", "Why: wrong: O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)", true);
	expect(run, "/jobs/4", "What to do: fix the cause and push again; <a href=\"/jobs/4\">J4</a> has the log", true);
	expect(run, "/jobs/5", "What to do: nothing, this result is for information", true); /* slower than a peer */
	expect(run, "/jobs/5", "Answer A", false);
	/* a failure that no push mends: of a peer, and of a calibration */
	ok(db_script(run->f->db,
		"UPDATE comparison SET verdict = 'failed' WHERE id = 5; UPDATE cell SET verdict = 'failed' WHERE comparison = 5",
		&err));
	expect(run, "/jobs/5", "What to do: nothing; measure <a href=\"/jobs/5\">J5</a> again if its result is needed", true);
	ok(db_script(run->f->db, "UPDATE comparison SET kind = 'calibrate', verdict = 'regression' WHERE id = 5", &err));
	expect(run, "/jobs/5", "What to do: nothing; measure <a href=\"/jobs/5\">J5</a> again if its result is needed", true);
	ok(db_script(run->f->db, "UPDATE comparison SET kind = 'selfcheck' WHERE id = 5", &err));
	expect(run, "/jobs/5", "What to do: nothing; measure <a href=\"/jobs/5\">J5</a> again if its result is needed", true);
	ok(db_script(
		run->f->db, "UPDATE comparison SET kind = 'compare' WHERE id = 5; UPDATE job SET quick = 1 WHERE id = 5", &err));
	expect(run, "/jobs/5", "What to do: a quick comparison does not confirm a regression: compare again", true);
	ok(db_script(run->f->db, "UPDATE comparison SET verdict = 'rejected' WHERE id = 4", &err));
	expect(run, "/jobs/4", "push again, or measure <a href=\"/jobs/4\">J4</a> again if the device caused it", true);
	ok(db_script(run->f->db, "UPDATE comparison SET verdict = 'not_comparable' WHERE id = 4", &err));
	expect(run, "/jobs/4", "What to do: see the reason in the row of each cell; if the base is broken, compare", true);
	ok(db_script(run->f->db, "UPDATE job SET quick = 1 WHERE id = 3", &err));
	expect(run, "/jobs/3", "<h1>kim/tile is up to 5.1 % faster in 2 of 3 cells (quick comparison, not confirmed)</h1>", true);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'accepted' WHERE id = 1", &err));
	expect(run, "/jobs/2", "<h1>team/a+b is 3.1 % slower in 1 of 1 cell (accepted)</h1>", true);
	expect(run, "/jobs/2", "What to do: nothing, <a href=\"/alerts/1\">A1</a> is accepted", true);
	expect(run, "/jobs/2", "Answer A1", false);
}

static void a_job_without_a_result_has_its_reason(void **state)
{
	struct run *run = *state;
	int64_t now = clock_utc_ms();
	ok(db_begin(run->f->db, &err));
	for (unsigned i = 0; i < 3; i++)
		fixture_job(run->f, "ada/tiles", 0xe0, 0xe1 + i, now);
	ok(db_commit(run->f->db, &err));
	ok(db_script(run->f->db,
		"UPDATE job SET state = 'failed', state_why = 'the disk is full', ended_at = 9000 WHERE id = 1;"
		"UPDATE job SET state = 'superseded', state_why = 'superseded by J3', ended_at = 9000 WHERE id = 2",
		&err));
	expect(run, "/jobs/1", "<h1>ada/tiles was not measured: the disk is full</h1>", true);
	expect(run, "/jobs/1", "Why: the disk is full</span>", true);
	expect(run, "/jobs/1", "What to do: fix the cause and push again; <a href=\"/jobs/1\">J1</a> has the log", true);
	expect(run, "/jobs/1", "<h2>Log</h2>", false); /* it has none */
	expect(run, "/jobs/2", "What to do: nothing, <a href=\"/branches?repo=kernels&amp;branch=ada%2Ftiles\">the branch</a>",
		true);
	expect(run, "/jobs/3", "<h1>ada/tiles waits to be measured</h1>", true);
	expect(run, "/jobs/3", "Empty: the worker has not reported a line yet.", true);
	/* its reason is all there is to say of a cancelled job; no push helps a job of the daemon */
	ok(db_script(run->f->db,
		"UPDATE job SET state = 'cancelled', state_why = 'cancelled by ada', ended_at = 9000 WHERE id = 3;"
		"UPDATE job SET kind = 'backfill' WHERE id = 1",
		&err));
	expect(run, "/jobs/3", "Why: cancelled by ada</span>", true);
	expect(run, "/jobs/3", "What to do", false);
	expect(run, "/jobs/1", "What to do: nothing; measure <a href=\"/jobs/1\">J1</a> again if its result is needed", true);
}

static void a_history_begins_with_its_newest_step(void **state)
{
	static const char drop[] = "<h1>causal, 8192 forward on kim/tile: ";
	struct run *run = *state;
	fill_past(run);
	ok(db_script(run->f->db, "UPDATE alert SET grouped = '[{\"phase\":\"run\",\"kernel\":\"wide\"}]'", &err));
	/* the line that drops, whether it is the first one */
	expect(run, HISTORY "&branch=kim/tile", drop, true);
	expect(run, HISTORY "&branch=main&overlay=kim/tile", drop, true);
	expect(run, HISTORY "&branch=main&overlay=kim/tile", ", 9.5 % slower at 00000", true);
	expect(run, HISTORY "&branch=main&overlay=kim/tile", "2 of 2: <a href=\"/comparisons/6?open=0#c0\">causal", true);
	expect(run, HISTORY "&branch=main&overlay=kim/tile", "Why: cause unknown; slower: phase run, kernel wide</span>", true);
	expect(run, HISTORY "&branch=main&overlay=kim/tile", "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, HISTORY, ", the newest of 6 pushes; kim/tile is 9.5 % slower at 00000", true);
	/* the name is that of the dropping line's cell */
	expect(run, "/history?repo=kernels&branch=main&cell=" CELL "&also=" OTHER, "<h1>causal, 8192 forward on main: ", true);
	ok(db_script(run->f->db, "UPDATE cell SET verdict = 'unchanged' WHERE comparison = 6", &err));
	expect(run, HISTORY "&branch=main&overlay=kim/tile", "<h1>causal, 8192 forward on main: 643 TFLOP/s, flat", true);
	expect(run, HISTORY "&branch=main&overlay=kim/tile", "Answer A1", false);
}

static void an_undecided_job_has_the_advice_to_retry(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_script(run->f->db,
		"UPDATE comparison SET verdict = 'undecided' WHERE id = 3; UPDATE cell SET verdict = 'undecided' WHERE comparison = 3",
		&err));
	expect(run, "/jobs/3", "<h1>kim/tile is undecided in 3 of 3 cells</h1>", true);
	expect(run, "/jobs/3", "What to do: measure <a href=\"/jobs/3\">J3</a> again; an opened cell shows", true);
	expect(run, "/jobs/3", "Why: ", true);
	expect(run, "/comparisons", ">Measure again: J3</a>", true);
}

/* Queue a job with the same target and another or the same base. */
static int64_t queue(struct run *run, unsigned base)
{
	ok(db_begin(run->f->db, &err));
	int64_t job = fixture_job(run->f, "kim/tile", base, 0xc1, clock_utc_ms());
	ok(db_commit(run->f->db, &err));
	return job;
}

static void a_queued_measurement_is_not_requested_again(void **state)
{
	struct run *run = *state;
	char queued[96], running[128], text[128];
	fill_more(run);
	ok(db_script(run->f->db,
		"UPDATE comparison SET verdict = 'undecided' WHERE id = 3; UPDATE cell SET verdict = 'undecided' WHERE comparison = 3",
		&err));
	ok(body_store(run->f->db, 3, &err));
	(void)queue(run, 0xb0); /* against another base */
	expect(run, "/comparisons/3", "action=\"/api/v1/jobs/3/retry\"", true);
	expect(run, "/jobs/3", "action=\"/api/v1/jobs/3/retry\"", true);
	long long job = (long long)queue(run, 0xb1);
	snprintf(queued, sizeof queued, "queued as <a href=\"/jobs/%lld\">J%lld</a>", job, job);
	expect(run, "/comparisons", queued, true);
	for (const char *const *page = (const char *const[]){ "/comparisons/3", "/jobs/3", NULL }; *page; page++) {
		expect(run, *page, "/retry\"", false);
		expect(run, *page, queued, true);
		expect(run, *page, "wait for the next result: queued as ", true);
	}
	snprintf(text, sizeof text, "UPDATE job SET state = 'checking' WHERE id = %lld", job);
	ok(db_script(run->f->db, text, &err));
	snprintf(running, sizeof running, "measured again as <a href=\"/jobs/%lld\">J%lld</a> (checking)", job, job);
	expect(run, "/comparisons/3", running, true);
	static const char *const others[][2] = { { "shard = 2", "shard = 0" }, { "device_uuid = 'cpu-9'", "device_uuid = ''" },
		{ "some_cells = 1", "some_cells = 0" } }; /* another shard, another device, some of the cells */
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		snprintf(text, sizeof text, "UPDATE job SET %s WHERE id = %lld", others[i][0], job);
		ok(db_script(run->f->db, text, &err));
		expect(run, "/comparisons/3", running, false);
		snprintf(text, sizeof text, "UPDATE job SET %s WHERE id = %lld", others[i][1], job);
		ok(db_script(run->f->db, text, &err));
		expect(run, "/comparisons/3", running, true);
	}
	snprintf(text, sizeof text, "UPDATE job SET state = 'done' WHERE id = %lld", job);
	ok(db_script(run->f->db, text, &err));
	expect(run, "/comparisons/3", "action=\"/api/v1/jobs/3/retry\"", true);
}

/* The heading of a branch's page has the finding; home has a bar for each alert. */
static void a_bar_does_not_repeat_the_heading(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/", "<b>team/a+b is 3.1 % slower in 1 of 1 cell</b>", true);
	expect(run, "/branches?repo=kernels&branch=team%2Fa%252Bb", "<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", true);
	expect(run, "/branches?repo=kernels&branch=team%2Fa%252Bb", "<b>team/a+b is 3.1 %", false);
	expect(run, "/branches?repo=kernels&branch=team%2Fa%252Bb", "Answer A1</a></li>", true);
}

static void a_commit_begins_with_its_finding(void **state)
{
	struct run *run = *state;
	char commit[96];
	fill_more(run);
	snprintf(commit, sizeof commit, "/commits/%s", fixture_sha(0xb2));
	expect(run, commit, "<h1>0000000000 of team/a+b is 3.1 % slower in 1 of 1 cell</h1>", true);
	expect(run, commit, "1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, commit, "</a> a faster tile</span><span class=why>Why: ", true);
	expect(run, commit, "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, commit, "<a class=button href=\"/comparisons/2\">Open C2</a>", true);
	expect(run, commit, "<h2>Verdict</h2>", false); /* its only suite is all above */
	snprintf(commit, sizeof commit, "/commits/%s", fixture_sha(0xc2));
	expect(run, commit, "<h1>0000000000 of noor/one failed in 1 of 1 cell: wrong results</h1>", true);
	expect(run, commit, "What to do: fix the cause and push again; <a href=\"/jobs/4\">J4</a> has the log", true);
}

/* An alert of a push that is not slower than its base, as drift opens it, is still to be answered. */
static void an_alert_of_an_unchanged_push_is_the_next_step(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_script(run->f->db,
		"UPDATE comparison SET verdict = 'unchanged' WHERE id = 2; UPDATE alert SET kind = 'drift' WHERE id = 1", &err));
	expect(run, "/jobs/2", "<h1>team/a+b is unchanged in 1 of 1 cell</h1>", true);
	expect(run, "/jobs/2", "What to do: push a fix, or answer <a href=\"/alerts/1\">A1</a>", true);
	/* one of a failure, whose cause is the failure */
	ok(db_script(run->f->db, "UPDATE alert SET target_sha = (SELECT target_sha FROM comparison WHERE id = 4)", &err));
	expect(run, "/jobs/4", "Why: wrong: O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)", true);
	expect(run, "/jobs/4", "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
}

/* An alert of an environment belongs to the comparison that measured it, not to the pushes of its commit. */
static void an_alert_of_an_environment_is_answered_at_its_comparison(void **state)
{
	static const char step[] = "What to do: push a fix, or answer <a href=\"/alerts/1\">A1</a>";
	struct run *run = *state;
	char script[512];
	fill_more(run);
	snprintf(script, sizeof script,
		"UPDATE comparison SET kind = 'environment' WHERE id = 5; UPDATE job SET kind = 'environment' WHERE id = 5;"
		"UPDATE alert SET kind = 'environment', target_sha = '%s', cells = '[{\"cell\":\"peer\",\"comparison\":5}]'",
		fixture_sha(0xb1));
	ok(db_script(run->f->db, script, &err));
	expect(run, "/jobs/5", step, true);
	expect(run, "/jobs/5", "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, "/jobs?work=all", "<a href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, "/jobs/1", step, false); /* a push of that commit */
	expect(run, "/jobs/1", "Answer A1", false);
}

static void an_open_alert_comes_before_a_newer_answered_one(void **state)
{
	struct run *run = *state;
	char commit[96];
	bool is_new;
	struct store_alert alert = { .repo = run->f->repo, .branch = "team/a%2Bb", .kind = ALERTKIND_DRIFT, .cells_json = "[]" };
	fill_more(run);
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(0xb2));
	snprintf(commit, sizeof commit, "/commits/%s", fixture_sha(0xb2));
	ok(db_begin(run->f->db, &err));
	ok(store_alert_open(run->f->db, &alert, 8000, &is_new, &err));
	ok(db_commit(run->f->db, &err));
	assert_int_equal(alert.id, 2);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'accepted' WHERE id = 2", &err));
	expect(run, "/jobs/2", "What to do: push a fix, or answer <a href=\"/alerts/1\">A1</a>", true);
	expect(run, "/comparisons/2", "</b> push a fix, or answer <a href=\"/alerts/1\">A1</a>", true);
	expect(run, commit, "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
	ok(db_script(run->f->db, "UPDATE alert SET state = iif(id = 1, 'accepted', 'open')", &err));
	expect(run, commit, "<a class=button href=\"/alerts/2#answer\">Answer A2</a>", true);
}

static void a_heat_map_begins_with_its_newest_step(void **state)
{
	struct run *run = *state;
	fill_past(run);
	expect(run, "/heat?branch=kim/tile", "<h1>0000000000 of kim/tile is up to 9.5 % slower in 2 of 2 cells</h1>", true);
	expect(run, "/heat?branch=kim/tile", "<a class=button href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, "/heat?branch=kim/tile", "<caption>Change against the base, in %; newest push right</caption>", true);
	expect(run, "/heat?branch=main", "<h1>main: no change in 5 pushes</h1>", true);
	expect(run, "/heat?branch=main", "<a class=button href=\"/comparisons/", false);
	expect(run, "/heat?branch=main", "What to do: nothing", true);
	ok(db_script(run->f->db, "UPDATE alert SET branch = 'main'", &err)); /* of an older push */
	expect(run, "/heat?branch=main", "<h1>main is up to 9.5 % slower in 2 of 2 cells</h1>", true);
	expect(run, "/heat?branch=main", "What to do: nothing", false);
	ok(db_script(run->f->db,
		"UPDATE comparison SET verdict = 'improvement' WHERE id = 3;"
		"UPDATE cell SET verdict = 'improvement' WHERE comparison = 3 AND n = 1",
		&err));
	expect(run, "/heat?branch=main", " in 1 of 2 cells; no change in the 2 pushes since</h1>", true);
	expect(run, "/heat?branch=main", "<a class=button href=\"/comparisons/3\">Open C3</a>", true);
	expect(run, "/heat?branch=nobody", "<h1>Heat map</h1>", true);
}

static void an_alert_of_a_list_is_answered_by_one_button(void **state)
{
	static const char button[] = "<a class=\"button aside\" href=\"/alerts/1#answer\">Answer A1</a>";
	struct run *run = *state;
	fill_past(run);
	expect(run, "/alerts", "<h1>kim/tile is up to 9.5 % slower in 2 of 2 cells</h1>", true);
	expect(run, "/alerts?state=open", "<h1>kim/tile is up to 9.5 % slower in 2 of 2 cells</h1>", true);
	expect(run, "/alerts?state=resolved", "<h1>Alerts: 0 resolved</h1>", true);
	expect(run, "/alerts", button, true);
	expect(run, "/alerts", "<p class=lead>kim/tile is up to 9.5 % slower in 2 of 2 cells</p>", true);
	expect(run, "/alerts/1", button, false); /* has the form itself */
	ok(db_script(run->f->db, "UPDATE alert SET state = 'resolved'", &err));
	expect(run, "/alerts", button, false);
	expect(run, "/alerts", "<h1>No open alert</h1>", true);
	expect(run, "/alerts?state=resolved", "<h1>Alerts: 1 resolved</h1>", true);
}

/* Alerts of other kinds, each of another commit of another branch, newer than every other alert. */
static void add_newer_alerts(struct run *run, int n)
{
	char script[512];
	snprintf(script, sizeof script,
		"WITH RECURSIVE one(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < %d) INSERT INTO alert (kind, repo, "
		"branch, target_sha, state, opened_at, changed_at, cells, title) SELECT 'failing', (SELECT min(id) FROM repo), "
		"'noor/one', printf('%%040x', 65536 + n), 'open', 9000, 9000, '[]', 'one cell fails' FROM one",
		n);
	ok(db_script(run->f->db, script, &err));
}

/* However many newer alerts there are. */
static void an_old_open_alert_is_the_state_of_its_branch(void **state)
{
	static const char *const pages[] = { "/", "/branches", "/repos/kernels", NULL };
	struct run *run = *state;
	fill_more(run);
	ok(db_script(run->f->db, "UPDATE alert SET branch = 'main'", &err));
	add_newer_alerts(run, 1000);
	for (const char *const *page = pages; *page; page++) {
		expect(run, *page, "A1</a> <small>open; newest push <a href=\"/commits/", true);
		expect(run, *page, "<summary>1 unchanged</summary>", false);
	}
	expect(run, "/branches?repo=kernels&branch=main",
		"<h1>main is 3.1 % slower in 1 of 1 cell since 0000000000; the newest push changed nothing</h1>", true);
	expect(run, "/branches?repo=kernels&branch=main", "<a class=button href=\"/alerts/1\">Answer A1</a>", true);
	expect(run, "/api/v1/badge.svg?repo=kernels", "regression -3.1 %", true);
	/* the largest slowdown is named first, and all alerts are counted */
	expect(run, "/", "<h1>main is 3.1 % slower in 1 of 1 cell, and 1000 more open alerts</h1>", true);
	expect(run, "/", "<li class=\"banner alarm\"><div><b>main is 3.1 % slower in 1 of 1 cell</b>", true);
	expect(run, "/", "996 more open alerts</a>", true);
	expect(run, "/alerts", "<h1>main is 3.1 % slower in 1 of 1 cell, and 1000 more open alerts</h1>", true);
}

/* A push that is slower itself has its own verdict, unless an older push lost more. */
static void the_worst_live_loss_of_a_branch_is_its_headline(void **state)
{
	static const char branch[] = "/branches?repo=kernels&branch=team/a%2Bb";
	struct run *run = *state;
	fill_more(run);
	ok(db_script(run->f->db,
		"INSERT INTO alert (kind, repo, branch, target_sha, state, opened_at, changed_at, cells, worst_pct) SELECT kind, "
		"repo, branch, printf('%040x', 65536), 'acknowledged', 1, 1, '[{\"cell\":\"other\",\"change_pct\":-9}]', -9 FROM alert",
		&err));
	expect(run, "/branches", "<a href=\"/alerts/2\">A2</a> <small>acknowledged; newest push <a href=\"/commits/", true);
	expect(run, "/branches", ">regression</a></small><span class=why>1 cell since <a href=\"/commits/", true);
	expect(run, branch,
		"<h1>team/a+b is 9.0 % slower in 1 cell since 0000000000; the newest push has a smaller slowdown</h1>", true);
	ok(db_script(run->f->db, "UPDATE alert SET worst_pct = -2 WHERE id = 2", &err));
	expect(run, "/branches", "; newest push <a", false);
	expect(run, branch, "<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", true);
}

#define CULPRIT "00000000000000000000000000000000000000cc"

/* An older push is the culprit: the alert's row and the headlines name it instead of the alert's push. */
static void a_known_culprit_is_named_instead_of_the_push(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_script(run->f->db,
		"UPDATE alert SET culprits = '[{\"to\":\"" CULPRIT
		"\",\"subject\":\"wider tiles\",\"commits\":1,\"cells\":[\"x\"]}]'",
		&err));
	expect(run, "/", "<span class=why>since <a href=\"/commits/" CULPRIT "\">", true);
	expect(run, "/", "</a> wider tiles; worst: ", true);
	ok(db_script(run->f->db, "UPDATE alert SET branch = 'main'", &err));
	expect(run, "/branches", "<span class=why>1 cell since <a href=\"/commits/" CULPRIT "\">", true);
	expect(run, "/branches?repo=kernels&branch=main",
		"<h1>main is 3.1 % slower in 1 of 1 cell since 0000000000; the newest push changed nothing</h1>", true);
	ok(db_script(run->f->db, "UPDATE alert SET culprits = json_set(culprits, '$[0].commits', 3)", &err)); /* a range */
	expect(run, "/branches", CULPRIT, false);
}

/* Commit `n` of bisect 1. */
static void add_bisect_commit(struct run *run, int n, unsigned sha, const char *subject)
{
	add_commit(run->f, sha, "Ada Brandt", subject);
	ok(store_bisect_commit(run->f->db, 1, n, fixture_sha(sha), &err));
}

/* The bisect of alert 1, over four commits after 0xd0, of which the push of the alert is the last. */
static void add_bisect(struct run *run)
{
	fill_more(run);
	ok(db_begin(run->f->db, &err));
	ok(db_script(run->f->db,
		"INSERT INTO bisect (repo, alert, origin, goal, good_sha, bad_sha, suite, comparison, state, created_at) SELECT repo, "
		"id, 'alert', 'regression', '00000000000000000000000000000000000000d0', target_sha, 'ffa', 2, 'measuring', 9000 FROM "
		"alert WHERE id = 1; INSERT INTO bisect_cell (bisect, n, word) VALUES (1, 0, '" CELL "');"
		"INSERT INTO bisect_commit (bisect, n, sha) SELECT id, 4, bad_sha FROM bisect",
		&err));
	add_bisect_commit(run, 0, 0xd0, "the good one");
	add_bisect_commit(run, 1, 0xd1, "wider tiles");
	add_bisect_commit(run, 2, 0xd2, "more tests");
	add_bisect_commit(run, 3, 0xd3, "fewer stages");
	ok(db_commit(run->f->db, &err));
}

/* Measure commits `base` and `target` of the bisect: `cell` of the search, and one that it does not search. */
static void measure(struct run *run, unsigned base, unsigned target, enum verdict verdict)
{
	ok(db_begin(run->f->db, &err));
	int64_t id = fixture_comparison(run->f, "", 0xd0 + base, 0xd0 + target, verdict, 9100);
	fixture_cell(run->f, id, 0, CELL, verdict == VERDICT_REGRESSION ? 0.05 : 0, verdict);
	fixture_cell(run->f, id, 1, "other/forward", 0.9, VERDICT_REGRESSION);
	ok(db_commit(run->f->db, &err));
}

static void a_bisect_begins_with_its_finding(void **state)
{
	struct run *run = *state;
	add_bisect(run);
	expect(run, "/bisects/1", "<h1>Bisect 1 searches the culprit: team/a+b is 3.1 % slower in 1 of 1 cell</h1>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET alert = NULL, goal = ''", &err));
	expect(run, "/bisects/1", "<h1>Bisect 1: which commit after 0000000000, up to 0000000000 of team/a+b?</h1>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET goal = 'regression'", &err));
	expect(run, "/bisects/1", "<h1>Bisect 1: which commit after 0000000000 makes 0000000000 of team/a+b slower?</h1>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET goal = 'failing'", &err));
	expect(run, "/bisects/1", "<h1>Bisect 1: which commit after 0000000000 makes 0000000000 of team/a+b fail?</h1>", true);
	ok(db_script(run->f->db,
		"UPDATE bisect SET goal = 'regression', state = 'done', state_why = 'culprit: the same again', ended_at = 9900, "
		"culprits = '[{\"to\":\"" CULPRIT
		"\",\"subject\":\"wider tiles\",\"commits\":1,\"change_pct\":-3.14,\"cells\":[\"x/forward\",\"x/backward\"]}]'",
		&err));
	expect(run, "/bisects/1", "<h1>Bisect 1: 0000000000 wider tiles made team/a+b up to 3.1 % slower in 2 cells</h1>", true);
	expect(run, "/bisects/1", "the same again", false); /* the title has it */
	expect(run, "/bisects/1", "<b>Culprit:</b>", false);
	expect(run, "/bisects/1", "What to do: push a fix of the culprit</span>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET alert = 1", &err));
	expect(run, "/bisects/1", "What to do: push a fix, or <a href=\"/alerts/1#answer\">answer A1</a></span>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET culprits = json_set(culprits, '$[0].commits', 3)", &err));
	expect(run, "/bisects/1",
		"<h1>Bisect 1: one of 3 commits up to 0000000000 wider tiles made team/a+b up to 3.1 % slower in 2 cells</h1>",
		true);
	expect(run, "/bisects/1", "; the measurements do not show which</span>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET goal = 'failing'", &err));
	expect(run, "/bisects/1", "wider tiles made team/a+b fail in 2 cells</h1>", true);
	ok(db_script(run->f->db, "UPDATE bisect SET culprits = '[]', state_why = 'no culprit was found'", &err));
	expect(run, "/bisects/1", "<h1>Bisect 1: no culprit was found</h1>", true);
	expect(run, "/bisects/1", "flopwatch bisect 0000000000 0000000000 --repo kernels", true);
	ok(db_script(run->f->db, "UPDATE bisect SET state = 'failed', state_why = 'git is gone'", &err));
	expect(run, "/bisects/1", "<h1>Bisect 1 failed: git is gone</h1>", true);
	expect(run, "/bisects/1", "What to do: request it again, perhaps with other ends</span>", true);
}

/* Only searched cells count, and each measurement rules out commits. */
static void a_bisect_names_the_commits_that_are_left(void **state)
{
	struct run *run = *state;
	add_bisect(run);
	expect(run, "/bisects/1", "4 of 4 commits can be the culprit", true);
	expect(run, "/bisects/1", "<h2>Measurements</h2>", false);
	measure(run, 0, 2, VERDICT_UNCHANGED);
	expect(run, "/bisects/1", "2 of 4 commits can be the culprit: those after <a href=\"/commits/", true);
	expect(run, "/bisects/1", "<td class=n>0 of 1</td>", true);
	expect(run, "/bisects/1", "other/forward", false);
	expect(run, "/bisects/1", "</a><span class=why>more tests</span></th>", true);
	measure(run, 2, 3, VERDICT_REGRESSION);
	expect(run, "/bisects/1", "1 of 4 commits can be the culprit", true);
	expect(run, "/bisects/1", "<td class=n>1 of 1</td>", true);
	expect(run, "/bisects", "1 of 4 commits can be the culprit", true);
	measure(run, 0, 1, VERDICT_UNDECIDED); /* says nothing */
	expect(run, "/bisects/1", "1 of 4 commits can be the culprit", true);
}

static void a_list_of_bisects_answers_what_a_reader_asks(void **state)
{
	struct run *run = *state;
	add_bisect(run);
	expect(run, "/bisects", "<h1>Bisects: 1 is running</h1>", true);
	expect(run, "/bisects",
		"<a href=\"/bisects/1\">Bisect 1</a><span class=why>kernels <a href=\"/branches?repo=kernels&amp;", true);
	expect(run, "/bisects", "<b>team/a+b</b></a>, for <a href=\"/alerts/1\">A1</a></span>", true);
	expect(run, "/bisects", "4 of 4 commits can be the culprit<span class=why>1 cell: <a href=\"/comparisons/2?open=0#c0\">",
		true);
	expect(run, "/bisects", "\u22123.10\u00a0%</td><td>nothing; the daemon chooses the next commits</td>", true);
	ok(db_begin(run->f->db, &err));
	int64_t job = fixture_job(run->f, "", 0xd0, 0xd2, 9000);
	ok(db_commit(run->f->db, &err));
	char text[128];
	snprintf(text, sizeof text, "UPDATE bisect SET job = %lld, n_jobs = 1 WHERE id = 1", (long long)job);
	ok(db_script(run->f->db, text, &err));
	expect(run, "/bisects", "</a> (queued), then about 1 more job</td>", true);
	ok(db_script(run->f->db,
		"INSERT INTO bisect (repo, origin, who, good_sha, bad_sha, state, state_why, ended_at, created_at, culprits) SELECT "
		"repo, 'api', 'noor', good_sha, '" CULPRIT "', 'done', 'culprit: x', 9900, 9000, '[{\"to\":\"" CULPRIT
		"\",\"subject\":\"wider tiles\",\"commits\":1,\"change_pct\":-2.5,\"cells\":[\"x/forward\"]}]' FROM bisect;"
		"INSERT INTO bisect (repo, origin, good_sha, bad_sha, state, state_why, ended_at, created_at) SELECT repo, 'api', "
		"good_sha, bad_sha, 'failed', 'git is gone', 9900, 9000 FROM bisect WHERE id = 1",
		&err));
	expect(run, "/bisects", "<h1>Bisects: 1 found its culprit, 1 is running, 1 failed</h1>", true);
	expect(run, "/bisects", ", requested by noor</span>", true);
	expect(run, "/bisects", ", requested by a user</span>", true);
	expect(run, "/bisects",
		"culprit <a href=\"/commits/" CULPRIT "\"><code>0000000000</code></a> wider tiles<span class=why>1 cell", true);
	expect(run, "/bisects", "</i>failed</span> git is gone", true);
	expect(run, "/bisects", "<td>request it again, perhaps with other ends</td>", true);
}

static void lists_begin_with_their_finding(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/bisects", "<h1>Bisects: none yet</h1>", true);
	expect(run, "/notifications", "<h1>Notifications: all sent</h1>", true);
	ok(db_script(run->f->db,
		"INSERT INTO outbox (message_id, kind, target, payload, state, next_at, created_at) VALUES ('a', 'webhook', 'chat', "
		"'{}', 'failed', 0, 1), ('b', 'webhook', 'chat', '{}', 'waiting', 9, 1)",
		&err));
	expect(run, "/notifications", "<h1>Notifications: 1 failed, 1 waits</h1>", true);
}

/* The open alert of an earlier push is the state of its branch; the verdict of the newest push comes second. */
static void a_branch_is_slower_while_its_alert_is_open(void **state)
{
	static const char row[] =
		"<a href=\"/alerts/1\"><span class=\"v bad\"><i aria-hidden=true>\u25bc</i>regression</span></a> <a "
		"href=\"/alerts/1\">A1</a> <small>open; newest push <a href=\"/commits/";
	struct run *run = *state;
	fill_more(run);
	expect(run, "/repos/kernels", "<h1>Branches of kernels: 1 slower, 1 unchanged</h1>", true);
	expect(run, "/repos/kernels", "<b>team/a+b is 3.1 % slower in 1 of 1 cell</b><span class=why>push <a href=\"/commits/",
		true);
	expect(run, "/repos/kernels", "</a> a faster tile; worst: ", true);
	expect(run, "/repos/kernels", "<th scope=col>Verdict<", true);
	expect(run, "/repos/kernels", "; newest push <a", false);
	expect(run, "/", "<summary>1 unchanged</summary>", true);
	expect(run, "/", "what to do: push a fix, or answer (accept, fixed, not real, on it)</span>", true);
	ok(db_script(run->f->db, "UPDATE alert SET branch = 'main'", &err));
	for (const char *const *page = (const char *const[]){ "/", "/branches", "/repos/kernels", NULL }; *page; page++) {
		expect(run, *page, row, true);
		expect(run, *page, ">unchanged</a></small><span class=why>1 cell since <a href=\"/commits/", true);
		expect(run, *page, "<summary>1 unchanged</summary>", false);
	}
	expect(run, "/branches", "<h1>Branches: 2 slower</h1>", true);
	expect(run, "/branches?repo=kernels&branch=main",
		"<h1>main is 3.1 % slower in 1 of 1 cell since 0000000000; the newest push changed nothing</h1>", true);
	expect(run, "/branches?repo=kernels&branch=main", "What to do: nothing", false);
	expect(run, "/branches?repo=kernels&branch=main", "<h2>Worst cell against the base</h2>", true);
	expect(run, "/branches?repo=kernels&branch=main", "<dt>Newest push</dt>", true);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'acknowledged'", &err)); /* a user works on it: still slower */
	expect(run, "/branches", "A1</a> <small>acknowledged; newest push", true);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'open', kind = 'missing'", &err));
	expect(run, "/branches", "<h1>Branches: 1 slower, 1 unchanged</h1>", true);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'accepted', kind = 'regression'", &err));
	expect(run, "/branches", "; newest push <a", false);
	/* a push that is slower itself has its own verdict */
	ok(db_script(run->f->db, "UPDATE alert SET state = 'open', branch = 'team/a%2Bb'", &err));
	expect(run, "/branches", "; newest push <a", false);
}

/* A table has no column without a value. */
static void a_comparison_without_times_has_no_columns_of_times(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_begin(run->f->db, &err));
	ok(body_store(run->f->db, 4, &err));
	ok(db_commit(run->f->db, &err));
	expect(run, "/comparisons/4", ">Base ms</a>", false);
	expect(run, "/comparisons/4", "<td class=open colspan=3>", false); /* nothing is open */
	expect(run, "/comparisons/4?open=0", "<td class=open colspan=3>", true);
	expect(run, "/comparisons/2", ">Base ms</a>", true);
}

/* The page of a comparison explains the cell that lists name. */
static void an_undecided_comparison_explains_the_cell_with_the_largest_change(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	fill_more(run);
	ok(db_begin(f->db, &err));
	int64_t close = fixture_comparison(f, "ada/close", 0xb1, 0xc3, VERDICT_UNDECIDED, clock_utc_ms());
	for (int i = 0; i < 3; i++)
		fixture_cell(f, close, i, (const char *const[]){ "one/forward", "two/forward", "three/forward" }[i],
			i == 1 ? 0.016 : 0.014, VERDICT_UNDECIDED);
	ok(store_comparison_verdict(f->db, close, VERDICT_UNDECIDED, &err));
	char script[160], page[96];
	snprintf(script, sizeof script, "UPDATE cell SET reason = 'too close to call' WHERE comparison = %lld", (long long)close);
	ok(db_script(f->db, script, &err));
	ok(body_store(f->db, close, &err));
	ok(db_commit(f->db, &err));
	snprintf(page, sizeof page, "/comparisons/%lld", (long long)close);
	expect(run, page, "<b>Why:</b> <a href=\"?open=1#c1\"", true);
	snprintf(page, sizeof page, "3 of 3: <a href=\"/comparisons/%lld?open=1#c1\">", (long long)close);
	expect(run, "/comparisons", page, true);
}

static void an_alert_of_a_list_has_its_worst_cell_first(void **state)
{
	struct run *run = *state;
	fill(run);
	ok(db_script(run->f->db,
		"UPDATE alert SET cells = '[{\"cell\":\"a\",\"change_pct\":-2.0},{\"cell\":\"b\",\"change_pct\":-4.0}]'", &err));
	struct answer a = get(run, "/alerts");
	const char *worst = strstr(a.body, "4.00"), *other = strstr(a.body, "2.00");
	assert_true(worst && other && worst < other);
	answer_free(&a);
	expect(run, "/alerts/1",
		"<a href=\"/repos/kernels\">kernels</a> <a href=\"/branches?repo=kernels&amp;branch=team%2Fa%252Bb\">", true);
}

static void a_list_of_comparisons_counts_explains_and_answers(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_script(run->f->db, "UPDATE alert SET grouped = '[{\"phase\":\"run\",\"kernel\":\"wide\"}]'", &err));
	expect(run, "/comparisons", "<h1>Comparisons: 1 failed, 1 slower, 1 faster, 1 unchanged</h1>", true);
	expect(run, "/comparisons?verdict=regression", "<h1>Comparisons: 1 slower</h1>", true);
	expect(run, "/comparisons", "<span class=\"why cause\">cause unknown; slower: phase run, kernel wide</span>", true);
	expect(run, "/comparisons", "<a href=\"/alerts/1#answer\">Answer A1</a>", true);
	ok(db_script(run->f->db, "UPDATE alert SET state = 'resolved'", &err));
	expect(run, "/comparisons", "Answer A1", false);
	expect(run, "/comparisons", "<small><a href=\"/alerts/1\">A1</a> resolved</small>", true);
}

static void the_queue_shows_running_waiting_and_ended_jobs(void **state)
{
	struct run *run = *state;
	char text[512];
	int64_t job[2], now = clock_utc_ms();
	fill_more(run);
	expect(run, "/jobs", "<h1>Queue: idle</h1>", true);
	ok(db_begin(run->f->db, &err));
	for (int i = 0; i < 2; i++)
		job[i] = fixture_job(run->f, i ? "kim/tile" : "ada/tiles", 0xe0, 0xe1 + (unsigned)i, now + i);
	ok(db_commit(run->f->db, &err));
	snprintf(text, sizeof text,
		"UPDATE job SET device = (SELECT min(id) FROM device), started_at = ended_at - 60000 WHERE state = 'done';"
		"UPDATE job SET state = 'measuring', device = (SELECT min(id) FROM device), started_at = %lld WHERE id = %lld",
		(long long)now - 20000, (long long)job[0]);
	ok(db_script(run->f->db, text, &err));
	expect(run, "/jobs", "<h1>Queue: measuring ada/tiles, 1 job waits</h1>", true);
	snprintf(text, sizeof text, "waits for its device, behind <a href=\"/jobs/%lld\">J%lld</a> (compare)</span>",
		(long long)job[0], (long long)job[0]);
	expect(run, "/jobs", text, true);
	/* what the running job measures against what, how far it is, and what follows */
	expect(run, "/jobs", "<dt>Measures</dt><dd><a ", true);
	expect(run, "/jobs", "<dt>Because of</dt><dd>a push</dd>", true);
	expect(run, "/jobs", "<dt>So far</dt><dd>no cell is timed yet", true);
	snprintf(text, sizeof text, ", then J%lld</dd><dt>What to do</dt><dd>nothing", (long long)job[1]);
	expect(run, "/jobs", text, true);
	snprintf(text, sizeof text,
		"UPDATE job SET progress = '{\"run\":4,\"cells\":20,\"open\":3,\"budget_s\":60}' WHERE id = %lld",
		(long long)job[0]);
	ok(db_script(run->f->db, text, &err));
	expect(run, "/jobs", "<dt>So far</dt><dd>run 4, 17 of 20 cells decided; ", true);
	expect(run, "/jobs", "since the start, at most 1\u00a0min 0\u00a0s of device time", true);
	/* the same in the API, for the command line */
	snprintf(text, sizeof text, "\"behind\":{\"job\":%lld,\"kind\":\"compare\",\"queued\":0}", (long long)job[0]);
	expect(run, "/api/v1/jobs", text, true);
	/* an ended job: change, cells, cause or reason, the answer */
	expect(run, "/jobs", "\u22123.05\u00a0% <span class=why>1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, "/jobs", "<a href=\"/alerts/1#answer\">Answer A1</a>", true);
	expect(run, "/jobs", "wrong: O[query 17, head 3, 64] is 0.1562, should be 0.1241 (allowed error 0.00067)", true);
	expect(run, "/jobs", "\">Log of J", true);
	/* the newest verdict of the branch that is measured */
	expect(run, "/jobs", "Last verdict of ", false);
	snprintf(text, sizeof text,
		"UPDATE job SET state = 'measuring', device = (SELECT min(id) FROM device), started_at = %lld WHERE id = %lld",
		(long long)now - 20000, (long long)job[1]);
	ok(db_script(run->f->db, text, &err));
	expect(run, "/jobs", "<p>Last verdict of kim/tile: <a href=\"/comparisons/", true);
}

static void a_branch_without_an_alert_has_a_next_step(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_begin(run->f->db, &err));
	ok(store_tip_put(run->f->db, run->f->repo, "noor/one", "noor/one", fixture_sha(0xc2), true, 4000, &err));
	ok(store_tip_put(run->f->db, run->f->repo, "kim/tile", "kim/tile", fixture_sha(0xc1), true, 4000, &err));
	ok(db_commit(run->f->db, &err));
	expect(run, "/branches?repo=kernels&branch=noor/one", "<h1>noor/one failed in 1 of 1 cell: wrong results</h1>", true);
	expect(run, "/branches?repo=kernels&branch=noor/one", "What to do: fix the cause and push again", true);
	expect(run, "/branches?repo=kernels&branch=kim/tile", "What to do: nothing to fix: merge it", true);
	expect(run, "/branches?repo=kernels&branch=team/a%252Bb", "what to do: push a fix, or answer", true); /* of its alert */
	/* the alert of an older push has nothing of the newest one; a suite that waits may still need a fix */
	char script[256];
	snprintf(script, sizeof script, "UPDATE alert SET target_sha = '%s', worst_pct = -2", fixture_sha(0xb9));
	ok(db_script(run->f->db, script, &err));
	expect(run, "/branches?repo=kernels&branch=team/a%252Bb", "What to do: push a fix</span>", true);
	ok(db_begin(run->f->db, &err));
	int64_t waits = fixture_job(run->f, "kim/tile", 0xb1, 0xc1, clock_utc_ms());
	ok(db_commit(run->f->db, &err));
	snprintf(script, sizeof script, "UPDATE job SET suite = 'second' WHERE id = %lld", (long long)waits);
	ok(db_script(run->f->db, script, &err));
	expect(run, "/branches?repo=kernels&branch=kim/tile", "merge it", false);
}

/* A bar of an alert separates its texts; no push changed an environment. */
static void a_bar_names_a_push_only_where_one_is_blamed(void **state)
{
	struct run *run = *state;
	fill(run);
	ok(db_script(run->f->db, "UPDATE alert SET comparison = NULL, grouped = '[]'", &err));
	expect(run, "/", "a faster tile; what to do: ", true);
	ok(db_script(run->f->db, "UPDATE alert SET kind = 'environment'", &err));
	expect(run, "/", "<span class=why>push ", false);
}

/* The job of a push failed before it had a comparison. */
static void an_unmeasured_push_has_its_reason(void **state)
{
	static const char step[] = "Why: the disk is full</span><span class=why>What to do: fix the cause and push again; "
				   "<a href=\"/jobs/1\">J1</a> has the log";
	struct run *run = *state;
	char commit[96];
	ok(db_begin(run->f->db, &err));
	add_commit(run->f, 0xe1, "Ada", "larger tiles");
	fixture_job(run->f, "ada/tiles", 0xe0, 0xe1, 8000);
	ok(store_tip_put(run->f->db, run->f->repo, "ada/tiles", "ada/tiles", fixture_sha(0xe1), true, 8000, &err));
	ok(db_commit(run->f->db, &err));
	snprintf(commit, sizeof commit, "/commits/%s", fixture_sha(0xe1));
	expect(run, commit, "<h1>Commit 0000000000</h1>", true);
	expect(run, commit, "What to do: ", false);
	ok(db_script(run->f->db, "UPDATE job SET state = 'failed', state_why = 'the disk is full', ended_at = 9000 WHERE id = 1",
		&err));
	expect(run, commit, "<h1>0000000000 was not measured: the disk is full</h1>", true);
	expect(run, commit, step, true);
	expect(run, commit, "class=\"banner warn\"", false);
	expect(run, "/branches?repo=kernels&branch=ada/tiles", "<h1>ada/tiles failed</h1>", true);
	expect(run, "/branches?repo=kernels&branch=ada/tiles", step, true);
	struct store_alert alert = { .repo = run->f->repo, .branch = "ada/tiles", .cells_json = "[]", .worst_pct = NAN };
	bool is_new;
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(0xe1));
	ok(db_begin(run->f->db, &err));
	ok(store_alert_open(run->f->db, &alert, 9000, &is_new, &err));
	ok(db_commit(run->f->db, &err));
	expect(run, commit, "<a href=\"/alerts/1#answer\">Answer A1</a> (accept, fixed, not real, on it)</p>", true);
	ok(db_script(run->f->db, "UPDATE alert SET kind = 'environment'", &err));
	expect(run, commit, "Answer A1", false);
	ok(db_begin(run->f->db, &err));
	fixture_job(run->f, "ada/tiles", 0xe0, 0xe1, 8001);
	ok(db_commit(run->f->db, &err));
	ok(db_script(run->f->db, "UPDATE job SET suite = 'second' WHERE id = 2", &err));
	expect(run, commit, "<h1>0000000000 was not measured in suite ", true);
}

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIST_TEST(a_row_has_cell_interval_and_author),
		LIST_TEST(api_answers_name_the_author),
		LIST_TEST(the_overview_has_cell_interval_and_author_of_each_branch),
		LIST_TEST(omitted_cells_are_counted),
		LIST_TEST(omitted_waiting_jobs_are_counted),
		LIST_TEST(a_job_after_an_overdue_one_has_no_forecast),
		LIST_TEST(lists_are_filtered_by_author_and_time),
		LIST_TEST(upkeep_is_separate_from_requested_jobs),
		LIST_TEST(a_page_of_few_among_many_is_full),
		LIST_TEST(a_heat_map_names_its_pushes),
		LIST_TEST(a_history_holds_several_cells_and_branches),
		LIST_TEST(the_address_of_a_history_has_its_period),
		LIST_TEST(an_alert_shows_its_cells_with_interval_and_history),
		LIST_TEST(an_alert_of_a_thousand_cells_is_a_short_page),
		LIST_TEST(the_queue_is_a_timeline),
		LIST_TEST(a_waiting_job_is_forecast_on_the_first_free_device),
		LIST_TEST(many_waiting_jobs_do_not_hide_running_ones),
		LIST_TEST(each_of_twenty_devices_has_its_lane),
		LIST_TEST(a_queue_without_devices_is_no_picture),
		LIST_TEST(unschedulable_jobs_of_a_list_are_queried_once),
		LIST_TEST(a_job_begins_with_its_finding),
		LIST_TEST(a_job_without_a_result_has_its_reason),
		LIST_TEST(a_history_begins_with_its_newest_step),
		LIST_TEST(an_undecided_job_has_the_advice_to_retry),
		LIST_TEST(a_queued_measurement_is_not_requested_again),
		LIST_TEST(a_bar_does_not_repeat_the_heading),
		LIST_TEST(a_commit_begins_with_its_finding),
		LIST_TEST(an_alert_of_an_unchanged_push_is_the_next_step),
		LIST_TEST(an_alert_of_an_environment_is_answered_at_its_comparison),
		LIST_TEST(an_open_alert_comes_before_a_newer_answered_one),
		LIST_TEST(a_heat_map_begins_with_its_newest_step),
		LIST_TEST(an_alert_of_a_list_is_answered_by_one_button),
		LIST_TEST(a_branch_is_slower_while_its_alert_is_open),
		LIST_TEST(an_old_open_alert_is_the_state_of_its_branch),
		LIST_TEST(the_worst_live_loss_of_a_branch_is_its_headline),
		LIST_TEST(a_known_culprit_is_named_instead_of_the_push),
		LIST_TEST(a_bisect_begins_with_its_finding),
		LIST_TEST(a_bisect_names_the_commits_that_are_left),
		LIST_TEST(a_list_of_bisects_answers_what_a_reader_asks),
		LIST_TEST(lists_begin_with_their_finding),
		LIST_TEST(a_comparison_without_times_has_no_columns_of_times),
		LIST_TEST(an_undecided_comparison_explains_the_cell_with_the_largest_change),
		LIST_TEST(an_alert_of_a_list_has_its_worst_cell_first),
		LIST_TEST(a_list_of_comparisons_counts_explains_and_answers),
		LIST_TEST(the_queue_shows_running_waiting_and_ended_jobs),
		LIST_TEST(a_branch_without_an_alert_has_a_next_step),
		LIST_TEST(an_unmeasured_push_has_its_reason),
		LIST_TEST(a_bar_names_a_push_only_where_one_is_blamed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
