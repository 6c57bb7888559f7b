/* Every route of the site over a real database: its content, its rejections, and its requests to the daemon. */
#include "site_fill.h"

#include <math.h>

#include "db/db.h"

/* ---- pages ------------------------------------------------------------------------------------------------------------ */

static void expect_page(struct run *run, const char *target, const char *const *words)
{
	struct answer a = get(run, target);
	if (a.status != 200)
		fail_msg("%s: %d: %.500s", target, a.status, a.body);
	assert_string_equal(header_of(&a, "Content-Type"), "text/html; charset=utf-8");
	assert_non_null(strstr(header_of(&a, "Content-Security-Policy"), "default-src 'none'"));
	for (const char *at = a.body; (at = strstr(at, "<script")); at++) /* never inline: the policy would block it */
		assert_true(strncmp(at, "<script src=\"/static/", 21) == 0 ||
			    strncmp(at, "<script type=module src=\"/static/", 33) == 0);
	assert_null(strstr(a.body, " style="));
	assert_null(strstr(a.body, "nan"));
	for (; *words; words++)
		if (!strstr(a.body, *words))
			fail_msg("%s does not show %s: %s", target, *words, a.body);
	answer_free(&a);
}

static void expect_redirect(struct run *run, const char *target, const char *location)
{
	struct answer a = get(run, target);
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), location);
	answer_free(&a);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void test_pages(void **state)
{
	struct run *run = *state;
	expect_page(run, "/", WORDS("kernels", "<h1>No open alert: no branch yet</h1>"));
	expect_page(run, "/comparisons", WORDS("Comparisons"));
	expect_page(run, "/alerts", WORDS("No alert."));
	fill(run);
	expect_page(run, "/",
		WORDS("<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", "Answer A1", "regression", "a faster tile",
			"href=\"/branches?repo=kernels&amp;branch=team%2Fa%252Bb\"", "<summary>1 unchanged</summary>",
			"<table class=\"heat small\">", "Alerts <b class=count>1</b>"));
	expect_page(run, "/repos/kernels",
		WORDS("<h1>Branches of kernels: 1 slower, 1 unchanged</h1>", "Answer A1", "<dt>Last fetch</dt><dd>none yet",
			"Suites of main", "<table class=\"heat small\">"));
	expect_page(run, "/branches", WORDS("<h1>Branches: 1 slower, 1 unchanged</h1>", "href=\"/repos/kernels\""));
	expect_page(run, "/branches?repo=kernels&branch=team/a%252Bb",
		WORDS("<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", "Answer A1", "a faster tile", "<svg class=chart",
			"class=\"limit\"", "href=\"/comparisons/2\">C2</a>"));
	expect_page(run, "/branches?repo=kernels&branch=team/a%2Bb", WORDS("<h1>team/a+b is 3.1"));
	expect_page(
		run, "/branches?repo=kernels&branch=former", WORDS("<h1>former is not a branch of the repository any more</h1>"));
	expect_page(run, "/settings", WORDS("<dt>Version</dt><dd>" FW_VERSION "</dd>", "No receiver."));
	expect_page(run, "/alerts", WORDS("href=\"/alerts/1\"", "Not real (measurement)"));
	expect_page(run, "/alerts/1",
		WORDS("<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", "<title>team/a+b is 3.1 % slower in 1 of 1 cell",
			"a faster tile", "<form id=answer", "Accept: this slowdown is wanted</button>",
			"/api/v1/alerts/1/acknowledge\">I\u2019m on it", "name=back value=\"/alerts/1\"", "/api/v1/alerts/1",
			"/comparisons/2", "class=\"limit\""));
	expect_page(run, "/comparisons", WORDS("team/a+b", "regression", "unchanged", "/comparisons/2"));
	expect_page(run, "/comparisons?repo=kernels&branch=team/a%252Bb", WORDS("/comparisons/2"));
	expect_page(run, "/comparisons?repo=kernels&branch=team/a%2Bb", WORDS("/comparisons/2"));
	expect_page(run, "/comparisons/2",
		WORDS("<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>", ">A1 <span", "href=\"/alerts/1#answer\">Answer</a>",
			"<b>What to do:</b> push a fix, or answer <a href=\"/alerts/1\">A1</a> (accept, fixed, not real, on it).",
			"Slower cells, worst first", "id=spread", "simulated", "<dt>Isolation</dt><dd>none</dd>", "1.7100",
			"95 % interval", "/api/v1/comparisons/2.csv", "aria-expanded=true", "numerical error", "0.31",
			"No phase is named as the cause", "<th scope=row>run", "1.66", "Reproduce",
			"flopwatch compare 000000000000"));
	expect_page(run, "/comparisons/2?open=none", WORDS("aria-expanded=false"));
	expect_page(run, "/comparisons/2?show=regression&sort=-change&q=causal", WORDS("aria-sort=descending", "id=c0"));
	expect_page(run, "/comparisons/2?q=sparse", WORDS("No cell matches."));
	expect_page(run, "/heat?branch=team/a%2Bb", WORDS("<td class=b2>\u22123.1</td>", "causal"));
	expect_page(run, "/search?q=team", WORDS("branch <a"));
	expect_redirect(run, "/search?q=C2", "/comparisons/2");
	expect_redirect(run, "/search?q=J2", "/jobs/2");
	expect_redirect(run, "/search?q=%20A1%20", "/alerts/1");
	expect_redirect(run, "/search?q=2", "/comparisons/2");
	expect_page(run, "/search?q=zebra", WORDS("Nothing found."));
	expect_page(run, "/help", WORDS("A worked example", "regression", "These runs detect any slowdown"));
	expect_page(run, "/bisects", WORDS("No bisect yet."));
	expect_page(run, "/api", WORDS("/api/v1/history"));
	expect_page(run, "/history", WORDS("Which cell?", CELL));
	expect_page(run, "/history?cell=" CELL,
		WORDS("2 points, 1 regression", "<svg", "class=\"loss\"", "value=\"kernels\"",
			", the newest of 2 pushes; team/a+b is 3.1 % slower at 0000000</h1>", "<small>a faster tile</small>"));
	expect_page(run, "/history?cell=" CELL "&branch=team/a%2Bb", WORDS("1 point, 1 regression"));
	expect_page(run, "/history?cell=other", WORDS("0 points", "No timed points yet."));
	expect_page(run, "/jobs", WORDS("/jobs/2", "done"));
	expect_page(run, "/jobs?state=queued", WORDS("</table>"));
	expect_page(run, "/jobs/J2", WORDS("<h1>team/a+b is 3.1 % slower in 1 of 1 cell</h1>"));
	expect_page(run, "/jobs/2", WORDS("queued: pushed", "action=\"/api/v1/jobs/2/retry\"", "Measure again"));
	expect_page(run, "/alerts", WORDS("team/a+b", "formaction=\"/api/v1/alerts/1/accept\"", CELL));
	expect_page(run, "/devices", WORDS("simulated", "sim-0", "action=\"/api/v1/devices/sim-0/pause\""));
	struct answer a = get(run, "/static/style.css");
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Content-Type"), "text/css; charset=utf-8");
	assert_true(a.body_len > 1000);
	answer_free(&a);
}

