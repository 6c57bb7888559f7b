/* The report of a period: its comparisons and cells, as JSON, CSV and Markdown, page by page. */
#include "site_fill.h"

#define OTHER "attention/dense/causal/s128/hq2/hk2/d64/bf16/forward"

static const int64_t DAY_MS = 24 * 3600 * 1000, FIRST_DAY_MS = INT64_C(1793491200000); /* 2026-11-01 */

static int64_t put(
	struct fixture *f, const char *branch, unsigned target, enum verdict verdict, enum verdict first, enum verdict second)
{
	int64_t id = fixture_comparison(f, branch, 1, target, verdict, FIRST_DAY_MS + target * DAY_MS);
	if (first != VERDICT_NONE)
		fixture_cell(f, id, 0, CELL, first == VERDICT_REGRESSION ? 0.1 : first == VERDICT_IMPROVEMENT ? -0.1 : 0, first);
	if (second != VERDICT_NONE)
		fixture_cell(f, id, 1, OTHER, 0, second);
	ok(store_comparison_verdict(f->db, id, verdict, &err));
	return id;
}

/* 1 unchanged, 2 regression, 3 improvement, 4 failed before there were cells, 5 failed and regressed, 6 a step of a bisect. */
static void fill_report(struct fixture *f)
{
	struct store_commit commit = { .author = "Ada", .subject = "=1+1 | @everybody", .committed_at = 5000 };
	snprintf(commit.sha, sizeof commit.sha, "%s", fixture_sha(4));
	snprintf(commit.tree, sizeof commit.tree, "%s", fixture_sha(0x77));
	ok(db_begin(f->db, &err));
	ok(store_commit_put(f->db, f->repo, &commit, &err));
	put(f, "main", 1, VERDICT_UNCHANGED, VERDICT_UNCHANGED, VERDICT_UNCHANGED);
	put(f, "team/a%2Bb", 2, VERDICT_REGRESSION, VERDICT_REGRESSION, VERDICT_UNCHANGED);
	put(f, "main", 3, VERDICT_IMPROVEMENT, VERDICT_IMPROVEMENT, VERDICT_UNDECIDED);
	put(f, "main", 4, VERDICT_FAILED, VERDICT_NONE, VERDICT_NONE);
	put(f, "main", 5, VERDICT_FAILED, VERDICT_REGRESSION, VERDICT_FAILED);
	put(f, "main", 6, VERDICT_REGRESSION, VERDICT_REGRESSION, VERDICT_REGRESSION);
	ok(db_script(
		f->db, "UPDATE comparison SET kind = 'bisect' WHERE id = 6; UPDATE job SET kind = 'bisect' WHERE id = 6", &err));
	ok(db_commit(f->db, &err));
}

/* "5:regression,failed 4: " */
static void expect(struct run *run, const char *query, const char *expected)
{
	char target[256], found[256] = "";
	size_t len = 0, i, k;
	snprintf(target, sizeof target, "/api/v1/report%s", query);
	json_t *root = get_json(run, target), *item, *cell;
	json_array_foreach(json_object_get(root, "items"), i, item)
	{
		len += (size_t)snprintf(
			found + len, sizeof found - len, "%lld:", (long long)int_at(json_object_get(item, "comparison"), "id"));
		json_array_foreach(json_object_get(item, "cells"), k, cell) len +=
			(size_t)snprintf(found + len, sizeof found - len, "%s%s", k ? "," : "", text_at(cell, "verdict"));
		len += (size_t)snprintf(found + len, sizeof found - len, " ");
	}
	if (strcmp(found, expected) != 0)
		fail_msg("%s: %s instead of %s", target, found, expected);
	json_decref(root);
}

