/*
 * Drawn pages in memory: a page's stamp changes with everything that the page shows, a request after a change gets a page drawn
 * after it, and the cache stays within its limit.
 */
#include "profile_put.h"

#include <stdlib.h>
#include <time.h>

#include "db/db.h"
#include "flopwatchd/job/job.h"
#include "web/http/internal.h"
#include "web/page/internal.h"
#include "web/page/page.h"

static const char key[] = "attention/dense/causal/s8192/forward";

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	return 0;
}

static int64_t add(struct fixture *f, const char *branch, unsigned base, unsigned target)
{
	int64_t id = fixture_comparison(f, branch, base, target, VERDICT_REGRESSION, 1000);
	fixture_cell(f, id, 0, key, 0.03, VERDICT_REGRESSION);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	return id;
}

static const char *public_url;

static void stamp_of(struct fixture *f, int64_t id, bool logged_in, char *stamp)
{
	struct http_response response = { .logged_in = logged_in };
	struct view_around around;
	char profile[EXPLANATION_STAMP_SIZE];
	ok(view_around(f->db, id, &around, &err));
	ok(explanation_stamp(f->db, id, profile, &err));
	ok(page_stamp(id, &around, profile, public_url, &response, stamp, &err));
}

/* The stamp differs from the earlier one, and is the same when it is computed again. */
static void changed(struct fixture *f, int64_t id, char *before)
{
	char now[PAGE_STAMP_MAX], again[PAGE_STAMP_MAX];
	stamp_of(f, id, false, now);
	stamp_of(f, id, false, again);
	assert_string_not_equal(now, before);
	assert_string_equal(now, again);
	memcpy(before, now, sizeof now);
}