static void test_page_peer(void **state)
{
	struct run *run = *state;
	fill(run);
	ok(db_begin(run->f->db, &err)); /* a peer that takes half as long as the base */
	int64_t peer = fixture_comparison(run->f, "", 0xcd, 0xb1, VERDICT_REGRESSION, 8000);
	fixture_cell(run->f, peer, 0, CELL, 0.69314718, VERDICT_REGRESSION);
	ok(db_script(run->f->db,
		"INSERT INTO build(id, inputs_hash, toolchain, device_kind, module_sha, state, built_at) VALUES "
		"(90, 'i', 'gcc', 'cpu', 'm1', 'ok', 1), (91, 'j', 'gcc', 'cpu', 'm2', 'ok', 1);"
		"UPDATE comparison SET base_build = 90, target_build = 91 WHERE id = 2;"
		"UPDATE comparison SET kind = 'peer', base_build = 90, target_build = 90 WHERE id = 3;"
		"UPDATE job SET kind = 'peer', base_provider = 'fast' WHERE id = (SELECT job FROM comparison WHERE id = 3)",
		&err));
	ok(body_store(run->f->db, 2, &err));
	ok(body_store(run->f->db, 3, &err));
	ok(db_commit(run->f->db, &err));
	expect_page(run, "/comparisons/2?open=0",
		WORDS("of the speed of fast", "<td class=n>50.0</td><td class=n>48.5</td>",
			"over the base, timed side by side with it in", "% fast</th>",
			" of its speed, geometric mean of 1 cell;"));
	expect_page(run, "/comparisons/3",
		WORDS(" next to fast: 1 of 1 cell 50.0 % slower</h1>",
			"Against <b>fast</b>, of 1 cell the default provider has 1 slower", ". The worst is <span",
			"<code>flopwatch profile C3</code> finds the causes"));
	expect_page(run, "/peers",
		WORDS(" next to fast: 1 of 1 cell 50.0 % slower</h1>", " against fast</h2>", "<b>50.0",
			"; 1 slower, worst <a href=\"/comparisons/3?open=0#c0\">"));
	expect_page(run, "/peers?repo=nobody", WORDS("No peer comparison yet."));
	ok(db_begin(run->f->db, &err)); /* and one that takes longer */
	fixture_cell(run->f, peer, 1, "attention/dense/full/s8192/hq64/hk8/d128/bf16/forward", -0.1, VERDICT_IMPROVEMENT);
	ok(body_store(run->f->db, 3, &err));
	ok(db_commit(run->f->db, &err));
	expect_page(run, "/comparisons/3",
		WORDS(" next to fast: 1 of 2 cells 50.0 % slower, 1 10.5 % faster</h1>", "</i>mixed</span> Against <b>fast</b>",
			"of 2 cells the default provider has 1 faster, 1 slower", ", the best <span"));
	expect_page(run, "/peers",
		WORDS(" next to fast: 1 of 2 cells 50.0 % slower, 1 10.5 % faster</h1>", "; 1 faster, best <a href="));
}

