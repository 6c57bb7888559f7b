/* ?since= and ?until= of every list that has a time: the selected rows, page by page, and rejected values. */
#include "site_fill.h"

#include "db/db.h"

enum { DAYS = 6 };
static const int64_t DAY_MS = 24 * 3600 * 1000, FIRST_DAY_MS = INT64_C(1793491200000); /* 2026-11-01 */

/* One object of every kind a day. */
static void fill_days(struct fixture *f, int64_t first_ms)
{
	ok(db_begin(f->db, &err));
	for (unsigned i = 0; i < DAYS; i++) {
		int64_t at = first_ms + i * DAY_MS;
		int64_t comparison = fixture_comparison(f, "main", i, 100 + i, VERDICT_REGRESSION, at);
		struct store_bisect b = { .repo = f->repo, .origin = "api", .goal = "regression", .suite = "ffa" };
		snprintf(b.good_sha, sizeof b.good_sha, "%s", fixture_sha(i));
		snprintf(b.bad_sha, sizeof b.bad_sha, "%s", fixture_sha(100 + i));
		fixture_cell(f, comparison, 0, CELL, -0.1, VERDICT_REGRESSION);
		ok(store_bisect_insert(f->db, &b, at, &err));
		ok(store_outbox_insert(f->db, "webhook", "hook", "{}", at, &err));
	}
	ok(db_script(f->db,
		"INSERT INTO alert (kind, state, repo, branch, target_sha, cells, worst_pct, opened_at, changed_at, comparison) SELECT "
		"'regression', 'open', repo, branch, target_sha, '[]', -9, finished_at, finished_at, id FROM comparison",
		&err));
	ok(db_commit(f->db, &err));
}

/* Ids (points: of their comparisons) of the list and of all pages after it. Shape: text[64]. */
static void read_pages(struct run *run, const char *first, const char *id, char *text)
{
	char target[512];
	size_t len = 0;
	snprintf(target, sizeof target, "%s", first);
	text[0] = '\0';
	for (int pages = 0; *target; pages++) {
		struct answer a = get(run, target);
		const char *link = header_of(&a, "Link");
		assert_true(pages < 20);
		assert_int_equal(a.status, 200);
		target[0] = '\0';
		sscanf(link ? link : "", "<%511[^>]>", target);
		json_t *root = json_of(&a), *item;
		size_t i;
		json_array_foreach(json_object_get(root, "items"), i, item) len +=
			(size_t)snprintf(text + len, 64 - len, "%lld ", (long long)int_at(item, id));
		json_decref(root);
	}
}

static void expect(struct run *run, const char *query, const char *ids)
{
	static const char *const lists[] = { "comparisons", "jobs", "alerts", "bisects", "notifications", "history" };
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		char target[512], found[64];
		bool is_history = strcmp(lists[i], "history") == 0;
		snprintf(target, sizeof target, "/api/v1/%s?%s%s", lists[i], query, is_history ? "&cell=" CELL : "");
		if ((is_history && strstr(query, "limit=")) || (strcmp(lists[i], "notifications") == 0 && strstr(query, "repo=")))
			continue;
		read_pages(run, target, is_history ? "comparison" : "id", found);
		if (strcmp(found, ids) != 0)
			fail_msg("%s: %s instead of %s", target, found, ids);
	}
}

static void test_lists_hold_their_period(void **state)
{
	struct run *run = *state;
	fill_days(run->f, FIRST_DAY_MS);
	expect(run, "", "6 5 4 3 2 1 ");
	expect(run, "since=2026-11-03", "6 5 4 3 ");
	expect(run, "since=2026-11-03T00:00:00.001Z", "6 5 4 ");
	expect(run, "until=2026-11-03", "2 1 ");
	expect(run, "until=2026-11-03T01:00:00+01:00", "2 1 ");
	expect(run, "until=2026-11-03T00:00:00.001Z", "3 2 1 ");
	expect(run, "since=2026-11-02&until=2026-11-05", "4 3 2 ");
	expect(run, "since=2026-11-02&until=2026-11-05&limit=1", "4 3 2 ");
	expect(run, "since=2026-11-02&until=2026-11-05&limit=3", "4 3 2 ");
	expect(run, "since=2026-11-02&until=2026-11-05&limit=2&repo=kernels", "4 3 2 ");
	expect(run, "since=2026-12-01", "");
	expect(run, "until=2026-11-01", "");
	expect(run, "since=&until=", "6 5 4 3 2 1 ");
}

static void test_how_long_ago(void **state)
{
	struct run *run = *state;
	fill_days(run->f, clock_utc_ms() - DAYS * DAY_MS + DAY_MS / 2); /* at noon of each day up to today */
	expect(run, "since=2d", "6 5 ");
	expect(run, "since=48h&until=1440m", "5 ");
	expect(run, "until=4d", "2 1 ");
	expect(run, "since=1w", "6 5 4 3 2 1 ");
}

static void test_malformed_times(void **state)
{
	static const char *const bad[] = { "yesterday", "7", "7x", "d", "-7d", "7dd", "0d", "1234567d", "2026-02-30",
		"2026-11-22T02:46:00", "1e3h", "1969-12-31", "%20" };
	static const char *const ends[] = { "since", "until" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		for (size_t k = 0; k < 2; k++) {
			char target[128], says[64];
			snprintf(target, sizeof target, "/api/v1/jobs?%s=%s", ends[k], bad[i]);
			snprintf(says, sizeof says, "%s must be a time", ends[k]);
			assert_problem(get(*state, target), 400, says);
		}
	assert_problem(get(*state, "/api/v1/history?cell=x&since=soon"), 400, "how long ago (90m, 12h, 7d, 2w)");
	assert_problem(get(*state, "/api/v1/alerts?since=2026-11-03&until=2026-11-03"), 400, "until must come after since");
	assert_problem(get(*state, "/api/v1/branches?since=7d"), 400, "no argument since");
}

#define SITE_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SITE_TEST(test_lists_hold_their_period),
		SITE_TEST(test_how_long_ago),
		SITE_TEST(test_malformed_times),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
