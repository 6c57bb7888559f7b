/* Lists of pages: the text of a line in addition to its verdict, and the filters. */
#include "site_fill.h"

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
	snprintf(cell.reason, sizeof cell.reason, "worst O[17,3,64]: 0.123 for 0.124");
	ok(store_cell_insert(f->db, &cell, &err));
	ok(store_comparison_verdict(f->db, wrong, VERDICT_FAILED, &err));
	int64_t beside = fixture_comparison(f, "main", 0xb1, 0xb1, VERDICT_REGRESSION, now);
	fixture_cell(f, beside, 0, "peer/forward", 0.2, VERDICT_REGRESSION);
	ok(store_comparison_verdict(f->db, beside, VERDICT_REGRESSION, &err));
	ok(db_commit(f->db, &err));
	ok(db_script(f->db, "UPDATE comparison SET kind = 'peer' WHERE id = 5; UPDATE job SET kind = 'peer' WHERE id = 5", &err));
	assert_int_equal(beside, 5);
}

static void a_line_tells_its_cell_its_interval_and_its_author(void **state)
{
	struct run *run = *state;
	fill_more(run);
	expect(run, "/comparisons", "1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, "/comparisons", "\u22123.34\u00a0\u2026\u00a0\u22122.76", true);
	expect(run, "/comparisons", "<a href=\"/comparisons?author=Kim%20Osei\">Kim Osei</a>", true);
	/* the cell with the largest gain of an improvement, the reason of a failure */
	expect(run, "/comparisons", "2 of 3: <a href=\"/comparisons/3?open=1#c1\">", true);
	expect(run, "/comparisons", "wrong: worst O[17,3,64]: 0.123 for 0.124", true);
}

static void answers_name_the_author_too(void **state)
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

static void the_overview_tells_the_same_of_each_branch(void **state)
{
	struct run *run = *state;
	fill_more(run);
	ok(db_begin(run->f->db, &err));
	ok(store_tip_put(run->f->db, run->f->repo, "noor/one", "noor/one", fixture_sha(0xc2), true, 4000, &err));
	ok(db_commit(run->f->db, &err));
	expect(run, "/", "1 of 1: <a href=\"/comparisons/2?open=0#c0\">causal", true);
	expect(run, "/", "\u22123.34\u00a0\u2026\u00a0\u22122.76", true);
	expect(run, "/", "<a href=\"/comparisons?author=Ada\">Ada</a>", true);
	expect(run, "/", "wrong: worst O[17,3,64]: 0.123 for 0.124", true);
	expect(run, "/repos/kernels", "<a href=\"/comparisons?repo=kernels&amp;since=7d&amp;verdict=regression\">", true);
	/* what failed first, then what is slower; unchanged branches last */
	struct answer a = get(run, "/");
	const char *failed = strstr(a.body, "branch=noor%2Fone\">noor/one"), *slower = strstr(a.body, "\">team/a+b</a>"),
		   *unchanged = strstr(a.body, "<summary>1 unchanged</summary>");
	assert_true(failed && slower && unchanged && failed < slower && slower < unchanged);
	answer_free(&a);
	char commit[96];
	snprintf(commit, sizeof commit, "/commits/%s", fixture_sha(0xc2));
	expect(run, commit, "wrong: worst O[17,3,64]: 0.123 for 0.124", true);
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

static void upkeep_stands_separate_from_what_people_wait_for(void **state)
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
static void no_cell_vanishes_without_a_word(void **state)
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

static void no_waiting_job_vanishes_without_a_word(void **state)
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
	assert_non_null(strstr(a.body, " TFLOP/s, 9.5 % slower by the newest push</h1>"));
	answer_free(&a);
	a = get(run, HISTORY "&branch=main");
	assert_non_null(strstr(a.body, "<h1>causal, 8192 forward: 643 TFLOP/s, flat for 5 pushes</h1>"));
	assert_int_equal(count(a.body, "class=\"within\""), 1);
	assert_int_equal(count(a.body, "class=\"leave\""), 0);
	assert_non_null(strstr(a.body, "aria-current=true>main</a>"));
	assert_non_null(strstr(a.body, "<details><summary>Compare with</summary>"));
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

static void a_stretch_of_a_history_stands_in_its_address(void **state)
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

static void an_alert_shows_its_cells_with_interval_and_past(void **state)
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
static void nobody_knows_when_a_job_behind_a_late_one_begins(void **state)
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
static void what_waits_takes_the_device_that_is_free_first(void **state)
{
	struct run *run = *state;
	struct msg_device d = fixture_device();
	struct site_actions with_workers = *run->site.act;
	char text[512];
	int64_t other, job[5], now = clock_utc_ms();
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
static void a_flood_does_not_hide_what_runs(void **state)
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

static void what_a_list_lacks_is_requested_once(void **state)
{
	struct run *run = *state;
	struct site_actions act = actions;
	run->site.act = &act;
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

#define LIST_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LIST_TEST(a_line_tells_its_cell_its_interval_and_its_author),
		LIST_TEST(answers_name_the_author_too),
		LIST_TEST(the_overview_tells_the_same_of_each_branch),
		LIST_TEST(no_cell_vanishes_without_a_word),
		LIST_TEST(no_waiting_job_vanishes_without_a_word),
		LIST_TEST(nobody_knows_when_a_job_behind_a_late_one_begins),
		LIST_TEST(lists_are_filtered_by_author_and_time),
		LIST_TEST(upkeep_stands_separate_from_what_people_wait_for),
		LIST_TEST(a_page_of_few_among_many_is_full),
		LIST_TEST(a_heat_map_names_its_pushes),
		LIST_TEST(a_history_holds_several_cells_and_branches),
		LIST_TEST(a_stretch_of_a_history_stands_in_its_address),
		LIST_TEST(an_alert_shows_its_cells_with_interval_and_past),
		LIST_TEST(an_alert_of_a_thousand_cells_is_a_short_page),
		LIST_TEST(the_queue_is_a_timeline),
		LIST_TEST(what_waits_takes_the_device_that_is_free_first),
		LIST_TEST(a_flood_does_not_hide_what_runs),
		LIST_TEST(each_of_twenty_devices_has_its_lane),
		LIST_TEST(a_queue_without_devices_is_no_picture),
		LIST_TEST(what_a_list_lacks_is_requested_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