static void test_pages_refuse(void **state)
{
	static const struct {
		const char *target;
		int status;
		const char *says;
	} cases[] = {
		{ "/nothing", 404, "no such address" },
		{ "/comparisons/99", 404, "there is no C99" },
		{ "/comparisons/x", 404, "the address of a comparison needs its number" },
		{ "/jobs/99", 404, "there is no J99" },
		{ "/bisects/99", 404, "99" },
		{ "/commits/abcdef", 404, "no known commit begins with" },
		{ "/heat?repo=other", 404, "there is no repository other" },
		{ "/jobs/-1", 404, "the address of a job needs its number, such as J1" },
		{ "/jobs/C2", 404, "the address of a job needs its number, such as J1" },
		{ "/repos/other", 404, "there is no repository other" },
		{ "/branches?branch=main", 400, "needs its repository" },
		{ "/branches?repo=other&branch=main", 404, "there is no repository other" },
		/* an empty list would be mistaken for a good result */
		{ "/api/v1/comparisons?verdikt=regression", 400,
			"no argument verdikt; known: repo branch verdict since until limit cursor" },
		{ "/api/v1/repos?repo=kernels", 400, "no argument repo; it has none" },
		{ "/api/v1/comparisons?repo=unknown", 404, "there is no repository unknown" },
		{ "/api/v1/alerts?repo=unknown", 404, "there is no repository unknown" },
		{ "/api/v1/jobs?repo=unknown", 404, "there is no repository unknown" },
		{ "/api/v1/peers?repo=unknown", 404, "there is no repository unknown" },
		{ "/api/v1/peers?device=unknown", 404, "no device unknown was ever seen" },
		{ "/api/v1/calibration?device=unknown", 404, "no device unknown was ever seen" },
		{ "/api/v1/cells?repo=unknown", 404, "there is no repository unknown" },
		{ "/api/v1/history?repo=kernels&cell=unknown", 404, "kernels has no cell unknown" },
		{ "/jobs?state=asleep", 400, "state must be one of" },
		{ "/jobs?cursor=x", 400, "cursor must be" },
		{ "/alerts?state=asleep", 400, "state must be one of" },
		{ "/alerts/99", 404, "there is no A99" },
		{ "/alerts/x", 404, "the address of an alert needs its number" },
		{ "/comparisons?verdict=good", 400, "verdict must be one of" },
		{ "/comparisons?branch=main", 400, "need repo" },
		{ "/history?cell=x&repo=other", 404, "there is no repository other" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct answer a = get(*state, cases[i].target);
		if (a.status != cases[i].status || !strstr(a.body, cases[i].says))
			fail_msg("%s: %d: %s", cases[i].target, a.status, a.body);
		bool is_page = strncmp(cases[i].target, "/api/", 5) != 0;
		assert_string_equal(header_of(&a, "Content-Type"),
			is_page ? "text/html; charset=utf-8" : "application/problem+json; charset=utf-8");
		assert_true(!is_page || strstr(a.body, "</html>"));
		answer_free(&a);
	}
}

/* More than a page of jobs: pages lead on to the older ones. */
static void test_older(void **state)
{
	struct run *run = *state;
	ok(db_begin(run->f->db, &err));
	for (unsigned i = 0; i < 130; i++)
		fixture_job(run->f, "main", 1, 1000 + i, 1000);
	ok(db_commit(run->f->db, &err));
	expect_page(run, "/jobs?state=queued", WORDS("/jobs/130", "/jobs/31\"", "href=\"/jobs?cursor=31&amp;state=queued\""));
	struct answer a = get(run, "/jobs?cursor=31&state=queued");
	assert_non_null(strstr(a.body, "/jobs/30\""));
	assert_null(strstr(a.body, "/jobs/31\""));
	assert_null(strstr(a.body, "Older"));
	answer_free(&a);
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static void test_api_objects(void **state)
{
	struct run *run = *state;
	fill(run);
	json_t *root = get_json(run, "/api/v1/"), *item;
	assert_non_null(text_at(root, "version"));
	assert_string_equal(text_at(root, "devices"), "/api/v1/devices");
	json_decref(root);

	root = get_json(run, "/api/v1/repos");
	item = json_array_get(json_object_get(root, "items"), 0);
	assert_string_equal(text_at(item, "name"), "kernels");
	assert_int_equal(int_at(item, "branches"), 2);
	assert_int_equal(int_at(item, "open_alerts"), 1);
	assert_true(json_is_null(json_object_get(item, "fetched_at")));
	assert_true(json_is_null(json_object_get(root, "next_cursor")));
	json_decref(root);

	root = get_json(run, "/api/v1/branches?repo=kernels");
	item = json_array_get(json_object_get(root, "items"), 1);
	assert_string_equal(text_at(item, "name"), "team/a%2Bb");
	assert_string_equal(text_at(item, "display"), "team/a+b");
	assert_string_equal(text_at(item, "verdict"), "regression");
	assert_string_equal(text_at(json_object_get(item, "job"), "state"), "done");
	json_decref(root);
	root = get_json(run, "/api/v1/branches");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 2);
	json_decref(root);

	root = get_json(run, "/api/v1/jobs/2");
	assert_string_equal(text_at(root, "state"), "done");
	assert_string_equal(text_at(root, "branch"), "team/a%2Bb");
	assert_string_equal(text_at(root, "branch_display"), "team/a+b");
	assert_string_equal(text_at(root, "verdict"), "regression");
	assert_string_equal(text_at(root, "queued_at"), "1970-01-01T00:00:07.000Z");
	assert_true(json_is_null(json_object_get(root, "progress")));
	json_decref(root);

	root = get_json(run, "/api/v1/alerts");
	item = json_array_get(json_object_get(root, "items"), 0);
	assert_string_equal(text_at(item, "state"), "open");
	assert_string_equal(text_at(json_array_get(json_object_get(item, "cells"), 0), "cell"), CELL);
	assert_int_equal(json_array_size(json_object_get(item, "events")), 1);
	json_decref(root);

	for (int i = 0; i < 3; i++)
		ok(store_outbox_insert(run->f->db, "webhook", i == 1 ? "second" : "other", "{}", 7000 + i, &err));
	root = get_json(run, "/api/v1/notifications?limit=1");
	assert_string_equal(text_at(root, "next_cursor"), "3");
	json_decref(root);
	root = get_json(run, "/api/v1/notifications?limit=1&cursor=3");
	assert_string_equal(text_at(json_array_get(json_object_get(root, "items"), 0), "target"), "second");
	json_decref(root);
	root = get_json(run, "/api/v1/notifications?limit=2&cursor=3");
	assert_true(json_is_null(json_object_get(root, "next_cursor")));
	json_decref(root);

	root = get_json(run, "/api/v1/devices");
	item = json_array_get(json_object_get(root, "items"), 0);
	assert_string_equal(text_at(item, "uuid"), "sim-0");
	assert_true(json_is_object(json_object_get(item, "info")));
	json_decref(root);

	char path[128];
	snprintf(path, sizeof path, "/api/v1/commits/%s", fixture_sha(0xb2));
	root = get_json(run, path);
	assert_string_equal(text_at(json_array_get(json_object_get(root, "commits"), 0), "author"), "Ada");
	assert_int_equal(json_array_size(json_object_get(root, "comparisons")), 1);
	json_decref(root);

	root = get_json(run, "/api/v1/history?cell=" CELL);
	assert_string_equal(text_at(root, "repo"), "kernels");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 2);
	assert_string_equal(text_at(json_array_get(json_object_get(root, "items"), 0), "verdict"), "regression");
	json_decref(root);
	root = get_json(run, "/api/v1/history?limit=1&repo=kernels&device=sim-0&cell=" CELL);
	assert_int_equal(json_array_size(json_object_get(root, "items")), 1);
	json_decref(root);

	struct answer a = get(run, "/api/v1/jobs/2/log");
	assert_string_equal(header_of(&a, "Content-Type"), "text/plain; charset=utf-8");
	assert_non_null(strstr(a.body, "1970-01-01T00:00:06.500Z  queued: pushed\n"));
	answer_free(&a);
}