static void test_entries_of_a_report(void **state)
{
	struct run *run = *state;
	fill_report(run->f);
	expect(run, "", "5:regression,failed 4: 3:improvement,undecided 2:regression 1: ");
	expect(run, "?verdict=regression", "5:regression 2:regression ");
	expect(run, "?verdict=regression&repo=kernels", "5:regression 2:regression ");
	expect(run, "?verdict=regression&repo=kernels&branch=team/a%2Bb", "2:regression ");
	expect(run, "?verdict=regression&since=2026-11-04", "5:regression ");
	expect(run, "?verdict=regression&since=2026-11-02&until=2026-11-06", "2:regression ");
	expect(run, "?verdict=improvement", "3:improvement ");
	expect(run, "?verdict=failed", "5:failed 4: ");
	expect(run, "?verdict=unchanged", "1:unchanged,unchanged ");
	expect(run, "?verdict=regression&since=2026-11-08", "");
	json_t *root = get_json(run, "/api/v1/report?verdict=regression&limit=1");
	const json_t *item = json_array_get(json_object_get(root, "items"), 0);
	const json_t *cell = json_array_get(json_object_get(item, "cells"), 0);
	assert_string_equal(text_at(cell, "cell"), CELL);
	assert_true(json_real_value(json_object_get(cell, "change_pct")) < -9);
	assert_true(json_real_value(json_object_get(cell, "ci_low_pct")) < json_real_value(json_object_get(cell, "ci_high_pct")));
	assert_string_equal(text_at(root, "next_cursor"), "5");
	json_decref(root);
	expect(run, "?verdict=regression&limit=1&cursor=5", "2:regression ");
	/* the number of cells on a page is limited, but one comparison always fits */
	ok(db_script(run->f->db, "UPDATE comparison SET n_cells = 10001 WHERE id = 4", &err));
	expect(run, "", "5:regression,failed ");
	expect(run, "?cursor=5", "4: ");
	expect(run, "?cursor=4", "3:improvement,undecided 2:regression 1: ");
}

static struct answer get_as(struct run *run, const char *target, const char *accept, const char *type)
{
	char header[128];
	snprintf(header, sizeof header, "Accept: %s\r\n", accept);
	struct answer a = request_with(run, "GET", target, header, "", 0);
	assert_int_equal(a.status, 200);
	if (strncmp(header_of(&a, "Content-Type"), type, strlen(type)) != 0)
		fail_msg("%s as %s is %s", target, accept, header_of(&a, "Content-Type"));
	return a;
}

static void test_forms(void **state)
{
	struct run *run = *state;
	fill_report(run->f);
	struct answer a = get_as(run, "/api/v1/report?limit=2", "text/csv", "text/csv");
	static const char head[] =
		"finished_at,comparison,repo,branch,base,target,subject,suite,device,verdict,cell,cell_verdict,";
	assert_int_equal(strncmp(a.body, head, strlen(head)), 0);
	int lines = 0;
	for (const char *at = a.body; (at = strstr(at, "\r\n")); at += 2)
		lines++;
	assert_int_equal(lines, 1 + 2 + 1);
	assert_non_null(strstr(a.body, "2026-11-06T00:00:00.000Z,5,kernels,main,"));
	assert_non_null(strstr(a.body, ",failed," CELL ",regression,"));
	assert_non_null(strstr(a.body, ",\"'=1+1 | @everybody\","));
	assert_non_null(strstr(a.body, ",failed,,,,,,,,,\r\n"));
	assert_string_equal(header_of(&a, "Link"), "</api/v1/report?cursor=4&limit=2>; rel=\"next\"");
	answer_free(&a);
	a = get_as(run, "/api/v1/report?since=2026-11-02&until=2026-11-06", "text/markdown", "text/markdown");
	assert_non_null(
		strstr(a.body, "**flopwatch: 4 comparisons since 2026-11-02T00:00Z until 2026-11-06T00:00Z**\n\n| day |"));
	assert_non_null(strstr(a.body, "| 2026-11-03 | `"));
	assert_non_null(strstr(a.body, "`kernels` team/a\\+b | `" CELL "` | "));
	assert_non_null(strstr(a.body, "` =1\\+1 \\| `@everybody` | "));
	assert_non_null(strstr(a.body, "| | | | `" OTHER "` | "));
	answer_free(&a);
	a = get_as(run, "/api/v1/report?verdict=removed&format=md", "*/*", "text/markdown");
	assert_string_equal(a.body, "**flopwatch: 0 removed comparisons**\n\n");
	answer_free(&a);
	a = get_as(run, "/api/v1/report?format=csv", "application/json;q=0.5, text/csv;q=0.4", "text/csv");
	answer_free(&a);
	a = get_as(run, "/api/v1/report?format=json", "text/csv, */*;q=0.1", "application/json");
	answer_free(&a);
	a = request_with(run, "GET", "/api/v1/report", "Accept: image/png\r\n", "", 0);
	assert_problem(a, 406, "Accept");
	assert_problem(get(run, "/api/v1/report?format=xml"), 400, "format must be one of: json csv md");
	assert_problem(get(run, "/api/v1/report?repo=unknown&format=csv"), 404, "there is no repository unknown");
	assert_problem(get(run, "/api/v1/report?branch=main&format=md"), 400, "need repo");
	assert_problem(get(run, "/api/v1/report?since=soon&format=csv"), 400, "since must be a time");
}

#define SITE_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE_TEST(test_entries_of_a_report),
		SITE_TEST(test_forms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
