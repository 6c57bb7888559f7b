/* Rendered pages in memory: a page's stamp changes with everything that the page shows, and the cache stays within its limit. */
#include "profile_put.h"

#include <stdlib.h>

#include "db/db.h"
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

static void stamp_of(struct fixture *f, int64_t id, bool logged_in, char *stamp)
{
	struct http_response response = { .logged_in = logged_in };
	struct view_around around;
	char profile[WHY_STAMP_SIZE];
	ok(view_around(f->db, id, &around, &err));
	ok(why_stamp(f->db, id, profile, &err));
	page_stamp(id, &around, profile, &response, stamp);
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

	struct view_around around;
	assert_int_equal(view_around(f->db, 999, &around, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	err_clear(&err);
}

static bool has(struct page_cache *cache, int64_t id, const char *stamp, const char *text)
{
	struct buf out;
	buf_init(&out, PAGE_CACHE_BYTES);
	bool found = page_cache_get(cache, id, stamp, &out);
	assert_true(!found || !text || strncmp(out.data, text, strlen(text)) == 0);
	buf_fini(&out);
	return found;
}

static void test_keeping(void **state)
{
	enum { PAGE = PAGE_CACHE_BYTES / 20 };
	struct page_cache *cache = page_cache_new();
	struct buf page;
	(void)state;
	assert_non_null(cache);
	buf_init(&page, PAGE_CACHE_BYTES);
	buf_puts(&page, "small");
	assert_false(has(cache, 1, "a", NULL));
	page_cache_put(cache, 1, "a", &page);
	assert_true(has(cache, 1, "a", "small"));
	assert_false(has(cache, 1, "b", NULL)); /* rendered from other data: removed for good */
	assert_false(has(cache, 1, "a", NULL));

	char *fill = calloc(1, PAGE);
	assert_non_null(fill);
	memset(fill, 'x', PAGE);
	buf_clear(&page);
	buf_append(&page, fill, PAGE);
	free(fill);
	for (int64_t id = 1; id <= 30; id++) { /* more than fit; the first one is used again and again */
		page_cache_put(cache, id, "a", &page);
		assert_true(has(cache, 1, "a", "x"));
	}
	int kept = 0;
	for (int64_t id = 1; id <= 30; id++)
		kept += has(cache, id, "a", "x");
	assert_int_equal(kept, 20);
	assert_true(has(cache, 30, "a", "x"));
	assert_false(has(cache, 2, "a", NULL));
	buf_fini(&page);
	page_cache_free(cache);
	page_cache_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_stamp, setup, fixture_teardown),
		cmocka_unit_test(test_keeping) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