/* The body is stored, its hash is the ETag, and no client that has it receives it again. */
static void test_api_body(void **state)
{
	struct run *run = *state;
	int64_t id = fill(run);
	char path[128], etag[512], condition[600], length[24];
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld", (long long)id);
	struct answer a = get(run, path);
	assert_int_equal(a.status, 200);
	snprintf(etag, sizeof etag, "%s", header_of(&a, "ETag"));
	snprintf(length, sizeof length, "%zu", a.body_len);
	assert_string_equal(header_of(&a, "Content-Length"), length);
	assert_int_equal(strlen(etag), 66);
	json_t *root = json_of(&a);
	assert_int_equal(int_at(root, "id"), id);
	assert_string_equal(text_at(root, "verdict"), "regression");
	assert_string_equal(text_at(json_array_get(json_object_get(root, "cells"), 0), "cell"), CELL);
	json_decref(root);
	snprintf(condition, sizeof condition, "If-None-Match: %s\r\n", etag);
	a = request_with(run, "GET", path, condition, NULL, 0);
	assert_int_equal(a.status, 304);
	assert_int_equal(a.body_len, 0);
	assert_string_equal(header_of(&a, "ETag"), etag);
	assert_string_equal(header_of(&a, "Content-Length"), length); /* of the omitted body */
	answer_free(&a);
	a = request_with(run, "HEAD", path, condition, NULL, 0);
	assert_int_equal(a.status, 304);
	assert_string_equal(header_of(&a, "Content-Length"), length);
	answer_free(&a);
	snprintf(condition, sizeof condition, "If-None-Match: %s\r\nAccept: text/html\r\n", etag);
	a = request_with(run, "GET", path, condition, NULL, 0);
	assert_int_equal(a.status, 406);
	assert_true(a.body_len > 0);
	answer_free(&a);
	a = request_with(run, "GET", path, "If-None-Match: \"other\"\r\n", NULL, 0);
	assert_int_equal(a.status, 200);
	snprintf(condition, sizeof condition, "%zu", a.body_len);
	assert_string_equal(condition, length);
	answer_free(&a);
	snprintf(path, sizeof path, "/api/v1/compare?repo=kernels&base=%s&target=%s", fixture_sha(0xb1), fixture_sha(0xb2));
	a = get(run, path);
	assert_string_equal(header_of(&a, "ETag"), etag);
	answer_free(&a);
}

