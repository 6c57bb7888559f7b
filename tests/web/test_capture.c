/* Cells of past jobs: from the suite that a comparison ran with, whether it is cached or not. */
#include "fixture_db.h"

#include "db/db.h"
#include "lib/lib.h"
#include "web/page/page.h"

enum { SUITES = 6 };

#define KEY   "attention/dense/causal/s384/hq8/hk2/d64/bf16/forward"
#define CASES "suite: demo\nfamily: attention\ncommon: {nhq: 8, nhk: 2, headdim: 64, dtype: bf16}\n"
#define MORE  "dense: {seqlens: [384], masks: [causal]}\ndirections: [forward]\nthreshold_pct: 5\nbudget_s: 60\nseed: %d\n"

static int setup(void **state)
{
	if (fixture_setup(state))
		return -1;
	fixture_ground(*state);
	return 0;
}

/* Comparison i ran with a suite whose seed is i. */
static void fill(struct fixture *f, int64_t *comparison)
{
	ok(db_begin(f->db, &err));
	for (int i = 0; i < SUITES; i++) {
		char text[512], sha[16];
		int64_t suite, kept = f->suite;
		int len = snprintf(text, sizeof text, CASES MORE, i);
		snprintf(sha, sizeof sha, "5eed%d", i);
		ok(store_suite_put(f->db, sha, "demo", text, (size_t)len, "installed", &suite, &err));
		f->suite = suite;
		comparison[i] = fixture_comparison(f, "main", (unsigned)i, (unsigned)i + 1, VERDICT_UNCHANGED, 1000 + i);
		f->suite = kept;
	}
	ok(db_commit(f->db, &err));
}

static int seed_of(struct captures *captures, struct fixture *f, int64_t id)
{
	struct comparison c = { .id = id, .suite = "demo" };
	struct buf text;
	buf_init(&text, 1 << 16);
	assert_int_equal(captures_cell(captures, f->db, &c, KEY, &text, &err), 1);
	json_t *cell = jsonr_tree(text.data, text.len);
	assert_string_equal(json_string_value(json_object_get(cell, "key")), KEY);
	const json_t *seed = json_object_get(cell, "seed");
	int value = json_is_string(seed) ? atoi(json_string_value(seed)) : (int)json_integer_value(seed);
	json_decref(cell);
	buf_fini(&text);
	return value;
}

static void a_cell_is_that_of_its_suite(void **state)
{
	struct fixture *f = *state;
	struct captures *captures = captures_new();
	int64_t comparison[SUITES];
	assert_non_null(captures);
	fill(f, comparison);
	for (int round = 0; round < 3; round++) /* more suites than are cached */
		for (int i = 0; i < SUITES; i++) {
			assert_int_equal(seed_of(captures, f, comparison[i]), i);
			assert_int_equal(seed_of(captures, f, comparison[i]), i);
			assert_int_equal(seed_of(NULL, f, comparison[i]), i);
		}
	captures_free(captures);
}

static void a_suite_is_read_once(void **state)
{
	struct fixture *f = *state;
	struct captures *captures = captures_new();
	int64_t comparison[SUITES];
	fill(f, comparison);
	assert_int_equal(seed_of(captures, f, comparison[3]), 3);
	/* suites never change; the change here shows that the text is not read again */
	ok(db_script(f->db, "UPDATE suite SET text = 'gone'", &err));
	assert_int_equal(seed_of(captures, f, comparison[3]), 3);
	captures_free(captures);
}

static void a_missing_cell_has_no_capture(void **state)
{
	struct fixture *f = *state;
	struct captures *captures = captures_new();
	int64_t comparison[SUITES];
	struct buf text;
	fill(f, comparison);
	buf_init(&text, 1 << 16);
	struct comparison c = { .id = comparison[0], .suite = "demo" };
	assert_int_equal(captures_cell(captures, f->db, &c, "attention/other", &text, &err), 0);
	c.id = 1000;
	assert_int_equal(captures_cell(captures, f->db, &c, KEY, &text, &err), 0);
	c.id = comparison[1];
	ok(db_script(f->db, "UPDATE suite SET text = 'suite: demo\nfrom: another version\n'", &err));
	assert_int_equal(captures_cell(captures, f->db, &c, KEY, &text, &err), 0);
	assert_int_equal(text.len, 0);
	buf_fini(&text);
	captures_free(captures);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cell_is_that_of_its_suite, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_suite_is_read_once, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_missing_cell_has_no_capture, setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