static void test_stamp(void **state)
{
	struct fixture *f = *state;
	char stamp[PAGE_STAMP_MAX], other[PAGE_STAMP_MAX];
	bool is_new;
	int64_t first = add(f, "topic", 1, 2), id = add(f, "topic", 1, 3);
	stamp_of(f, id, false, stamp);
	stamp_of(f, id, true, other);
	assert_string_not_equal(stamp, other);

	add(f, "another", 1, 4); /* of another branch: not shown on this page */
	stamp_of(f, id, false, other);
	assert_string_equal(stamp, other);
	add(f, "topic", 1, 5);
	changed(f, id, stamp);
	ok(store_comparison_body(f->db, id, "{}", 2, "etag-1", &err));
	changed(f, id, stamp);
	ok(store_comparison_body(
		f->db, first, "{}", 2, "etag-2", &err)); /* judged again: the change since it has another value */
	changed(f, id, stamp);

	struct store_alert alert = { .repo = f->repo, .branch = "topic", .comparison = id, .cells_json = "[]", .worst_pct = -3 };
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(3));
	ok(store_alert_open(f->db, &alert, 7000, &is_new, &err));
	changed(f, id, stamp);
	ok(store_alert_change(f->db, alert.id, ALERTSTATE_ACKNOWLEDGED, "ann", "seen", 8000, &err));
	changed(f, id, stamp);
	(void)put_profile_request(f, id, alert.id, "queued", "");
	changed(f, id, stamp);
	ok(db_script(f->db, "UPDATE job SET state = 'done', ended_at = 11 WHERE kind = 'profile'", &err));
	changed(f, id, stamp);

	public_url = "https://bench.example.org"; /* a reload changed it */
	changed(f, id, stamp);

	struct view_around around;
	assert_int_equal(view_around(f->db, 999, &around, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
}

static bool has(struct page_cache *cache, const char *id, const char *stamp, const char *text)
{
	struct http_response out = { .type = "" };
	buf_init(&out.body, PAGE_CACHE_BYTES);
	bool found = page_cache_get(cache, id, stamp, &out);
	assert_true(!found || !text || strncmp(out.body.data, text, strlen(text)) == 0);
	assert_string_equal(out.type, found ? "text/html" : "");
	buf_fini(&out.body);
	return found;
}

static void test_keeping(void **state)
{
	enum { PAGE = PAGE_CACHE_BYTES / 20 };
	struct page_cache *cache = page_cache_new();
	struct http_response page = { .type = "text/html" };
	char id[16];
	(void)state;
	assert_non_null(cache);
	buf_init(&page.body, PAGE_CACHE_BYTES);
	buf_puts(&page.body, "small");
	assert_false(has(cache, "1", "a", NULL));
	page_cache_put(cache, "1", "a", 0, &page);
	assert_true(has(cache, "1", "a", "small"));
	assert_false(has(cache, "1", "b", NULL)); /* rendered from other data: removed for good */
	assert_false(has(cache, "1", "a", NULL));

	char *fill = calloc(1, PAGE);
	assert_non_null(fill);
	memset(fill, 'x', PAGE);
	buf_clear(&page.body);
	buf_append(&page.body, fill, PAGE);
	free(fill);
	for (int n = 1; n <= 30; n++) { /* more than fit; the first one is used again and again */
		snprintf(id, sizeof id, "%d", n);
		page_cache_put(cache, id, "a", 0, &page);
		assert_true(has(cache, "1", "a", "x"));
	}
	int kept = 0;
	for (int n = 1; n <= 30; n++) {
		snprintf(id, sizeof id, "%d", n);
		kept += has(cache, id, "a", "x");
	}
	assert_int_equal(kept, 20);
	assert_true(has(cache, "30", "a", "x"));
	assert_false(has(cache, "2", "a", NULL));
	buf_fini(&page.body);
	page_cache_free(cache);
	page_cache_free(NULL);
}

/* Pages of single seconds, more than fit in bytes or in entries, remove each other, not those without a second. */
static void put_seconds(size_t size, int n)
{
	struct page_cache *cache = page_cache_new();
	struct http_response page = { .type = "text/html" };
	char id[16];
	assert_non_null(cache);
	buf_init(&page.body, PAGE_CACHE_BYTES);
	for (size_t i = 0; i < size; i++)
		buf_putc(&page.body, 'x');
	page_cache_put(cache, "lasting", "a", 0, &page);
	for (int i = 1; i <= n; i++) {
		snprintf(id, sizeof id, "%d", i);
		page_cache_put(cache, id, "a", 1000 + i, &page);
		assert_true(has(cache, id, "a", "x"));
	}
	assert_true(has(cache, "lasting", "a", "x"));
	assert_false(has(cache, "1", "a", NULL));
	buf_fini(&page.body);
	page_cache_free(cache);
}

static void test_seconds(void **state)
{
	(void)state;
	put_seconds(PAGE_CACHE_BYTES / 20, 30);
	put_seconds(1, 300);
}

/* ---- any page ---------------------------------------------------------------------------------------------------------- */

/* The daemon, as the site asks it. */
struct control {
	const char *state, *why; /* of its only worker; "" of its health: it is well */
};

static void report_workers(const struct control *c, worker_status_fn *each, void *to)
{
	each(to, &(struct worker_status){ .name = "local",
			 .state = c->state,
			 .aim = "",
			 .why = "",
			 .allocation = "",
			 .version = "1",
			 .device = "" });
}

static int report_health(struct control *c, struct fw_err *e)
{
	return *c->why ? err_set(e, ERR_FULL, "%s", c->why) : 0;
}

static const struct site_actions actions = { .workers = report_workers, .health = report_health };

static int n_drawn;
static const char *etag, *location; /* that `draw` sets; "" none */
static int drawn_result;

static int draw(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *e)
{
	int open_alerts; /* one state of the database for the whole page: a transaction is open */
	assert_true(db_in_transaction(site->db));
	ok(view_alerts_open(site->db, &open_alerts, e));
	assert_int_equal(response->open_alerts, open_alerts);
	response->type = "text/plain";
	buf_printf(&response->body, "%s drawn %d", http_path(r), ++n_drawn);
	snprintf(response->etag, sizeof response->etag, "%s", etag);
	snprintf(response->location, sizeof response->location, "%s", location);
	return drawn_result ? err_set(e, ERR_IO, "not drawn") : 0;
}

static const char *address = "/jobs";

/* Request a page; returns whether it was drawn for this request. Without a query the answer is the newest drawing without one. */
static bool is_drawn(struct site *site, const char *query, bool logged_in)
{
	static char newest[64];
	char path[64], pairs[64];
	struct http_request r = { .method = "GET", .uri = path };
	struct http_response response = { .status = 200, .logged_in = logged_in };
	int before = n_drawn;
	snprintf(path, sizeof path, "%s", address);
	snprintf(pairs, sizeof pairs, "%s", query);
	assert_int_equal(pairs_split(&r.query, pairs), 0);
	buf_init(&response.body, 1024);
	assert_int_equal(page_get(site, &r, &response, draw, &err), drawn_result);
	err_clear(&err);
	assert_false(db_in_transaction(site->db));
	if (!*query && !logged_in) {
		if (n_drawn > before)
			snprintf(newest, sizeof newest, "/jobs drawn %d", n_drawn);
		assert_string_equal(response.body.data, newest);
		assert_string_equal(response.type, "text/plain");
	}
	buf_fini(&response.body);
	return n_drawn > before;
}

/* Whether the second of two equal requests of the same second is drawn. */
static bool is_drawn_twice(struct site *site)
{
	int64_t second;
	bool again;
	do {
		second = clock_utc_ms() / 1000;
		ok(db_script(site->db, "UPDATE repo SET state = state", &err));
		assert_true(is_drawn(site, "", false));
		again = is_drawn(site, "", false);
	} while (clock_utc_ms() / 1000 != second);
	return again;
}

static void test_get(void **state)
{
	struct fixture *f = *state;
	struct control control = { .state = "free", .why = "" };
	struct site site = { .db = f->db, .act = &actions, .control = &control, .pages = page_cache_new() };
	etag = location = "";
	assert_true(is_drawn(&site, "", false));
	assert_false(is_drawn_twice(&site));
	assert_true(is_drawn(&site, "state=done", false)); /* another page */
	assert_true(is_drawn(&site, "state=done&repo=a", false));
	assert_true(is_drawn(&site, "state=done&repo=b", false));
	assert_true(is_drawn(&site, "", true)); /* of a user with a session: it has a log-out button */
	address = "/jobs/1";
	assert_true(is_drawn(&site, "", true));
	address = "/jobs/2"; /* the last character counts */
	assert_true(is_drawn(&site, "", true));
	address = "/jobs";

	/* each change is seen by the next request */
	is_drawn(&site, "", false);
	ok(db_script(f->db, "UPDATE repo SET state = 'error'", &err));
	assert_true(is_drawn(&site, "", false));
	control.state = "down";
	assert_true(is_drawn(&site, "", false));
	control.why = "the disk is full";
	assert_true(is_drawn(&site, "", false));
	nanosleep(&(struct timespec){ .tv_sec = 1 }, NULL); /* ages and durations */
	assert_true(is_drawn(&site, "", false));
	assert_false(is_drawn_twice(&site));

	/* answers that are not cached */
	etag = "\"1\"";
	assert_true(is_drawn_twice(&site));
	etag = "";
	location = "/jobs/1";
	assert_true(is_drawn_twice(&site));
	location = "";
	drawn_result = -1;
	assert_true(is_drawn_twice(&site));
	drawn_result = 0;
	page_cache_free(site.pages);
	site.pages = NULL; /* no cache */
	assert_true(is_drawn_twice(&site));
}

/* ---- a comparison ------------------------------------------------------------------------------------------------------- */

struct got {
	struct buf body;
	char etag[80];
};

static struct got get_comparison(struct site *site, int64_t id, const char *query, bool logged_in)
{
	char text[24], pairs[64];
	struct http_request r = { .method = "GET", .uri = (char[]){ "/comparisons" }, .parts = { .n = 1, .part = { text } } };
	struct http_response response = { .status = 200, .logged_in = logged_in };
	struct got got;
	snprintf(text, sizeof text, "C%lld", (long long)id);
	snprintf(pairs, sizeof pairs, "%s", query);
	assert_int_equal(pairs_split(&r.query, pairs), 0);
	buf_init(&response.body, 1 << 20);
	ok(page_comparison(site, &r, &response, &err));
	assert_false(db_in_transaction(site->db));
	got.body = response.body;
	snprintf(got.etag, sizeof got.etag, "%s", response.etag);
	return got;
}

/* Request it again: whether it is another page, which contains `word`. */
static bool is_another(struct site *site, int64_t id, bool logged_in, const char *word, struct got *before)
{
	struct got now = get_comparison(site, id, "", logged_in);
	bool is_changed = strcmp(now.etag, before->etag) != 0;
	assert_int_equal(is_changed, strcmp(now.body.data, before->body.data) != 0);
	assert_non_null(strstr(now.body.data, word));
	buf_fini(&before->body);
	*before = now;
	return is_changed;
}

/* Its cached page is that of its data and its user, and has no time. */
static void test_comparison(void **state)
{
	struct fixture *f = *state;
	struct control control = { .state = "free", .why = "" };
	struct site site = { .db = f->db, .act = &actions, .control = &control, .pages = page_cache_new() };
	ok(db_begin(f->db, &err));
	int64_t id = add(f, "main", 1, 2);
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	struct got page = get_comparison(&site, id, "", false), shown;
	assert_true(*page.etag);
	assert_null(strstr(page.body.data, "Log out"));
	assert_false(is_another(&site, id, false, "main is ", &page));
	assert_true(is_another(&site, id, true, "Log out", &page)); /* of a user with a session */
	assert_true(is_another(&site, id, false, "main is ", &page));
	ok(db_script(f->db,
		"INSERT INTO alert (kind, repo, branch, target_sha, opened_at, changed_at, cells) SELECT 'failing', min(id), 'other', "
		"'0f', 1, 1, '[]' FROM repo",
		&err));
	assert_true(is_another(&site, id, false, "<b class=count>1</b>", &page));
	shown = get_comparison(&site, id, "show=unchanged", false);
	assert_false(*shown.etag);
	assert_non_null(strstr(shown.body.data, "<b class=count>1</b>"));
	buf_fini(&shown.body);
	buf_fini(&page.body);
	page_cache_free(site.pages);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_stamp, setup, fixture_teardown),
		cmocka_unit_test(test_keeping), cmocka_unit_test(test_seconds),
		cmocka_unit_test_setup_teardown(test_get, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_comparison, setup, fixture_teardown) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