static void test_api_csv(void **state)
{
	struct run *run = *state;
	int64_t id = fill(run);
	struct store_cell odd = { .comparison = id,
		.n = 1,
		.group = "dense",
		.title = "full",
		.shape = "{\"mask\":\"full\",\"seqlen\":0}",
		.direction = "backward",
		.flops = NAN,
		.threshold_pct = 1.5,
		.m = NAN,
		.m_raw = NAN,
		.se = NAN,
		.beta = NAN,
		.m_code = NAN,
		.base_median_ms = NAN,
		.target_median_ms = NAN,
		.change_pct = NAN,
		.ci_low_pct = NAN,
		.ci_high_pct = NAN,
		.mde_pct = NAN,
		.verdict = VERDICT_FAILED,
		.failure = "wrong",
		.reason = "=cmd|' /C calc'!A0, \"quoted\"\x1b" };
	snprintf(odd.key, sizeof odd.key, "odd/backward");
	ok(db_begin(run->f->db, &err));
	ok(store_cell_insert(run->f->db, &odd, &err));
	ok(db_commit(run->f->db, &err));
	struct answer a = get(run, "/api/v1/comparisons/2.csv");
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Content-Type"), "text/csv; charset=utf-8; header=present");
	assert_int_equal(strncmp(a.body, "cell,verdict,base_median_ms,", 28), 0);
	assert_non_null(strstr(a.body, "\r\n" CELL ",regression,1.71,1.76301,643.275,623.933,"));
	assert_non_null(strstr(a.body,
		"\r\nodd/backward,failed,,,,,,,,,1.5,0,0,0,0,wrong,\"'=cmd|' /C calc'!A0, \"\"quoted\"\"\\x1b\",,,,,,,\r\n"));
	answer_free(&a);
}

