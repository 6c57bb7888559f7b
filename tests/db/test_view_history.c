/* Queries of pages: one cell over time, and the cost of reading it. */
/* Left to `make check`: takes seconds. */
#include "failing_statements.h"

#include "fixture_views.h"

#include <math.h>

#include "db/db.h"
#include "lib/lib.h"

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

static void see_step(void *arg, const char *sql, const char *step)
{
	bool *covered = arg;
	if (strstr(sql, "INDEXED BY cell_history") && strstr(step, "COVERING INDEX cell_history"))
		*covered = true;
}

static void long_history_comes_from_one_index(void **state)
{
	enum { POINTS = 1000 };
	struct fixture *f = *state;
	bool covered = false;
	ok(db_begin(f->db, &err));
	for (unsigned i = 1; i <= POINTS; i++) {
		int64_t id = fixture_comparison(f, "main", i - 1, i, VERDICT_UNCHANGED, i);
		fixture_cell(f, id, 0, keys[0], 0.001, VERDICT_UNCHANGED);
	}
	ok(db_commit(f->db, &err));
	assert_int_equal(history(f, "main", "sim-0", 10 * POINTS).n, POINTS);
	ok_once(db_explain(f->db, see_step, &covered, &err));
	assert_true(covered); /* the index makes it fast on any machine */
}

/* A page of an old period shows the commits before it, and does not read later ones. */
static void old_history_is_read_without_newer_rows(void **state)
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
		cmocka_unit_test_setup_teardown(history_is_newest_first_and_timed_only, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(long_history_comes_from_one_index, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(old_history_is_read_without_newer_rows, setup, fixture_teardown),
	};
	return run_twice(tests);
}