/* Pages of branches of two repositories: each one once, by name; a single branch; invalid cursors. */
static void test_api_branches_paging(void **state)
{
	struct run *run = *state;
	enum { BRANCHES = 130 };
	int64_t other;
	ok(db_begin(run->f->db, &err));
	ok(store_repo_put(run->f->db, "a-first", "/x", true, "main", &other, &err));
	for (int i = 0; i < BRANCHES; i++) {
		char name[32];
		snprintf(name, sizeof name, "b%03d", i);
		ok(store_tip_put(run->f->db, i < 60 ? other : run->f->repo, name, name, fixture_sha(0xb2), i % 2, 4000, &err));
	}
	ok(store_tip_put(run->f->db, run->f->repo, "odd%1B", "odd\\x1b", fixture_sha(0xb2), true, 4000, &err));
	ok(db_commit(run->f->db, &err));
	char target[256] = "/api/v1/branches?limit=7";
	int n = 0;
	for (int page = 0; target[0] && page < 30; page++) {
		struct answer a = get(run, target);
		const char *link = header_of(&a, "Link");
		snprintf(target, sizeof target, "%.*s", (int)strcspn(link, ">") - (*link ? 1 : 0), *link ? link + 1 : "");
		json_t *root = json_of(&a), *row;
		size_t i;
		json_array_foreach(json_object_get(root, "items"), i, row)
		{
			char name[32];
			snprintf(name, sizeof name, n < BRANCHES ? "b%03d" : "odd%%1B", n);
			assert_string_equal(text_at(row, "name"), name);
			assert_string_equal(text_at(row, "repo"), n < 60 ? "a-first" : "kernels");
			n++;
		}
		assert_int_equal(json_is_null(json_object_get(root, "next_cursor")), !target[0]);
		json_decref(root);
	}
	assert_int_equal(n, BRANCHES + 1);
	static const char *const ones[] = { "branch=b070", "branch=odd%25%31B", "branch=odd%1B", "branch=odd%5Cx1b",
		"repo=kernels&branch=b070" };
	for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
		snprintf(target, sizeof target, "/api/v1/branches?%s", ones[i]);
		json_t *root = get_json(run, target);
		assert_int_equal(json_array_size(json_object_get(root, "items")), 1);
		json_decref(root);
	}
	json_t *root = get_json(run, "/api/v1/branches?repo=a-first&branch=b070");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 0);
	json_decref(root);
	assert_problem(get(run, "/api/v1/branches?cursor=9999"), 400, "cursor must be");
	assert_problem(get(run, "/api/v1/branches?limit=501"), 400, "limit");
	snprintf(target, sizeof target, "/api/v1/branches?repo=a-first&cursor=%d", BRANCHES);
	assert_problem(get(run, target), 400, "cursor must be");
	struct answer a = get(run, "/api/v1/badge.svg?repo=kernels&branch=odd%1B");
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Cross-Origin-Resource-Policy"), "cross-origin");
	answer_free(&a);
}

/* Foreign content in a comment at a review: names of rows, and missing values. */
static void test_review_of_odd_rows(void **state)
{
	struct run *run = *state;
	int64_t id = fill(run);
	struct store_cell odd = { .comparison = id,
		.n = 1,
		.flops = NAN,
		.threshold_pct = 1.5,
		.m = NAN,
		.m_raw = NAN,
		.se = NAN,
		.beta = NAN,
		.m_code = NAN,
		.base_median_ms = 1,
		.target_median_ms = 2,
		.change_pct = -50,
		.ci_low_pct = NAN,
		.ci_high_pct = NAN,
		.mde_pct = NAN,
		.verdict = VERDICT_UNDECIDED,
		.reason = "ask @everyone\n![x](https://e.example/x.png)" };
	snprintf(odd.key, sizeof odd.key, "a`![x](https://e.example/p.png)`|b");
	ok(db_begin(run->f->db, &err));
	ok(store_cell_insert(run->f->db, &odd, &err));
	ok(body_store(run->f->db, id, &err));
	ok(db_commit(run->f->db, &err));
	struct answer a = get(run, "/api/v1/comparisons/2.md");
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body,
		"\n| `a\\x60![x](https://e.example/p.png)\\x60\\|b` | 1 ms | 2 ms | -50.00 % | \u2013 | undecided: ask "
		"`@everyone` `![x](https://e.example/x.png)` |\n"));
	assert_null(strstr(a.body, "nan"));
	answer_free(&a);
	static const char *const pages[] = { "/comparisons/2", "/", "/comparisons", "/history?repo=kernels&branch=team/a%2Bb",
		"/comparisons.atom", "/api/v1/comparisons/2.csv" };
	for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
		a = get(run, pages[i]);
		assert_int_equal(a.status, 200);
		if (strstr(a.body, "+nan") || strstr(a.body, "-nan") || strstr(a.body, ">nan"))
			fail_msg("%s says nan", pages[i]);
		answer_free(&a);
	}
}

/* Pages of two through five comparisons, each row once; the Link header preserves filters. */
static void test_api_paging(void **state)
{
	struct run *run = *state;
	ok(db_begin(run->f->db, &err));
	for (unsigned i = 0; i < 5; i++)
		fixture_comparison(run->f, "main", 1, 100 + i, VERDICT_UNCHANGED, 1000 + i);
	fixture_comparison(run->f, "other", 1, 200, VERDICT_IMPROVEMENT, 2000);
	ok(db_commit(run->f->db, &err));
	char target[256] = "/api/v1/comparisons?repo=kernels&branch=main&limit=2";
	int64_t expected = 5;
	for (int page = 0; page < 3; page++) {
		struct answer a = get(run, target);
		char link[512], want[512];
		snprintf(link, sizeof link, "%s", header_of(&a, "Link"));
		json_t *root = json_of(&a), *item;
		const char *cursor = text_at(root, "next_cursor");
		size_t i;
		assert_int_equal(json_array_size(json_object_get(root, "items")), page < 2 ? 2 : 1);
		json_array_foreach(json_object_get(root, "items"), i, item) assert_int_equal(int_at(item, "id"), expected--);
		if (page == 2) {
			assert_null(cursor);
			assert_string_equal(link, "");
		} else {
			snprintf(target, sizeof target, "/api/v1/comparisons?cursor=%s&repo=kernels&branch=main&limit=2", cursor);
			snprintf(want, sizeof want, "<%s>; rel=\"next\"", target);
			assert_string_equal(link, want);
		}
		json_decref(root);
	}
	assert_int_equal(expected, 0);
	json_t *root = get_json(run, "/api/v1/comparisons?verdict=improvement");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 1);
	json_decref(root);
}

/* Jobs of one repository among many of another: the filter reads more than one page of rows. */
static void test_api_jobs_of_repo(void **state)
{
	struct run *run = *state;
	struct fixture other = *run->f;
	ok(db_begin(run->f->db, &err));
	ok(store_repo_put(run->f->db, "far", "/srv/far.git", true, "main", &other.repo, &err));
	int64_t wanted[3];
	for (unsigned i = 0; i < 60; i++) {
		int64_t id = fixture_job(i % 20 == 3 ? &other : run->f, "main", 1, 100 + i, 1000);
		if (i % 20 == 3)
			wanted[i / 20] = id;
	}
	ok(db_commit(run->f->db, &err));
	json_t *root = get_json(run, "/api/v1/jobs?repo=far&limit=10"), *items = json_object_get(root, "items");
	assert_int_equal(json_array_size(items), 3);
	assert_true(json_is_null(json_object_get(root, "next_cursor")));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(int_at(json_array_get(items, i), "id"), wanted[2 - i]);
	json_decref(root);
	root = get_json(run, "/api/v1/jobs?repo=far&limit=2");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 2);
	assert_int_equal(atoll(text_at(root, "next_cursor")), wanted[1]);
	json_decref(root);
	/* two repositories: a history has to name one */
	assert_problem(get(run, "/api/v1/history?cell=x"), 400, "2 repositories are watched");
}

static void test_api_refuses(void **state)
{
	static const struct {
		const char *target;
		int status;
		const char *says;
	} cases[] = {
		{ "/api/v1/nothing", 404, "no such address" },
		{ "/api/v1/comparisons/99", 404, "there is no C99" },
		{ "/api/v1/comparisons/abc", 404, "needs its number" },
		{ "/api/v1/comparisons/1e3", 404, "needs its number" },
		{ "/api/v1/comparisons/99999999999999999999", 404, "needs its number" },
		{ "/api/v1/comparisons/99.csv", 404, "there is no C99" },
		{ "/api/v1/jobs/99", 404, "there is no J99" },
		{ "/api/v1/jobs/99/log", 404, "there is no J99" },
		{ "/api/v1/commits/abcdef", 404, "no commit" },
		{ "/api/v1/commits/XYZ", 404, "no commit" },
		{ "/api/v1/branches?repo=other", 404, "there is no repository other" },
		{ "/api/v1/history", 400, "cell is required" },
		{ "/api/v1/history?cell=x&limit=10001", 400, "limit must be" },
		{ "/api/v1/history?cell=x&repo=other", 404, "there is no repository other" },
		{ "/api/v1/compare?repo=kernels", 400, "repo, base and target are required" },
		{ "/api/v1/compare?repo=kernels&base=1&target=2", 404, "no branch or commit of kernels matches 1" },
		{ "/api/v1/comparisons?limit=0", 400, "limit must be" },
		{ "/api/v1/comparisons?limit=501", 400, "limit must be" },
		{ "/api/v1/comparisons?limit=4294967297", 400, "limit must be" },
		{ "/api/v1/comparisons?limit=x", 400, "limit must be" },
		{ "/api/v1/comparisons?cursor=-1", 400, "cursor must be" },
		{ "/api/v1/comparisons?branch=main", 400, "need repo" },
		{ "/api/v1/comparisons?verdict=great", 400, "verdict must be one of" },
		{ "/api/v1/jobs?state=great", 400, "state must be one of: open queued" },
		{ "/api/v1/alerts?state=great", 400, "state must be one of: open acknowledged" },
		{ "/api/v1/repos?x=%00", 400, "malformed" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_problem(get(*state, cases[i].target), cases[i].status, cases[i].says);
	struct answer a = request_with(*state, "POST", "/api/v1/repos", "", "", 0);
	assert_string_equal(header_of(&a, "Allow"), "GET, HEAD");
	assert_problem(a, 405, "Allow header");
	a = get(*state, "/api/v1/backup");
	assert_string_equal(header_of(&a, "Allow"), "POST");
	assert_problem(a, 405, "Allow header");
	a = request_with(*state, "DELETE", "/api/v1/jobs", "", NULL, 0);
	assert_string_equal(header_of(&a, "Allow"), "GET, HEAD, POST");
	assert_problem(a, 405, "Allow header");
	a = request_with(*state, "PUT", "/api/v1/jobs/1", "", NULL, 0);
	assert_string_equal(header_of(&a, "Allow"), "GET, HEAD");
	assert_problem(a, 405, "Allow header");
}

#define SITE_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE_TEST(test_pages),
		SITE_TEST(test_page_peer),
		SITE_TEST(test_pages_refuse),
		SITE_TEST(test_older),
		SITE_TEST(test_api_objects),
		SITE_TEST(test_api_body),
		SITE_TEST(test_api_csv),
		SITE_TEST(test_api_branches_paging),
		SITE_TEST(test_review_of_odd_rows),
		SITE_TEST(test_api_paging),
		SITE_TEST(test_api_jobs_of_repo),
		SITE_TEST(test_api_refuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
